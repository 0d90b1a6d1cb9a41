import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOfText, type SessionId } from '@placet/protocol';

/** The private folders of one session below the teammate's data folder. Processes of one teammate on a host share them. */
export interface SessionFolders {
  root: string;
  /** Where plans go unless the project has a place for them. */
  plans: string;
  /** What the agent keeps from phase to phase. */
  scratch: string;
  /** The trees of planning and of each epoch. */
  trees: string;
  /** What agents wrote to their output. */
  output: string;
}

/** Names the folders of a session. */
export function sessionFolders(dataDir: string, sessionId: SessionId): SessionFolders {
  // A session ID is any printable line; only a UUID is safe as the name of a folder.
  const name = /^[0-9a-f-]{36}$/.test(sessionId)
    ? sessionId
    : digestOfText(sessionId).slice('sha256:'.length);
  const root = join(dataDir, 'sessions', name);
  return {
    root,
    plans: join(root, 'plans'),
    scratch: join(root, 'scratch'),
    trees: join(root, 'trees'),
    output: join(root, 'output'),
  };
}

/** Makes the folders of a session, readable by nobody else. */
export async function makeSessionFolders(folders: SessionFolders): Promise<void> {
  if (existsSync(folders.output)) return; // the last one of them: every wake-up but the first finds it
  for (const folder of [folders.root, folders.plans, folders.scratch, folders.trees, folders.output])
    await mkdir(folder, { recursive: true, mode: 0o700 });
}
