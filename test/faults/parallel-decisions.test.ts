import { DecisionVerifier, keyOf, ownRequestOf } from '@placet/mailbox';
import { currentOf, type Decision, Problem, RequestRecord } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { accountForOutbox, gapsIn, numberOf, readActs, readAllEvents } from '../support/fault-history.ts';
import { type HttpAnswer, HttpCaller } from '../support/fault-http.ts';
import { atScale, faultTestTimeoutMs, reportMeasured } from '../support/fault-scale.ts';
import { type FaultLead, FaultWorld } from '../support/fault-world.ts';

const leads = ['ada', 'bob', 'cleo', 'dan', 'eve'];
const modes = ['default', 'acceptEdits', 'dontAsk', 'auto', 'bypassPermissions'] as const;
const decisionsPerRequest = 50;
/** Requests that are fought over at the same time, each by all of its decisions. */
const atOnce = atScale(4, 8);
const teammates = ['worker', 'helper', 'scout'];

let world: FaultWorld;
let http: HttpCaller;

beforeEach(async () => {
  world = await FaultWorld.open();
  http = new HttpCaller(atOnce * decisionsPerRequest);
});
afterEach(async () => {
  http.close();
  await world.close();
});

describe('parallel decisions', () => {
  it.each([
    { services: 1, requestCount: 200 },
    { services: 2, requestCount: atScale(60, 200) },
  ])(
    `[I2] [WR-20] [WR-21] of ${decisionsPerRequest} on each of $requestCount requests, at $services lead process(es) on one Redis: exactly one stands, and every other call is told which`,
    async ({ services, requestCount }) => {
      const lead = await startLeads(services);
      const records = await submitAll(lead[0], requestCount);
      const tokens = await Promise.all(leads.map((name) => world.token({ principal: `local:${name}` })));
      const beganAt = performance.now();
      const fights = await inGroups([...records.entries()], atOnce, ([place, record]) =>
        fightOver(record, lead, { tokens, first: 7 * place }),
      );
      reportMeasured(
        `${decisionsPerRequest * requestCount} decisions at ${services} lead(s) in ${Math.round(performance.now() - beganAt)} ms`,
      );

      const outcomes = new Set<string>();
      for (const [place, answers] of fights.entries()) {
        const record = await readBack(records[place], lead, tokens[0]);
        const { decision } = record;
        if (!decision) throw new Error(`${record.requestId} is ${record.state}`);
        checkAnswers(answers, record);
        await checkSignature(record, decision);
        outcomes.add(`${decision.outcome} ${decision.permissionMode ?? ''} ${decision.decidedBy}`);
      }
      // Else the calls did not race each other.
      expect(outcomes.size).toBeGreaterThan(3);
      await checkHistory(records);
    },
    faultTestTimeoutMs,
  );
});

async function startLeads(count: number): Promise<FaultLead[]> {
  return Promise.all(Array.from({ length: count }, () => world.startLead()));
}

async function submitAll(lead: FaultLead | undefined, count: number): Promise<RequestRecord[]> {
  if (!lead) throw new Error('there is no lead');
  const tokens = await Promise.all(teammates.map((name) => world.teammateToken(name)));
  const numbers = Array.from({ length: count }, (_, number) => number);
  return inGroups(numbers, 20, async (number) => {
    const of = number % teammates.length;
    const body = world.submission(teammates[of] ?? '', planOf(number));
    const answer = await http.post(world.requestUrl(lead), { token: tokens[of] ?? '', body });
    expect(answer.status, answer.text).toBe(201);
    return RequestRecord.parse(JSON.parse(answer.text));
  });
}

/** All decisions on one request at once, spread over the services; no two of them say the same. */
function fightOver(
  record: RequestRecord,
  lead: FaultLead[],
  { tokens, first }: { tokens: string[]; first: number },
): Promise<HttpAnswer[]> {
  return Promise.all(
    Array.from({ length: decisionsPerRequest }, (_, place) => {
      const number = (first + place) % decisionsPerRequest;
      const service = lead[number % lead.length];
      const who = number % tokens.length;
      if (!service) throw new Error('there is no lead');
      return http.post(world.requestUrl(service, record.requestId, '/decision'), {
        token: tokens[who] ?? '',
        body: { planDigest: record.plan.digest, ...decisionOf(Math.floor(number / tokens.length)) },
      });
    }),
  );
}

function decisionOf(variant: number): Record<string, unknown> {
  const permissionMode = modes[variant];
  if (permissionMode) return { outcome: 'approved', permissionMode };
  if (variant === 5) return { outcome: 'approved', permissionMode: 'default', context: 'clear' };
  if (variant === 6) return { outcome: 'approved', permissionMode: 'default', planContent: '# Less\n' };
  return { outcome: 'rejected', feedback: `Not so, for reason ${variant}.` };
}

/** The record is the same at every service. */
async function readBack(
  record: RequestRecord | undefined,
  lead: FaultLead[],
  token = '',
): Promise<RequestRecord> {
  const seen = await Promise.all(
    lead.map(async (service) => {
      const { text } = await http.get(world.requestUrl(service, record?.requestId), { token });
      return RequestRecord.parse(JSON.parse(text));
    }),
  );
  const [first] = seen;
  if (!first) throw new Error('there is no lead');
  for (const other of seen) expect(other).toEqual(first);
  return first;
}

function checkAnswers(answers: HttpAnswer[], record: RequestRecord): void {
  const won = answers.filter(({ status }) => status === 200);
  expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toEqual([200]);
  expect(RequestRecord.parse(JSON.parse(won[0]?.text ?? '')).decision).toEqual(record.decision);
  const lost = answers
    .filter(({ status }) => status === 409)
    .map(({ text }) => Problem.parse(JSON.parse(text)));
  expect(new Set(lost.map(({ code }) => code))).toEqual(new Set(['already_decided']));
  const told = new Set(lost.map(({ current }) => JSON.stringify(current)));
  expect([...told].map((text): unknown => JSON.parse(text))).toEqual([currentOf(record)]);
}

async function checkSignature(record: RequestRecord, decision: Decision): Promise<void> {
  const verified = await new DecisionVerifier({ keys: world.keyRing }).verify({
    record,
    own: ownRequestOf(record),
    approvedPlan: await world.mailbox.requests.planBytes(world.team, decision.approvedPlanDigest),
    nowMs: Date.now(),
    claimedBefore: false,
  });
  expect(verified.kind, JSON.stringify(verified)).toBe('valid');
}

/** Numbers without gaps, and in each place one trace of each decision: the one that stands. */
async function checkHistory(records: RequestRecord[]): Promise<void> {
  const { mailbox, handle, team } = world;
  const ids = inOrder(records.map(({ requestId }) => requestId));
  const acts = await readActs(mailbox, team);
  expect(gapsIn(acts.map(({ seq }) => seq))).toEqual([]);
  const decided = acts.filter(({ act }) => act === 'approved' || act === 'rejected');
  expect(inOrder(decided.map(({ request = '' }) => request))).toEqual(ids);
  expect(acts).toHaveLength(2 * ids.length);
  for (const { request = '', jti } of decided) {
    const record = await mailbox.requests.get(team, request);
    expect(jtiIn(record?.decision?.signature)).toBe(jti);
  }

  const events = await readAllEvents(mailbox, team);
  expect(gapsIn(events.map(numberOf))).toEqual([]);
  expect(events).toHaveLength(2 * ids.length);
  const shown = events.flatMap(({ type, requestId = '' }) => (type === 'plan:decided' ? [requestId] : []));
  expect(inOrder(shown)).toEqual(ids);

  const outbox = await eventually(async () => {
    const account = await accountForOutbox(handle, team);
    return account.waiting === 0 && account;
  });
  const wakes = await Promise.all(records.map(wakesOf));
  const given = wakes.reduce((sum, { all }) => sum + all, 0);
  expect(outbox).toEqual({ given, added: given, lastId: `${given}-0`, waiting: 0 });
  expect(wakes.map(({ byDecision }) => byDecision)).toEqual(ids.map(() => 1));
  const delivered = await Promise.all(
    teammates.map((name) => handle.redis.xrange(keyOf(team, 'inbox', name), '-', '+')),
  );
  const told = delivered.flat().flatMap(([, [, requestId]]) => requestId ?? []);
  expect(inOrder(told)).toEqual(ids);
}

/** How often a session was woken: by a decision, and by the reconciler where the run takes longer than its patience. */
async function wakesOf({ teammate, sessionId }: RequestRecord) {
  const session = keyOf(world.team, 'session', teammate, sessionId);
  const [wakes, again] = await world.handle.redis.hmget(session, 'wk', 'wn');
  return { all: Number(wakes), byDecision: Number(wakes) - Number(again ?? 0) };
}

function inOrder(texts: readonly string[]): string[] {
  return texts.toSorted((a, b) => a.localeCompare(b));
}

function jtiIn(signature = ''): unknown {
  const claims: unknown = JSON.parse(Buffer.from(signature.split('.')[1] ?? '', 'base64url').toString());
  return claims && typeof claims === 'object' && 'jti' in claims ? claims.jti : undefined;
}

function planOf(number: number): string {
  return `# Plan ${number}\n\n1. Rename \`a${number}\` to \`b\`.\n`;
}

async function inGroups<Item, Result>(
  items: readonly Item[],
  size: number,
  handle: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += size)
    results.push(...(await Promise.all(items.slice(from, from + size).map(handle))));
  return results;
}
