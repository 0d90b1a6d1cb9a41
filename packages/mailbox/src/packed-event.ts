import type { TeamEventBody } from '@placet/protocol';
import { z } from 'zod';
import { packDigest, packRequestId, unpackDigest, unpackRequestId } from './packed-names.ts';

/**
 * The two events that every plan leaves behind while it waits are written as lists: their history is kept for as long
 * as the plan, and a hundred thousand may wait (TM-42).
 */
const PackedProposed = z.tuple([
  z.literal('proposed'),
  z.string(), // teammate
  z.string(), // session
  z.string(), // request, as packRequestId writes it
  z.string(), // digest of the plan, as packDigest writes it
  z.number(), // revision
]);
const PackedPhase = z.tuple([
  z.literal('phase'),
  z.string(), // teammate
  z.string(), // session
  z.string(), // phase
  z.string(), // request, as packRequestId writes it; '' for none
]);
const PackedEvent = z.union([PackedProposed, PackedPhase]);
type PackedEvent = z.infer<typeof PackedEvent>;

/** Writes an event as the team's event log holds it. */
export function packEvent(team: string, body: TeamEventBody): string {
  return JSON.stringify(asList(team, body) ?? body);
}

/** What {@link packEvent} wrote, as an event's fields; anything that is none is answered as it is. */
export function unpackEvent(team: string, text: string): unknown {
  const value: unknown = JSON.parse(text);
  const packed = PackedEvent.safeParse(value);
  return packed.success ? fromList(team, packed.data) : value;
}

/** Undefined when the event says more than the list can, or is of another type. */
function asList(team: string, body: TeamEventBody): PackedEvent | undefined {
  if (body.type !== 'plan:proposed' && body.type !== 'task:phase') return undefined;
  const { teammate, sessionId, requestId } = body;
  if (teammate === undefined || sessionId === undefined) return undefined;
  const packedId = requestId === undefined ? '' : packRequestId(team, teammate, requestId);
  const says = (...fields: string[]) => {
    const known = new Set(['type', 'teammate', 'sessionId', 'requestId', ...fields]);
    return Object.entries(body).every(([field, value]) => value === undefined || known.has(field));
  };
  if (body.type === 'task:phase') {
    return says('phase') ? ['phase', teammate, sessionId, body.phase, packedId] : undefined;
  }
  const { planDigest, revision } = body;
  if (packedId === '' || !says('planDigest', 'revision')) return undefined;
  return ['proposed', teammate, sessionId, packedId, packDigest(planDigest), revision];
}

function fromList(team: string, packed: PackedEvent): Record<string, unknown> {
  const [kind, teammate, sessionId] = packed;
  const head = { teammate, sessionId };
  if (kind === 'phase') {
    const requestId = packed[4] && unpackRequestId(team, teammate, packed[4]);
    return { type: 'task:phase', ...head, ...(requestId && { requestId }), phase: packed[3] };
  }
  return {
    type: 'plan:proposed',
    ...head,
    requestId: unpackRequestId(team, teammate, packed[3]),
    planDigest: unpackDigest(packed[4]),
    revision: packed[5],
  };
}
