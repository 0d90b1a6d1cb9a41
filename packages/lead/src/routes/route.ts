import { Problem, type RouteName, routes, type TokenClaims } from '@placet/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { accessTable } from '../access-table.ts';

type Part<Name extends RouteName, Key extends string> =
  (typeof routes)[Name] extends Record<Key, infer Schema extends z.ZodType> ? z.output<Schema> : undefined;
type Answers<Name extends RouteName> = (typeof routes)[Name]['answers'];

/** A call as its handler sees it: every part parsed by the route's schema, the principal as the table demands it. */
interface Call<Name extends RouteName> {
  params: Part<Name, 'params'>;
  query: Part<Name, 'query'>;
  body: Part<Name, 'body'>;
  principal: (typeof accessTable)[Name] extends { open: unknown } ? undefined : TokenClaims;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** An answer that is not JSON of the contract. */
interface RawAnswer {
  status: number;
  /** The media type; nothing is sent where there is none. */
  type?: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

/** What a handler answers: one of the route's answers; `undefined` where it has taken the connection over. */
type Answer<Name extends RouteName> = [keyof Answers<Name>] extends [never]
  ? RawAnswer | undefined
  : {
      [Status in keyof Answers<Name>]: {
        status: Status;
        body: Answers<Name>[Status] extends z.ZodType ? z.output<Answers<Name>[Status]> : never;
        headers?: Record<string, string>;
      };
    }[keyof Answers<Name>];

/** The handler of one route. */
type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>;
/** A handler for each route of the contract; one that is missing does not compile. */
export type Handlers = { [Name in RouteName]: Handler<Name> };

interface LooseRoute {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  answers: Record<number, z.ZodType>;
}

interface LooseAnswer {
  status: number;
  type?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Registers every route of the contract with its handler. */
export function registerRoutes(app: FastifyInstance, handlers: Handlers): void {
  for (const name of Object.keys(handlers) as RouteName[]) registerRoute(app, name, handlers[name]); // the keys of Handlers are the route names
}

/** What every handler is, whatever its route. */
type AnyHandler = (call: never) => Promise<LooseAnswer | undefined>;

function registerRoute(app: FastifyInstance, name: RouteName, handler: AnyHandler): void {
  const route: LooseRoute = routes[name];
  app.route({
    method: route.method,
    url: route.path,
    config: { routeName: name },
    schema: schemaOf(name, route),
    handler: async (request, reply) => {
      const { params, query, body, principal } = request;
      const call = { params, query, body, principal: principal ?? undefined, request, reply };
      const answer = await handler(call as never); // its parts were parsed by this route's schemas, and auth sets the principal where the table demands one
      if (!answer) return reply.hijack();
      if (answer.headers) reply.headers(answer.headers);
      if (answer.type) reply.type(answer.type);
      return reply.code(answer.status).send(answer.body);
    },
  });
}

function schemaOf(name: RouteName, { summary, params, query, body, answers }: LooseRoute) {
  const open = 'open' in accessTable[name];
  return {
    operationId: name,
    summary,
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    ...(open ? {} : { security: [{ token: [] }] }),
    response: { ...answers, '4xx': Problem, '5xx': Problem },
  };
}
