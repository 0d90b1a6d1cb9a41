// What a run of vitest came to, from its JSON report and its exit code.

/**
 * Counts tests. A file that could not be loaded, a run without any test, and an exit code that no failed test
 * explains count as one failure each, so that the line never looks better than the run was.
 */
export function countTests(report, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0, notes: [] };
  if (report === undefined) {
    return { ...counts, failed: 1, notes: ['vitest ended without a report'] };
  }
  for (const file of report.testResults) {
    const failedBefore = counts.failed;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') counts.failed += 1;
      else counts.skipped += 1;
    }
    if (file.status === 'failed' && counts.failed === failedBefore) {
      counts.failed += 1;
      counts.notes.push(`${file.name} failed outside of its tests`);
    }
  }
  if (counts.failed === 0 && counts.passed === 0) {
    counts.failed = 1;
    counts.notes.push('no test ran');
  } else if (counts.failed === 0 && exitCode !== 0) {
    counts.failed = 1;
    counts.notes.push(`vitest failed outside of the tests (exit code ${exitCode})`);
  }
  return counts;
}

/** `12 passed, 0 failed`, with `, 1 skipped` only when there is one. */
export function countsLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
