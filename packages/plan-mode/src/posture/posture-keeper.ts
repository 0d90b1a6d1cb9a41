import type {
  Clock,
  EntryCause,
  Log,
  ModeCause,
  Outcome,
  PermissionContext,
  PermissionMode,
  SessionEvent,
} from '@placet/protocol';
import { announcementOf } from '../entry/announcement.ts';
import type { Refusal } from '../gate/refusal.ts';
import { changeRules, type RuleChange } from './auto-rules.ts';
import { EventLog, type EventStamp } from './event-log.ts';
import { lostAuto, type Proposal, type SessionState, settleState } from './session-state.ts';

/** What a person hears where `auto` was lost to its gate (PM-7). */
const autoLostNotice = 'The auto mode is not available any more; default holds in its place.';

/** How a waiting plan ended, for the event that says so. */
export interface Decided {
  outcome: Outcome;
  planEdited?: boolean;
}

interface PostureKeeperOptions {
  state: SessionState;
  autoGate: { isOpen(): boolean } | undefined;
  useAutoModeDuringPlan: boolean;
  clock: Clock;
  log: Log;
  /** The number of the last event so far. */
  seq: number;
  onEvent: ((event: SessionEvent) => void) | undefined;
}

/**
 * Holds a session's state and changes it one whole step at a time: the new state is settled first, then it stands, and
 * only then is anybody told.
 */
export class PostureKeeper {
  readonly events: EventLog;
  readonly #options: PostureKeeperOptions;
  #state: SessionState;
  #version = 0;

  constructor(options: PostureKeeperOptions) {
    this.#options = options;
    this.events = new EventLog({ ...options, after: options.seq });
    this.#state = settleState(options.state, this.#conditions());
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Another after each change of the mode or of the waiting plan: what was judged before it does not hold any more. */
  get version(): number {
    return this.#version;
  }

  /** Whether `auto` is available now. A gate that fails is closed (I6). */
  get autoGateOpen(): boolean {
    try {
      return this.#options.autoGate?.isOpen() === true;
    } catch (thrown) {
      this.#options.log.error({ err: thrown }, 'the auto gate could not be asked and counts as closed');
      return false;
    }
  }

  /** Goes to another context, in one step with how the waiting plan ended. */
  move(
    to: Partial<SessionState> & { context: PermissionContext },
    because: { cause: ModeCause; entry?: EntryCause; decided?: Decided },
  ): { mode: PermissionMode; notice?: string } {
    const before = this.#state;
    const wanted = { ...before, ...to };
    const next = settleState(wanted, this.#conditions());
    const { mode } = next.context;
    const notice = lostAuto(wanted, next) ? { notice: autoLostNotice } : {};
    const { cause, entry, decided } = because;
    this.#state = next;
    this.#version += 1;
    this.events.add(
      ...(decided ? [decidedEvent(before.proposal, decided, mode)] : []),
      modeEvent({ mode, previousMode: before.context.mode, cause, ...(entry && { entry }), ...notice }),
    );
    return { mode, ...notice };
  }

  /** A plan waits now, in the place of any that did. The same one again changes nothing: agents submit in loops. */
  propose(proposal: Proposal): void {
    const { requestId, planDigest, revision } = this.#state.proposal ?? {};
    const isSame = planDigest === proposal.planDigest && revision === proposal.revision;
    if (isSame && requestId === proposal.requestId) return;
    this.#state = { ...this.#state, proposal };
    this.#version += 1;
    this.events.add((stamp) => ({ type: 'plan:proposed', ...stamp, ...proposal }));
  }

  /** The waiting plan, if there is one, ended without a change of mode. */
  endProposal(decided: Decided): void {
    const { proposal } = this.#state;
    this.#state = { ...this.#state, proposal: undefined };
    this.#version += 1;
    this.events.add(decidedEvent(proposal, decided));
  }

  /** The auto gate may be another (PM-7): the state is settled for it, and told of where a mode was lost. */
  settle(): void {
    const before = this.#state;
    this.#state = settleState(before, this.#conditions());
    if (!lostAuto(before, this.#state)) return;
    const { mode } = this.#state.context;
    if (mode !== before.context.mode) this.#version += 1;
    this.events.add(
      modeEvent({
        mode,
        previousMode: before.context.mode,
        cause: 'auto_gate_closed',
        notice: autoLostNotice,
      }),
    );
  }

  /** A host's change of the rules (PM-5). */
  changeRules(change: RuleChange): void {
    this.#state = { ...this.#state, book: changeRules(this.#state.book, change) };
    this.settle();
  }

  /** The session began, or came back, as it stands. */
  began(cause: 'started' | 'restored', previousMode: PermissionMode): void {
    this.events.add(modeEvent({ mode: this.#state.context.mode, previousMode, cause }));
  }

  blocked({ tool, reason }: Pick<Refusal, 'tool' | 'reason'>): void {
    this.events.add((stamp) => ({ type: 'plan:blocked', ...stamp, tool: tool.slice(0, 256), reason }));
  }

  #conditions(): { gateOpen: boolean; useAutoModeDuringPlan: boolean } {
    return { gateOpen: this.autoGateOpen, useAutoModeDuringPlan: this.#options.useAutoModeDuringPlan };
  }
}

type Maker = (stamp: EventStamp) => SessionEvent;

function modeEvent(change: {
  mode: PermissionMode;
  previousMode: PermissionMode;
  cause: ModeCause;
  entry?: EntryCause;
  notice?: string;
}): Maker {
  return (stamp) => ({ type: 'plan:mode', ...stamp, ...change, announcement: announcementOf(change) });
}

function decidedEvent(proposal: Proposal | undefined, decided: Decided, mode?: PermissionMode): Maker {
  const { requestId, planDigest } = proposal ?? {};
  return (stamp) => ({
    type: 'plan:decided',
    ...stamp,
    ...decided,
    ...(requestId && { requestId }),
    ...(planDigest && { planDigest }),
    ...(decided.outcome === 'approved' && mode && mode !== 'plan' && { permissionMode: mode }),
  });
}
