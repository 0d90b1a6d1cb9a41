import { PostureReport } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packReport, unpackReport } from './posture-codec.ts';

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const reports = fc
  .record({
    mode: fc.constantFrom(...PostureReport.shape.mode.options),
    prePlanMode: optional(fc.constantFrom('default', 'acceptEdits', 'bypassPermissions')),
    cause: optional(fc.constantFrom('started', 'auto_gate_closed')),
    entry: optional(fc.constantFrom('start_flag', 'meta_command')),
    since: optional(fc.constantFrom('2026-01-02T03:04:05.678Z', '9999-12-31T23:59:59.999Z')),
    planModeRequired: optional(fc.boolean()),
    attachment: optional(
      fc.record(
        { reminderType: fc.constantFrom('full', 'sparse', 'exit'), turn: fc.nat(), more: fc.nat() },
        { requiredKeys: ['reminderType', 'turn'] },
      ),
    ),
    announcement: optional(fc.string({ maxLength: 100 })),
    refusals: optional(fc.constant({ total: 1, most: [{ tool: 'a,b:c', reason: 'r', count: 1 }] })),
    later: optional(fc.jsonValue()),
  })
  .map((report) => PostureReport.parse(JSON.parse(JSON.stringify(report))));

describe('a packed report', () => {
  it('[PM-18] is read back as it was said', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const packed = packReport(report);
        expect(packed.line.length).toBeLessThanOrEqual(64);
        expect(unpackReport(packed)).toEqual(report);
      }),
    );
  });

  it('[TM-42] of an ordinary parked plan is a short line and nothing else', () => {
    const report: PostureReport = {
      mode: 'plan',
      prePlanMode: 'acceptEdits',
      planModeRequired: true,
      cause: 'started',
      entry: 'start_flag',
      since: '2026-01-02T03:04:05.678Z',
      attachment: { reminderType: 'full', turn: 0 },
    };
    expect(packReport(report)).toEqual({
      line: `plan,acceptEdits,started,start_flag,${Date.parse('2026-01-02T03:04:05.678Z').toString(36)},1,full:0`,
      rest: '',
    });
  });

  it.each(['', 'nonsense', ',,,,,,', 'plan,,,,!,,', 'plan,,,,,,full:x', '-'])(
    'that is none is an error: %j',
    (line) => {
      expect(() => unpackReport({ line, rest: '' })).toThrow();
    },
  );
});
