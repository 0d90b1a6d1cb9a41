export { type AwaitedOutcome, awaitOutcome } from './await-outcome.ts';
export {
  type Gate,
  judgeWhilePlanning,
  type PlanPhase,
  type Refusal,
  type RefusalReason,
  type Verdict,
} from './gate.ts';
export { approvedPlanMarker, editedPlanMarker, outcomeText, type SubmissionOutcome } from './outcome-text.ts';
export { contextOf, enterPlan, leavePlan, PermissionContext } from './permission-context.ts';
export { type PlanDirectoryOptions, resolvePlanDirectory } from './plan-directory.ts';
export { PlanFile } from './plan-file.ts';
export {
  type Actor,
  OpenRequest,
  PlanSession,
  type PlanSessionEvent,
  type PlanSessionOptions,
  Posture,
  type Refused,
} from './plan-session.ts';
export {
  differsFromPlan,
  type PlanStorage,
  readCanonicalPlan,
  type StoredPlan,
  storedPlan,
} from './plan-storage.ts';
export { replaceFile, syncDirectory } from './replace-file.ts';
export { planFileName, slugOf } from './slug.ts';
export {
  faultOfApprovedPlan,
  faultOfRejection,
  isApprovable,
  isEmptyPlan,
  judgeSubmission,
  maxFeedbackImages,
  type SubmissionFault,
  type SubmissionVerdict,
} from './submission.ts';
export { isPlanSafe, type ToolCall, type ToolManifest, type ToolSource } from './tool-call.ts';
