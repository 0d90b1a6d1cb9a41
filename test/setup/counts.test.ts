import { describe, expect, it } from 'vitest';
import { countsLine, countTests } from '../../packages/cli/setup/counts.mjs';

const file = (status: string, ...tests: string[]) => ({
  name: 'a.test.ts',
  status,
  assertionResults: tests.map((result) => ({ status: result })),
});

describe('[OP-1] the line that counts the tests', () => {
  it.each([
    ['1 passed, 0 failed', [file('passed', 'passed')], 0],
    ['2 passed, 1 failed', [file('passed', 'passed'), file('failed', 'failed', 'passed')], 1],
    ['1 passed, 0 failed, 2 skipped', [file('passed', 'passed', 'skipped', 'todo')], 0],
  ])('is %s', (line, testResults, exitCode) => {
    expect(countsLine(countTests({ testResults }, exitCode))).toBe(line);
  });

  it.each([
    ['a file that does not load', [file('failed'), file('passed', 'passed')], 1],
    ['an error outside of the tests', [file('passed', 'passed')], 1],
    ['a run without tests', [], 0],
    ['a run that skipped everything', [file('passed', 'skipped')], 0],
  ])('counts %s as a failure and says so', (_what, testResults, exitCode) => {
    const { failed, notes } = countTests({ testResults }, exitCode);

    expect(failed).toBe(1);
    expect(notes).toHaveLength(1);
  });

  it('counts a run that left no report as a failure', () => {
    expect(countTests(undefined, 0)).toMatchObject({ passed: 0, failed: 1 });
  });
});
