import { type Log, silentLog, type TrustedTool } from '@placet/protocol';
import { type Snapshot, snapshotOf } from './call-snapshot.ts';
import { judgeWhilePlanning, type OwnServers, type PlanPhase } from './judge-while-planning.ts';
import { type Refusal, type RefusalReason, refusalOf } from './refusal.ts';
import { RefusalLog } from './refusal-log.ts';
import type { ToolCall } from './tool-call.ts';
import { TrustedTools } from './trusted-tools.ts';

/** What the gate says of a call. */
export type Verdict = { readonly kind: 'allowed' } | { readonly kind: 'refused'; readonly refusal: Refusal };

// Not exported: what has it was made here.
const gateMark: unique symbol = Symbol('placet.gate');

/**
 * Judges every call of one session before it is executed (PM-21). Give this very function to whatever runs calls for
 * the session, its agents included: it asks for the mode at each call, so one who holds it already is held too (PM-24).
 * It never waits and never throws; what it cannot judge while planning it refuses.
 */
export interface Gate {
  (call: ToolCall): Verdict;
  /** Whether such a call would be allowed now; it is no call, so nothing is logged or counted (PM-20). */
  wouldAllow(call: ToolCall): boolean;
  readonly [gateMark]: true;
}

/** What a gate is made of. `PlanSession` makes its own; without one, a host can make a gate over its own mode. */
export interface GateOptions {
  sessionId: string;
  /** Asked at each call; anything but false is planning, and so is an error. */
  isPlanning(): boolean;
  /** Whether a path is the session's own plan file, links resolved (PM-26). None is, unless set. */
  isPlanFile?: PlanPhase['isPlanFile'] | undefined;
  /** None unless set. A server that the host adds later counts from then on. */
  ownServers?: OwnServers | undefined;
  /** The setting of that name (PM-23). None unless set. */
  trustedReadOnlyTools?: Iterable<TrustedTool> | undefined;
  /** Says nothing unless set. */
  log?: Log | undefined;
  /** Told of each refusal, to count it (PM-28); give `BlockedCounter.count` where there is a metric. */
  onBlocked?: ((refusal: Refusal) => void) | undefined;
}

const allowed: Verdict = Object.freeze({ kind: 'allowed' });

/** Makes the gate of a session: the only way to make one. */
export function createGate(options: GateOptions): Gate {
  const { sessionId, onBlocked, log = silentLog } = options;
  const phase: PlanPhase = {
    ownServers: options.ownServers ?? new Map(),
    trustedReadOnlyTools: new TrustedTools(options.trustedReadOnlyTools),
    isPlanFile: (path) => options.isPlanFile?.(path) ?? false,
  };
  const refusals = new RefusalLog(log);

  const tell = (refusal: Refusal, call: ToolCall | undefined): void => {
    attempt(() => onBlocked?.(refusal), log, 'counting a refusal failed');
    attempt(() => refusals.write(refusal, call), log, 'logging a refusal failed');
  };

  const gate = (call: ToolCall): Verdict => {
    if (!isPlanning(options)) return allowed;
    const snapshot = snapshotOf(call);
    const reason = judge(phase, snapshot);
    if (!reason) return allowed;
    const refusal = refusalOf({ tool: snapshot.tool, sessionId, reason });
    tell(refusal, snapshot.call);
    return Object.freeze({ kind: 'refused', refusal });
  };
  const wouldAllow = (call: ToolCall): boolean => {
    if (!isPlanning(options)) return true;
    return judge(phase, snapshotOf(call)) === undefined;
  };
  const mark: { readonly [gateMark]: true } = { [gateMark]: true };
  return Object.freeze(Object.assign(gate, { wouldAllow }, mark));
}

/** Whether it is a gate that {@link createGate} made; for hosts whose types were not checked. */
export function isGate(value: unknown): value is Gate {
  return typeof value === 'function' && gateMark in value;
}

function isPlanning(options: GateOptions): boolean {
  try {
    const answer: unknown = options.isPlanning(); // a host without types may answer with anything
    return answer !== false;
  } catch {
    return true; // who cannot say that they do not plan, plan
  }
}

/** What a host's predicate throws is a no: in doubt nothing runs (I6). */
function judge(phase: PlanPhase, { call }: Snapshot): RefusalReason | undefined {
  if (!call) return 'malformed_call';
  try {
    return judgeWhilePlanning(phase, call);
  } catch {
    return 'check_failed';
  }
}

/** A hook of the host decides nothing: what it throws is logged, if the log itself works, and the verdict stands. */
function attempt(act: () => void, log: Log, what: string): void {
  try {
    act();
  } catch (err) {
    try {
      log.error({ err }, what);
    } catch {
      // there is nobody left to tell
    }
  }
}
