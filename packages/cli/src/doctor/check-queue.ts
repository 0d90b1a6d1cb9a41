import { connectRedis, TaskQueues } from '@placet/mailbox';
import { examine, type Finding, ok, wrong } from './finding.ts';

/** Checks a teammate's queue: what waits in it, and what failed. */
export async function checkQueue(
  url: string,
  team: string,
  teammate: string,
  timeoutMs: number,
): Promise<Finding[]> {
  const handle = connectRedis({ url, name: 'placet-doctor', timeoutMs });
  try {
    return await examine('queue', 'start Redis first', async () => {
      await handle.ready(AbortSignal.timeout(timeoutMs * 2));
      const queues = new TaskQueues(handle);
      try {
        const { waiting, active, delayed, failed } = await queues.counts(team, teammate);
        const detail = `${teammate} of ${team}: ${active} active, ${waiting} waiting, ${delayed} delayed, ${failed} failed`;
        if (failed > 0)
          return [
            wrong('warning', 'queue', detail, "the teammate's log says why; placet run --resume tries again"),
          ];
        return [ok('queue', detail)];
      } finally {
        await queues.close();
      }
    });
  } finally {
    await handle.close();
  }
}
