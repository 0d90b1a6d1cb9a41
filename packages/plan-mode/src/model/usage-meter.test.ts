import { maxRememberedTurns, Submission, type UsagePhase } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageMeter } from './usage-meter.ts';

const report = (turnId: string, phase: UsagePhase, inputTokens: number, more: object = {}) => ({
  turnId,
  phase,
  usage: { inputTokens, ...more },
});

describe('the usage of a session', () => {
  it('[PM-81] is added up per phase and in all', () => {
    const meter = new UsageMeter();
    meter.report(report('1', 'planning', 100, { outputTokens: 7, costUsd: 0.1 }));
    meter.report(report('2', 'planning', 50, { costUsd: 0.2 }));
    meter.report(report('3', 'implementing', 1000, { outputTokens: 1 }));

    expect(meter.usage).toEqual({
      inputTokens: 1150,
      outputTokens: 8,
      costUsd: 0.3, // and not 0.30000000000000004
      byPhase: {
        planning: { inputTokens: 150, outputTokens: 7, costUsd: 0.3 },
        implementing: { inputTokens: 1000, outputTokens: 1 },
      },
    });
  });

  it('[PM-81] has no cost and no phase that nobody reported', () => {
    const meter = new UsageMeter();
    expect(meter.usage).toEqual({ byPhase: {} });
    meter.report(report('1', 'planning', 0));
    expect(meter.usage).toEqual({ inputTokens: 0, byPhase: { planning: { inputTokens: 0 } } });
  });

  it('[PM-81] counts a report once that comes again, late, or after a restart', () => {
    const meter = new UsageMeter();
    expect(meter.report(report('1', 'planning', 100))).toEqual({ kind: 'counted' });
    expect(meter.report(report('1', 'planning', 100))).toEqual({ kind: 'repeated' });
    expect(meter.report(report('1', 'implementing', 100))).toEqual({ kind: 'repeated' });
    expect(meter.report(report('1', 'planning', 40))).toEqual({ kind: 'repeated' });
    const back = UsageMeter.restore(JSON.parse(JSON.stringify(meter.snapshot())));
    expect(back.report(report('1', 'planning', 100))).toEqual({ kind: 'repeated' });
    back.report(report('2', 'planning', 1));
    expect(back.usage.inputTokens).toBe(101);
  });

  it('[PM-81] splits a turn that goes on into the work where it did', () => {
    const meter = new UsageMeter();
    meter.report(report('1', 'planning', 100, { costUsd: 1, notional: true }));
    meter.report(report('1', 'implementing', 250, { costUsd: 1.5, notional: true }));

    expect(meter.usage.byPhase).toEqual({
      planning: { inputTokens: 100, costUsd: 1, notional: true },
      implementing: { inputTokens: 150, costUsd: 0.5, notional: true },
    });
  });

  it('[PM-81] is labelled notional as soon as any price in it is, and stays so', () => {
    const meter = new UsageMeter();
    meter.report(report('1', 'planning', 1, { costUsd: 2 }));
    expect(meter.usage.notional).toBeUndefined();
    meter.report(report('2', 'implementing', 1, { costUsd: 2, notional: true }));
    meter.report(report('3', 'implementing', 1, { costUsd: 2, notional: false }));
    const { usage } = UsageMeter.restore(meter.snapshot());
    expect(usage).toMatchObject({ costUsd: 6, notional: true });
    expect(usage.byPhase?.planning).toEqual({ inputTokens: 1, costUsd: 2 });
    expect(usage.byPhase?.implementing).toMatchObject({ costUsd: 4, notional: true });
  });

  it('[PM-81] never runs over', () => {
    const meter = new UsageMeter();
    for (const turn of ['1', '2', '3'])
      meter.report(report(turn, 'planning', Number.MAX_SAFE_INTEGER, { costUsd: Number.MAX_VALUE }));
    meter.report(report('4', 'implementing', 5));

    expect(meter.usage.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
    expect(meter.usage.costUsd).toBeGreaterThan(9_000_000);
    expect(UsageMeter.restore(meter.snapshot()).usage).toEqual(meter.usage);
  });

  it.each([
    ['less than nothing', { inputTokens: -1 }],
    ['a fraction of a token', { inputTokens: 0.5 }],
    ['no number', { outputTokens: Number.NaN }],
    ['more than can be', { costUsd: Number.POSITIVE_INFINITY }],
    ['a number in quotes', { inputTokens: '5' }],
  ])('[PM-81] counts nothing of a report of %s', (_, usage) => {
    const meter = new UsageMeter();
    const hostile = JSON.parse('{}');
    expect(
      meter.report({ turnId: '1', phase: 'planning', usage: Object.assign(hostile, usage) }),
    ).toMatchObject({
      kind: 'refused',
      issues: [{ path: expect.stringMatching(/^usage\./) }],
    });
    expect(meter.usage).toEqual({ byPhase: {} });
  });

  it('[PM-81] begins anew after what is no snapshot, and says so', () => {
    const warnings: string[] = [];
    const quiet = () => undefined;
    const log = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (_: object, text: string) => warnings.push(text),
    };
    for (const broken of [undefined, null, 'x', { version: 2 }, { version: 1, phases: { planning: {} } }])
      expect(UsageMeter.restore(broken, log).usage).toEqual({ byPhase: {} });
    expect(warnings).toHaveLength(5);
  });

  it('[PM-81] can stand in a request, whatever was used', () => {
    const meter = new UsageMeter();
    for (const phase of ['planning', 'implementing'] as const)
      meter.report({
        turnId: phase,
        phase,
        usage: {
          inputTokens: Number.MAX_SAFE_INTEGER,
          outputTokens: Number.MAX_SAFE_INTEGER,
          costUsd: 1234567.123456789,
          notional: true,
        },
      });
    const { success } = Submission.shape.usage.safeParse(meter.usage);
    expect(success).toBe(true);
  });

  it('remembers so many turns and no more', () => {
    const meter = new UsageMeter();
    for (let turn = 0; turn < 1000; turn += 1) meter.report(report(String(turn), 'planning', 1));
    expect(meter.snapshot().turns).toHaveLength(maxRememberedTurns);
    expect(meter.report(report('999', 'planning', 1)).kind).toBe('repeated');
    expect(meter.usage.inputTokens).toBe(1000);
  });

  it('[PM-81] loses and doubles nothing, in whatever order turns report and restart', () => {
    const step = fc.record({
      turn: fc.integer({ min: 0, max: 9 }),
      phase: fc.constantFrom<UsagePhase>('planning', 'implementing'),
      inputTokens: fc.nat(1_000_000),
      microUsd: fc.nat(1_000_000),
      restart: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let meter = new UsageMeter();
        const tokens = new Map<number, number>();
        const cost = new Map<number, number>();
        for (const { turn, phase, inputTokens, microUsd, restart } of steps) {
          const usage = { inputTokens, costUsd: microUsd / 1_000_000 };
          for (let times = 0; times < 2; times += 1) meter.report({ turnId: String(turn), phase, usage });
          if (restart) meter = UsageMeter.restore(JSON.parse(JSON.stringify(meter.snapshot())));
          tokens.set(turn, Math.max(tokens.get(turn) ?? 0, inputTokens));
          cost.set(turn, Math.max(cost.get(turn) ?? 0, microUsd));
        }
        const { usage } = meter;
        const { planning, implementing } = usage.byPhase ?? {};
        expect(usage.inputTokens ?? 0).toBe(total(tokens));
        expect(usage.costUsd ?? 0).toBe(total(cost) / 1_000_000);
        expect((planning?.inputTokens ?? 0) + (implementing?.inputTokens ?? 0)).toBe(usage.inputTokens ?? 0);
      }),
    );
  });
});

function total(amounts: Map<number, number>): number {
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
}
