import { createHash } from 'node:crypto';
import { PlacetError, recordVersion } from '@placet/protocol';
import { luaSources } from './lua-bundle.ts';

/** The name of a script of ours: its file in `lua/` without the ending. */
export type ScriptName = keyof typeof luaSources;

/** What a script can be given; bytes arrive as they are. */
export type ScriptArgument = string | number | Uint8Array;

/** What runs scripts: a connection to Redis, or a writer that waits for more than its answer. */
export interface ScriptRunner {
  evalsha(sha: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown>;
  eval(source: string, keyCount: number, ...rest: (string | number | Buffer)[]): Promise<unknown>;
}

/** Where scripts are run: those that only read on the ordinary connection, all others by the writer (TM-46). */
export interface ScriptStore {
  readonly redis: ScriptRunner;
  readonly writer: ScriptRunner;
}

/** What of an ioredis transaction or pipeline reads its answers. */
interface Executable {
  exec(): Promise<[error: Error | null, result: unknown][] | null>;
}

/** A script's reply: a word that says what came of it, and what belongs to that. */
export class Reply {
  readonly word: string;
  readonly #values: readonly unknown[];

  constructor(word: string, values: readonly unknown[]) {
    this.word = word;
    this.#values = values;
  }

  /** The text at a place after the word, from 0; the empty text where there is none. */
  text(place: number): string {
    const value = this.#values[place];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  }

  /** The whole number at a place after the word, from 0. */
  number(place: number): number {
    return Number(this.text(place));
  }

  /** The texts from a place on; absent ones as the empty text. */
  texts(from: number): string[] {
    return this.#values.slice(from).map((_, offset) => this.text(from + offset));
  }
}

/** Redis' own words for "not now"; everything else that it answers as an error is a fault of ours. */
const passing =
  /^(LOADING|BUSY|BUSYKEY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|NOREPLICAS|OOM|EXECABORT|UNBLOCKED)\b/;

/**
 * Runs a call to the store and turns what goes wrong with it into one of ours.
 * @throws PlacetError `store_unavailable` when Redis did not answer, or not in time: what was sent may have happened
 * @throws PlacetError `internal` when Redis refuses the call itself
 */
export async function storeCall<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw storeError(what, error);
  }
}

/**
 * Runs a script by the digest of its content (ST-2); it is sent in full where the server does not know it. Its first
 * argument is always this release's record version.
 * @throws PlacetError `not_durable` when it may have happened, but less durably than is configured
 * @throws PlacetError `too_new` when it found a record of a later version; otherwise as {@link storeCall}
 */
export async function runScript(
  store: ScriptStore,
  name: ScriptName,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<Reply> {
  const rest = [...keys, recordVersion, ...args.map(asArgument)];
  const runner = readingScripts.has(name) ? store.redis : store.writer;
  const answer = await storeCall(name, async () => {
    try {
      return await runner.evalsha(shaOf(name), keys.length, ...rest);
    } catch (error) {
      if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await runner.eval(luaSources[name], keys.length, ...rest);
    }
  });
  const reply = parseReply(name, answer);
  if (reply.word === 'too_new') {
    throw new PlacetError(
      'too_new',
      `${name} found a record written by a newer Placet; upgrade this process`,
    );
  }
  return reply;
}

/**
 * Runs a transaction or a pipeline and answers its results in order.
 * @throws as {@link storeCall}, when any of its commands failed
 */
export function execAll(what: string, batch: Executable): Promise<unknown[]> {
  return storeCall(what, async () => {
    const results = await batch.exec();
    if (!results) throw new PlacetError('internal', `${what}: the transaction was discarded`);
    return results.map(([error, result]) => {
      if (error) throw error;
      return result;
    });
  });
}

/** @throws PlacetError `internal`: a script answered what its wrapper does not know */
export function unknownReply(name: ScriptName, reply: Reply): never {
  throw new PlacetError(
    'internal',
    `the script ${name} answered "${reply.word}", which nothing here understands`,
  );
}

const readingScripts: ReadonlySet<ScriptName> = new Set(['read-events']);
const digests = new Map<ScriptName, string>();

function shaOf(name: ScriptName): string {
  const known = digests.get(name);
  if (known) return known;
  const sha = createHash('sha1').update(luaSources[name]).digest('hex');
  digests.set(name, sha);
  return sha;
}

function asArgument(value: ScriptArgument): string | number | Buffer {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

function parseReply(name: ScriptName, answer: unknown): Reply {
  if (!Array.isArray(answer)) throw new PlacetError('internal', `the script ${name} did not answer a list`);
  const [word, ...values]: unknown[] = answer;
  if (typeof word !== 'string') throw new PlacetError('internal', `the script ${name} answered no word`);
  return new Reply(word, values);
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

function storeError(what: string, error: unknown): unknown {
  if (error instanceof PlacetError) return error;
  if (isReplyError(error) && !passing.test(error.message)) {
    return new PlacetError('internal', `${what}: Redis refuses it: ${error.message}`, { cause: error });
  }
  // A fault in our own code is no fault of the store.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new PlacetError('store_unavailable', `${what}: Redis did not answer in time: ${reason}`, {
    cause: error,
    retryAfterMs: 1000,
  });
}
