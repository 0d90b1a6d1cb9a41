import { keyOf } from './keys.ts';

/** Names a session of a teammate. */
export interface SessionName {
  team: string;
  teammate: string;
  sessionId: string;
}

/** The key of a session's hash. */
export function sessionKey({ team, teammate, sessionId }: SessionName): string {
  return keyOf(team, 'session', teammate, sessionId);
}

/** A session as the team's indexes have it; read back by {@link sessionOfMember}. */
export function memberOf({ teammate, sessionId }: Pick<SessionName, 'teammate' | 'sessionId'>): string {
  return `${teammate}:${sessionId}`;
}

/** The session that {@link memberOf} wrote: a teammate's name holds no colon, a session's ID may. */
export function sessionOfMember(team: string, member: string): SessionName {
  const teammate = member.slice(0, member.indexOf(':'));
  return { team, teammate, sessionId: member.slice(teammate.length + 1) };
}
