import type {
  AllowRule,
  Clock,
  ContextChoice,
  Log,
  PermissionMode,
  RequestId,
  SessionEvent,
  TrustedTool,
  WorkingMode,
} from '@placet/protocol';
import type { OwnServers, PlanPhase } from '../gate/judge-while-planning.ts';
import type { Refusal } from '../gate/refusal.ts';
import type { PlanStorage, StoredPlan } from '../plan/plan-storage.ts';
import type { FeedbackImage } from '../submission/rejection.ts';
import type { SessionKind } from '../submission/submission.ts';

/** Who asks for a change: a person (or a lead through an authenticated surface), or anything out of a model. */
export type Actor = 'user' | 'model';

/** What a `PlanSession` is made of. */
export interface PlanSessionOptions {
  sessionId: string;
  /** `teammate` where plan mode is required, else `main`, unless set. */
  kind?: SessionKind;
  /** The session leaves plan mode by a verified decision and by nothing else (PM-17). */
  planModeRequired: boolean;
  /** The mode it starts in; `plan` where plan mode is required, whatever is said here. `default` unless set. */
  mode?: PermissionMode;
  /** The mode that `restore` goes back to, where it starts planning. `default` unless set. */
  prePlanMode?: WorkingMode;
  /** The rules of every source, in order. None unless set. */
  allowRules?: readonly AllowRule[];
  /** Whether `auto` is available now; asked at each transition. Without it, and when it throws, it is not. */
  autoGate?: { isOpen(): boolean };
  /** The setting of that name (PM-6); true unless set. */
  useAutoModeDuringPlan?: boolean;
  /** The setting of that name (PM-75); false unless set. */
  showClearContextOnPlanAccept?: boolean;
  /** Whether a person may choose `bypassPermissions` here. Where the session starts in it, unless set. */
  bypassAvailable?: boolean;
  /** The plan file: says which path it is, and keeps the plan. */
  planFile?: PlanStorage & { isPlanFile: PlanPhase['isPlanFile'] };
  /** In place of `planFile`'s: whether a path is the session's own plan file. */
  isPlanFile?: PlanPhase['isPlanFile'];
  /** In place of `planFile`: where the plan is kept. Without either, there is no plan to submit or approve. */
  planStorage?: PlanStorage;
  /** The servers that are Placet's own, and which of their tools are always allowed (PM-25). None unless set. */
  ownServers?: OwnServers;
  /** The setting of that name (PM-23). None unless set. */
  trustedReadOnlyTools?: readonly TrustedTool[];
  /** The machine's unless set. */
  clock?: Clock;
  /** Says nothing unless set. */
  log?: Log;
  /** Told of each event, in order, once the session stands as the event says. */
  onEvent?: (event: SessionEvent) => void;
  /** Told of each refused call. */
  onBlocked?: (refusal: Refusal) => void;
}

/** Plan mode was left without an approval. */
export interface Left {
  kind: 'left';
  mode: PermissionMode;
  /** What a person should hear, such as that `auto` is not available any more (PM-7). */
  notice?: string;
  /** The request that nobody waits for any more: the host withdraws it. */
  withdrawn?: RequestId;
}

/** An approval was applied: the gate is open, in this mode. */
export interface Opened {
  kind: 'opened';
  mode: WorkingMode;
  notice?: string;
  /** The plan as approved; undefined where the host keeps it and gave none. */
  plan: StoredPlan | undefined;
  planEdited: boolean;
  /** `clear`: go on in a new context, with `continuationOf` (PM-75). */
  context: ContextChoice;
  /** What the model is told (PM-74). */
  result: string;
}

/** A plan was rejected. Its tool call ends with `result`, the turn goes on (PM-76). */
export interface Rejected {
  kind: 'rejected';
  result: string;
  images: readonly FeedbackImage[];
}
