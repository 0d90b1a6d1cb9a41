import type { Refusal, RefusalReason } from './refusal.ts';

/** The name of the metric (PM-28). */
export const blockedMetric = 'placet_plan_mode_blocked_total';

/** So many tools have a label of their own; the names come from models, and there is no end to them. */
export const maxToolLabels = 100;

/** How often a tool was refused for a reason. */
export interface BlockedSample {
  tool: string;
  reason: RefusalReason;
  count: number;
}

const labelName = /^[\w.:/-]{1,64}$/;

/**
 * Counts refusals by tool and reason (PM-28): one for all sessions of a process. Tools beyond {@link maxToolLabels},
 * and names that no tool would have, are counted together as `other`, so it never grows without end.
 */
export class BlockedCounter {
  readonly #counts = new Map<string, Map<RefusalReason, number>>();

  /** Counts one refusal; give it to each gate as `onBlocked`. */
  readonly count = ({ tool, reason }: Pick<Refusal, 'tool' | 'reason'>): void => {
    const label = this.#labelOf(tool);
    const reasons = this.#counts.get(label) ?? new Map<RefusalReason, number>();
    this.#counts.set(label, reasons);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  };

  /** What was counted so far, for a metrics library to collect. */
  samples(): BlockedSample[] {
    return [...this.#counts].flatMap(([tool, reasons]) =>
      [...reasons].map(([reason, count]) => ({ tool, reason, count })),
    );
  }

  /** The same in Prometheus' text format. */
  toText(): string {
    const lines = this.samples().map(
      ({ tool, reason, count }) => `${blockedMetric}{tool="${tool}",reason="${reason}"} ${count}`,
    );
    return [
      `# HELP ${blockedMetric} Calls that plan mode refused.`,
      `# TYPE ${blockedMetric} counter`,
      ...lines,
      '',
    ].join('\n');
  }

  #labelOf(tool: string): string {
    if (this.#counts.has(tool)) return tool;
    return labelName.test(tool) && this.#counts.size < maxToolLabels ? tool : 'other';
  }
}
