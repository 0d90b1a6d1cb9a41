import type { Context } from '../command.ts';
import type { RunFile } from '../connection/run-file.ts';
import { bold, dim } from '../output/output.ts';
import { handleOf } from '../requests/handles.ts';
import { makeDemoClone } from './demo-clone.ts';
import { DemoSession } from './demo-session.ts';
import { demoAgent, demoTask } from './demo-task.ts';

/** How long the first plan may take, in milliseconds. */
const planWithinMs = 120_000;

/**
 * Has the built-in teammate plan something worth doing on a clone, so that a first plan waits, and says how to take it
 * to its end. Where plans wait already, it only says so. A demonstration that fails stops nothing else.
 */
export async function startDemo(context: Context, run: RunFile): Promise<void> {
  const { output, asLead, world } = context;
  try {
    const client = await asLead();
    const { body } = await client.call('listRequests', {
      params: { team: run.team },
      query: { state: 'pending', limit: 50 },
    });
    const [waiting] = body.requests;
    if (waiting) {
      sayHow(
        context,
        handleOf(
          waiting.requestId,
          body.requests.map(({ requestId }) => requestId),
        ),
        waiting.workspace?.cwd,
      );
      return;
    }
    const clone = await makeDemoClone(run.dataDir);
    output.line(dim('  clone     '), clone.path, dim(`  (of ${clone.origin})`));
    const signal = AbortSignal.any([world.signal, AbortSignal.timeout(planWithinMs)]);
    const session = await DemoSession.start(
      { task: demoTask(clone.sources), agent: demoAgent, cwd: clone.path },
      run,
      asLead,
      signal,
    );
    try {
      output.note(dim('the teammate is planning'));
      const { requestId } = await session.nextPlan();
      sayHow(context, handleOf(requestId, []), clone.path);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!world.signal.aborted)
      output.note(
        `the demonstration did not get to a plan: ${error instanceof Error ? error.message : String(error)}`,
      );
  }
}

function sayHow({ output }: Context, handle: string, cwd: string | undefined): void {
  output.value({ event: 'plan', handle });
  output.line();
  output.line(bold('A plan waits for you. '), 'In another terminal:');
  output.line(`  npx placet inbox`);
  output.line(`  npx placet show ${handle}`);
  output.line(`  npx placet approve ${handle} --mode acceptEdits`);
  if (cwd !== undefined) {
    output.line('Approved, the work becomes a commit on a branch of its own:');
    output.line(`  git -C ${cwd} log --stat -1 --branches='placet/*'`);
  }
}
