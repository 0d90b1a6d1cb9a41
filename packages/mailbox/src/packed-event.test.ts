import { digestOfText, newRequestId, type TeamEventBody } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { packEvent, unpackEvent } from './packed-event.ts';

const about = { teammate: 'worker', sessionId: 's-1', requestId: newRequestId('worker', 'acme') };
const proposed = { type: 'plan:proposed', ...about, planDigest: digestOfText('plan'), revision: 2 } as const;
const phase = { type: 'task:phase', teammate: 'worker', sessionId: 's-1', phase: 'planning' } as const;

const events: TeamEventBody[] = [
  proposed,
  { ...proposed, requestId: 'foreign-1' },
  { ...proposed, more: 'than a list says' },
  { type: 'plan:proposed', planDigest: digestOfText('plan'), revision: 1 },
  phase,
  { ...phase, requestId: about.requestId },
  { ...phase, phase: 'failed', reason: 'plan_timeout' },
  { type: 'task:phase', phase: 'planning' },
  { type: 'plan:decided', ...about, outcome: 'approved', by: 'lead:ada' },
  { type: 'alarm', code: 'c', detail: 'd' },
];

describe('packed events', () => {
  it.each(events)('[ST-6] give back every field: $type %#', (event) => {
    expect(unpackEvent('acme', packEvent('acme', event))).toEqual(event);
  });

  it('[TM-42] are short for what every parked plan leaves behind', () => {
    expect(packEvent('acme', proposed).length).toBeLessThan(150);
    expect(packEvent('acme', phase).length).toBeLessThan(80);
  });

  it('are left as they are where they are lists of something else', () => {
    expect(unpackEvent('acme', '["proposed"]')).toEqual(['proposed']);
  });
});
