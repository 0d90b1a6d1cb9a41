import { fromTimestamp, isPlacetError } from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';

/** Of how many teams the inbox is measured at most. */
const maxTeams = 1000;

/** Measures the inbox of each team's lead: how much waits, and how long the oldest has (OP-5). */
export async function measureInboxes({ stores, metrics, clock, log }: LeadContext): Promise<void> {
  try {
    const teams = await stores.teams.list();
    await Promise.all(
      teams.slice(0, maxTeams).map(async (team) => {
        const { count, oldest } = await stores.requests.pendingLoad(team);
        const record = oldest === undefined ? undefined : await stores.requests.get(team, oldest);
        const ageMs = record ? Math.max(0, clock.now() - fromTimestamp(record.submittedAt)) : 0;
        metrics.openQuestions.set({ team }, await stores.questions.openCount(team));
        metrics.inboxDepth.set({ team }, count);
        metrics.inboxAgeSeconds.set({ team }, ageMs / 1000);
      }),
    );
  } catch (err) {
    // The other metrics say what is wrong with the store, if it is that.
    if (!isPlacetError(err, 'store_unavailable')) log.error({ err }, 'inboxes could not be measured');
  }
}
