import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FeedItem } from '@placet/mailbox';
import { resetEvent } from '@placet/protocol';
import type { FastifyReply } from 'fastify';
import type { LeadContext } from '../lead-context.ts';
import type { Handlers } from './route.ts';
import { watchEnd } from './watch-end.ts';

/** How often a silent stream says that it is alive, in milliseconds. */
const heartbeatMs = 15_000;
/** How long a client may leave what was sent unread, in milliseconds. */
const maxStallMs = 30_000;
/** How soon a client comes back after the stream has ended, in milliseconds. */
const comeBackAfterMs = 1000;

/** The route that follows a team's events (ST-6). */
export function eventRoutes(context: LeadContext): Pick<Handlers, 'followEvents'> {
  const { stores, stopping } = context;
  return {
    followEvents: async ({ params: { team }, query, request, reply }) => {
      const asked = request.headers['last-event-id'] ?? query.lastEventId;
      // Read before the answer begins: while the store is away that is a 503, and what happens after the answer has
      // begun is not missed.
      const after = typeof asked === 'string' ? asked : await stores.events.last(team);
      const end = watchEnd(request.raw.socket, stopping);
      try {
        const items = stores.hub.subscribe(team, after, end.signal);
        const first = items.next();
        await refusedAtOnce(first);
        reply.hijack();
        await stream(context, { first, items }, begin(reply));
      } finally {
        end.release();
      }
      return undefined;
    },
  };
}

/** Waits for what fails before it has to wait for anything itself, as when too many follow already. */
async function refusedAtOnce(first: Promise<unknown>): Promise<void> {
  await Promise.race([first, new Promise((resolve) => setImmediate(resolve))]);
}

function begin(reply: FastifyReply): ServerResponse {
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
    // A stop must not wait for a connection that nobody will use again.
    connection: 'close',
  });
  raw.write(`retry: ${comeBackAfterMs}\n\n`);
  return raw;
}

interface Feed {
  first: Promise<IteratorResult<FeedItem, void>>;
  items: AsyncGenerator<FeedItem, void, void>;
}

async function stream(
  { metrics, log }: LeadContext,
  { first, items }: Feed,
  raw: ServerResponse,
): Promise<void> {
  const streams = metrics.streams.labels({ kind: 'events' });
  streams.inc();
  const heartbeat = setInterval(() => raw.write(': alive\n\n'), heartbeatMs);
  try {
    for (let next = await first; !next.done; next = await items.next())
      if (!raw.write(textOf(next.value))) await drained(raw);
  } catch (err) {
    // The answer has begun, so that no status can say it: the stream ends, and the client comes back.
    log.warn({ err }, 'an event stream was cut');
  } finally {
    clearInterval(heartbeat);
    streams.dec();
    await items.return();
    raw.end();
  }
}

function textOf(item: FeedItem): string {
  return item.kind === 'reset'
    ? `id: ${item.id}\nevent: ${resetEvent}\ndata: {}\n\n`
    : `id: ${item.event.id}\ndata: ${JSON.stringify(item.event)}\n\n`;
}

/** Waits until a slow client has read what it was sent; one that reads nothing is cut off, and resumes later. */
async function drained(raw: ServerResponse): Promise<void> {
  try {
    await once(raw, 'drain', { signal: AbortSignal.timeout(maxStallMs) });
  } catch (error) {
    raw.destroy();
    throw error;
  }
}
