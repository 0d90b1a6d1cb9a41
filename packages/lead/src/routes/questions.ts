import {
  AskingMessage,
  fromTimestamp,
  leadInboxName,
  type Message,
  PlacetError,
  parseOrThrow,
  type TokenClaims,
} from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { teammateOf } from './own-request.ts';
import type { Handlers } from './route.ts';

/** The routes by which a lead reads and answers what teammates ask (WR-12). An answer approves nothing. */
export function questionRoutes(context: LeadContext): Pick<Handlers, 'listQuestions' | 'answerQuestion'> {
  const { stores, metrics } = context;
  return {
    listQuestions: async ({ params, query }) => ({
      status: 200,
      body: await stores.questions.list(params.team, query),
    }),

    answerQuestion: async ({ params, body, principal, request }) => {
      const { team, id: requestId } = params;
      const { kind, record } = await stores.questions.answer({ team, requestId, body, by: principal.sub });
      if (kind === 'answered') {
        const { teammate, sessionId, askedAt, endedAt = askedAt } = record;
        metrics.answerSeconds.observe((fromTimestamp(endedAt) - fromTimestamp(askedAt)) / 1000);
        // The answer itself is not logged (IN-24).
        request.log.info(
          { team, teammate, sessionId, requestId, by: principal.sub },
          'a question was answered',
        );
      }
      return { status: 200, body: record };
    },
  };
}

interface Asked {
  team: string;
  to: string;
  message: Message;
  principal: TokenClaims;
}

/** Opens the question that a teammate sends as a message. @throws PlacetError `forbidden`, `validation_failed` */
export async function askByMessage(
  { stores, config }: LeadContext,
  { team, to, message, principal }: Asked,
): Promise<{ id: string }> {
  const teammate = teammateOf(principal);
  if (to !== leadInboxName) {
    const issues = [{ path: 'to', message: `must be "${leadInboxName}": nobody else can be asked` }];
    throw new PlacetError('validation_failed', `only ${leadInboxName} can be asked`, { issues });
  }
  const asking = parseOrThrow(AskingMessage, message, 'the message');
  const { entryId } = await stores.questions.ask({ team, teammate, asking, deadlineMs: config.deadlineMs });
  return { id: entryId };
}
