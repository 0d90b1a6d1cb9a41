import {
  isPlacetError,
  PlacetError,
  parseNativeRequestId,
  RequestId,
  type RequestRecord,
} from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';

/** How many characters a handle has at least. */
const shortest = 6;
/** How many requests are looked through for a handle, newest first. */
const maxLookedThrough = 2000;

/**
 * The short name of a request, as `placet inbox` shows it: the end of a native ID's random part, as long as it takes
 * to be the only one of these; foreign IDs are their own handles.
 */
export function handleOf(requestId: string, among: readonly string[]): string {
  const own = tailOf(requestId);
  if (own === undefined) return requestId;
  const others = among.filter((other) => other !== requestId).map(tailOf);
  for (let length = shortest; length < own.length; length += 1) {
    const handle = own.slice(-length);
    if (!others.some((other) => other?.endsWith(handle))) return handle;
  }
  return requestId;
}

/** Whether a text can be the short name of a request. */
export function isHandle(text: string): boolean {
  return /^[0-9a-f]{6,32}$/.test(text);
}

/** The requests that a handle fits. */
function matching(handle: string, records: readonly RequestRecord[]): RequestRecord[] {
  return records.filter(({ requestId }) => tailOf(requestId)?.endsWith(handle));
}

/**
 * Finds the request that is meant: by its whole ID, or by a handle that fits exactly one.
 * @throws PlacetError `usage` for a malformed ID or an ambiguous handle, naming what it fits; `not_found`
 */
export async function findRequestId(client: PlacetClient, team: string, text: string): Promise<string> {
  const parsed = RequestId.safeParse(text);
  if (!parsed.success)
    throw new PlacetError(
      'usage',
      `"${text}" is no request ID: ${parsed.error.issues[0]?.message ?? 'malformed'}`,
    );
  if (!isHandle(text)) return text;
  const known = await client
    .call('awaitDecision', { params: { team, id: text }, query: { timeoutMs: 0 } })
    .catch(orNotFound);
  if (known) return text;
  const found = matching(text, await lookThrough(client, team));
  const [first, ...more] = found;
  if (!first)
    throw new PlacetError(
      'not_found',
      `no request of team ${team} has the ID or short name ${text}: see placet inbox`,
    );
  if (more.length > 0)
    throw new PlacetError(
      'usage',
      `${text} fits ${found.length} requests: ${found.map(({ requestId }) => requestId).join(', ')}`,
    );
  return first.requestId;
}

function orNotFound(error: unknown): undefined {
  if (isPlacetError(error, 'not_found')) return undefined;
  throw error;
}

async function lookThrough(client: PlacetClient, team: string): Promise<RequestRecord[]> {
  const records: RequestRecord[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await client.call('listRequests', { params: { team }, query: { limit: 200, cursor } });
    records.push(...body.requests);
    cursor = body.nextCursor;
  } while (cursor !== undefined && records.length < maxLookedThrough);
  return records;
}

/** The random part of a native ID, without its dashes. */
function tailOf(requestId: string): string | undefined {
  if (!parseNativeRequestId(requestId)) return undefined;
  return requestId.slice('plan_approval-'.length, requestId.indexOf('@')).replaceAll('-', '');
}
