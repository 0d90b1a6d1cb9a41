import { isPlacetError } from '@placet/protocol';

/** What came of one member: `stop` where another process has the duty by now. */
export type Swept = 'done' | 'skipped' | 'stop';

/**
 * Handles each member, and counts those that were done. One that cannot be handled does not keep the others waiting:
 * what went wrong first is thrown at the end, but a store that does not answer at once.
 */
export async function sweep(
  members: readonly string[],
  handle: (member: string, place: number) => Promise<Swept>,
): Promise<number> {
  let done = 0;
  const faults: unknown[] = [];
  for (const [place, member] of members.entries()) {
    try {
      const swept = await handle(member, place);
      if (swept === 'stop') break;
      if (swept === 'done') done += 1;
    } catch (error) {
      if (isPlacetError(error, 'store_unavailable', 'not_durable')) throw error;
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return done;
}
