import {
  type AllowRule,
  type DecisionClaims,
  digestOfText,
  type PermissionMode,
  type SessionEvent,
  WorkingMode,
} from '@placet/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type PlanStorage, storedPlan } from '../plan/plan-storage.ts';
import { PlanSession } from './plan-session.ts';
import type { Actor, PlanSessionOptions } from './plan-session-options.ts';

/** Rules that auto semantics must strip, and rules that they must not, without asking the code under test. */
export const dangerous = ['Bash', 'Bash(*)', 'Bash(python3:*)', 'Agent', 'Task(reviewer)', '*'];
export const harmless = ['Edit', 'Bash(git status)', 'Read(src/**)', 'WebFetch(domain:example.org)'];
export const sources = ['user', 'project', 'session'];

/** A plan in memory; `before` is waited for by each operation, so that a scheduler can order them. */
export class MemoryPlan implements PlanStorage {
  text = '# plan 0\n';
  readonly #before: (what: string) => Promise<unknown>;

  constructor(before: (what: string) => Promise<unknown> = () => Promise.resolve()) {
    this.#before = before;
  }

  async load() {
    await this.#before('load');
    return this.text === '' ? undefined : storedPlan(this.text);
  }

  async save(text: string) {
    await this.#before('save');
    this.text = text;
    return storedPlan(text);
  }
}

/** A main session that plans, over a plan in memory, with the events that it told. */
export function planningSession(more: Partial<PlanSessionOptions> = {}) {
  const plan = new MemoryPlan();
  const events: SessionEvent[] = [];
  const session = new PlanSession({
    sessionId: 'session-1',
    kind: 'main',
    planModeRequired: false,
    mode: 'plan',
    prePlanMode: 'acceptEdits',
    planStorage: plan,
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { session, plan, events };
}

/** What kind of session is under test. */
export interface Setup {
  required: boolean;
  kind: 'main' | 'teammate';
  mode: PermissionMode;
  useAuto: boolean;
  bypass: boolean;
  rules: AllowRule[];
}

/** What a session must be, by the rules of the chapter and nothing of its code. */
export interface Model {
  setup: Setup;
  mode: PermissionMode;
  pre: WorkingMode | undefined;
  /** Whether the gate was open when the state was last settled, and whether it is now. */
  gate: boolean;
  settledAuto: boolean;
  rules: AllowRule[];
  waiting: { digest: string; text: string; requestId?: string; revision: number } | undefined;
  revision: number;
}

/** The session itself with its surroundings. */
export interface World {
  session: PlanSession;
  plan: MemoryPlan;
  gate: { open: boolean };
  options: PlanSessionOptions;
  wrote: number;
}

export function begin(setup: Setup): { model: Model; real: World } {
  const gate = { open: true };
  const plan = new MemoryPlan();
  const options: PlanSessionOptions = {
    sessionId: 'session-1',
    kind: setup.kind,
    planModeRequired: setup.required,
    mode: setup.mode,
    allowRules: setup.rules,
    autoGate: { isOpen: () => gate.open },
    useAutoModeDuringPlan: setup.useAuto,
    bypassAvailable: setup.bypass,
    planStorage: plan,
  };
  const mode = setup.required ? 'plan' : setup.mode;
  const model: Model = {
    setup,
    mode,
    pre: mode === 'plan' ? 'default' : undefined,
    gate: true,
    settledAuto: false,
    rules: [...setup.rules],
    waiting: undefined,
    revision: 0,
  };
  settle(model);
  return { model, real: { session: new PlanSession(options), plan, gate, options, wrote: 0 } };
}

/** What every transition does (PM-5 to PM-7). */
export function settle(model: Model): void {
  if (!model.gate && model.mode === 'auto') model.mode = 'default';
  if (!model.gate && model.pre === 'auto') model.pre = 'default';
  model.settledAuto = model.mode === 'auto' || (model.mode === 'plan' && model.gate && model.setup.useAuto);
}

export function enter(model: Model): void {
  if (model.mode === 'plan') return;
  model.pre = model.mode;
  model.mode = 'plan';
  model.waiting = undefined;
  settle(model);
}

export function leave(model: Model, target: WorkingMode | 'restore'): void {
  model.mode = target === 'restore' ? (model.pre ?? 'default') : target;
  model.pre = undefined;
  settle(model);
}

/** Every rule of a source in its order, put together from what holds and what is stripped. */
function rulesOfSource(session: PlanSession, source: string): string[] {
  const all = session.allowRules.filter((rule) => rule.source === source).map(({ rule }) => rule);
  for (const { rule, at } of session.strippedRules.filter((one) => one.source === source))
    all.splice(at, 0, rule);
  return all;
}

/** What holds after each step, whatever it was. */
export function checkInvariants({ session }: World, model: Model): void {
  // PM-3, PM-7: the mode and the way back.
  expect([session.mode, session.prePlanMode]).toEqual([model.mode, model.pre]);
  // I1, PM-29: while planning nothing that is not plan-safe passes, whatever mode is underneath.
  for (const source of ['builtin', 'mcp', 'daemon', 'shell', 'agent-spawn'] as const)
    expect(session.gate({ tool: 'Write', source }).kind).toBe(model.mode === 'plan' ? 'refused' : 'allowed');
  // PM-5: every rule exactly once, in its place; stripped exactly while auto semantics hold.
  for (const source of sources)
    expect(rulesOfSource(session, source)).toEqual(
      model.rules.filter((rule) => rule.source === source).map(({ rule }) => rule),
    );
  const isStripped = ({ rule }: AllowRule) => model.settledAuto && dangerous.includes(rule);
  expect(session.strippedRules).toHaveLength(model.rules.filter(isStripped).length);
  expect(session.allowRules.filter(isStripped)).toEqual([]);
  expect(session.awaitingPlanApproval).toBe(model.mode === 'plan' && model.waiting !== undefined);
  // PM-78: numbered without a gap, and the last transition says the mode that holds.
  const { events, missing } = session.eventsAfter(0);
  const [first] = events;
  expect(events.map(({ seq }) => seq - (first?.seq ?? 0))).toEqual(events.map((_event, at) => at));
  const last = events.findLast((event) => event.type === 'plan:mode');
  if (!missing) expect(last).toMatchObject({ mode: model.mode });
  // I6: whatever becomes of the process, a session that must plan comes back planning.
  if (model.setup.required)
    expect(
      PlanSession.restore({ sessionId: 'session-1', planModeRequired: true }, session.snapshot()).mode,
    ).toBe('plan');
}

/** Claims that were verified elsewhere, about this request. */
export function claimsOf(about: {
  requestId: string;
  planDigest: string;
  revision: number;
  approvedPlanDigest: string;
  permissionMode: WorkingMode;
  outcome: 'approved' | 'rejected';
}): DecisionClaims {
  const digest = digestOfText('else');
  return {
    v: 1,
    iss: 'placet',
    jti: 'decision-1',
    team: 'main',
    teammate: 'worker',
    sessionId: 'session-1',
    workspaceDigest: digest,
    contentDigest: digest,
    context: 'keep',
    planEdited: about.planDigest !== about.approvedPlanDigest,
    decidedBy: 'local:ada',
    decidedAt: '2026-01-01T00:00:00.000Z',
    notAfter: '2026-01-02T00:00:00.000Z',
    policyDigest: digest,
    ...about,
  };
}

/** A step of the model-based suite. */
export type Command = fc.AsyncCommand<Model, World>;

/** A step that can always be tried; the invariants are looked at after it. */
export function command(name: string, run: (model: Model, real: World) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real);
      checkInvariants(real, model);
    },
    toString: () => name,
  };
}

export const actor = fc.constantFrom<Actor>('user', 'model');
export const workingMode = fc.constantFrom(...WorkingMode.options);
/** Why this actor may not change the mode here: PM-17 first, then PM-13. */
export function refusalOf(model: Model, who: Actor): string | undefined {
  if (model.setup.required) return 'approval_required';
  return who === 'user' ? undefined : 'forbidden';
}
