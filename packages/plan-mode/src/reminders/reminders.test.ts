import { PermissionMode, ReminderState, type SessionEvent } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Attachment, Reminders, remindersPerFullOne, userTurnsBetweenReminders } from './reminders.ts';

const planFilePath = '/plans/a.md';
const make = (state?: ReminderState) => new Reminders({ planFilePath }, state);
const userTurn = { mode: 'plan', userTurn: true, planExists: false } as const;
const toolTurn = { ...userTurn, userTurn: false };

const kindOf = (attachment: Attachment | undefined) =>
  attachment?.type === 'plan_mode' ? attachment.reminderType : attachment?.mode;

/** What is given in so many user turns, by the number of the turn; each is followed by three tool results. */
function turnsOf(reminders: Reminders, last: number) {
  const given: Record<number, string | undefined> = {};
  for (let turn = 0; turn <= last; turn += 1) {
    const kind = kindOf(reminders.next(userTurn));
    if (kind) given[turn] = kind;
    for (let result = 0; result < 3; result += 1) expect(reminders.next(toolTurn)).toBeUndefined();
  }
  return given;
}

function modeEvent(previousMode: PermissionMode, mode: PermissionMode): SessionEvent {
  return {
    type: 'plan:mode',
    seq: 1,
    at: '2026-01-01T00:00:00.000Z',
    mode,
    previousMode,
    cause: 'entered',
    announcement: '',
  };
}

describe('the reminders of a session', () => {
  it('[PM-51] come in the turns 0, 5, 10 and so on to 30, the first and the sixth in full', () => {
    expect([userTurnsBetweenReminders, remindersPerFullOne]).toEqual([5, 5]);
    expect(turnsOf(make(), 30)).toEqual({
      0: 'full',
      5: 'sparse',
      10: 'sparse',
      15: 'sparse',
      20: 'sparse',
      25: 'full',
      30: 'sparse',
    });
  });

  it('[PM-51] do not come for tool results, however many', () => {
    const reminders = make();
    reminders.next(userTurn);

    for (let result = 0; result < 100; result += 1) expect(reminders.next(toolTurn)).toBeUndefined();
  });

  it('[PM-50] say what a host must know', () => {
    const reminders = new Reminders({ planFilePath, customInstructions: 'Guess.' });

    expect(reminders.next({ ...userTurn, planExists: true })).toEqual({
      type: 'plan_mode',
      reminderType: 'full',
      planFilePath,
      planExists: true,
      customInstructions: 'Guess.',
      text: expect.stringContaining('| Guess.'),
    });
  });

  it('[PM-50, PM-51] begin anew after a compaction, in full and at once', () => {
    const reminders = make();
    turnsOf(reminders, 12);
    reminders.compacted();

    expect(reminders.next(toolTurn)).toMatchObject({ reminderType: 'full' });
    for (let turn = 1; turn < 5; turn += 1) expect(reminders.next(userTurn)).toBeUndefined();
    expect(reminders.next(userTurn)).toMatchObject({ reminderType: 'sparse' });
  });

  it('[PM-50] begin anew with an entry, also where it was left between two contexts', () => {
    const reminders = make();
    turnsOf(reminders, 7);
    reminders.observe(modeEvent('plan', 'default'));
    reminders.observe(modeEvent('default', 'plan'));

    expect(kindOf(reminders.next(userTurn))).toBe('full');
  });

  it('[PM-51] go on where planning goes on in another way', () => {
    const reminders = make();
    reminders.next(userTurn);
    reminders.observe(modeEvent('plan', 'plan'));

    expect(reminders.next(userTurn)).toBeUndefined();
  });

  it('[PM-55] end with one attachment that says which mode holds, when it is told', () => {
    const reminders = make();
    reminders.next(userTurn);
    reminders.observe(modeEvent('plan', 'auto'));

    expect(reminders.next({ ...toolTurn, mode: 'acceptEdits' })).toEqual({
      type: 'plan_mode_exit',
      mode: 'acceptEdits',
      text: expect.stringContaining('acceptEdits'),
    });
    expect(reminders.next({ ...userTurn, mode: 'acceptEdits' })).toBeUndefined();
    reminders.left();
    reminders.compacted();
    expect(reminders.next({ ...userTurn, mode: 'default' })).toBeUndefined();
  });

  it('[PM-18, PM-51] say what was given last, and in which turn', () => {
    const reminders = make();
    expect(reminders.last).toBeUndefined();
    turnsOf(reminders, 12);
    expect(reminders.last).toEqual({ reminderType: 'sparse', turn: 10 });
    reminders.next({ ...userTurn, mode: 'auto' });
    expect(reminders.last).toEqual({ reminderType: 'exit', turn: 12 });
    reminders.next(userTurn);
    expect(reminders.last).toEqual({ reminderType: 'full', turn: 0 });
    reminders.compacted();
    expect(reminders.last).toBeUndefined();
  });

  it('[PM-55] say nothing where there was no plan mode', () => {
    for (const mode of PermissionMode.exclude(['plan']).options)
      expect(make().next({ ...userTurn, mode })).toBeUndefined();
  });

  it('[PM-51, PM-55] go on after a restart, with nothing repeated or forgotten', () => {
    let reminders = make();
    const given: (string | undefined)[] = [];
    const turns = [...Array(31).fill(userTurn), { ...userTurn, mode: 'auto' }, { ...userTurn, mode: 'auto' }];
    for (const turn of turns) {
      given.push(kindOf(reminders.next(turn)));
      reminders = make(ReminderState.parse(JSON.parse(JSON.stringify(reminders.state))));
    }
    expect(given.slice(0, 31).filter(Boolean)).toEqual(Object.values(turnsOf(make(), 30)));
    expect(given.slice(31)).toEqual(['auto', undefined]);
  });

  it('[PM-50, PM-51, PM-55] hold for any course of a session', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('turn' as const), userTurn: fc.boolean() }),
      fc.record({ kind: fc.constant('mode' as const), mode: fc.constantFrom(...PermissionMode.options) }),
      fc.record({ kind: fc.constant('compacted' as const) }),
      fc.record({ kind: fc.constant('restart' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let reminders = make();
        let mode: PermissionMode = 'default';
        let turns = 0;
        let last: number | undefined; // which reminder it was since entry or compaction, from 0
        let exits = 0;
        for (const one of steps)
          if (one.kind === 'mode') {
            reminders.observe(modeEvent(mode, one.mode));
            if (mode === 'plan' && one.mode !== 'plan') exits = 1;
            if (mode !== 'plan' && one.mode === 'plan') [last, exits] = [undefined, 0];
            mode = one.mode;
          } else if (one.kind === 'compacted') {
            reminders.compacted();
            last = undefined;
          } else if (one.kind === 'restart') reminders = make(reminders.state);
          else {
            const attachment = reminders.next({ mode, userTurn: one.userTurn, planExists: false });
            turns += one.userTurn ? 1 : 0;
            const isDue = mode === 'plan' && (last === undefined || turns >= 5);
            if (mode !== 'plan') {
              expect(attachment?.type).toBe(exits ? 'plan_mode_exit' : undefined);
              exits = 0;
            } else if (isDue) {
              last = (last ?? -1) + 1;
              turns = 0;
              expect(kindOf(attachment)).toBe(last % 5 === 0 ? 'full' : 'sparse');
            } else expect(attachment).toBeUndefined();
          }
      }),
      { numRuns: 500 },
    );
  });
});
