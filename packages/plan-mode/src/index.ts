export {
  type Gate,
  judgeWhilePlanning,
  type PlanPhase,
  type Refusal,
  type RefusalReason,
  type Verdict,
} from './gate/gate.ts';
export { isPlanSafe, type ToolCall, type ToolManifest, type ToolSource } from './gate/tool-call.ts';
export { type PlanDirectoryOptions, resolvePlanDirectory } from './plan/plan-directory.ts';
export { PlanFile } from './plan/plan-file.ts';
export {
  differsFromPlan,
  type PlanStorage,
  readCanonicalPlan,
  type StoredPlan,
  storedPlan,
} from './plan/plan-storage.ts';
export { replaceFile, syncDirectory } from './plan/replace-file.ts';
export { planFileName, slugOf } from './plan/slug.ts';
export { contextOf, enterPlan, leavePlan, PermissionContext } from './posture/permission-context.ts';
export {
  type Actor,
  OpenRequest,
  PlanSession,
  type PlanSessionEvent,
  type PlanSessionOptions,
  Posture,
  type Refused,
} from './posture/plan-session.ts';
export { type AwaitedOutcome, awaitOutcome } from './submission/await-outcome.ts';
export {
  approvedPlanMarker,
  editedPlanMarker,
  outcomeText,
  type SubmissionOutcome,
} from './submission/outcome-text.ts';
export {
  faultOfApprovedPlan,
  faultOfRejection,
  isApprovable,
  isEmptyPlan,
  judgeSubmission,
  maxFeedbackImages,
  type SubmissionFault,
  type SubmissionVerdict,
} from './submission/submission.ts';
