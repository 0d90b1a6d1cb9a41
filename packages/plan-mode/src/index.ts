export { announcementOf, type ModeChange } from './entry/announcement.ts';
export {
  type ConsentFlow,
  type ConsentOutcome,
  consentWords,
  enterByConsent,
} from './entry/consent.ts';
export { type MessageOrigin, type MetaCommand, parseMetaCommand } from './entry/meta-command.ts';
export { type StartingMode, startingMode } from './entry/starting-mode.ts';
export { BlockedCounter, type BlockedSample, blockedMetric, maxToolLabels } from './gate/blocked-counter.ts';
export { createExecutor, type Execution, type Executor, type ExecutorOptions } from './gate/executor.ts';
export { type ExposedTools, exposeTools, type Toolbox, type ToolCatalog } from './gate/expose-tools.ts';
export { createGate, type Gate, type GateOptions, isGate, type Verdict } from './gate/gate.ts';
export {
  judgeWhilePlanning,
  type OwnServers,
  type OwnTools,
  type PlanPhase,
} from './gate/judge-while-planning.ts';
export { type Refusal, type RefusalReason, type ToolError, toolErrorOf } from './gate/refusal.ts';
export {
  isPlanSafe,
  type Surface,
  surfaces,
  type ToolCall,
  type ToolManifest,
  type ToolSource,
  toolSources,
} from './gate/tool-call.ts';
export { TrustedTools } from './gate/trusted-tools.ts';
export {
  type ChosenModel,
  chooseModel,
  type ModelFacts,
  type ModelWishes,
  modelFacts,
  type NoModel,
  phaseOf,
} from './model/choose-model.ts';
export { UsageMeter, type UsageReport, type UsageVerdict } from './model/usage-meter.ts';
export { HeldFolder } from './plan/held-folder.ts';
export { isInside } from './plan/is-inside.ts';
export { type PlanDirectoryOptions, resolvePlanDirectory } from './plan/plan-directory.ts';
export { PlanDraft, type PlanDraftOptions } from './plan/plan-draft.ts';
export { PlanFile } from './plan/plan-file.ts';
export { choosePlanPlace, PlanPlace, planFileAt } from './plan/plan-place.ts';
export { type PlanStorage, type StoredPlan, storedPlan } from './plan/plan-storage.ts';
export { replaceFile, syncDirectory } from './plan/replace-file.ts';
export { planFileName, slugOf } from './plan/slug.ts';
export {
  allowRulesIn,
  changeRules,
  type RuleBook,
  type RuleChange,
  rulesOf,
  settleRules,
  strippedRulesIn,
  withStripped,
} from './posture/auto-rules.ts';
export { isDangerousRule } from './posture/dangerous-rule.ts';
export { maxKeptEvents, type Replay } from './posture/event-log.ts';
export { type AvailableModes, nextMode } from './posture/mode-cycle.ts';
export { contextOf, enterPlan, leavePlan } from './posture/permission-context.ts';
export type { DecisionContents } from './posture/plan-decisions.ts';
export { PlanSession } from './posture/plan-session.ts';
export type { Actor, Left, Opened, PlanSessionOptions, Rejected } from './posture/plan-session-options.ts';
export { type Refused, refuse } from './posture/refused.ts';
export {
  type AfkConditions,
  type AskUserQuestionTimeout,
  afkTimeoutMs,
} from './questions/afk-timeout.ts';
export { answerText, type EndedQuestions } from './questions/answer-text.ts';
export type {
  Answered,
  ConsentEnd,
  Consented,
  QuestionsEnd,
  Stopped,
  Unanswered,
} from './questions/ask-end.ts';
export { asksForApproval } from './questions/asks-for-approval.ts';
export { type AnswersVerdict, judgeAnswers } from './questions/judge-answers.ts';
export type { EndVerdict } from './questions/judge-end.ts';
export {
  judgeQuestions,
  type QuestionFault,
  type QuestionFaultReason,
  type QuestionsVerdict,
  type RefusedQuestions,
} from './questions/judge-questions.ts';
export { OpenQuestions } from './questions/open-questions.ts';
export type {
  AskOptions,
  OpenQuestionsOptions,
  ShownQuestion,
} from './questions/open-questions-options.ts';
export { faultsOfPreview } from './questions/preview-fragment.ts';
export type { EventFacts, QuestionEvent } from './questions/question-event.ts';
export { Ask, KeptQuestion, QuestionsSnapshot } from './questions/questions-snapshot.ts';
export type { RefusedAsk } from './questions/refused-ask.ts';
export { systemTimer, type Timer } from './questions/timer.ts';
export {
  faultOfInstructions,
  type InstructionsFault,
  maxInstructionsChars,
} from './reminders/custom-instructions.ts';
export { exitText, fullReminder, type ReminderSubject, sparseReminder } from './reminders/reminder-text.ts';
export {
  type Attachment,
  type ContextTurn,
  type PlanModeAttachment,
  type PlanModeExitAttachment,
  Reminders,
  remindersPerFullOne,
  userTurnsBetweenReminders,
} from './reminders/reminders.ts';
export type { Approval } from './submission/approval.ts';
export { type AwaitedOutcome, awaitOutcome } from './submission/await-outcome.ts';
export { type Continuation, continuationOf } from './submission/continuation.ts';
export {
  approvedPlanMarker,
  approvesNothing,
  editedPlanMarker,
  outcomeText,
  type SubmissionOutcome,
} from './submission/outcome-text.ts';
export {
  type FeedbackImage,
  faultOfRejection,
  maxFeedbackImageBytes,
  maxFeedbackImages,
  type Rejection,
} from './submission/rejection.ts';
export {
  faultOfApprovedPlan,
  isApprovable,
  isEmptyPlan,
  judgeSubmission,
  type SessionKind,
  type SubmissionTool,
  type SubmissionVerdict,
} from './submission/submission.ts';
export { judgeTodos, type TodoFault, type TodosVerdict } from './todo/judge-todos.ts';
export { TodoFile } from './todo/todo-file.ts';
export { TodoList, type TodoListOptions, type TodoWrite } from './todo/todo-list.ts';
export type { TodoStorage } from './todo/todo-storage.ts';
export { echoTodos, todoText } from './todo/todo-text.ts';
