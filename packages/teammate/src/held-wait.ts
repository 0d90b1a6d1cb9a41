import { setTimeout as pause } from 'node:timers/promises';
import { isTerminal } from '@placet/protocol';
import { isPassing, type JobOutcome, SessionLost, type SessionRun } from './session-run.ts';

/** How often a held agent's request is looked at, in milliseconds. */
const lookEveryMs = 250;

/**
 * Waits beside an agent that cannot be resumed until its request has ended (TM-6): the lease is renewed, the job's lock
 * too, and a worker's slot is taken, for the runtime's own bound at most. When that is over, or this process is, the agent
 * is lost, and whoever takes the session up plans again.
 */
export async function waitHeld(run: SessionRun, requestId: string, forMs: number): Promise<JobOutcome> {
  const { port, held, runtime, stopping, clock, log } = run.parts;
  const signal = AbortSignal.any([run.kept.lost, stopping.planning]);
  held.set(run.sessionId, requestId);
  const until = clock.now() + forMs;
  log.info({ sessionId: run.sessionId, requestId, forMs }, 'the agent is held until the decision');
  while (!signal.aborted && clock.now() < until) {
    const request = await port.getRequest(requestId).catch((thrown: unknown) => {
      if (isPassing(thrown)) return undefined; // it may be back before the wait is over
      throw thrown;
    });
    if (request && isTerminal(request.state)) return { kind: 'again' };
    await pause(lookEveryMs, undefined, { signal }).catch(() => undefined); // the loop looks at the signal itself
  }
  held.delete(run.sessionId);
  await runtime.interrupt(run.sessionId);
  if (signal.aborted) throw new SessionLost('the held agent was lost; its plan is made again');
  log.warn(
    { sessionId: run.sessionId, requestId },
    'the agent was held long enough; its plan will be made again',
  );
  return { kind: 'ended' };
}
