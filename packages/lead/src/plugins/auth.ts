import { PlacetError, type RouteName, type TokenClaims, tokenPrefix } from '@placet/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { accessTable, checkAccess, isOpen } from '../access-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; null on open routes. */
    principal: TokenClaims | null;
  }
  interface FastifyContextConfig {
    /** The route of the contract that this is; what is none (documentation) is open. */
    routeName?: RouteName;
  }
}

/** What authentication needs. */
export interface AuthOptions {
  /** Reads a token, with its `plt_`. @throws PlacetError `unauthenticated` */
  verify: (token: string) => Promise<TokenClaims>;
  metricsPublic: boolean;
}

const PathNames = z.looseObject({ team: z.string().optional(), agent: z.string().optional() });

/**
 * Establishes who calls and whether the table lets them (WR-32, IN-20), before any body is read. A route that is
 * open does not look at the token.
 */
export function registerAuth(app: FastifyInstance, { verify, metricsPublic }: AuthOptions): void {
  app.decorateRequest('principal', null);
  app.addHook('onRequest', async (request, reply) => {
    const name = request.routeOptions.config.routeName;
    if (name === undefined || isOpen(accessTable[name], metricsPublic)) return;
    const principal = await verify(tokenOf(request, reply));
    request.principal = principal;
    checkAccess(accessTable[name], principal, PathNames.parse(request.params));
  });
}

function tokenOf(request: FastifyRequest, reply: FastifyReply): string {
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw new PlacetError('unauthenticated', 'send Authorization: Bearer plt_…');
  reply.header('www-authenticate', 'Bearer realm="placet", error="invalid_token"');
  const [scheme, token, ...rest] = authorization.split(' ');
  if (scheme?.toLowerCase() !== 'bearer' || !token?.startsWith(tokenPrefix) || rest.length > 0)
    throw new PlacetError('unauthenticated', 'the Authorization header is not Bearer plt_…');
  return token;
}
