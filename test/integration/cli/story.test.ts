import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { jsonOf, placet, startUp, temporaryFolder } from '../../support/placet.ts';
import { processesOf } from '../../support/processes.ts';

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
});
afterEach(() => {
  for (const { pid } of processesOf(folder.path)) process.kill(pid, 'SIGKILL');
  folder.remove();
});

const Story = z.object({
  event: z.literal('story'),
  ok: z.literal(true),
  clone: z.string(),
  branch: z.string(),
  commit: z.string(),
});

it('[OP-1] the whole story without a person ends with a commit that a person can look at', async () => {
  const args = ['up', '--demo', '--once', '--port', '0', '--data', data, '--json'];
  const { code, stdout, stderr } = await placet(args, { cwd: folder.path, withinMs: 170_000 });
  expect(stderr).not.toContain('error');
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => jsonOf({ code, stdout: line, stderr }));
  expect(lines.map(({ event, step }) => step ?? event)).toEqual([
    'ready',
    'queue',
    'submit',
    'reject',
    'revise',
    'approve',
    'implement',
    'story',
  ]);
  const { clone, branch, commit } = Story.parse(lines.at(-1));
  const git = (...command: string[]) => execFileSync('git', command, { cwd: clone, encoding: 'utf8' }).trim();
  expect(git('rev-parse', branch)).toBe(commit);
  expect(git('branch', '--show-current')).toBe(branch);
  expect(git('log', '-1', '--format=%s')).toContain('SPDX');
  const changed = git('diff', '--name-only', 'HEAD~1').split('\n');
  expect(changed.length).toBeGreaterThan(5);
  expect(changed.filter((path) => path.includes('.test.'))).toEqual([]);
  expect(git('status', '--porcelain')).toBe('');
  expect(processesOf(folder.path)).toEqual([]);
}, 180_000);

it('[OP-1] a demonstration waits for a person, and goes on after a restart', async () => {
  const run = (...args: string[]) => placet([...args, '--data', data], { cwd: folder.path });
  const first = await startUp(data, ['--demo'], { cwd: folder.path });
  const handle = await eventually(
    () => first.lines.map((line) => /"handle":"(\w+)"/.exec(line)?.[1]).find(Boolean),
    {
      withinMs: 60_000,
    },
  );
  await first.stop();
  const second = await startUp(data, [], { cwd: folder.path });
  expect((await run('approve', handle, '--mode', 'acceptEdits')).code).toBe(0);
  await eventually(async () => /"state":"done"/.test((await run('show', handle, '--json')).stdout), {
    withinMs: 60_000,
    everyMs: 500,
  });
  await second.stop();
}, 180_000);

it('[TM-2] run --follow shows a task to its end, which is its exit code', async () => {
  const up = await startUp(data, [], { cwd: folder.path });
  const work = join(folder.path, 'work');
  mkdirSync(work);
  const args = ['run', 'say hello', '--cwd', work, '--follow', '--json', '--data', data];
  const { code, stdout } = await placet(args, { cwd: folder.path });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => jsonOf({ code, stdout: line, stderr: '' }));
  expect(lines[0]).toMatchObject({
    jobId: expect.stringMatching(/^task-/),
    team: 'main',
    teammate: 'worker',
  });
  expect(lines.at(-1)).toMatchObject({ type: 'task:phase', phase: 'failed' });
  expect(code).toBe(1);
  await up.stop();
}, 120_000);

it('[WR-41] the built-in teammate runs the agents of the settings file that up was given', async () => {
  const agent = join(folder.path, 'agent.sh');
  writeFileSync(agent, '#!/bin/sh\nprintf "# Mine\\n" > "$PLACET_PLAN_FILE"\n', { mode: 0o755 });
  const settings = join(folder.path, 'settings.json');
  writeFileSync(settings, JSON.stringify({ agent: 'mine', agents: { mine: { command: ['./agent.sh'] } } }));
  const work = join(folder.path, 'work');
  mkdirSync(work);
  const up = await startUp(data, ['--config', settings], { cwd: folder.path });
  const run = (...args: string[]) =>
    placet([...args, '--data', data, '--config', settings], { cwd: folder.path });
  expect((await run('run', 'anything', '--cwd', work)).code).toBe(0);
  await eventually(async () => (await run('inbox', '--json')).stdout.includes('"pending"'), {
    withinMs: 60_000,
    everyMs: 500,
  });
  await up.stop();
}, 120_000);
