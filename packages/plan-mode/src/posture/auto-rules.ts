import type { AllowRule, StrippedRule } from '@placet/protocol';
import { isDangerousRule } from './dangerous-rule.ts';

/**
 * All allow rules of a session in their order, each with whether it is stripped now. A rule never leaves its place, so
 * that stripping and restoring can neither lose nor repeat one, nor change the order within a source (PM-5).
 */
export type RuleBook = readonly Readonly<AllowRule & { stripped: boolean }>[];

/** What a host changes in the rules of a session. */
export type RuleChange =
  /** Adds a rule at the end; one that the source has already, stripped or not, is not added again. */
  | { kind: 'add'; rule: AllowRule }
  /** Removes a rule, also while it is stripped: it does not come back. */
  | { kind: 'remove'; rule: AllowRule }
  /** The source was read anew: it has these rules, in this order, and no others. */
  | { kind: 'replace'; source: string; rules: readonly string[] };

/** A book of these rules, none of them stripped. */
export function rulesOf(rules: readonly AllowRule[]): RuleBook {
  return rules.map(({ source, rule }) => ({ source, rule, stripped: false }));
}

/** Strips every dangerous rule where auto semantics hold, and otherwise gives back every one (PM-5). */
export function settleRules(book: RuleBook, autoSemantics: boolean): RuleBook {
  return book.map((entry) => ({ ...entry, stripped: autoSemantics && isDangerousRule(entry.rule) }));
}

/** The book after a host's change; {@link settleRules} it after that. */
export function changeRules(book: RuleBook, change: RuleChange): RuleBook {
  switch (change.kind) {
    case 'add':
      return book.some(isSame(change.rule)) ? book : [...book, ...rulesOf([change.rule])];
    case 'remove':
      return book.filter((entry) => !isSame(change.rule)(entry));
    case 'replace': {
      const { source } = change;
      const at = book.findIndex((entry) => entry.source === source);
      const others = book.filter((entry) => entry.source !== source);
      const place = at < 0 ? others.length : at; // all before the first of the source are others
      return others.toSpliced(place, 0, ...rulesOf(change.rules.map((rule) => ({ source, rule }))));
    }
  }
}

/** The rules that hold now. */
export function allowRulesIn(book: RuleBook): AllowRule[] {
  return book.flatMap(({ source, rule, stripped }) => (stripped ? [] : [{ source, rule }]));
}

/** The rules that are stripped now, each with its place among all of its source. */
export function strippedRulesIn(book: RuleBook): StrippedRule[] {
  const counts = new Map<string, number>();
  return book.flatMap(({ source, rule, stripped }) => {
    const at = counts.get(source) ?? 0;
    counts.set(source, at + 1);
    return stripped ? [{ source, rule, at }] : [];
  });
}

/**
 * The book after a restart (PM-9): of the rules that the host has, and those that the record says were stripped. A host
 * may have kept the stripped ones or not; each is in the book once, and in its place. Whoever reads a source anew and
 * finds a rule gone for good says so by a change of kind `replace`.
 */
export function withStripped(host: readonly AllowRule[], stripped: readonly StrippedRule[]): RuleBook {
  let book = rulesOf(host);
  for (const { source, rule, at } of stripped.toSorted((a, b) => a.at - b.at)) {
    const kept = book.findIndex((entry) => !entry.stripped && isSame({ source, rule })(entry));
    book =
      kept >= 0
        ? book.with(kept, { source, rule, stripped: true })
        : book.toSpliced(placeIn(book, source, at), 0, { source, rule, stripped: true });
  }
  return book;
}

/** Where the rule of a source must go to be its `at`-th; after its last one where it has fewer. */
function placeIn(book: RuleBook, source: string, at: number): number {
  const places = book.flatMap((entry, place) => (entry.source === source ? [place] : []));
  const last = places.at(-1);
  return places[at] ?? (last === undefined ? book.length : last + 1);
}

function isSame({ source, rule }: AllowRule): (entry: AllowRule) => boolean {
  return (entry) => entry.source === source && entry.rule === rule;
}
