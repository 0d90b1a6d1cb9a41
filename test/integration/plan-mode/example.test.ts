import { access, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approvedPlanMarker } from '@placet/plan-mode';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Agent, runAgent, type Said } from '../../../docs/examples/agent-loop.ts';

describe('the agent loop of the documentation', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'placet-example-')));
    await writeFile(join(folder, 'a.txt'), 'old');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const text = () => readFile(join(folder, 'a.txt'), 'utf8');
  /** What the tools of each turn were, and what the model knew at it. */
  const seen: { tools: string[]; told: string; file: string }[] = [];
  const run = (script: Said[], review: Agent['review']) => {
    seen.length = 0;
    const model: Agent['model'] = async (context, tools) => {
      seen.push({ tools: [...tools], told: context.at(-1) ?? '', file: await text() });
      return script[seen.length - 1] ?? 'done';
    };
    return runAgent({ folder, task: 'make it new', model, review });
  };

  const work: Said = { tool: 'write', input: { path: 'a.txt', text: 'new' } };
  const plan = (of: string): Said => ({ tool: 'write', input: { text: of } });
  const submit: Said = { tool: 'plan_submit', input: {} };

  it('[I1] plans, is refused a write, writes its plan, submits, is approved, and then really writes', async () => {
    const reviewed: string[] = [];
    const context = await run(
      [{ tool: 'read', input: { path: 'a.txt' } }, work, plan('make a.txt new'), submit, work],
      async (submitted) => {
        reviewed.push(submitted, await text());
        return 'approved';
      },
    );

    expect(context[0]).toBe('make it new');
    expect(context[1]).toContain('# Plan mode is on');
    expect(context[2]).toBe('old');
    expect(JSON.parse(context[3] ?? '')).toMatchObject({ error_code: 'plan_mode_blocked', tool: 'write' });
    expect(context[4]).toMatch(/^the plan is sha256:/);
    expect(reviewed).toEqual(['make a.txt new', 'old']);
    expect(context[5]).toContain(`${approvedPlanMarker}\nmake a.txt new`);
    expect(context[6]).toContain('Plan mode is off. The permission mode is now acceptEdits.');
    expect(context.slice(7)).toEqual(['written']);
    expect(seen.map(({ file }) => file)).toEqual(['old', 'old', 'old', 'old', 'old', 'new']);
    expect(await text()).toBe('new');
    const [planFile, ...others] = await readdir(join(folder, '.plans'));
    expect(others).toEqual([]);
    expect(await readFile(join(folder, '.plans', planFile ?? ''), 'utf8')).toBe('make a.txt new');
  });

  it('plans on after a rejection, until the plan is good', async () => {
    const answers = [{ feedback: 'say how it is tested' }, 'approved'] as const;
    let asked = 0;
    const context = await run([plan('one'), submit, work, plan('two'), submit, work], async () => {
      asked += 1;
      return answers[asked - 1] ?? 'approved';
    });

    expect(seen[2]?.told).toContain('say how it is tested');
    expect(seen[3]?.told).toContain('plan_mode_blocked');
    expect(seen[5]?.told).toContain('Plan mode is off');
    expect(context.join('\n')).toContain(`${approvedPlanMarker}\ntwo`);
    expect(await text()).toBe('new');
  });

  it('changes nothing without an approval, and nothing outside its folder', async () => {
    const outside: Said = {
      tool: 'write',
      input: { path: `../${folder.split('/').at(-1)}-outside`, text: 'x' },
    };
    await run([work, submit, { tool: 'no_such_tool', input: {} }, outside], async () => ({
      feedback: 'no plan',
    }));
    expect(await text()).toBe('old');
    await expect(access(`${folder}-outside`)).rejects.toThrow();

    await run([submit, outside, work], async () => 'approved');
    expect(seen[2]?.told).toContain('is outside the folder');
    expect(await text()).toBe('new');
    await expect(access(`${folder}-outside`)).rejects.toThrow();
  });

  it('[PM-20] is offered what it can use, turn by turn', async () => {
    await run([plan('one')], async () => 'approved');
    expect(seen[0]?.tools).toEqual(['read', 'write', 'plan_submit']);
  });
});
