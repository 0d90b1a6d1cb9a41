import { isPlacetError, type Log } from '@placet/protocol';
import type { PlanStorage, StoredPlan } from '../plan/plan-storage.ts';
import { type Refused, refuse } from './refused.ts';

/** Reads and replaces the plan of a session on behalf of its approvals. */
export class PlanKeeper {
  readonly #storage: PlanStorage | undefined;
  readonly #log: Log;

  /** Without a storage there is never a plan, and {@link replace} changes nothing. */
  constructor(storage: PlanStorage | undefined, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  get exists(): boolean {
    return this.#storage !== undefined;
  }

  /** The plan, or why what is in its place cannot be one. */
  async load(): Promise<{ kind: 'loaded'; plan: StoredPlan | undefined } | Refused> {
    try {
      return { kind: 'loaded', plan: await this.#storage?.load() };
    } catch (thrown) {
      if (isPlacetError(thrown)) return refuse(thrown.code, thrown.message);
      throw thrown;
    }
  }

  /**
   * Replaces the plan and then, in the same instant, has the transition made that it is replaced for (PM-79). Where that
   * is refused, or the writing failed, the plan is put back as it was. Nothing is written where it is the same plan.
   */
  async replace<T extends { kind: string }>(
    before: StoredPlan | undefined,
    plan: StoredPlan,
    transition: () => T | Refused,
  ): Promise<T | Refused> {
    if (!this.#storage || before?.digest === plan.digest) return transition();
    let outcome: T | Refused | undefined;
    try {
      await this.#storage.save(plan.text);
      outcome = transition();
      return outcome;
    } finally {
      if (outcome === undefined || outcome.kind === 'refused') await this.#putBack(before, plan);
    }
  }

  async #putBack(before: StoredPlan | undefined, plan: StoredPlan): Promise<void> {
    try {
      // What somebody wrote after us is theirs.
      if ((await this.#storage?.load())?.digest === plan.digest)
        await this.#storage?.save(before?.text ?? '');
    } catch (thrown) {
      this.#log.error(
        { err: thrown, digest: plan.digest },
        'an edited plan that was not approved could not be put back',
      );
    }
  }
}
