import { keyOf, type Mailbox, type RedisHandle } from '@placet/mailbox';
import type { TeamEvent } from '@placet/protocol';
import { z } from 'zod';

/** One entry of a team's audit log, read. */
export interface Act {
  seq: number;
  act: string;
  request?: string | undefined;
  jti?: string | undefined;
  epoch?: number | undefined;
}

const AuditBody = z.looseObject({
  act: z.string(),
  request: z.string().optional(),
  jti: z.string().optional(),
  epoch: z.number().optional(),
});

const pageSize = 1000;

/** The whole audit log of a team. */
export async function readActs(mailbox: Mailbox, team: string): Promise<Act[]> {
  const acts: Act[] = [];
  for (;;) {
    const page = await mailbox.audit.read(team, acts.at(-1)?.seq ?? 0, pageSize);
    for (const { seq, body } of page) {
      const { act, request, jti, epoch } = AuditBody.parse(JSON.parse(body));
      acts.push({ seq, act, request, jti, epoch });
    }
    if (page.length < pageSize) return acts;
  }
}

/** The whole event log of a team. */
export async function readAllEvents(mailbox: Mailbox, team: string): Promise<TeamEvent[]> {
  const all: TeamEvent[] = [];
  for (;;) {
    const { events } = await mailbox.events.read(team, all.at(-1)?.id ?? '0-0', pageSize);
    all.push(...events);
    if (events.length < pageSize) return all;
  }
}

/** The numbers of an audit or event log that are missing between 1 and its last one. */
export function gapsIn(numbers: readonly number[]): number[] {
  const known = new Set(numbers);
  return Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1).filter(
    (number) => !known.has(number),
  );
}

/** The number of an event: `<n>-0`. */
export function numberOf({ id }: TeamEvent): number {
  return Number(id.split('-')[0]);
}

/** What became of the outbox: its ids only ever rise, so as many entries as the last number leave no gap. */
export interface OutboxAccount {
  /** The last number that was given. */
  given: number;
  /** How many entries were ever added. */
  added: number;
  lastId: string;
  /** How many are not relayed yet. */
  waiting: number;
}

/** Accounts for the outbox of a team, also for entries that were relayed and are gone. */
export async function accountForOutbox({ redis }: RedisHandle, team: string): Promise<OutboxAccount> {
  const given = Number(await redis.hget(keyOf(team, 'sequence'), 'outbox'));
  const info = z.array(z.unknown()).parse(await redis.xinfo('STREAM', keyOf(team, 'outbox')));
  const fieldOf = (name: string) => String(info[info.indexOf(name) + 1]);
  return {
    given,
    added: Number(fieldOf('entries-added')),
    lastId: fieldOf('last-generated-id'),
    waiting: Number(fieldOf('length')),
  };
}
