import { setTimeout as pause } from 'node:timers/promises';
import { PlacetError, type RequestRecord } from '@placet/protocol';
import type { Context } from '../command.ts';
import type { RunFile } from '../connection/run-file.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, type Output } from '../output/output.ts';
import { fetchPlan } from '../requests/fetched-plan.ts';
import { handleOf } from '../requests/handles.ts';
import { type DemoClone, git, makeDemoClone } from './demo-clone.ts';
import { DemoSession } from './demo-session.ts';
import { demoAgent, demoFeedback, demoTask } from './demo-task.ts';

/** How long the whole story may take, in milliseconds. */
const storyWithinMs = 150_000;
/** How long after its end the work's branch may come, in milliseconds. */
const publishedWithinMs = 20_000;

interface Step {
  step: string;
  request: string;
  outcome: string;
  ms: number;
}

/**
 * Plays the way of one plan without a person, over the same HTTP API and teammate as everyone else: submitted, rejected
 * with feedback, revised, approved, implemented. Prints a table of what happened and the commit that came of it.
 * @throws PlacetError what went wrong, and at which step
 */
export async function runStory(context: Context, run: RunFile): Promise<number> {
  const { output, asLead, world } = context;
  const signal = AbortSignal.any([world.signal, AbortSignal.timeout(storyWithinMs)]);
  const clone = await makeDemoClone(run.dataDir);
  const before = await git(clone.path, 'rev-parse', 'HEAD');
  const steps = new Steps(output);
  const session = await steps.take('queue', async () => {
    const started = await DemoSession.start(
      { task: demoTask(clone.sources), agent: demoAgent, cwd: clone.path },
      run,
      asLead,
      signal,
    );
    return { result: started, outcome: `task on a clone of ${clone.origin}` };
  });
  try {
    await decideTwice(context, run, session, steps);
    const commit = await publishedCommit(clone, before, signal);
    // Whoever looks into the clone sees the work at once; it is ours, and nothing else is done in it.
    await git(clone.path, 'switch', '--quiet', commit.branch);
    output.value({ event: 'story', ok: true, clone: clone.path, branch: commit.branch, commit: commit.id });
    steps.print();
    await printCommit(output, clone, commit);
    return exitCodes.done;
  } catch (error) {
    steps.print();
    if (!signal.aborted || world.signal.aborted) throw error;
    throw new PlacetError(
      'internal',
      `the story did not end within ${storyWithinMs / 1000} s; it was at: ${steps.current}`,
    );
  } finally {
    await session.close();
  }
}

async function decideTwice(
  { asLead }: Context,
  run: RunFile,
  session: DemoSession,
  steps: Steps,
): Promise<void> {
  const { team } = run;
  const planned = (record: RequestRecord) => ({
    result: record,
    request: record.requestId,
    outcome: `revision ${record.revision}, ${record.plan.chars} characters, pending`,
  });
  const decide = async (
    { requestId: id }: RequestRecord,
    body: { outcome: 'rejected'; feedback: string } | { outcome: 'approved'; permissionMode: 'acceptEdits' },
  ) => {
    const client = await asLead();
    const { digest } = await fetchPlan(client, team, id);
    return (
      await client.call('decideRequest', { params: { team, id }, body: { ...body, planDigest: digest } })
    ).body;
  };
  const first = await steps.take('submit', async () => planned(await session.nextPlan()));
  await steps.take('reject', async () => {
    const { state } = await decide(first, { outcome: 'rejected', feedback: demoFeedback });
    return { result: undefined, request: first.requestId, outcome: `${state}: ${demoFeedback}` };
  });
  const second = await steps.take('revise', async () => planned(await session.nextPlan()));
  await steps.take('approve', async () => {
    const { state, decision } = await decide(second, { outcome: 'approved', permissionMode: 'acceptEdits' });
    return {
      result: undefined,
      request: second.requestId,
      outcome: `${state}, mode ${decision?.permissionMode ?? 'none'}, signed`,
    };
  });
  await steps.take('implement', async () => {
    await session.done();
    const { work } = await session.record(second.requestId);
    if (work.state !== 'done')
      throw new PlacetError(
        'agent_failed',
        `the work ended as ${work.state}${work.reason ? `: ${work.reason}` : ''}`,
      );
    return {
      result: undefined,
      request: second.requestId,
      outcome: `work ${work.state}, in effect ${work.effectiveMode ?? 'unknown'}`,
    };
  });
}

/** The steps that were taken, and the one that is being taken. */
class Steps {
  readonly #output: Output;
  readonly #taken: Step[] = [];
  current = 'nothing yet';

  constructor(output: Output) {
    this.#output = output;
  }

  async take<Result>(
    step: string,
    act: () => Promise<{ result: Result; request?: string; outcome: string }>,
  ): Promise<Result> {
    this.current = step;
    const startedAt = performance.now();
    const { result, request, outcome } = await act();
    const taken = {
      step,
      request: request ? handleOf(request, []) : '',
      outcome,
      ms: Math.round(performance.now() - startedAt),
    };
    this.#taken.push(taken);
    this.#output.value({ event: 'step', ...taken, ...(request && { requestId: request }) });
    return result;
  }

  print(): void {
    const rows = [
      { step: 'step', request: 'request', outcome: 'outcome', time: 'time' },
      ...this.#taken.map(({ ms, ...step }) => ({ ...step, time: `${(ms / 1000).toFixed(1)} s` })),
    ];
    this.#output.line();
    for (const [index, { step, request, time, outcome }] of rows.entries()) {
      const text = `${step.padEnd(10)}  ${request.padEnd(8)}  ${time.padStart(7)}  ${outcome}`;
      this.#output.line(index === 0 ? bold(text) : text);
    }
    this.#output.line();
  }
}

/** The commit that the work ended with: the tip of a new branch, which is published once the work is settled. */
async function publishedCommit(
  { path }: DemoClone,
  before: string,
  signal: AbortSignal,
): Promise<{ branch: string; id: string }> {
  const query = [
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(objectname) %(refname:short)',
    'refs/heads',
  ];
  const giveUpAt = performance.now() + publishedWithinMs;
  for (;;) {
    const refs = (await git(path, ...query, '--contains', before)).split('\n').map((line) => line.split(' '));
    const [id = '', branch = ''] = refs.find(([tip]) => tip !== before) ?? [];
    if (branch) return { branch, id };
    if (performance.now() > giveUpAt)
      throw new PlacetError(
        'agent_failed',
        `the work is settled, but ${path} has no branch with a new commit`,
      );
    await pause(100, undefined, { signal });
  }
}

async function printCommit(
  output: Output,
  { path }: DemoClone,
  { branch }: { branch: string },
): Promise<void> {
  output.line(`git -C ${path} log --stat    (on ${branch})`);
  output.quote(await git(path, 'log', '-1', '--stat', '--format=%h %an, %ad%n%n    %s%n', branch));
}
