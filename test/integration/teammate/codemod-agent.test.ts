import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AgentProfile } from '@placet/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { inRepository } from '../../support/repository.ts';
import { TeammateWorld } from '../../support/teammate-world.ts';

const program = inRepository('docs/examples/codemod-agent/codemod.mjs');
const execute = promisify(execFile);
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-codemod-')));
});
afterEach(async () => {
  for (const path of [folder, planFile(), `${folder}-feedback`])
    await rm(path, { recursive: true, force: true });
});

async function files(all: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const text = (name: string) => readFile(join(folder, name), 'utf8');
const planFile = () => `${folder}-plan.md`;

async function run(phase: 'plan' | 'implement', task = '', feedback?: string): Promise<string> {
  if (feedback !== undefined) await writeFile(`${folder}-feedback`, feedback);
  const env = {
    ...process.env,
    PLACET_PHASE: phase,
    PLACET_TASK: task,
    PLACET_PLAN_FILE: planFile(),
    ...(feedback !== undefined && { PLACET_FEEDBACK_FILE: `${folder}-feedback` }),
  };
  await execute(process.execPath, [program], { cwd: folder, env });
  return readFile(planFile(), 'utf8');
}

describe('the codemod agent', () => {
  it('[TM-22] plans by listing what it would change, changes nothing, and then does exactly that', async () => {
    await files({
      'a.js':
        "import fs from 'fs';\nimport {\n  join,\n} from 'path';\nconst said = 'from fs';\nimport z from 'zod';\n",
      'b.js': "const { EventEmitter } = require('events');\n",
      'README.md': "import fs from 'fs';\n",
    });
    const plan = await run('plan', 'Import the modules of Node by their node: names');
    expect(plan).toContain('3 edits in 2 files');
    expect(await text('a.js')).toContain("from 'fs'");
    await run('implement');

    expect(await text('a.js')).toBe(
      "import fs from 'node:fs';\nimport {\n  join,\n} from 'node:path';\nconst said = 'from fs';\nimport z from 'zod';\n",
    );
    expect(await text('b.js')).toBe("const { EventEmitter } = require('node:events');\n");
    expect(await text('README.md')).toBe("import fs from 'fs';\n");
  });

  it.each([
    [
      'rename oldName newName',
      { 'a.ts': 'oldName(oldNames, my.oldName, $oldName)' },
      'newName(oldNames, my.newName, $oldName)',
    ],
    ['replace "a.b" "c" in **/*.ts', { 'a.ts': 'a.b axb a.b', 'a.js': 'a.b' }, 'c axb c'],
    [
      'Add SPDX licence headers of MIT',
      { 'a.ts': '#!/usr/bin/env node\nrun();\n' },
      '#!/usr/bin/env node\n// SPDX-License-Identifier: MIT\nrun();\n',
    ],
  ])('[TM-22] understands %s', async (task, given, expected) => {
    await files(given);
    await run('plan', task);
    await run('implement');

    expect(await text('a.ts')).toBe(expected);
  });

  it.each([
    ['skip docs/', ['docs/x.ts']],
    ['Leave the tests as they are.', ['src/a.test.ts', 'test/b.ts']],
    ['only src/**', ['docs/x.ts', 'test/b.ts']],
    ['skip docs/…\nand skip src/a.ts', ['docs/x.ts', 'src/a.ts']],
  ])('[TM-22, TM-7] narrows its plan by "%s"', async (feedback, left) => {
    const all = ['docs/x.ts', 'src/a.ts', 'src/a.test.ts', 'test/b.ts'];
    await files(Object.fromEntries(all.map((name) => [name, 'old'])));
    await run('plan', 'rename old fresh', feedback);
    await run('implement');

    for (const name of all) expect(await text(name), name).toBe(left.includes(name) ? 'old' : 'fresh');
  });

  it('[TM-22] keeps to the files that the task names', async () => {
    await files({ 'packages/a/src/x.ts': 'x', 'packages/b/src/x.ts': 'x', 'packages/a/src/x.md': 'x' });
    await run('plan', 'Add an SPDX licence header to each source file in packages/a/src');
    await run('implement');

    expect(await text('packages/a/src/x.ts')).toContain('SPDX');
    expect(await text('packages/b/src/x.ts')).toBe('x');
    expect(await text('packages/a/src/x.md')).toBe('x');
  });

  it('[TM-22] says what of a feedback it did not understand', async () => {
    await files({ 'a.ts': 'old' });

    expect(await run('plan', 'rename old fresh', 'make it nicer')).toContain(
      'make it nicer (not understood by this agent)',
    );
  });

  it.each([
    ['a file was changed since', () => files({ 'b.ts': 'old and more' })],
    ['a file is gone', () => rm(join(folder, 'b.ts'))],
    [
      'a file became a link',
      async () => {
        await rm(join(folder, 'b.ts'));
        await symlink('a.ts', join(folder, 'b.ts'));
      },
    ],
    [
      'the plan names a file outside',
      async () => {
        const plan = await readFile(planFile(), 'utf8');
        await writeFile(planFile(), plan.replaceAll('b.ts', '../b.ts'));
      },
    ],
    [
      'the plan promises another result',
      async () => {
        const plan = await readFile(planFile(), 'utf8');
        await writeFile(planFile(), plan.replace('"rename old fresh"', '"rename old rotten"'));
      },
    ],
    ['the plan is none of its own', () => writeFile(planFile(), '# Do as you like\n')],
  ])('[TM-22] changes nothing at all where %s', async (_what, change) => {
    await files({ 'a.ts': 'old', 'b.ts': 'old' });
    await run('plan', 'rename old fresh');
    await change();

    await expect(run('implement')).rejects.toMatchObject({ code: 1 });
    expect(await text('a.ts')).toBe('old');
  });

  it('[TM-22] does not guess what a task means', async () => {
    await expect(run('plan', 'Make it better')).rejects.toMatchObject({ code: 1 });
  });
});

describe('the codemod agent under a teammate', () => {
  let redis: TestRedis;
  let world: TeammateWorld;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    world = await TeammateWorld.open(redis.url);
  });
  afterEach(() => world.close());

  it('[TM-22, TM-7] is rejected, narrows its plan and does what was approved, on a clone of this repository', async () => {
    await rm(world.repository, { recursive: true });
    await execute('git', [
      'clone',
      '--quiet',
      '--depth',
      '1',
      `file://${inRepository('')}`,
      world.repository,
    ]);
    world.agents.codemod = AgentProfile.parse({ command: [process.execPath, program] });
    await world.teammate();
    const sessionId = await world.task({ task: 'Add SPDX licence headers' });
    const first = await world.untilPlanned(sessionId);
    await world.lead.decide(first, {
      outcome: 'rejected',
      permissionMode: null,
      feedback: 'Leave the tests as they are.',
    });
    const second = await world.untilPlanned(sessionId, 2);
    expect(second.plan.digest).not.toBe(first.plan.digest);
    await world.lead.decide(second);
    const branch = await world.untilPublished(sessionId);
    const changed = (await world.git('diff', '--name-only', 'HEAD', branch)).split('\n');

    expect(changed.length).toBeGreaterThan(50);
    expect(changed.filter((path) => /\.test\.|^test\//.test(path))).toEqual([]);
    expect(await world.git('show', `${branch}:packages/protocol/src/ids.ts`)).toMatch(
      /^\/\/ SPDX-License-Identifier: Apache-2\.0\n/,
    );
    expect(await world.git('diff', '--shortstat', 'HEAD', branch)).toContain(
      `${changed.length} insertions(+)`,
    );
  });
});
