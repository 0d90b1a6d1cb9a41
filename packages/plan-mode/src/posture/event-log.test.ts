import { type Log, SessionEvent, silentLog } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { EventLog, type EventStamp, maxKeptEvents } from './event-log.ts';

const proposed = (stamp: EventStamp): SessionEvent => ({
  type: 'plan:proposed',
  ...stamp,
  planDigest: `sha256:${'0'.repeat(64)}`,
  revision: 1,
});
const blocked = (stamp: EventStamp): SessionEvent => ({
  type: 'plan:blocked',
  ...stamp,
  tool: 'Write',
  reason: 'x',
});

function logOf(more: { after?: number; onEvent?: (event: SessionEvent) => void; log?: Log } = {}) {
  const { after = 0, onEvent, log = silentLog } = more;
  return new EventLog({ after, clock: { now: () => 0 }, log, onEvent });
}

describe('the events of a session', () => {
  it('[PM-78] are numbered without a gap and replayed from any number', () => {
    const told: SessionEvent[] = [];
    const events = logOf({ onEvent: (event) => told.push(event) });
    events.add(proposed);
    events.add(blocked, proposed);

    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(events.after(0)).toEqual({ events: told, missing: false });
    expect(events.after(2).events).toEqual(told.slice(2));
    expect(events.after(3)).toEqual({ events: [], missing: false });
    for (const event of told) expect(SessionEvent.parse(event)).toEqual(event);
  });

  it('[PM-78] go on after a restart with the next number, and say that the former ones are not here', () => {
    const events = logOf({ after: 7 });
    events.add(proposed);

    expect(events.after(7)).toMatchObject({ events: [{ seq: 8 }], missing: false });
    expect(events.after(6).missing).toBe(true);
  });

  it('[PM-78] take bounded memory, and no flood of refusals pushes out a transition', () => {
    const events = logOf();
    events.add(proposed);
    for (let call = 0; call < maxKeptEvents * 3; call += 1) events.add(blocked);

    const replay = events.after(0);
    expect(replay.events).toHaveLength(maxKeptEvents + 1);
    expect(replay.events[0]?.type).toBe('plan:proposed');
    expect(replay.missing).toBe(true);
    expect(events.after(events.seq - maxKeptEvents).missing).toBe(false);
  });

  it('[PM-78] are told in order, also of what a listener causes', () => {
    const told: number[] = [];
    const events = logOf({
      onEvent: ({ seq }) => {
        if (seq === 1) events.add(proposed);
        told.push(seq);
      },
    });
    events.add(proposed, proposed);

    expect(told).toEqual([1, 2, 3]);
  });

  it('[PM-78, I8] go on where a listener fails, which is logged', () => {
    const errors: object[] = [];
    const told: number[] = [];
    const events = logOf({
      log: { ...silentLog, error: (fields) => void errors.push(fields) },
      onEvent: ({ seq }) => {
        told.push(seq);
        if (seq === 1) throw new Error('a bad listener');
      },
    });
    events.add(proposed, proposed);

    expect(told).toEqual([1, 2]);
    expect(errors).toMatchObject([{ seq: 1, type: 'plan:proposed' }]);
  });
});
