import {
  type Issue,
  issuesOf,
  type Log,
  maxRememberedTurns,
  silentLog,
  TurnId,
  type Usage,
  UsageAmount,
  UsagePhase,
  UsageSnapshot,
  type UsageSum,
} from '@placet/protocol';
import { z } from 'zod';
import { addGrowth, amountOf, growthOf, highest, sumOf } from './usage-sum.ts';

const UsageReport = z.object({ turnId: TurnId, phase: UsagePhase, usage: UsageAmount });
/** What one turn of a session has used so far, all of it; `phase` is the one it is in now. */
export type UsageReport = z.infer<typeof UsageReport>;

/** What became of a report; `repeated` has nothing that was not counted before. */
export type UsageVerdict = { kind: 'counted' } | { kind: 'repeated' } | { kind: 'refused'; issues: Issue[] };

/**
 * Adds up what a session uses, per phase (PM-81). A turn reports what it has used so far, as often as it likes: only
 * what it has used more than was reported before is added, and to the phase that the report names. So a report that
 * comes again, late or after a restart counts once, and a turn that goes on into the work is split where it did. Holds
 * for the last {@link maxRememberedTurns} turns that reported; one from before them would count anew.
 *
 * Sums stop at the largest safe integer, and the cost at some nine million dollars: never over, never back.
 */
export class UsageMeter {
  readonly #log: Log;
  #phases: Record<UsagePhase, UsageSum> = { planning: {}, implementing: {} };
  #turns = new Map<TurnId, UsageSum>();

  constructor(log: Log = silentLog) {
    this.#log = log;
  }

  /** The meter of a session that came back. What is no snapshot is logged, and counting begins anew: it stops no start. */
  static restore(snapshot: unknown, log: Log = silentLog): UsageMeter {
    const meter = new UsageMeter(log);
    const parsed = UsageSnapshot.safeParse(snapshot);
    if (parsed.success) {
      meter.#phases = parsed.data.phases;
      meter.#turns = new Map(parsed.data.turns);
    } else
      log.warn(
        { issues: issuesOf(parsed.error).slice(0, 5) },
        'the usage so far cannot be read; it is counted anew',
      );
    return meter;
  }

  /** Counts a report; one that is not well-formed is logged, and counts nothing. */
  report(report: UsageReport): UsageVerdict {
    const parsed = UsageReport.safeParse(report);
    if (!parsed.success) {
      const issues = issuesOf(parsed.error);
      this.#log.warn({ issues: issues.slice(0, 5) }, 'a report of usage is not valid and counts nothing');
      return { kind: 'refused', issues };
    }
    const { turnId, phase, usage } = parsed.data;
    const before = this.#turns.get(turnId);
    const now = highest(before ?? {}, sumOf(usage));
    this.#remember(turnId, now);
    const growth = growthOf(before ?? {}, now);
    if (!growth) return { kind: 'repeated' };
    this.#phases = { ...this.#phases, [phase]: addGrowth(this.#phases[phase], growth) };
    return { kind: 'counted' };
  }

  /** What the session has used in all, and in each phase that has used anything: as a submission carries it. */
  get usage(): Usage {
    const { planning, implementing } = this.#phases;
    return {
      ...amountOf(addGrowth(planning, implementing)),
      byPhase: {
        ...(hasAny(planning) && { planning: amountOf(planning) }),
        ...(hasAny(implementing) && { implementing: amountOf(implementing) }),
      },
    };
  }

  /** What to keep with the session, as plain JSON: after each report, and before its turn is taken as done. */
  snapshot(): UsageSnapshot {
    return structuredClone({ version: 1 as const, phases: this.#phases, turns: [...this.#turns] });
  }

  #remember(turnId: TurnId, sum: UsageSum): void {
    this.#turns.delete(turnId); // to the end: it reported last
    this.#turns.set(turnId, sum);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > maxRememberedTurns && oldest !== undefined) this.#turns.delete(oldest);
  }
}

function hasAny(sum: UsageSum): boolean {
  return Object.keys(sum).length > 0;
}
