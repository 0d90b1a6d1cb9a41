import { AllowRule, StrippedRule } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowRulesIn,
  changeRules,
  rulesOf,
  settleRules,
  strippedRulesIn,
  withStripped,
} from './auto-rules.ts';

const rules = [
  { source: 'user', rule: 'Edit' },
  { source: 'user', rule: 'Bash' },
  { source: 'project', rule: 'Agent' },
  { source: 'user', rule: 'Read' },
  { source: 'user', rule: 'Bash' },
];
const book = rulesOf(rules);
const stripped = settleRules(book, true);

const anyRules = fc.array(
  fc.record({
    source: fc.constantFrom('user', 'project', 'constructor', '__proto__'),
    rule: fc.constantFrom('Edit', 'Bash', 'Agent', 'Read', 'Bash(git status)'),
  }),
  { maxLength: 12 },
);

describe('the allow rules of a session', () => {
  it('[PM-5] lose the dangerous ones, each with its source, and keep the others in order', () => {
    expect(allowRulesIn(stripped)).toEqual([rules[0], rules[3]]);
    expect(strippedRulesIn(stripped)).toEqual([
      { source: 'user', rule: 'Bash', at: 1 },
      { source: 'project', rule: 'Agent', at: 0 },
      { source: 'user', rule: 'Bash', at: 3 },
    ]);
  });

  it('[PM-5] come back exactly as they were, however often they are stripped or given back', () => {
    const twice = settleRules(settleRules(stripped, true), false);

    expect(settleRules(twice, false)).toEqual(book);
    expect(allowRulesIn(twice)).toEqual(rules);
    expect(strippedRulesIn(twice)).toEqual([]);
  });

  it('[PM-5] follow what a host adds while they are stripped', () => {
    const added = changeRules(stripped, { kind: 'add', rule: { source: 'session', rule: 'Task' } });

    expect(allowRulesIn(settleRules(added, true))).toEqual([rules[0], rules[3]]);
    expect(allowRulesIn(settleRules(added, false))).toEqual([...rules, { source: 'session', rule: 'Task' }]);
  });

  it('[PM-5] do not get a rule twice that is added while it is stripped', () => {
    const added = changeRules(stripped, { kind: 'add', rule: { source: 'project', rule: 'Agent' } });

    expect(allowRulesIn(settleRules(added, false))).toEqual(rules);
  });

  it('[PM-5] do not give back what a host removed while it was stripped', () => {
    const removed = changeRules(stripped, { kind: 'remove', rule: { source: 'user', rule: 'Bash' } });

    expect(allowRulesIn(settleRules(removed, false))).toEqual([rules[0], rules[2], rules[3]]);
  });

  it('[PM-5] are what a source says that is read anew, and others stay where they are', () => {
    const read = changeRules(stripped, { kind: 'replace', source: 'user', rules: ['Write', 'Bash(*)'] });

    expect(allowRulesIn(settleRules(read, false))).toEqual([
      { source: 'user', rule: 'Write' },
      { source: 'user', rule: 'Bash(*)' },
      rules[2],
    ]);
    expect(changeRules(book, { kind: 'replace', source: 'new', rules: ['Edit'] }).at(-1)?.source).toBe('new');
  });

  it('[PM-5, PM-9] come back from a record, whether the host kept the stripped ones or not', () => {
    fc.assert(
      fc.property(anyRules, fc.boolean(), (all, kept) => {
        const before = settleRules(rulesOf(all), true);
        const host = kept ? all : allowRulesIn(before);
        const after = settleRules(withStripped(host, strippedRulesIn(before)), false);

        for (const { source } of all) {
          const of = (list: readonly AllowRule[]) =>
            list.filter((one) => one.source === source).map((one) => one.rule);
          expect(of(allowRulesIn(after))).toEqual(of(all));
        }
      }),
    );
  });

  it('[PM-5, PM-9] find a place where the record speaks of more rules than there are', () => {
    const after = withStripped(
      [{ source: 'user', rule: 'Edit' }],
      [{ source: 'user', rule: 'Bash', at: 99 }],
    );

    expect(allowRulesIn(settleRules(after, false)).map(({ rule }) => rule)).toEqual(['Edit', 'Bash']);
  });

  it.each([
    { source: '', rule: 'Edit' },
    { source: 'user', rule: '' },
    { source: 'user' },
    { rule: 'x', source: 'y', z: 1 },
  ])('[PM-5] are not what %j says', (rule) => {
    expect(AllowRule.safeParse(rule).success).toBe(false);
    expect(StrippedRule.safeParse({ ...rule, at: 0 }).success).toBe(false);
  });
});
