import type { RequestStore } from '@placet/mailbox';
import { PlacetError, type RequestRecord, type TokenClaims } from '@placet/protocol';

/** A team and a request ID, as a path names them. */
export interface RequestPath {
  team: string;
  id: string;
}

/**
 * Reads a request that the principal may see: for a teammate, one of its own.
 * @throws PlacetError `not_found`, which does not tell whether another has it (WR-30)
 */
export async function readOwnRequest(
  requests: Pick<RequestStore, 'get'>,
  { team, id }: RequestPath,
  principal: TokenClaims,
): Promise<RequestRecord> {
  const record = await requests.get(team, id);
  if (!record || !isVisible(record, principal)) throw noRequest({ team, id });
  return record;
}

/** Whether a request exists for a principal of its team. */
export function isVisible(record: RequestRecord, { role, teammate }: TokenClaims): boolean {
  return role !== 'teammate' || record.teammate === teammate;
}

/** The error of a request that is not there, or not to be seen. */
export function noRequest({ team, id }: RequestPath): PlacetError {
  return new PlacetError('not_found', `team ${team} has no request ${id}`);
}

/** The name a teammate's token acts as. @throws PlacetError `forbidden` for any other token */
export function teammateOf({ teammate, sub }: TokenClaims): string {
  if (teammate === undefined) throw new PlacetError('forbidden', `the token of ${sub} names no teammate`);
  return teammate;
}
