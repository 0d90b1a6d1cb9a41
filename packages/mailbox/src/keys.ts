/** The first part of every key of ours outside BullMQ (ST-1). */
const keyRoot = 'placet';

/** The name of the one queue that a teammate has under its prefix. */
export const queueName = 'tasks';

interface KeyEntry {
  /** What follows `placet:{<team>}:`; what stands in angle brackets is filled in, in this order. */
  pattern: string;
  type: 'string' | 'hash' | 'set' | 'sorted set' | 'stream';
  /** What it holds, in a line; the reference page is made from it. */
  holds: string;
  /** How long it stays. */
  life: string;
}

const untilPurged = 'until the request is purged';
const untilQuestionPurged = 'until the question is purged';
const always = 'as long as the team';

/**
 * Every key of a team (ST-1), as data: the functions below make keys from it, and the reference page is printed from
 * it. The first part of a pattern is the class of those who may write it: `m.<teammate>` that teammate (and the lead,
 * on its behalf), `lead` the lead alone, `log` both.
 */
export const keyTable = {
  request: {
    pattern: 'm.<teammate>:req:<requestId>',
    type: 'string',
    holds:
      'the immutable fields of a request, as JSON with short names; times and inbox number spliced in last',
    life: untilPurged,
  },
  requestState: {
    pattern: 'm.<teammate>:mut:<requestId>',
    type: 'hash',
    holds: 'the mutable fields of a request; absent while it is pending and nobody has touched it',
    life: untilPurged,
  },
  inbox: {
    pattern: 'm.<teammate>:inbox',
    type: 'stream',
    holds:
      'the teammate’s inbox, group `teammate`: `r` a request that ended, `q` a question that ended, or `e` an envelope as JSON',
    life: 'each entry until it is acknowledged',
  },
  deadLetters: {
    pattern: 'm.<teammate>:dead',
    type: 'stream',
    holds: 'entries of that inbox that could not be delivered',
    life: 'bounded by count',
  },
  seen: {
    pattern: 'm.<teammate>:seen',
    type: 'hash',
    holds: 'the teammate’s processes, each with the time until which it counts as alive',
    life: always,
  },
  operation: {
    pattern: 'm.<teammate>:op:<operationId>',
    type: 'string',
    holds: 'what a message with this operation ID was answered, so that its repetition is harmless',
    life: 'one day',
  },
  task: {
    pattern: 'm.<teammate>:job:<sessionId>',
    type: 'string',
    holds: 'the immutable fields of a task, as JSON with short names',
    life: 'until its session is purged',
  },
  session: {
    pattern: 'm.<teammate>:ses:<sessionId>',
    type: 'hash',
    holds: 'a session: latest request, revision, epoch and lease, wake number, phase of its task',
    life: 'until its latest request is purged',
  },
  sessionReport: {
    pattern: 'm.<teammate>:pos:<sessionId>',
    type: 'string',
    holds:
      'what the session’s host last reported of it beyond a line in the session’s hash, as JSON: shown, and believed in nothing else',
    life: 'until its session is purged',
  },
  draft: {
    pattern: 'm.<teammate>:draft:<sessionId>',
    type: 'string',
    holds: 'the plan that the session is writing, raw UTF-8',
    life: 'until it is submitted, or its session purged',
  },
  question: {
    pattern: 'm.<teammate>:qst:<requestId>',
    type: 'string',
    holds: 'a question or consent as it was asked, as JSON; times and inbox number spliced in last',
    life: untilQuestionPurged,
  },
  questionEnd: {
    pattern: 'm.<teammate>:qend:<requestId>',
    type: 'string',
    holds: 'how a question ended, as JSON; absent while it is open. Not signed, for it approves nothing',
    life: untilQuestionPurged,
  },
  sessionQuestions: {
    pattern: 'm.<teammate>:sesqs:<sessionId>',
    type: 'sorted set',
    holds:
      'the questions of a session, by inbox number while they are open and by its negative once they ended',
    life: 'until the last of them is purged',
  },
  teammateQuestions: {
    pattern: 'm.<teammate>:qopen',
    type: 'set',
    holds: 'the teammate’s open questions',
    life: always,
  },
  owner: {
    pattern: 'm.<teammate>:owner',
    type: 'string',
    holds: 'the proof of who owns the teammate, as signed',
    life: always,
  },
  decision: {
    pattern: 'lead:dec:<requestId>',
    type: 'string',
    holds: 'the decision as JSON, byte for byte as the lead wrote it',
    life: untilPurged,
  },
  revoked: { pattern: 'lead:revoked', type: 'hash', holds: 'revoked tokens: `jti` to expiry', life: always },
  lease: {
    pattern: 'lead:lease:<duty>',
    type: 'hash',
    holds: 'which process has a background duty: epoch, holder, time',
    life: always,
  },
  leadMode: {
    pattern: 'lead:mode',
    type: 'string',
    holds: 'the permission mode of the lead’s last `mode_changed`, as signed',
    life: always,
  },
  foreignRequest: {
    pattern: 'log:rid:<requestId>',
    type: 'string',
    holds: 'for a foreign request ID its teammate; `!` once the request was purged',
    life: 'a year beyond the request',
  },
  plan: {
    pattern: 'log:plan:<digest>',
    type: 'string',
    holds:
      'a plan, raw UTF-8, once however many requests refer to it; the digest in base64url, without `sha256:`',
    life: 'until the last request that refers to it is purged',
  },
  planReferences: {
    pattern: 'log:planrefs',
    type: 'hash',
    holds: 'digest to number of references, of plans that have two or more',
    life: always,
  },
  pending: {
    pattern: 'log:pending',
    type: 'sorted set',
    holds: 'pending requests by inbox number',
    life: always,
  },
  deadlines: {
    pattern: 'log:deadlines',
    type: 'sorted set',
    holds: 'pending requests by deadline',
    life: always,
  },
  ended: { pattern: 'log:ended', type: 'sorted set', holds: 'ended requests by inbox number', life: always },
  due: {
    pattern: 'log:due',
    type: 'sorted set',
    holds:
      'sessions (`<teammate>:<sessionId>`) that may be owed a step, by the time the reconciler looks next',
    life: always,
  },
  settled: {
    pattern: 'log:settled',
    type: 'sorted set',
    holds: 'requests with nothing left to do, by the time since when: retention counts from it',
    life: always,
  },
  endedTasks: {
    pattern: 'log:endedtasks',
    type: 'sorted set',
    holds: 'tasks that ended without a request (`<teammate>:<sessionId>`), by the time since when',
    life: always,
  },
  sequence: {
    pattern: 'log:seq',
    type: 'hash',
    holds: 'the last inbox, event, audit and outbox numbers',
    life: always,
  },
  events: {
    pattern: 'log:events',
    type: 'stream',
    holds: 'the event log, IDs `<n>-0` without gaps',
    life: 'retention',
  },
  audit: {
    pattern: 'log:audit',
    type: 'stream',
    holds: 'the audit log, IDs `<n>-0` without gaps',
    life: always,
  },
  outbox: {
    pattern: 'log:outbox',
    type: 'stream',
    holds: 'wake-ups on their way to a queue, group `relay`, IDs `<n>-0` without gaps',
    life: 'each entry until it is in the queue',
  },
  notes: {
    pattern: 'log:notes',
    type: 'sorted set',
    holds: 'the lead’s inbox beside requests: inbox numbers of messages',
    life: 'each until it is acknowledged',
  },
  note: {
    pattern: 'log:note',
    type: 'hash',
    holds: 'inbox number to message, an envelope as JSON',
    life: 'each until it is acknowledged',
  },
  questionAsker: {
    pattern: 'log:qid:<requestId>',
    type: 'string',
    holds: 'which teammate asked the question of this ID',
    life: untilQuestionPurged,
  },
  openQuestions: {
    pattern: 'log:questions',
    type: 'sorted set',
    holds: 'the lead’s inbox beside requests and messages: open questions by inbox number',
    life: always,
  },
  questionDeadlines: {
    pattern: 'log:qdeadlines',
    type: 'sorted set',
    holds: 'open questions by deadline',
    life: always,
  },
  endedQuestions: {
    pattern: 'log:qended',
    type: 'sorted set',
    holds: 'questions that ended, by the time since when: retention counts from it',
    life: always,
  },
  teammates: {
    pattern: 'log:teammates',
    type: 'hash',
    holds: 'each teammate that was ever seen, with the time of its last sign of life',
    life: always,
  },
} as const satisfies Record<string, KeyEntry>;

/** Which key of {@link keyTable}. */
export type KeyName = keyof typeof keyTable;

/** One string for each placeholder of a pattern, in its order. */
type Parts<Pattern extends string> = Pattern extends `${string}<${string}>${infer Rest}`
  ? [string, ...Parts<Rest>]
  : [];

/** Each pattern, cut at its placeholders once: keys are made dozens of times for each call. */
const literalsOf: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(keyTable).map(([name, { pattern }]) => [name, pattern.split(/<[^>]+>/)]),
);

/** The set of all teams, in a slot of its own; written before a team's first write. */
export const teamsKey = `${keyRoot}:teams`;

/**
 * The one function that makes keys: all keys of a team share one hash tag, so that every script is valid on a Cluster.
 * `keyOf('acme', 'request', 'worker', id)` is `placet:{acme}:m.worker:req:<id>`. A plan's digest is given as `packDigest` writes it.
 */
export function keyOf<Name extends KeyName>(
  team: string,
  name: Name,
  ...parts: Parts<(typeof keyTable)[Name]['pattern']>
): string {
  const values: readonly string[] = parts;
  const [first = '', ...rest] = literalsOf[name] ?? [];
  let key = `${keyRoot}:{${team}}:${first}`;
  for (let place = 0; place < rest.length; place += 1) key += (values[place] ?? '') + rest[place];
  return key;
}

/** The BullMQ prefix of a teammate's queue, tagged so that its keys share a slot: `{placet-q:<team>.<teammate>}`. */
export function queuePrefix(team: string, teammate: string): string {
  return `{placet-q:${team}.${teammate}}`;
}
