import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockedCounter, maxToolLabels } from './blocked-counter.ts';

describe('the count of refusals', () => {
  it('[PM-28] is by tool and reason', () => {
    const counter = new BlockedCounter();
    counter.count({ tool: 'Write', reason: 'not_plan_safe' });
    counter.count({ tool: 'Write', reason: 'not_plan_safe' });
    counter.count({ tool: 'Write', reason: 'not_the_plan_file' });
    counter.count({ tool: 'mcp__x__y', reason: 'untrusted_server' });

    expect(counter.toText()).toBe(
      [
        '# HELP placet_plan_mode_blocked_total Calls that plan mode refused.',
        '# TYPE placet_plan_mode_blocked_total counter',
        'placet_plan_mode_blocked_total{tool="Write",reason="not_plan_safe"} 2',
        'placet_plan_mode_blocked_total{tool="Write",reason="not_the_plan_file"} 1',
        'placet_plan_mode_blocked_total{tool="mcp__x__y",reason="untrusted_server"} 1',
        '',
      ].join('\n'),
    );
  });

  it('[PM-28] puts together the tools beyond a bound, and loses none', () => {
    const counter = new BlockedCounter();
    for (let n = 0; n < maxToolLabels * 5; n += 1)
      counter.count({ tool: `tool_${n}`, reason: 'not_plan_safe' });
    const samples = counter.samples();

    expect(samples).toHaveLength(maxToolLabels + 1);
    expect(samples.find(({ tool }) => tool === 'other')?.count).toBe(maxToolLabels * 4);
  });

  it('[PM-28] writes a text that can be parsed, whatever the names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (tools) => {
        const counter = new BlockedCounter();
        for (const tool of tools) counter.count({ tool, reason: 'not_plan_safe' });
        const lines = counter.toText().split('\n').slice(2, -1);
        for (const line of lines)
          expect(line).toMatch(/^\w+\{tool="[\w.:/-]+",reason="not_plan_safe"\} \d+$/);
      }),
    );
    const counter = new BlockedCounter();
    counter.count({ tool: '__proto__', reason: 'agent_spawn' });
    counter.count({ tool: 'a"} 1\nevil', reason: 'agent_spawn' });

    expect(counter.samples().map(({ tool }) => tool)).toEqual(['__proto__', 'other']);
  });
});
