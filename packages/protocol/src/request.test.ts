import { expect, test } from 'vitest';
import { Submission } from './request.ts';

const submission = { requestId: 'r', planFilePath: '/p.md', planContent: '# Plan', sessionId: 's' };

test('[TM-42] a usage is kept with its unknown fields, but only a short one: it stands in the record', () => {
  const usage = { inputTokens: 1, cacheReads: 2 };
  expect(Submission.parse({ ...submission, usage }).usage).toEqual(usage);
  expect(Submission.safeParse({ ...submission, usage: { ...usage, note: 'x'.repeat(1000) } }).success).toBe(
    false,
  );
});
