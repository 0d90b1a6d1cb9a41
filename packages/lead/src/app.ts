import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import {
  type KeyRing,
  OutboxRelay,
  type RedisHandle,
  type Revocations,
  type TaskQueues,
  verifyToken,
} from '@placet/mailbox';
import { type Clock, PlacetError, policyDigest, type RequestRecord, systemClock } from '@placet/protocol';
import type { FastifyInstance } from 'fastify';
import { createHttpApp } from './http-app.ts';
import { IdleConnections } from './idle-connections.ts';
import { type LeadConfig, type LeadContext, type LeadStores, policyOf } from './lead-context.ts';
import type { Log } from './log.ts';
import { LeadMetrics } from './metrics.ts';
import { registerAuth } from './plugins/auth.ts';
import { registerHttpMetrics } from './plugins/http-metrics.ts';
import { registerOpenapi } from './plugins/openapi.ts';
import { registerRateLimit } from './plugins/rate-limit.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { inboxRoutes } from './routes/inboxes.ts';
import { questionRoutes } from './routes/questions.ts';
import { requestRoutes } from './routes/requests.ts';
import { registerRoutes } from './routes/route.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { workRoutes } from './routes/work.ts';
import { startDuties } from './services/duties.ts';

/** The version that OpenAPI names. */
const version = '0.1.0';
/** How long a stop waits for calls in flight before their connections are cut, in milliseconds. */
const stopWithinMs = 10_000;

/** What a lead service is made of; what is handed in is closed by whoever opened it. */
export interface LeadOptions {
  /** The connection that the stores work on. */
  handle: RedisHandle;
  mailbox: LeadStores;
  /** Where wakes go; without it the outbox is left to others (ST-7). */
  queues?: TaskQueues | undefined;
  keyRing: KeyRing;
  revocations: Revocations;
  config: LeadConfig;
  log: Log;
  clock?: Clock;
}

/** A lead service. */
export interface Lead {
  readonly app: FastifyInstance;
  /** Listens, and begins with its duties; the store need not be there yet. Answers its URL. */
  start(where: { host: string; port: number }): Promise<string>;
  /**
   * Stops: nothing new is taken, waiting calls get their 202, event streams end, calls in flight are answered, duties
   * end after the piece at hand (OP-6).
   */
  close(): Promise<void>;
}

/** Makes a lead service: the HTTP routes and the duties of 9.7. Every part is registered here, one by one. */
export async function createLead(options: LeadOptions): Promise<Lead> {
  const stopping = new AbortController();
  // As many listen as there are waiters; the hub bounds them.
  setMaxListeners(0, stopping.signal);
  const context = createContext(options, stopping.signal);
  const app = createHttpApp({ log: options.log, metrics: context.metrics });
  registerHttpMetrics(app, context.metrics);
  await registerOpenapi(app, version);
  registerAuth(app, {
    metricsPublic: options.config.metricsPublic,
    verify: (token) => authenticate(options, token),
  });
  await registerRateLimit(app, options.config.rateLimitPerMinute);
  // Without it a connection that was busy when the stop began would be kept open, and the stop would wait for it.
  app.addHook('onSend', async (_request, reply) => {
    if (stopping.signal.aborted) reply.header('connection', 'close');
  });
  registerRoutes(app, {
    ...requestRoutes(context),
    ...decisionRoutes(context),
    ...inboxRoutes(context),
    ...questionRoutes(context),
    ...sessionRoutes(context),
    ...eventRoutes(context),
    ...workRoutes(context),
    ...healthRoutes(context),
  });
  await app.ready();
  return new RunningLead(app, { options, context, stopping });
}

/** Reads a token of `Authorization: Bearer`. @throws PlacetError `unauthenticated` */
async function authenticate({ keyRing, revocations, clock = systemClock }: LeadOptions, token: string) {
  const result = await verifyToken(token, keyRing, { revoked: revocations, nowMs: clock.now() });
  if (result.kind === 'valid') return result.claims;
  throw new PlacetError('unauthenticated', `the token is not accepted: ${result.reason}`);
}

function createContext(options: LeadOptions, stopping: AbortSignal): LeadContext {
  const { mailbox, keyRing, revocations, config, log, clock = systemClock } = options;
  const metrics = new LeadMetrics();
  const policy = policyOf(config);
  return {
    stores: mailbox,
    keyRing,
    revocations,
    config,
    policy,
    policyDigest: policyDigest(policy),
    clock,
    log,
    metrics,
    stopping,
    alarm: async ({ team, teammate, requestId, sessionId }: RequestRecord, code, detail) => {
      metrics.alarms.inc({ code });
      log.warn({ team, teammate, requestId, sessionId, code, detail }, 'alarm');
      await mailbox.events.append(team, { type: 'alarm', teammate, requestId, sessionId, code, detail });
    },
  };
}

interface Parts {
  options: LeadOptions;
  context: LeadContext;
  stopping: AbortController;
}

class RunningLead implements Lead {
  readonly app: FastifyInstance;
  readonly #parts: Parts;
  readonly #connections: IdleConnections;
  #background: { close(): Promise<void> }[] = [];
  #closed: Promise<void> | undefined;

  constructor(app: FastifyInstance, parts: Parts) {
    this.app = app;
    this.#parts = parts;
    this.#connections = new IdleConnections(app.server);
  }

  async start({ host, port }: { host: string; port: number }): Promise<string> {
    const { options, context } = this.#parts;
    const url = await this.app.listen({ host, port });
    this.#background = startDuties(context, `lead-${randomUUID()}`);
    if (options.queues) {
      const relay = new OutboxRelay({
        handle: options.handle,
        queues: options.queues,
        teams: options.mailbox.teams,
        log: options.log,
      });
      relay.start();
      this.#background.push(relay);
    }
    options.log.info({ url, store: options.handle.state() }, 'the lead service listens');
    return url;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { stopping, options } = this.#parts;
    stopping.abort();
    this.#connections.close();
    const cut = setTimeout(() => this.app.server.closeAllConnections(), stopWithinMs);
    try {
      await this.app.close();
    } finally {
      clearTimeout(cut);
    }
    await Promise.all(this.#background.map((one) => one.close()));
    options.log.info({}, 'the lead service has stopped');
  }
}
