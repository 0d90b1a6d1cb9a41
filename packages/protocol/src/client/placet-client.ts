import type { z } from 'zod';
import { ErrorCode } from '../error-catalogue.ts';
import { PlacetError, Problem } from '../errors.ts';
import { type RouteName, routes } from '../routes.ts';
import { resetEvent, TeamEvent } from '../team-events.ts';
import { readServerSentEvents } from './sse.ts';

type Part<Name extends RouteName, Key extends 'params' | 'query' | 'body'> =
  (typeof routes)[Name] extends Record<Key, infer Schema extends z.ZodType>
    ? Record<Key, z.input<Schema>>
    : unknown;

/** What a call of a route takes: its params, query and body, as far as it has them. */
export type CallInput<Name extends RouteName> = Part<Name, 'params'> &
  Part<Name, 'query'> &
  Part<Name, 'body'>;

type AnswerOf<Name extends RouteName> = (typeof routes)[Name]['answers'];
/** What a route answers, whichever status it succeeds with. */
export type CallOutput<Name extends RouteName> =
  AnswerOf<Name>[keyof AnswerOf<Name>] extends infer Schema extends z.ZodType ? z.output<Schema> : never;

/** An answer with the status it came with. */
export interface CallAnswer<Name extends RouteName> {
  status: number;
  body: CallOutput<Name>;
}

/** How to reach a lead service. */
export interface ClientOptions {
  /** Where it is, such as `http://127.0.0.1:4180`. */
  url: string;
  /** The token, with its `plt_`. */
  token?: string | undefined;
  fetch?: typeof fetch;
  /** How long a call may take, in milliseconds; waiting calls add their own wait. Default 10 000. */
  timeoutMs?: number;
}

interface LooseCall {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** The typed client of the lead service: one call for each route of {@link routes}. Holds no connection of its own. */
export class PlacetClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Calls a route and parses its answer.
   * @throws PlacetError with the code that the service answered; `service_unreachable` when there was no answer.
   */
  async call<Name extends RouteName>(
    name: Name,
    input: CallInput<Name>,
    options: { signal?: AbortSignal; waitMs?: number } = {},
  ): Promise<CallAnswer<Name>> {
    const call: LooseCall = input as LooseCall; // each member of CallInput is such a record
    const response = await this.#send(name, call, options);
    const answers: Record<number, z.ZodType> = routes[name].answers;
    const schema = answers[response.status];
    if (!schema) throw await errorOf(response);
    const body: unknown = await response.json().catch(() => undefined);
    const parsed = schema.safeParse(body);
    if (!parsed.success)
      throw new PlacetError(
        'internal',
        `${name}: the service answered ${response.status} with a body that is not of the contract`,
      );
    return { status: response.status, body: parsed.data as CallOutput<Name> }; // parsed by the route's own schema
  }

  /** Calls a route whose answer is not JSON and gives the bytes. */
  async callForBytes(name: RouteName, call: LooseCall, signal?: AbortSignal): Promise<Uint8Array> {
    const response = await this.#send(name, call, signal ? { signal } : {});
    if (!response.ok) throw await errorOf(response);
    return new Uint8Array(await response.arrayBuffer());
  }

  /**
   * Follows a team's events from `after` (an event's id) on, until `signal` ends it or the service ends the stream.
   * Yields `{ reset: true }` where the log does not reach back so far: fetch anew, then go on.
   */
  async *followEvents(
    team: string,
    { after, signal }: { after?: string | undefined; signal: AbortSignal },
  ): AsyncGenerator<TeamEvent | { reset: true }, void> {
    const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
    const response = await this.#send(
      'followEvents',
      { params: { team } },
      { signal, headers, unbounded: true },
    );
    if (!response.ok || !response.body) throw await errorOf(response);
    for await (const event of readServerSentEvents(response.body)) {
      if (event.event === resetEvent) yield { reset: true };
      else if (event.data !== '') yield TeamEvent.parse(JSON.parse(event.data));
    }
  }

  async #send(
    name: RouteName,
    call: LooseCall,
    options: { signal?: AbortSignal; waitMs?: number; headers?: Record<string, string>; unbounded?: boolean },
  ): Promise<Response> {
    const { url, token, timeoutMs = 10_000 } = this.#options;
    const { method, path } = routes[name];
    const signals: AbortSignal[] = options.signal ? [options.signal] : [];
    if (!options.unbounded) signals.push(AbortSignal.timeout(timeoutMs + (options.waitMs ?? 0)));
    try {
      return await (this.#options.fetch ?? fetch)(
        new URL(fillPath(path, call.params ?? {}) + queryOf(call.query), url),
        {
          method,
          headers: {
            ...(token && { authorization: `Bearer ${token}` }),
            ...(call.body !== undefined && { 'content-type': 'application/json' }),
            ...options.headers,
          },
          ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
          signal: AbortSignal.any(signals),
        },
      );
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw new PlacetError('service_unreachable', `no answer from ${url}: ${reasonOf(cause)}`, { cause });
    }
  }
}

function fillPath(path: string, params: Record<string, unknown>): string {
  return path.replace(/:([a-z]+)/g, (_, key: string) => encodeURIComponent(String(params[key])));
}

function queryOf(query: Record<string, unknown> | undefined): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {}))
    if (typeof value === 'string' || typeof value === 'number') search.set(key, `${value}`);
  return search.size > 0 ? `?${search}` : '';
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message;
}

async function errorOf(response: Response): Promise<PlacetError> {
  const problem = Problem.safeParse(await response.json().catch(() => undefined));
  const code = problem.success ? ErrorCode.safeParse(problem.data.code) : undefined;
  if (!problem.success || !code?.success)
    return new PlacetError('internal', `the service answered ${response.status} without a problem of ours`);
  const { detail, issues, current } = problem.data;
  const retryAfter = Number(response.headers.get('retry-after'));
  return new PlacetError(code.data, detail, {
    ...(issues && { issues }),
    ...(current && { current }),
    ...(retryAfter > 0 && { retryAfterMs: retryAfter * 1000 }),
  });
}
