import type { LeadContext } from '../lead-context.ts';
import { type Duty, DutyRunner } from './duty.ts';

/** How long a lease of a duty lasts, in milliseconds (ST-7). */
const leaseMs = 10_000;
/** How many requests one piece of a duty treats. */
const pieceSize = 200;

/** Starts the duties of ST-7 that a lead has: deadlines, reconciling, retention. */
export function startDuties(context: LeadContext, holder: string): { close(): Promise<void> }[] {
  const { stores, log, metrics } = context;
  return dutiesOf(context).map(
    (duty) =>
      new DutyRunner(duty, {
        teams: () => stores.teams.list(),
        lease: (team, name) => stores.duties.lease(team, name, holder, leaseMs),
        release: (team, name) => stores.duties.release(team, name, holder),
        log,
        metrics,
      }),
  );
}

function dutiesOf({ stores: { requests, questions }, metrics, log }: LeadContext): Duty[] {
  return [
    {
      name: 'deadlines',
      everyMs: 1000,
      run: async (team, epoch) => {
        const fence = { duty: 'deadlines', epoch };
        const ended = await requests.expireDue(team, pieceSize, fence);
        const unanswered = await questions.expireDue(team, pieceSize, fence);
        if (unanswered > 0) log.info({ team, unanswered }, 'questions reached their deadline');
        if (ended > 0) {
          metrics.requests.inc({ outcome: 'timeout' }, ended);
          log.info({ team, ended }, 'requests reached their deadline');
        }
        return ended === pieceSize || unanswered === pieceSize;
      },
    },
    {
      name: 'reconcile',
      everyMs: 5000,
      run: async (team, epoch) => {
        const woken = await requests.wakeDue(team, pieceSize, { duty: 'reconcile', epoch });
        if (woken > 0) log.info({ team, woken }, 'approved work was woken again');
        return woken === pieceSize;
      },
    },
    {
      name: 'retention',
      everyMs: 60_000,
      run: async (team, epoch) => {
        const fence = { duty: 'retention', epoch };
        const purged = await requests.purge(team, pieceSize, fence);
        if (purged > 0) log.info({ team, purged }, 'settled requests were purged');
        const questionsPurged = await questions.purge(team, pieceSize, fence);
        if (questionsPurged > 0) log.info({ team, questionsPurged }, 'ended questions were purged');
        return purged === pieceSize || questionsPurged === pieceSize;
      },
    },
  ];
}
