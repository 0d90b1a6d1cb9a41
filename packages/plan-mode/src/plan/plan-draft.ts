import { isPlacetError, type Log, maxPlanBytes, type SessionId, silentLog } from '@placet/protocol';
import type { PlanFile } from './plan-file.ts';
import { faultOfPlanText, type PlanStorage, type StoredPlan, storedPlan } from './plan-storage.ts';
import { Turns } from './turns.ts';

/** What a {@link PlanDraft} is made of. */
export interface PlanDraftOptions {
  sessionId: SessionId;
  /** Where the model writes the plan; on this host. */
  file: PlanStorage & Pick<PlanFile, 'isPlanFile' | 'path'>;
  /** Where it is kept for other hosts (PM-45). The file is all there is unless set. */
  storage?: PlanStorage;
  /** Says nothing unless set. */
  log?: Log;
}

/**
 * The plan of one session while it is written: the one reader of it, in the one order there is (PM-42). What was read
 * last holds while the file has its digest; then what the storage has; then the file. A file that was changed while it
 * is open here, which only its session may do, is brought to the storage before anything is read there: so an edit is
 * never lost to an older copy. What a model says the plan is never counts.
 *
 * Reads and writes of one draft run one after the other. Every method throws what the file and the storage throw.
 */
export class PlanDraft implements PlanStorage {
  readonly #options: PlanDraftOptions;
  readonly #log: Log;
  /** What the file held when it was last read or written here. */
  #cached: StoredPlan | undefined;
  /** Whether the storage is known to hold the cached plan. */
  #isStored = false;
  readonly #turns = new Turns();

  private constructor(options: PlanDraftOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
  }

  /**
   * Takes up the plan of a session, before its model goes on: where the storage has one, the file is made to say the
   * same. What is in the file's place and cannot be a plan stands in the way of nothing yet.
   */
  static async open(options: PlanDraftOptions): Promise<PlanDraft> {
    const draft = new PlanDraft(options);
    const raw = await options.file.load().catch((thrown: unknown) => {
      if (!isPlacetError(thrown)) throw thrown;
      draft.#log.warn({ sessionId: options.sessionId, err: thrown }, 'the plan file cannot be read');
      return undefined;
    });
    await draft.#takeUp(raw);
    return draft;
  }

  get path(): string {
    return this.#options.file.path;
  }

  /** Whether a write to `path` would be a write to the file of this plan (PM-26). */
  get isPlanFile(): (path: string) => boolean {
    return this.#options.file.isPlanFile;
  }

  /**
   * The plan; undefined where there is none. `argument` is what a tool call carried as its plan, whatever that is: where
   * it is another text, that is logged, and the plan is what is kept.
   */
  async load({ argument }: { argument?: unknown } = {}): Promise<StoredPlan | undefined> {
    const plan = await this.#turns.take(() => this.#load());
    if (typeof argument === 'string') this.#compare(argument, plan);
    return plan;
  }

  /** Replaces the plan in the file and in the storage. Where either fails, the file has the old plan. */
  save(text: string): Promise<StoredPlan> {
    return this.#turns.take(() => this.#save(storedPlan(text)));
  }

  async #load(): Promise<StoredPlan | undefined> {
    const raw = await this.#options.file.load();
    if (!raw) await this.#takeUp(raw);
    else if (raw.digest !== this.#cached?.digest) this.#keep(raw, false);
    if (this.#cached && !this.#isStored) await this.#store(this.#cached);
    return this.#cached;
  }

  /** Goes by the storage, and by the file only where the storage has no plan. */
  async #takeUp(raw: StoredPlan | undefined): Promise<void> {
    const kept = await this.#options.storage?.load();
    if (kept) await this.#materialise(kept, raw);
    this.#keep(kept ?? raw, kept !== undefined);
  }

  /** Has the file say what the storage says: it was written on another host, or the file went away. */
  async #materialise(kept: StoredPlan, raw: StoredPlan | undefined): Promise<void> {
    if (kept.digest === raw?.digest) return;
    const { sessionId, file } = this.#options;
    if (raw)
      this.#log.warn(
        { sessionId, digest: kept.digest, fileDigest: raw.digest },
        'the plan file is not what was stored last; it is replaced',
      );
    await file.save(kept.text);
  }

  async #save(plan: StoredPlan): Promise<StoredPlan> {
    const { file, storage } = this.#options;
    const fault = faultOfPlanText(plan);
    if (fault) throw fault;
    const before = await file.load();
    await file.save(plan.text);
    try {
      await storage?.save(plan.text);
    } catch (thrown) {
      // Whether the storage has it now is not known: the next read brings it what the file says.
      await file.save(before?.text ?? '');
      this.#keep(before, false);
      throw thrown;
    }
    this.#keep(plan.text === '' ? undefined : plan, true);
    return plan;
  }

  async #store(plan: StoredPlan): Promise<void> {
    await this.#options.storage?.save(plan.text);
    this.#isStored = true;
  }

  #keep(plan: StoredPlan | undefined, isStored: boolean): void {
    this.#cached = plan;
    this.#isStored = isStored;
  }

  #compare(argument: string, plan: StoredPlan | undefined): void {
    // A text longer than any plan is another one: its digest is not worth its time.
    const argumentDigest = argument.length > maxPlanBytes ? undefined : storedPlan(argument).digest;
    const digest = (plan ?? storedPlan('')).digest;
    if (argumentDigest === digest) return;
    this.#log.warn(
      { sessionId: this.#options.sessionId, digest, argumentDigest, argumentChars: argument.length },
      'the plan that came with the call is not the plan that is kept; what is kept counts',
    );
  }
}
