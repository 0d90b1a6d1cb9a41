import { PlacetError, type RequestRecord, type TeamEvent } from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';
import type { RunFile } from '../connection/run-file.ts';
import { type Enqueued, enqueueTask } from '../requests/enqueue-task.ts';
import { followTeam, isReset } from '../requests/follow-team.ts';
import { taskEndOf } from '../requests/task-end.ts';

/** What a demonstration has its teammate do. */
export interface DemoTask {
  task: string;
  agent: string;
  cwd: string;
}

/** A task of a demonstration, followed by the team's events as any client can. */
export class DemoSession {
  readonly sessionId: string;
  readonly jobId: string;
  readonly #run: RunFile;
  readonly #reach: () => Promise<PlacetClient>;
  readonly #events: AsyncGenerator<TeamEvent | { reset: true }, void>;

  private constructor(
    { sessionId, jobId, after }: Enqueued,
    run: RunFile,
    reach: () => Promise<PlacetClient>,
    signal: AbortSignal,
  ) {
    this.sessionId = sessionId;
    this.jobId = jobId;
    this.#run = run;
    this.#reach = reach;
    this.#events = followTeam({ reach, team: run.team, after, signal, onTrouble: () => undefined });
  }

  /** Puts the task into the queue of the built-in teammate. */
  static async start(
    task: DemoTask,
    run: RunFile,
    reach: () => Promise<PlacetClient>,
    signal: AbortSignal,
  ): Promise<DemoSession> {
    const { team, teammate } = run;
    if (!teammate)
      throw new PlacetError('usage', 'a demonstration needs the teammate: leave --no-teammate out');
    const enqueued = await enqueueTask({
      redisUrl: run.redisUrl,
      timeoutMs: 2000,
      durability: { profile: 'standard', replicas: 0 },
      signal,
      team,
      teammate,
      what: { job: { ...task, team, labels: { demo: 'yes' } } },
    });
    return new DemoSession(enqueued, run, reach, signal);
  }

  /** Waits for the next plan of the session and answers its record. */
  async nextPlan(): Promise<RequestRecord> {
    const event = await this.#until((candidate) => candidate.type === 'plan:proposed');
    return this.record(event.requestId ?? '');
  }

  /** Waits until the task is over. @throws PlacetError `agent_failed` when it did not end as done */
  async done(): Promise<void> {
    await this.#until((event) => taskEndOf(event)?.phase === 'done');
  }

  async record(id: string): Promise<RequestRecord> {
    const client = await this.#reach();
    return (await client.call('showRequest', { params: { team: this.#run.team, id } })).body;
  }

  async close(): Promise<void> {
    await this.#events.return();
  }

  async #until(condition: (event: TeamEvent) => boolean): Promise<TeamEvent> {
    for (;;) {
      const { done, value: event } = await this.#events.next();
      if (done) throw new PlacetError('service_unreachable', 'the event feed ended');
      if (isReset(event) || event.sessionId !== this.sessionId) continue;
      if (condition(event)) return event;
      this.#refuseEnd(event);
    }
  }

  #refuseEnd(event: TeamEvent): void {
    const end = taskEndOf(event);
    if (!end) return;
    const reason = end.reason ? `: ${end.reason}` : '';
    throw new PlacetError(
      'agent_failed',
      `the task ended as ${end.phase}${reason}; logs are in ${this.#run.dataDir}/logs`,
    );
  }
}
