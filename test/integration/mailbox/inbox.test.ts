import { createLeadMode, createSigner, keyOf } from '@placet/mailbox';
import { leadInboxName, PlanApprovalRequest, PlanApprovalResponse } from '@placet/protocol';
import { generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  decide,
  failureOf,
  passDeadline,
  recordOf,
  type StoreWorld,
  submit,
  teammate,
  useStore,
} from './store-world.ts';

const visibilityMs = 60;
let world: StoreWorld;

useStore({ visibilityMs }, (opened) => {
  world = opened;
});

const text = (words: string) => ({ type: 'message', text: words });

function send(
  words: string,
  { from = 'other', to = teammate, operationId }: { from?: string; to?: string; operationId?: string } = {},
) {
  return world.mailbox.inboxes.send(world.team, { from, to, message: text(words), operationId });
}

const read = (agent: string, page: { after?: string; limit?: number } = {}) =>
  world.mailbox.inboxes.read(world.team, agent, { limit: 50, ...page });
const take = (limit = 50) => world.mailbox.inboxes.take(world.team, teammate, limit);
const acknowledge = (agent: string, ids: string[]) =>
  world.mailbox.inboxes.acknowledge(world.team, agent, ids);
const wordsOf = (entries: { message: { [key: string]: unknown } }[]) =>
  entries.map(({ message }) => message.text);

/** Takes until something is due; the store's clock says when. */
const takeDue = () =>
  eventually(async () => {
    const taken = await take();
    return taken.length > 0 && taken;
  });

describe("a teammate's inbox", () => {
  it('[TM-41] shows what is not acknowledged, in order, and reading changes nothing', async () => {
    for (const words of ['a', 'b', 'c']) await send(words);
    const first = await read(teammate, { limit: 2 });
    const rest = await read(teammate, { after: first[1]?.id ?? '' });
    expect([wordsOf(first), wordsOf(rest), wordsOf(await read(teammate))]).toEqual([
      ['a', 'b'],
      ['c'],
      ['a', 'b', 'c'],
    ]);
    expect(first[0]).toMatchObject({ from: 'other', to: teammate, message: text('a') });
  });

  it('[TM-40] an acknowledged entry is gone from stream, group and memory', async () => {
    await send('a');
    await send('b');
    const taken = await take();
    expect(
      await acknowledge(
        teammate,
        taken.map(({ id }) => id),
      ),
    ).toBe(2);
    expect(
      await acknowledge(
        teammate,
        taken.map(({ id }) => id),
      ),
    ).toBe(0);
    const inbox = keyOf(world.team, 'inbox', teammate);
    expect(await world.handle.redis.xlen(inbox)).toBe(0);
    expect((await world.handle.redis.xpending(inbox, 'teammate'))[0]).toBe(0);
  });

  it('an id that is none acknowledges nothing and breaks nothing', async () => {
    const { id } = await send('a');
    expect(await acknowledge(teammate, ['x', '', '1', `${id} `, '99999999-0'])).toBe(0);
    expect(await read(teammate)).toHaveLength(1);
    expect(await failureOf(read(teammate, { after: 'x' }))).toMatchObject({ code: 'validation_failed' });
  });

  it('[TM-41] a taken entry is out for the visibility time and then offered again', async () => {
    await send('a');
    expect((await take())[0]).toMatchObject({ deliveries: 1, message: text('a') });
    expect(await take()).toEqual([]);
    const [again] = await takeDue();
    expect(again).toMatchObject({ deliveries: 2, message: text('a') });
  });

  it('[TM-41] entries offered again come before new ones, and no more than asked for', async () => {
    await send('a');
    await take();
    await send('b');
    await send('c');
    await eventually(async () => {
      const [due] = await world.handle.redis.xpending(
        keyOf(world.team, 'inbox', teammate),
        'teammate',
        'IDLE',
        visibilityMs,
        '-',
        '+',
        1,
      );
      return due !== undefined;
    });
    expect(wordsOf(await take(2))).toEqual(['a', 'b']);
    expect(wordsOf(await take(2))).toEqual(['c']);
  });

  it('[TM-41] after five failed deliveries an entry is a dead letter, which the lead can see', async () => {
    await send('poison');
    for (let deliveries = 1; deliveries <= 5; deliveries += 1) {
      expect((await takeDue())[0]).toMatchObject({ deliveries });
    }
    await eventually(async () => (await take()).length === 0 && (await read(teammate)).length === 0);
    expect(await world.mailbox.inboxes.deadLetters(world.team, teammate)).toMatchObject([
      { deliveries: 5, entry: { from: 'other', message: text('poison') } },
    ]);
    const { events } = await world.mailbox.events.read(world.team, undefined, 100);
    expect(events.filter(({ type }) => type === 'alarm')).toMatchObject([
      { code: 'undeliverable', teammate },
    ]);
  });

  it('[TM-41] two takers at once are never given the same entry', async () => {
    for (let n = 0; n < 40; n += 1) await send(String(n));
    const taken = await Promise.all(Array.from({ length: 8 }, () => take(10)));
    const words = taken.flatMap(wordsOf);
    expect(words).toHaveLength(40);
    expect(new Set(words).size).toBe(40);
  });

  it('[WR-14] gives a decision as a whole message, with the plan as the lead edited it', async () => {
    const record = await submit(world);
    await decide(world, record, { editedPlan: '# Plan\n\n1. Only this.\n' });
    const [entry] = await take();
    const message = PlanApprovalResponse.parse(entry?.message);
    expect(message).toMatchObject({
      requestId: record.requestId,
      approved: true,
      planEdited: true,
      planContent: '# Plan\n\n1. Only this.\n',
      permissionMode: 'acceptEdits',
    });
    expect(message.signature).toBeTruthy();
    expect(entry).toMatchObject({ from: leadInboxName, to: teammate });
  });

  it('[WR-24] tells of a deadline that passed, which approves nothing', async () => {
    const record = await submit(world);
    await passDeadline(world, record);
    await recordOf(world, record);
    const [entry] = await take();
    expect(entry?.message).toMatchObject({ outcome: 'timeout', approved: false });
    expect(entry?.message.signature).toBeUndefined();
  });

  it('[WR-14] no message that a teammate can send is an approval', async () => {
    const record = await submit(world);
    await decide(world, record);
    const [real] = await take();
    const message = PlanApprovalResponse.parse(real?.message);
    expect(message.approved).toBe(true);
    await acknowledge(teammate, [real?.id ?? '']);
    const sent = world.mailbox.inboxes.send(world.team, { from: 'mallory', to: teammate, message });
    expect(await failureOf(sent)).toMatchObject({ code: 'validation_failed' });
    expect(await read(teammate)).toEqual([]);
  });
});

describe("the lead's inbox", () => {
  it('[WR-26] is pending requests and messages in one order, each whole', async () => {
    const first = await submit(world);
    await send('note', { from: teammate, to: leadInboxName });
    const second = await submit(world);
    const entries = await read(leadInboxName);
    expect(entries.map(({ message }) => message.requestId ?? message.text)).toEqual([
      first.requestId,
      'note',
      second.requestId,
    ]);
    expect(PlanApprovalRequest.parse(entries[0]?.message)).toMatchObject({
      requestId: first.requestId,
      planContent: '# Plan\n\n1. Rename the option.\n',
      from: teammate,
    });
    const paged = [...(await read(leadInboxName, { limit: 1 }))];
    for (let last = paged[0]; last; ) {
      const [next] = await read(leadInboxName, { after: last.id, limit: 1 });
      if (next) paged.push(next);
      last = next;
    }
    expect(paged).toEqual(entries);
  });

  it('[WR-26] acknowledging a request decides nothing, and it stays for every lead', async () => {
    const record = await submit(world);
    const [entry] = await read(leadInboxName);
    expect(await acknowledge(leadInboxName, [entry?.id ?? ''])).toBe(0);
    expect(await read(leadInboxName)).toHaveLength(1);
    expect((await recordOf(world, record)).state).toBe('pending');
  });

  it('[WR-26] a request leaves when it ends and at no other time', async () => {
    const records = [await submit(world), await submit(world), await submit(world)];
    const [decided, late] = records;
    if (!decided || !late) throw new Error('nothing was submitted');
    for (let reads = 0; reads < 10; reads += 1) expect(await read(leadInboxName)).toHaveLength(3);
    await decide(world, decided, { outcome: 'rejected' });
    await passDeadline(world, late);
    expect((await read(leadInboxName)).map(({ message }) => message.requestId)).toEqual([
      records[2]?.requestId,
    ]);
  });

  it('[WR-33] a page is filled from what follows a request that ended while it was read', async () => {
    const records = [await submit(world), await submit(world), await submit(world)];
    if (records[0]) await passDeadline(world, records[0]);
    expect((await read(leadInboxName, { limit: 2 })).map(({ message }) => message.requestId)).toEqual(
      records.slice(1).map(({ requestId }) => requestId),
    );
  });

  it('[WR-26] a page of long plans is short, and those after it hold the rest', async () => {
    const planContent = `# Plan\n${'x'.repeat(1024 * 1024 - 10)}`;
    const records = await Promise.all(Array.from({ length: 20 }, () => submit(world, { planContent })));
    const first = await read(leadInboxName, { limit: 200 });
    expect(first.length).toBeLessThan(20);
    const rest = await read(leadInboxName, { limit: 200, after: first.at(-1)?.id ?? '' });
    expect(new Set([...first, ...rest].map(({ message }) => message.requestId))).toEqual(
      new Set(records.map(({ requestId }) => requestId)),
    );
  });

  it('[TM-40] an acknowledged message is gone', async () => {
    const { id } = await send('note', { to: leadInboxName });
    await send('other', { to: leadInboxName });
    expect(await acknowledge(leadInboxName, [id, id])).toBe(1);
    expect(wordsOf(await read(leadInboxName))).toEqual(['other']);
    expect(await world.handle.redis.hlen(keyOf(world.team, 'note'))).toBe(1);
  });
});

describe('sending', () => {
  it.each([teammate, leadInboxName])(
    '[TM-45] an operation ID makes a repetition harmless (to %s)',
    async (to) => {
      const sent = await Promise.all(
        Array.from({ length: 5 }, () => send('once', { to, operationId: 'op-1' })),
      );
      expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
      expect(await read(to)).toHaveLength(1);
      await send('twice', { to });
      await send('twice', { to });
      expect(await read(to)).toHaveLength(3);
      expect(await world.handle.redis.pttl(keyOf(world.team, 'operation', 'other', 'op-1'))).toBeGreaterThan(
        80_000_000,
      );
    },
  );

  it('[TM-45] operation IDs of two senders are two', async () => {
    await send('a', { from: 'one', operationId: 'x' });
    await send('b', { from: 'two', operationId: 'x' });
    expect(await read(teammate)).toHaveLength(2);
  });

  it('[WR-12] keeps a message of an unknown type whole, and shows it', async () => {
    const message = { type: 'weather', degrees: 21, deep: { list: [] } };
    await world.mailbox.inboxes.send(world.team, { from: 'x', to: leadInboxName, message });
    await world.mailbox.inboxes.send(world.team, { from: 'x', to: teammate, message });
    expect((await read(leadInboxName))[0]?.message).toEqual(message);
    expect((await take())[0]?.message).toEqual(message);
  });

  it.each([
    { type: 'plan_approval_request', requestId: 'x' },
    { type: 'plan_approval_response' },
    { type: 'message' },
    { type: 'mode_changed', mode: 'root' },
  ])('[WR-12] refuses %j and stores nothing', async (message) => {
    const sent = world.mailbox.inboxes.send(world.team, { from: 'x', to: leadInboxName, message });
    expect(await failureOf(sent)).toMatchObject({ code: 'validation_failed' });
    expect(await read(leadInboxName)).toEqual([]);
  });

  it('[TM-30] a mode_changed leaves the signed mode with it, and one without leaves the last', async () => {
    const signer = createSigner('test-key', (await generateKeyPair('EdDSA')).privateKey);
    const leadMode = await createLeadMode(
      signer,
      { team: world.team, mode: 'acceptEdits', by: 'lead:ada' },
      Date.now(),
    );
    const sending = {
      from: leadInboxName,
      to: teammate,
      message: { type: 'mode_changed', mode: 'acceptEdits' },
    };
    expect(await world.mailbox.inboxes.leadMode(world.team)).toBeUndefined();
    await world.mailbox.inboxes.send(world.team, { ...sending, leadMode });
    await world.mailbox.inboxes.send(world.team, sending);
    expect(await world.mailbox.inboxes.leadMode(world.team)).toBe(leadMode);
  });

  it('[ST-6] is an event that says between whom, and not what', async () => {
    await send('secret words');
    const { events } = await world.mailbox.events.read(world.team, undefined, 10);
    expect(events).toMatchObject([{ id: '1-0', type: 'message', from: 'other', to: teammate }]);
    expect(JSON.stringify(events)).not.toContain('secret words');
  });

  it('[ST-1] writes the team down before anything else of it', async () => {
    await send('a');
    expect(await world.mailbox.teams.list()).toContain(world.team);
  });
});
