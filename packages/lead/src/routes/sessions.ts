import { createModeOrder, type SessionName } from '@placet/mailbox';
import {
  type PermissionMode,
  PlacetError,
  resolveGrantedMode,
  type SessionPosture,
  type TokenClaims,
} from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { postureOf, type SessionParts } from '../services/session-posture.ts';
import type { Handlers } from './route.ts';

type SessionHandlers = Pick<Handlers, 'showPosture' | 'enterPlanMode' | 'exitPlanMode'>;

/**
 * The routes of a session's posture (PM-18). Whoever comes through here is a person or a lead: the actor of an exit is
 * always `user`, and no argument says otherwise (PM-13).
 */
export function sessionRoutes(context: LeadContext): SessionHandlers {
  return {
    showPosture: async ({ params, query }) => ({
      status: 200,
      body: postureOf(await read(context, await nameOf(context, params, query.teammate))),
    }),

    enterPlanMode: async ({ params, query, principal }) => {
      const name = await nameOf(context, params, query.teammate);
      await order(context, { name, mode: 'plan', principal, operationId: query.operationId });
      return { status: 200, body: postureOf(await read(context, name)) };
    },

    exitPlanMode: async ({ params, query, principal }) => {
      const name = await nameOf(context, params, query.teammate);
      const posture = postureOf(await read(context, name));
      requireExitAllowed(posture);
      // Outside plan mode there is nothing to leave.
      if (posture.mode.is !== 'plan') return { status: 200, body: posture };
      const { prePlanMode = 'default' } = posture;
      const mode = resolveGrantedMode({ granted: 'restore', prePlanMode, leadMode: undefined });
      await order(context, { name, mode, principal, operationId: query.operationId });
      return { status: 200, body: postureOf(await read(context, name)) };
    },
  };
}

/** @throws PlacetError `approval_required`, also where nothing says that the session does not require plan mode (PM-17) */
function requireExitAllowed({ sessionId, planModeRequired }: SessionPosture): void {
  if (planModeRequired)
    throw new PlacetError(
      'approval_required',
      `session ${sessionId} leaves plan mode by a verified decision only`,
    );
}

interface Order {
  name: SessionName;
  mode: PermissionMode;
  principal: TokenClaims;
  operationId: string | undefined;
}

async function order(context: LeadContext, { name, mode, principal, operationId }: Order): Promise<void> {
  const { stores, keyRing, clock, log } = context;
  const by = principal.sub;
  await stores.sessions.order({
    ...name,
    mode,
    by,
    operationId,
    sign: async (planEntries) =>
      createModeOrder(await keyRing.activeSigner(), { ...name, mode, planEntries, by }, clock.now()),
  });
  log.info({ ...name, mode, by, kind: principal.kind }, 'a session was ordered into another mode');
}

/**
 * Which session a path means: session IDs are their makers', and two teammates may have the same one.
 * @throws PlacetError `not_found`; `validation_failed` where the query has to say whose it is
 */
async function nameOf(
  { stores }: LeadContext,
  { team, id: sessionId }: { team: string; id: string },
  said: string | undefined,
): Promise<SessionName> {
  if (said !== undefined) return { team, teammate: said, sessionId };
  const [teammate, ...others] = await stores.sessions.whoHas(team, sessionId);
  if (teammate === undefined)
    throw new PlacetError(
      'not_found',
      `no teammate that was ever seen has a session ${sessionId}; name one with ?teammate=`,
    );
  if (others.length === 0) return { team, teammate, sessionId };
  const message = `is needed: ${[teammate, ...others].slice(0, 5).join(', ')} have a session of this ID`;
  throw new PlacetError('validation_failed', `teammate ${message}`, {
    issues: [{ path: 'teammate', message }],
  });
}

/** @throws PlacetError `not_found` */
async function read({ stores }: LeadContext, name: SessionName): Promise<SessionParts> {
  const view = await stores.sessions.look(name);
  if (!view)
    throw new PlacetError(
      'not_found',
      `team ${name.team} has no session ${name.sessionId} of ${name.teammate}`,
    );
  const [task, request, openQuestions] = await Promise.all([
    stores.tasks.get(name),
    view.requestId === undefined ? undefined : stores.requests.get(name.team, view.requestId),
    stores.questions.openInSession(name),
  ]);
  return { name, view, task, request, openQuestions };
}
