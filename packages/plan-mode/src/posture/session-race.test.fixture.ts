import { digestOfText, type SessionEvent } from '@placet/protocol';
import fc from 'fast-check';
import { storedPlan } from '../plan/plan-storage.ts';
import { PlanSession } from './plan-session.ts';
import { claimsOf, MemoryPlan } from './session-model.test.fixture.ts';

/** An act of one of the actors that returns at once; what it began is still under way. */
export type RaceStep = { name: string; act: (race: Race) => void };

/** A session whose storage answers when the scheduler says so. */
export class Race {
  readonly plan: MemoryPlan;
  readonly session: PlanSession;
  /** Texts that may be found in storage: those the model wrote and those of approvals that opened the gate. */
  readonly rightful: Set<string>;
  readonly faults: string[] = [];
  readonly gate = { open: true };
  readonly #pending: Promise<unknown>[] = [];
  /** Rises whenever what a person was looking at is not there any more: mode or waiting plan. */
  #period = 0;
  #opened = 0;
  #approvedEvents: { period: number; text: string }[] = [];
  #count = 0;

  constructor(scheduler: fc.Scheduler, kind: 'main' | 'teammate') {
    this.plan = new MemoryPlan((what) => scheduler.schedule(Promise.resolve(), what));
    this.rightful = new Set([this.plan.text]);
    this.session = new PlanSession({
      sessionId: 'session-1',
      kind,
      planModeRequired: false,
      planStorage: this.plan,
      autoGate: { isOpen: () => this.gate.open },
      onEvent: (event) => this.#saw(event),
    });
  }

  write(): void {
    this.plan.text = this.next('plan');
    this.rightful.add(this.plan.text);
  }

  next(what: string): string {
    this.#count += 1;
    return `# ${what} ${this.#count}\n`;
  }

  approve(edited: boolean): void {
    const period = this.#period;
    const text = edited ? this.next('edit') : undefined;
    this.#watch(this.session.approve('user', { ...(text && { plan: text }) }), period);
  }

  decide(requestId: string, plan: string, approved: string): void {
    const claims = claimsOf({
      requestId,
      planDigest: digestOfText(plan),
      revision: 1,
      approvedPlanDigest: digestOfText(approved),
      permissionMode: 'acceptEdits',
      outcome: 'approved',
    });
    this.#watch(this.session.decide(claims, { plan: storedPlan(approved) }), this.#period);
  }

  reject(): void {
    const period = this.#period;
    const outcome = this.session.reject('user', { feedback: 'again' }).then((rejected) => {
      if (rejected.kind === 'rejected' && this.#period !== period + 1)
        this.faults.push('a rejection hit another plan than the one it was for');
    });
    this.#pending.push(outcome);
  }

  background(step: Promise<unknown>): void {
    this.#pending.push(step);
  }

  /** When nothing is under way any more: what is wrong with where it ended. */
  async settled(): Promise<string[]> {
    await Promise.all(this.#pending);
    if (!this.rightful.has(this.plan.text))
      this.faults.push(`an edit that nobody approved stayed: ${this.plan.text}`);
    if (this.#opened !== this.#approvedEvents.length) this.faults.push('an approval was told of and is none');
    return this.faults;
  }

  #watch(outcome: ReturnType<PlanSession['decide']>, period: number): void {
    const watched = outcome.then((opened) => {
      if (opened.kind !== 'opened') return;
      const event = this.#approvedEvents[this.#opened];
      this.#opened += 1;
      if (event?.period !== period)
        this.faults.push('an approval opened another planning than the one it was for');
      if (opened.plan?.text !== event?.text)
        this.faults.push('the plan that was approved is not the one in storage');
    });
    this.#pending.push(watched);
  }

  #saw(event: SessionEvent): void {
    if (event.type === 'plan:mode' && event.cause === 'approved') {
      this.#approvedEvents.push({ period: this.#period, text: this.plan.text });
      this.rightful.add(this.plan.text);
    }
    // An approval's own event of what was decided comes first and is of the same step; a gate that closes changes where an
    // approval leads to and not what it is for (PM-7).
    const isSamePlanning =
      event.type === 'plan:blocked' ||
      (event.type === 'plan:decided' && event.outcome === 'approved') ||
      (event.type === 'plan:mode' && event.cause === 'auto_gate_closed');
    if (!isSamePlanning) this.#period += 1;
  }
}

/** What can happen while the storage is slow. */
export const raceSteps: fc.Arbitrary<RaceStep> = fc.oneof(
  fc.constant({ name: 'enter', act: ({ session }: Race) => session.enter('api') }),
  fc.constant({ name: 'enter', act: ({ session }: Race) => session.enter('api') }),
  fc.constant({ name: 'exit', act: ({ session }: Race) => void session.exit('user') }),
  fc.constant({ name: 'cycle', act: ({ session }: Race) => void session.cycle('user') }),
  fc.constant({ name: 'submit', act: (race: Race) => race.background(race.session.submit()) }),
  fc.constant({ name: 'write', act: (race: Race) => race.write() }),
  fc.constant({ name: 'reject', act: (race: Race) => race.reject() }),
  fc.constant({ name: 'time out', act: ({ session }: Race) => session.closed('timeout') }),
  fc.boolean().map((edited) => ({
    name: `approve${edited ? ' edited' : ''}`,
    act: (race: Race) => race.approve(edited),
  })),
  fc.boolean().map((edited) => ({
    name: `approve${edited ? ' edited' : ''}`,
    act: (race: Race) => race.approve(edited),
  })),
  fc.boolean().map((open) => ({
    name: `gate ${open ? 'open' : 'closed'}`,
    act: ({ gate, session }: Race) => {
      gate.open = open;
      session.autoGateChanged();
    },
  })),
  fc.nat({ max: 2 }).map((id) => ({
    name: `request ${id} is in the store`,
    act: ({ session, plan }: Race) =>
      void session.submitted({
        requestId: `request-${id}`,
        planDigest: digestOfText(plan.text),
        revision: 1,
      }),
  })),
  fc.record({ id: fc.nat({ max: 2 }), edited: fc.boolean() }).map(({ id, edited }) => ({
    name: `decide ${id}${edited ? ' edited' : ''}`,
    act: (race: Race) => {
      const { text } = race.plan;
      race.decide(`request-${id}`, text, edited ? race.next('edit') : text);
    },
  })),
);
