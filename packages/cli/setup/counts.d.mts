/** The part of vitest's JSON report that counts. */
export type TestReport = {
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
};

export type Counts = { passed: number; failed: number; skipped: number; notes: string[] };

export function countTests(report: TestReport | undefined, exitCode: number): Counts;

export function countsLine(counts: Pick<Counts, 'passed' | 'failed' | 'skipped'>): string;
