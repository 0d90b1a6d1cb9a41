import { PermissionMode } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { sessionCommands } from './session-commands.test.fixture.ts';
import {
  begin,
  checkInvariants,
  dangerous,
  harmless,
  type Setup,
  sources,
} from './session-model.test.fixture.ts';
import { Race, raceSteps } from './session-race.test.fixture.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testScale: 'normal' | 'full';
  }
}

// The full scale (PLACET_TEST_SCALE=full) is run before a release; the normal one with every change.
const numRuns = inject('testScale') === 'full' ? 10_000 : 300;
const timeoutMs = 20 * 60_000;

const setups: fc.Arbitrary<Setup> = fc
  .record({
    required: fc.boolean(),
    kind: fc.constantFrom('main' as const, 'teammate' as const),
    mode: fc.constantFrom(...PermissionMode.options),
    useAuto: fc.boolean(),
    bypass: fc.boolean(),
    rules: fc.array(
      fc.record({ source: fc.constantFrom(...sources), rule: fc.constantFrom(...dangerous, ...harmless) }),
      { maxLength: 8 },
    ),
  })
  .map((setup) => ({ ...setup, kind: setup.required ? 'teammate' : setup.kind }));

describe('a session under arbitrary interleavings', () => {
  it(
    '[I1, I6, PM-3, PM-5, PM-7, PM-13, PM-17, PM-29] is what the rules say after every step, whoever took it',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          setups,
          fc.commands(sessionCommands, { maxCommands: 40, size: '+1' }),
          async (setup, commands) => {
            const { model, real } = begin(setup);
            checkInvariants(real, model);
            await fc.asyncModelRun(() => ({ model, real }), commands);
          },
        ),
        { numRuns },
      );
    },
    timeoutMs,
  );

  it(
    '[I1, PM-73, PM-77, PM-79] opens and edits for the planning that an approval was for, or not at all, however slow the storage',
    async () => {
      const kinds = fc.constantFrom('main' as const, 'teammate' as const);
      const steps = fc.array(raceSteps, { minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), kinds, steps, async (scheduler, kind, taken) => {
          const race = new Race(scheduler, kind);
          scheduler.scheduleSequence(
            taken.map(({ name, act }) => ({
              label: name,
              builder: () => {
                act(race);
                return Promise.resolve();
              },
            })),
          );
          await scheduler.waitIdle();
          expect(await race.settled()).toEqual([]);
        }),
        { numRuns },
      );
    },
    timeoutMs,
  );
});
