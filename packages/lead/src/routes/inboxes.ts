import { createLeadMode } from '@placet/mailbox';
import {
  isAsking,
  type Message,
  ModeChanged,
  PlacetError,
  parseOrThrow,
  type TokenClaims,
} from '@placet/protocol';
import { inboxOf } from '../access-table.ts';
import type { LeadContext } from '../lead-context.ts';
import { askByMessage } from './questions.ts';
import type { Handlers } from './route.ts';

/** The routes of inboxes and messages (4.4). */
export function inboxRoutes(
  context: LeadContext,
): Pick<Handlers, 'readInbox' | 'acknowledge' | 'sendMessage'> {
  const { inboxes } = context.stores;
  return {
    readInbox: async ({ params, query }) => ({
      status: 200,
      body: { entries: await inboxes.read(params.team, params.agent, query) },
    }),

    acknowledge: async ({ params, body }) => ({
      status: 200,
      body: { acknowledged: await inboxes.acknowledge(params.team, params.agent, body.ids) },
    }),

    sendMessage: async ({ params, body, principal }) => {
      const from = inboxOf(principal);
      if (from === undefined)
        throw new PlacetError('forbidden', `the role ${principal.role} has no name to send under`);
      const { to, message, operationId } = body;
      if (isAsking(message))
        return {
          status: 201,
          body: await askByMessage(context, { team: params.team, to, message, principal }),
        };
      const leadMode = await signedModeOf(context, { team: params.team, message, principal });
      return {
        status: 201,
        body: await inboxes.send(params.team, { from, to, message, operationId, leadMode }),
      };
    },
  };
}

interface Said {
  team: string;
  message: Message;
  principal: TokenClaims;
}

/** A lead that says its mode changed says what its decisions grant that name none (TM-30); signed, so that it counts. */
async function signedModeOf({ keyRing, clock }: LeadContext, said: Said): Promise<string | undefined> {
  const { team, message, principal } = said;
  if (principal.role !== 'lead' || message.type !== 'mode_changed') return undefined;
  const { mode } = parseOrThrow(ModeChanged, message, 'the message');
  return createLeadMode(await keyRing.activeSigner(), { team, mode, by: principal.sub }, clock.now());
}
