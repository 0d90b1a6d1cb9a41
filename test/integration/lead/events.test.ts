import type { TeamEvent } from '@placet/protocol';
import { PlacetClient } from '@placet/protocol/client';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { LeadWorld, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

const redis = useLead({}, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

describe('following events', () => {
  it('[ST-6] what happens after the stream has begun is told, in order and without gaps', async () => {
    await world.submit(teammate);
    const stream = await open();
    const record = await world.submit(teammate);
    await world.decide(lead, record, { permissionMode: 'acceptEdits' });
    const [proposed, decided] = await stream.take(2);
    expect(proposed).toMatchObject({
      type: 'plan:proposed',
      requestId: record.requestId,
      teammate: 'worker',
    });
    expect(decided).toMatchObject({ type: 'plan:decided', requestId: record.requestId, outcome: 'approved' });
    expect(numberOf(decided) - numberOf(proposed)).toBe(1);
    await stream.close();
  });

  it('[ST-6] a client that comes back goes on after its last event', async () => {
    const stream = await open();
    await world.submit(teammate);
    const [first] = await stream.take(1);
    await stream.close();
    const missed = [await world.submit(teammate), await world.submit(teammate)];
    const again = await open({ 'last-event-id': String(first?.id) });
    expect((await again.take(2)).map((event) => event?.requestId)).toEqual(
      missed.map(({ requestId }) => requestId),
    );
    await again.close();
    const byQuery = await open({}, `?lastEventId=${first?.id}`);
    expect((await byQuery.take(1))[0]?.requestId).toBe(missed[0]?.requestId);
    await byQuery.close();
  });

  it.each(['999999-0', 'nonsense', '1-5'])(
    '[ST-6] a position %s that the log does not have is answered with a reset',
    async (id) => {
      const stream = await open({ 'last-event-id': id });
      await eventually(() => stream.text().includes('event: reset'));
      const record = await world.submit(teammate);
      await eventually(() => stream.text().includes(record.requestId));
      await stream.close();
    },
  );

  it('[ST-6] the typed client follows, and ends when it is told to', async () => {
    const client = new PlacetClient({ url: world.url, token: lead });
    const leaving = new AbortController();
    const events = client.followEvents(world.team, { signal: leaving.signal });
    const next = events.next();
    const streams = () =>
      world.call('/metrics').then(({ text }) => /placet_open_streams\{kind="events"\} 1/.test(text));
    await eventually(streams);
    const record = await world.submit(teammate);
    expect((await next).value).toMatchObject({ type: 'plan:proposed', requestId: record.requestId });
    leaving.abort();
    await eventually(async () => !(await streams()));
  });

  it('[ST-6] a stop ends the streams and answers waiters with 202, at once', async () => {
    const own = await LeadWorld.open({ redisUrl: redis.url });
    const [token, submitter] = [await own.token(), await own.teammateToken()];
    const record = await own.submit(submitter);
    const stream = await open({}, '', own, token);
    const waits = Array.from({ length: 20 }, () =>
      own.call(own.path(record.requestId, '/wait?timeoutMs=60000'), { token: submitter }),
    );
    await eventually(async () =>
      (await own.call('/metrics')).text.includes('placet_open_streams{kind="wait"} 20'),
    );
    const began = performance.now();
    await own.close();
    expect(performance.now() - began).toBeLessThan(2000);
    for (const wait of waits) expect((await wait).status).toBe(202);
    await stream.ended;
  });
});

describe('waiting', () => {
  it('[2.4] the wait ends with the decision', async () => {
    const record = await world.submit(teammate);
    const wait = world.call(world.path(record.requestId, '/wait?timeoutMs=30000'), { token: teammate });
    await eventually(async () =>
      (await world.call('/metrics')).text.includes('placet_open_streams{kind="wait"} 1'),
    );
    const decided = await world.decide(lead, record);
    const ended = await wait;
    expect([ended.status, ended.json.decision]).toEqual([200, decided.json.decision]);
  });

  it('[2.4] a wait whose time is over answers 202 with the pending record', async () => {
    const record = await world.submit(teammate);
    for (const timeoutMs of [0, 50]) {
      const answer = await world.call(world.path(record.requestId, `/wait?timeoutMs=${timeoutMs}`), {
        token: teammate,
      });
      expect([answer.status, answer.json.state]).toEqual([202, 'pending']);
    }
  });

  it('[2.4] a client that leaves leaves nothing waiting', async () => {
    const record = await world.submit(teammate);
    const leaving = new AbortController();
    const wait = world.call(world.path(record.requestId, '/wait?timeoutMs=60000'), {
      token: teammate,
      signal: leaving.signal,
    });
    const waiting = async () =>
      (await world.call('/metrics')).text.includes('placet_open_streams{kind="wait"} 1');
    await eventually(waiting);
    leaving.abort();
    await expect(wait).rejects.toThrow();
    await eventually(async () => !(await waiting()));
  });
});

async function open(headers: Record<string, string> = {}, query = '', of = world, token = lead) {
  const leaving = new AbortController();
  const response = await fetch(`${of.url}/v1/teams/${of.team}/events${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  let text = '';
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })().catch(() => undefined); // left on purpose
  const events = () =>
    [...text.matchAll(/^data: (\{"?.+\})$/gm)]
      .map(([, data = '']) => JSON.parse(data) as TeamEvent)
      .filter(({ type }) => type); // asserted by those who read it
  return {
    ended,
    text: () => text,
    take: async (count: number) => {
      await eventually(() => events().length >= count, { what: `${count} events` });
      return events();
    },
    close: async () => {
      leaving.abort();
      await ended;
    },
  };
}

function numberOf(event: TeamEvent | undefined): number {
  return Number(event?.id.split('-')[0]);
}
