import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PrincipalKind, Role } from '@placet/protocol';
import { z } from 'zod';

/** What is noted of a token that was made: everything but the token itself. */
export const IssuedToken = z.looseObject({
  id: z.string(),
  principal: z.string(),
  role: Role,
  kind: PrincipalKind,
  teams: z.array(z.string()),
  teammate: z.string().optional(),
  owner: z.string().optional(),
  createdAt: z.string(),
  expiresAt: z.string(),
});
export type IssuedToken = z.infer<typeof IssuedToken>;

/** Notes a token in the data folder, so that it can be listed and revoked; one line a token, only ever added. */
export async function noteIssued(dataDir: string, token: IssuedToken): Promise<void> {
  await appendFile(notesOf(dataDir), `${JSON.stringify(token)}\n`, { mode: 0o600 });
}

/** The tokens that were made from this data folder, oldest first. A line that was cut off by a crash is left out. */
export async function listIssued(dataDir: string): Promise<IssuedToken[]> {
  const text = await readFile(notesOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    const parsed = IssuedToken.safeParse(jsonOf(line));
    return parsed.success ? [parsed.data] : [];
  });
}

function notesOf(dataDir: string): string {
  return join(dataDir, 'tokens.ndjson');
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
