import { join } from 'node:path';
import type { KeyRing } from '@placet/mailbox/signing';
import { Principal } from '@placet/protocol';

/** How long a token lives that a command makes for itself, in milliseconds: one call needs seconds. */
const localTokenMs = 10 * 60 * 1000;

/** Who a command acts as. */
export type Actor =
  | { role: 'lead'; team: string }
  /** `owner` is `teammate:<name>` unless the teammate's record says otherwise. */
  | { role: 'teammate'; team: string; teammate: string; owner?: string | undefined };

/** The folder of a data folder that holds the lead's keys. */
export function keysFolder(dataDir: string): string {
  return join(dataDir, 'keys');
}

/** Opens a data folder's keys, and makes them where there are none. Whoever can read them is the lead (IN-4). */
export async function openKeys(dataDir: string): Promise<KeyRing> {
  const { KeyRing } = await import('@placet/mailbox/signing'); // loaded when needed: most commands should start at once
  return KeyRing.open(keysFolder(dataDir), { publishTo: publicKeysFile(dataDir) });
}

/** The file with the lead's public keys, for teammates on this machine. */
export function publicKeysFile(dataDir: string): string {
  return join(dataDir, 'jwks.json');
}

/** Makes a short-lived token from the data folder's own keys (WR-42, WR-43). */
export async function mintLocalToken(dataDir: string, actor: Actor, user: string): Promise<string> {
  const { createToken } = await import('@placet/mailbox/signing');
  const signer = await (await openKeys(dataDir)).activeSigner();
  const common = { teams: [actor.team], expiresInMs: localTokenMs, nowMs: Date.now() };
  const { token } =
    actor.role === 'lead'
      ? await createToken(signer, {
          ...common,
          role: 'lead',
          principal: localPrincipal(user),
          kind: 'person',
        })
      : await createToken(signer, {
          ...common,
          role: 'teammate',
          principal: teammatePrincipal(actor.teammate),
          kind: 'agent',
          teammate: actor.teammate,
          owner: actor.owner ?? teammatePrincipal(actor.teammate),
        });
  return token;
}

/** The person on this machine (WR-43). */
function localPrincipal(user: string): string {
  const named = `local:${user.replace(/[^\x21-\x7e]/g, '_')}`;
  return Principal.safeParse(named).success ? named : 'local:user';
}

/** The built-in teammate, which owns itself (WR-43). */
export function teammatePrincipal(teammate: string): string {
  return `teammate:${teammate}`;
}
