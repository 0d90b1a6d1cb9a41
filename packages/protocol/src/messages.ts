import { z } from 'zod';
import { Timestamp } from './clock.ts';
import { Digest } from './digest.ts';
import { AgentName, Principal, RequestId, SessionId, TeammateName, TeamName } from './ids.ts';
import { PermissionMode, WorkingMode } from './permission-mode.ts';
import type { QuestionRecord } from './question-record.ts';
import { ConsentRequest, ConsentResponse, QuestionRequest, QuestionResponse } from './questions.ts';
import {
  ContextChoice,
  ExecutionTarget,
  ImageRef,
  Labels,
  type RequestRecord,
  type RequestWithPlan,
  Usage,
} from './request.ts';
import { Outcome } from './request-machine.ts';

/** A plan that waits for its decision (WR-10). */
export const PlanApprovalRequest = z.looseObject({
  type: z.literal('plan_approval_request'),
  requestId: RequestId,
  from: TeammateName,
  team: TeamName,
  timestamp: Timestamp,
  planFilePath: z.string(),
  planContent: z.string(),
  planDigest: Digest,
  sessionId: SessionId,
  revision: z.number().int().positive(),
  supersedes: RequestId.optional(),
  prePlanMode: PermissionMode,
  executionTarget: ExecutionTarget,
  deadline: Timestamp,
  labels: Labels.optional(),
  usage: Usage.optional(),
  summary: z.string().optional(),
});
export type PlanApprovalRequest = z.infer<typeof PlanApprovalRequest>;

/** How a request ended (WR-11). Only one that passes verification means anything (WR-14). */
export const PlanApprovalResponse = z.looseObject({
  type: z.literal('plan_approval_response'),
  requestId: RequestId,
  approved: z.boolean(),
  outcome: Outcome,
  timestamp: Timestamp,
  permissionMode: WorkingMode.optional(),
  context: ContextChoice.optional(),
  feedback: z.string().optional(),
  images: z.array(ImageRef).optional(),
  planDigest: Digest,
  planContent: z.string().optional(),
  planEdited: z.boolean(),
  decidedBy: Principal.optional(),
  notices: z.array(z.string()).optional(),
  signature: z.string().optional(),
});
export type PlanApprovalResponse = z.infer<typeof PlanApprovalResponse>;

/** Plain text from one to another. */
export const TextMessage = z.looseObject({
  type: z.literal('message'),
  text: z.string().min(1).max(100_000),
});
/** Someone's permission mode is now another; the lead's last one is a default for granting (TM-30). */
export const ModeChanged = z.looseObject({
  type: z.literal('mode_changed'),
  mode: PermissionMode,
  /** To a teammate: which of its sessions is to be in that mode, by order of a lead. */
  sessionId: SessionId.optional(),
  /** The order as signed ({@link ModeOrderClaims}): without one that verifies there is none. */
  order: z.string().optional(),
});
/** A teammate has nothing to do. */
export const IdleNotification = z.looseObject({ type: z.literal('idle_notification') });
/** Asks a teammate to stop, and its answer. */
export const ShutdownRequest = z.looseObject({ type: z.literal('shutdown_request') });
export const ShutdownResponse = z.looseObject({ type: z.literal('shutdown_response') });

/** Message types that this release gives a meaning to beyond passing them on. */
export const KnownMessage = z.discriminatedUnion('type', [
  PlanApprovalRequest,
  PlanApprovalResponse,
  TextMessage,
  ModeChanged,
  IdleNotification,
  ShutdownRequest,
  ShutdownResponse,
  QuestionRequest,
  ConsentRequest,
  QuestionResponse,
  ConsentResponse,
]);
export type KnownMessage = z.infer<typeof KnownMessage>;

/** Any message: a known one, or one of a type that is kept and shown but not understood. */
export const Message = z.looseObject({ type: z.string().min(1).max(64) });
export type Message = z.infer<typeof Message>;

/**
 * Messages that only the store's own steps may write. `POST …/messages` refuses them: a decision is made by a
 * decision, a request by a submission, an answer by answering.
 */
export const reservedMessageTypes = [
  'plan_approval_request',
  'plan_approval_response',
  'question_response',
  'consent_response',
] as const;

/** What asks the lead: sent like any message, but it opens a question, which stays until it has ended (WR-12). */
export const AskingMessage = z.discriminatedUnion('type', [QuestionRequest, ConsentRequest]);
export type AskingMessage = z.infer<typeof AskingMessage>;

/** Whether a message is of a type that asks; its shape may still be wrong. */
export function isAsking({ type }: Message): boolean {
  return AskingMessage.options.some(({ shape }) => shape.type.value === type);
}

/** Whether a message would order a session about, which only the session's route does (PM-18). */
export function isOrder({ type, sessionId }: Message): boolean {
  return type === 'mode_changed' && sessionId !== undefined;
}

/** An entry of an inbox (2.2). */
export const Envelope = z.looseObject({
  /** Opaque; entries of one inbox sort by arrival, and `after` takes it. */
  id: z.string(),
  from: z.string(),
  to: AgentName,
  timestamp: Timestamp,
  message: Message,
});
export type Envelope = z.infer<typeof Envelope>;

/** The longest message, in characters of its JSON: pages of an inbox hold 200 of them. */
const maxMessageChars = 1024 * 1024;

/** What is sent to `POST …/messages`. `operationId` makes a repetition harmless (TM-45). */
export const OutgoingMessage = z.strictObject({
  to: AgentName,
  operationId: z.string().min(1).max(128).optional(),
  message: Message.refine(
    ({ type }) => !reservedMessageTypes.some((reserved) => reserved === type),
    'is made by submitting, deciding or answering, and not by a message',
  )
    .refine(
      (message) => !isOrder(message),
      'a session is told its mode by its own route, and not by a message',
    )
    .refine(
      (message) => JSON.stringify(message).length <= maxMessageChars,
      `must be at most ${maxMessageChars} characters of JSON`,
    ),
});
export type OutgoingMessage = z.infer<typeof OutgoingMessage>;

/** The message that tells the lead of a request (WR-10, WR-14). */
export function requestMessage(record: RequestWithPlan): PlanApprovalRequest {
  return {
    type: 'plan_approval_request',
    requestId: record.requestId,
    from: record.teammate,
    team: record.team,
    timestamp: record.submittedAt,
    planFilePath: record.plan.path,
    planContent: record.planContent,
    planDigest: record.plan.digest,
    sessionId: record.sessionId,
    revision: record.revision,
    ...(record.supersedes && { supersedes: record.supersedes }),
    prePlanMode: record.prePlanMode,
    executionTarget: record.executionTarget,
    deadline: record.deadline,
    labels: record.labels,
    ...(record.usage && { usage: record.usage }),
    ...(record.summary && { summary: record.summary }),
  };
}

/** The message that tells a teammate what became of its question (WR-12); undefined while it is open. */
export function answeringMessage(record: QuestionRecord): QuestionResponse | ConsentResponse | undefined {
  const { requestId, sessionId, ask, end, endedAt } = record;
  if (!end || endedAt === undefined) return undefined;
  const said = { requestId, sessionId, timestamp: endedAt, end };
  return ask.kind === 'consent'
    ? { type: 'consent_response', ...said }
    : { type: 'question_response', ...said };
}

/**
 * The message that tells a teammate how its request ended (WR-11); undefined while it is pending.
 * `endedAt` is for endings that no lead decided; `editedPlan` the plan as approved, where the lead edited it.
 */
export function responseMessage(
  record: RequestRecord,
  { endedAt, editedPlan }: { endedAt: Timestamp; editedPlan?: string | undefined },
): PlanApprovalResponse | undefined {
  const { state, decision } = record;
  if (state === 'pending') return undefined;
  const head = { type: 'plan_approval_response', requestId: record.requestId, outcome: state } as const;
  if (!decision)
    return {
      ...head,
      approved: false,
      timestamp: endedAt,
      planDigest: record.plan.digest,
      planEdited: false,
    };
  return {
    ...head,
    approved: state === 'approved' && decision.outcome === 'approved',
    timestamp: decision.decidedAt,
    ...(decision.permissionMode && { permissionMode: decision.permissionMode }),
    ...(decision.context && { context: decision.context }),
    ...(decision.feedback !== undefined && { feedback: decision.feedback }),
    ...(decision.images && { images: decision.images }),
    planDigest: decision.approvedPlanDigest,
    ...(decision.planEdited && editedPlan !== undefined && { planContent: editedPlan }),
    planEdited: decision.planEdited,
    decidedBy: decision.decidedBy,
    notices: decision.notices,
    signature: decision.signature,
  };
}
