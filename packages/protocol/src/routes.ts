import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { AgentName, RequestId, SessionId, TeammateName, TeamName } from './ids.ts';
import { Envelope, OutgoingMessage } from './messages.ts';
import { PermissionMode } from './permission-mode.ts';
import { QuestionPage, QuestionRecord } from './question-record.ts';
import { AnswerBody } from './questions.ts';
import { DecisionBody, RequestPage, RequestRecord, RequestWithPlan, Submission } from './request.ts';
import { RequestState } from './request-machine.ts';
import { SessionPosture } from './session-posture.ts';

const OfTeam = z.object({ team: TeamName });
const OfRequest = z.object({ team: TeamName, id: RequestId });
const OfSession = z.object({ team: TeamName, id: SessionId });
const OfAgent = z.object({ team: TeamName, agent: AgentName });
const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

/** How long `wait` holds a call at most, and by default, in milliseconds. */
export const maxWaitMs = 60_000;
/** How many records or entries a page has at most, and by default. */
export const pageLimits = { max: 200, default: 50 } as const;

/** Who claims: which process, so that the next claimer can end what it left over (TM-16). */
export const ClaimBody = z.strictObject({
  holder: z.string().min(1).max(64),
  leaseMs: z.number().int().min(1000).max(600_000).default(30_000),
});
export type ClaimBody = z.infer<typeof ClaimBody>;

/** A receipt (TM-11): `delivered` when the decision was read and verified, `applied` when the gate opened. */
export const ReceiptBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('delivered') }),
  z.strictObject({
    kind: z.literal('applied'),
    epoch: z.number().int().positive(),
    effectiveMode: PermissionMode,
  }),
]);
export type ReceiptBody = z.infer<typeof ReceiptBody>;

/** How work ended (TM-16). */
export const SettleBody = z.strictObject({
  epoch: z.number().int().positive(),
  state: z.enum(['done', 'failed']),
  reason: z.string().max(500).optional(),
  branch: z.string().max(255).optional(),
  commit: z.string().max(64).optional(),
});
export type SettleBody = z.infer<typeof SettleBody>;

/** A heartbeat (TM-12). */
export const PresenceBody = z.strictObject({
  process: z.string().min(1).max(64),
  ttlMs: z.number().int().min(1000).max(600_000).default(30_000),
});
export type PresenceBody = z.infer<typeof PresenceBody>;

/** Whose session it is: needed where two teammates have one of the same ID. */
const teammateQuery = { teammate: TeammateName.optional() };
/** Makes the repetition of an order harmless for a day (TM-45). */
const orderQuery = z.object({ ...teammateQuery, operationId: z.string().min(1).max(128).optional() });

/** What the service says of itself. */
export const Health = z.looseObject({ status: z.enum(['ok', 'unavailable']) });

interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  summary: string;
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  /** The JSON answers by status; a route without any answers something other than JSON. */
  answers: Record<number, z.ZodType>;
}

/** Every route of the lead service that speaks of requests, inboxes and work (2.4), as data. */
export const routes = {
  submitRequest: {
    method: 'POST',
    path: '/v1/teams/:team/requests',
    summary: 'Submit a plan for approval',
    params: OfTeam,
    body: Submission,
    answers: { 201: RequestRecord, 200: RequestRecord },
  },
  listRequests: {
    method: 'GET',
    path: '/v1/teams/:team/requests',
    summary: 'List requests, newest first',
    params: OfTeam,
    query: z.object({
      state: RequestState.optional(),
      teammate: AgentName.optional(),
      cursor: z.string().max(200).optional(),
      limit: wholeNumber(1, pageLimits.max).default(pageLimits.default),
    }),
    answers: { 200: RequestPage },
  },
  showRequest: {
    method: 'GET',
    path: '/v1/teams/:team/requests/:id',
    summary: 'Read one request with its plan',
    params: OfRequest,
    answers: { 200: RequestWithPlan },
  },
  readPlan: {
    method: 'GET',
    path: '/v1/teams/:team/requests/:id/plan',
    summary: 'Read the exact bytes of a plan',
    params: OfRequest,
    answers: {},
  },
  awaitDecision: {
    method: 'GET',
    path: '/v1/teams/:team/requests/:id/wait',
    summary: 'Wait until a request has ended',
    params: OfRequest,
    query: z.object({ timeoutMs: wholeNumber(0, maxWaitMs).default(30_000) }),
    answers: { 200: RequestRecord, 202: RequestRecord },
  },
  decideRequest: {
    method: 'POST',
    path: '/v1/teams/:team/requests/:id/decision',
    summary:
      'Approve, reject or teleport exactly the plan that was read. An approval opens the gate of its session in the granted mode; it is no standing approval for any tool',
    params: OfRequest,
    body: DecisionBody,
    answers: { 200: RequestRecord },
  },
  withdrawRequest: {
    method: 'POST',
    path: '/v1/teams/:team/requests/:id/withdraw',
    summary: 'Take a pending request back',
    params: OfRequest,
    answers: { 200: RequestRecord },
  },
  readInbox: {
    method: 'GET',
    path: '/v1/teams/:team/inbox/:agent',
    summary: 'Read an inbox, oldest first',
    params: OfAgent,
    query: z.object({
      after: z.string().max(64).optional(),
      limit: wholeNumber(1, pageLimits.max).default(pageLimits.default),
    }),
    answers: { 200: z.looseObject({ entries: z.array(Envelope) }) },
  },
  acknowledge: {
    method: 'POST',
    path: '/v1/teams/:team/inbox/:agent/ack',
    summary: 'Acknowledge inbox entries; decides nothing',
    params: OfAgent,
    body: z.strictObject({ ids: z.array(z.string().max(64)).min(1).max(pageLimits.max) }),
    answers: { 200: z.looseObject({ acknowledged: z.number().int() }) },
  },
  sendMessage: {
    method: 'POST',
    path: '/v1/teams/:team/messages',
    summary: 'Send a message to an inbox',
    params: OfTeam,
    body: OutgoingMessage,
    answers: { 201: z.looseObject({ id: z.string() }) },
  },
  listQuestions: {
    method: 'GET',
    path: '/v1/teams/:team/questions',
    summary: 'List open questions and consents, oldest first',
    params: OfTeam,
    query: z.object({
      cursor: z.string().max(200).optional(),
      limit: wholeNumber(1, pageLimits.max).default(pageLimits.default),
    }),
    answers: { 200: QuestionPage },
  },
  answerQuestion: {
    method: 'POST',
    path: '/v1/teams/:team/questions/:id/answer',
    summary: 'Answer an open question or consent. An answer approves no plan and opens nothing',
    params: OfRequest,
    body: AnswerBody,
    answers: { 200: QuestionRecord },
  },
  showPosture: {
    method: 'GET',
    path: '/v1/teams/:team/sessions/:id/plan-mode',
    summary: 'Read the whole posture of a session, and which link of it is missing',
    params: OfSession,
    query: z.object(teammateQuery),
    answers: { 200: SessionPosture },
  },
  enterPlanMode: {
    method: 'POST',
    path: '/v1/teams/:team/sessions/:id/plan-mode',
    summary: 'Have a session enter plan mode. Every approval that it had is void from then on',
    params: OfSession,
    query: orderQuery,
    answers: { 200: SessionPosture },
  },
  exitPlanMode: {
    method: 'DELETE',
    path: '/v1/teams/:team/sessions/:id/plan-mode',
    summary:
      'Have a session that does not require plan mode leave it, without an approval. It is no standing approval for any tool',
    params: OfSession,
    query: orderQuery,
    answers: { 200: SessionPosture },
  },
  followEvents: {
    method: 'GET',
    path: '/v1/teams/:team/events',
    summary: 'Follow the event log; resumes from Last-Event-ID',
    params: OfTeam,
    // For clients that cannot set the header when they come back.
    query: z.object({ lastEventId: z.string().max(64).optional() }),
    answers: {},
  },
  claimWork: {
    method: 'POST',
    path: '/v1/teams/:team/requests/:id/claim',
    summary: 'Claim the work of an approved request',
    params: OfRequest,
    body: ClaimBody,
    answers: { 200: RequestRecord },
  },
  sendReceipt: {
    method: 'POST',
    path: '/v1/teams/:team/requests/:id/receipt',
    summary: 'Say that a decision was delivered or applied',
    params: OfRequest,
    body: ReceiptBody,
    answers: { 200: RequestRecord },
  },
  settleWork: {
    method: 'POST',
    path: '/v1/teams/:team/requests/:id/settle',
    summary: 'Say how the work ended',
    params: OfRequest,
    body: SettleBody,
    answers: { 200: RequestRecord },
  },
  reportPresence: {
    method: 'POST',
    path: '/v1/teams/:team/presence',
    summary: 'Say that a teammate is alive',
    params: OfTeam,
    body: PresenceBody,
    answers: { 200: z.looseObject({ lastSeen: Timestamp }) },
  },
  listPresence: {
    method: 'GET',
    path: '/v1/teams/:team/presence',
    summary: 'When each teammate was last seen',
    params: OfTeam,
    answers: {
      200: z.looseObject({
        teammates: z.array(z.looseObject({ teammate: z.string(), lastSeen: Timestamp, alive: z.boolean() })),
      }),
    },
  },
  jwks: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'The keys that decisions verify under',
    answers: { 200: z.looseObject({ keys: z.array(z.looseObject({})) }) },
  },
  healthz: {
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process is alive',
    answers: { 200: Health },
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    summary: 'Whether it can do its work',
    answers: { 200: Health, 503: Health },
  },
  metrics: { method: 'GET', path: '/metrics', summary: 'Prometheus metrics', answers: {} },
} as const satisfies Record<string, Route>;

/** The name of a route. */
export type RouteName = keyof typeof routes;
