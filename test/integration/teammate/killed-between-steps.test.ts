import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type Checkpoint, checkpoints } from '@placet/teammate';
import { afterAll, beforeAll, describe, it, type TestContext } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';

let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** The context is the test's own: several run at once. */
async function openWorld({ onTestFinished }: TestContext): Promise<TeammateWorld> {
  const world = await TeammateWorld.open(redis.url);
  onTestFinished(() => world.close());
  return world;
}

/** Steps that a task without a fault on its way does not come to. */
const elsewhere: Checkpoint[] = ['end-recorded'];

/** Rejects the first plan and approves the second, as soon as they are there, whatever happens to the worker. */
async function lead(world: TeammateWorld, sessionId: string): Promise<void> {
  const first = await world.untilPlanned(sessionId, 1);
  await world.lead.decide(first, { outcome: 'rejected', permissionMode: null, feedback: 'again' });
  await world.lead.decide(await world.untilPlanned(sessionId, 2));
}

async function requestsOf(world: TeammateWorld, sessionId: string): Promise<[number, string][]> {
  const { requests } = await world.lead.mailbox.requests.list(world.team, { limit: 50 });
  return requests
    .filter((request) => request.sessionId === sessionId)
    .map(({ revision, state }): [number, string] => [revision, state])
    .toSorted(([a], [b]) => a - b);
}

async function settlements(world: TeammateWorld): Promise<string[]> {
  const { events } = await world.lead.mailbox.events.read(world.team, undefined, 1000);
  return events.flatMap(({ type, state }) =>
    type === 'work' && (state === 'done' || state === 'failed') ? [state] : [],
  );
}

/** Processes of agents of this world: the world's folder stands in their command. */
async function agentsOf(world: TeammateWorld): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes(`${world.folder}/mark`));
}

describe.concurrent('a worker that is killed', () => {
  it.for(checkpoints.filter((name) => !elsewhere.includes(name)))(
    '[TM-8, I4] after the step "%s" is replaced: no request twice, the work settled once, under its decision',
    { timeout: 180_000 },
    async (killAt, context) => {
      const { expect } = context;
      const world = await openWorld(context);
      world.agent('codemod', {
        plan: `: ${world.folder}/mark; printf "# Plan %s\\n" "$PLACET_REVISION" > "$PLACET_PLAN_FILE"`,
        // What an earlier attempt left in this tree would be seen here.
        implement: `: ${world.folder}/mark; echo begun >> done.txt; cat "$PLACET_PLAN_FILE" >> done.txt`,
      });
      const doomed = await world.process({ killAt });
      const sessionId = await world.task();
      const leading = lead(world, sessionId);
      leading.catch(() => undefined); // awaited below
      await eventually(() => doomed.ending !== undefined, { withinMs: 60_000, what: `the end at ${killAt}` });
      expect(doomed.ending).toBe('SIGKILL');
      await eventually(async () => (await agentsOf(world)).length === 0, {
        what: 'no agent without a worker',
      });
      // Only what is settled is ever published (TM-16).
      if (checkpoints.indexOf(killAt) < checkpoints.indexOf('work-settled'))
        expect(await world.git('branch', '--list', 'placet/*')).toBe('');
      await world.teammate();
      await leading;
      const branch = await world.untilPublished(sessionId);
      await eventually(async () => (await world.git('worktree', 'list')).split('\n').length === 1, {
        what: 'no trees left',
      });

      expect(await requestsOf(world, sessionId)).toEqual([
        [1, 'rejected'],
        [2, 'approved'],
      ]);
      expect(await settlements(world)).toEqual(['done']);
      expect(await world.git('show', `${branch}:done.txt`)).toBe('begun\n# Plan 2');
      expect(await world.git('branch', '--list', 'placet/*', '--format=%(refname:short)')).toBe(branch);
    },
  );

  it('[TM-8, TM-16] while its agent implements takes the agent with it, and the work begins again in a fresh tree', async (context) => {
    const { expect } = context;
    const world = await openWorld(context);
    const gate = `${world.folder}/go`;
    world.agent('codemod', {
      implement: `: ${world.folder}/mark; echo begun >> done.txt; (sleep 60) & [ -e ${gate} ] || sleep 60; kill $! || true`,
    });
    const doomed = await world.process();
    const sessionId = await world.task();
    const request = await world.untilPlanned(sessionId);
    await world.lead.decide(request);
    await eventually(async () => (await world.request(request.requestId))?.work.state === 'applied', {
      withinMs: 20_000,
    });
    await eventually(async () => (await agentsOf(world)).length > 0, { what: 'an agent' });
    await doomed.kill9();
    await eventually(async () => (await agentsOf(world)).length === 0, {
      withinMs: 3000,
      what: 'the end of the agent',
    });
    await world.git('commit', '--quiet', '--allow-empty', '-m', 'meanwhile');
    await writeFile(gate, '');
    await world.teammate();
    const branch = await world.untilPublished(sessionId);

    expect(await world.git('show', `${branch}:done.txt`)).toBe('begun');
    expect(await settlements(world)).toEqual(['done']);
    expect((await world.request(request.requestId))?.work.epoch).toBeGreaterThan(2);
  }, 180_000);
});
