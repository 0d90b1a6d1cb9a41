import type { PlacetError, TeamEvent } from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';
import { Backoff, isPassing } from './patience.ts';

/** Which events are followed, and from where. */
export interface FollowOptions {
  /** Finds the service anew: one that was started again may be elsewhere. */
  reach: () => Promise<PlacetClient>;
  team: string;
  /** The id of the last event that is known. */
  after?: string | undefined;
  signal: AbortSignal;
  /** Told once each time the service goes away. */
  onTrouble: (error: PlacetError) => void;
}

/**
 * Follows a team's events for as long as `signal` lets it, and goes on behind the last one it has seen when the service
 * comes back (ST-6). `{ reset: true }` says that events are missing. A service that was never there is an error.
 */
export async function* followTeam(options: FollowOptions): AsyncGenerator<TeamEvent | { reset: true }, void> {
  const { reach, team, signal, onTrouble } = options;
  const backoff = new Backoff();
  let after = options.after;
  let reached = false;
  while (!signal.aborted) {
    try {
      const client = await reach();
      for await (const event of client.followEvents(team, { after, signal })) {
        reached = true;
        backoff.reset();
        if (!isReset(event)) after = event.id;
        yield event;
      }
      reached = true; // it answered, and ended the stream because it stops
    } catch (error) {
      if (signal.aborted) return;
      const lost = isPassing(error) || isBrokenStream(error);
      if (!lost || (!reached && !isBrokenStream(error))) throw error;
      if (backoff.fresh && isPassing(error)) onTrouble(error);
    }
    await backoff.pause(signal).catch(() => undefined); // the loop's condition sees an abort
  }
}

/** Whether this says that events are missing. */
export function isReset(event: TeamEvent | { reset: true }): event is { reset: true } {
  return 'reset' in event && event.reset === true;
}

/** What `fetch` throws when a body that is being read breaks off. */
function isBrokenStream(error: unknown): boolean {
  return error instanceof TypeError;
}
