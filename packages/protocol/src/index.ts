export { type Clock, fromTimestamp, systemClock, Timestamp, toTimestamp } from './clock.ts';
export {
  AgentProfile,
  type Config,
  type ConfigLayer,
  environmentLayer,
  environmentName,
  type ResolvedConfig,
  resolveConfig,
  type SettingName,
  settings,
} from './config.ts';
export {
  DecisionClaims,
  decisionType,
  issuer,
  LeadModeClaims,
  leadModeType,
  ModeOrderClaims,
  maxTokenLifetimeMs,
  modeOrderType,
  OwnerClaims,
  ownerProofType,
  PrincipalKind,
  Role,
  signatureAlgorithm,
  TokenClaims,
  tokenPrefix,
  tokenType,
} from './decision-claims.ts';
export { Digest, digestOfBytes, digestOfList, digestOfText, type JsonValue } from './digest.ts';
export { ErrorCode, errorCatalogue } from './error-catalogue.ts';
export {
  type ErrorExtras,
  Issue,
  isPlacetError,
  issuesOf,
  PlacetError,
  Problem,
  parseOrThrow,
} from './errors.ts';
export {
  ForeignEntry,
  ForeignRequest,
  readForeignRequest,
  toForeignRequest,
  toForeignResponse,
} from './foreign-messages.ts';
export {
  AgentName,
  leadInboxName,
  type NativeRequestId,
  newRequestId,
  newSessionId,
  Principal,
  parseNativeRequestId,
  RequestId,
  SessionId,
  TeammateName,
  TeamName,
} from './ids.ts';
export {
  findLookAlikes,
  type LookAlike,
  type ShownAs,
  showInvisible,
  toVisibleJson,
} from './invisible-text.ts';
export {
  defaultMaxRevisions,
  type FailReason,
  failReasons,
  Holder,
  isTaskOver,
  Job,
  jobNames,
  maxTaskChars,
  TaskPhase,
  TaskRecord,
  Wake,
} from './job.ts';
export { type Log, silentLog } from './log.ts';
export { logRedaction } from './log-redaction.ts';
export {
  AskingMessage,
  answeringMessage,
  Envelope,
  IdleNotification,
  isAsking,
  isOrder,
  KnownMessage,
  Message,
  ModeChanged,
  OutgoingMessage,
  PlanApprovalRequest,
  PlanApprovalResponse,
  requestMessage,
  reservedMessageTypes,
  responseMessage,
  ShutdownRequest,
  ShutdownResponse,
  TextMessage,
} from './messages.ts';
export { ModelName, ModelReason } from './model-choice.ts';
export {
  exceeds,
  GrantedMode,
  type Granting,
  lowestCeiling,
  PermissionMode,
  resolveGrantedMode,
  WorkingMode,
} from './permission-mode.ts';
export { AllowRule, StrippedRule } from './permission-rules.ts';
export { Policy, policyDigest } from './policy.ts';
export { OpenRequest, PermissionContext, Posture, StandingApproval } from './posture.ts';
export { faultsOfAnswers } from './question-answers.ts';
export { openQuestionLimits, QuestionPage, QuestionRecord } from './question-record.ts';
export {
  Answer,
  AnswerBody,
  Answers,
  ConsentAnswer,
  ConsentRequest,
  ConsentResponse,
  OpenQuestion,
  Question,
  QuestionEnd,
  QuestionOption,
  QuestionRequest,
  QuestionResponse,
  Questions,
  questionLimits,
} from './questions.ts';
export { LastAttachment, ReminderState } from './reminder-state.ts';
export {
  ContextChoice,
  CurrentOutcome,
  contentDigest,
  currentOf,
  Decision,
  DecisionBody,
  type DecisionContent,
  deadlineBoundsMs,
  defaultDeadlineMs,
  defaultNotAfterMs,
  ExecutionTarget,
  ImageRef,
  Labels,
  maxApprovablePlanChars,
  maxFeedbackChars,
  maxPlanBytes,
  RequestPage,
  RequestRecord,
  RequestWithPlan,
  recordVersion,
  Scope,
  Submission,
  Usage,
  Vote,
  Work,
  Workspace,
  workspaceDigest,
} from './request.ts';
export {
  DecisionOutcome,
  isSettled,
  isTerminal,
  Outcome,
  RequestState,
  requestTransitions,
  type TransitionActor,
  WorkState,
  workTransitions,
} from './request-machine.ts';
export {
  ClaimBody,
  Health,
  maxWaitMs,
  PresenceBody,
  pageLimits,
  ReceiptBody,
  type RouteName,
  routes,
  SettleBody,
} from './routes.ts';
export { findUnsafeJson, maxJsonDepth, unsafeText } from './safe-json.ts';
export {
  EntryCause,
  ModeCause,
  PlanBlockedEvent,
  PlanDecidedEvent,
  PlanModeEvent,
  PlanModelEvent,
  PlanProposedEvent,
  SessionEvent,
} from './session-events.ts';
export {
  maxPostureReportBytes,
  PostureReport,
  RefusalCount,
  SessionPosture,
} from './session-posture.ts';
export { resetEvent, TeamEvent, TeamEventBody } from './team-events.ts';
export { TodoId, TodoItem, TodoMirrorRecord, TodoStatus, todoLimits, WrittenTodo } from './todo.ts';
export { TrustedTool } from './trusted-tool.ts';
export {
  maxRememberedTurns,
  TurnId,
  UsageAmount,
  UsageByPhase,
  UsagePhase,
  UsageSnapshot,
  UsageSum,
} from './usage.ts';
