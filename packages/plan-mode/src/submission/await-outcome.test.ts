import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { awaitOutcome } from './await-outcome.ts';

const never = new Promise<string>(() => {});

describe('waiting for a decision', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('[PM-77] ends with the decision and leaves no timer', async () => {
    const { signal } = new AbortController();

    expect(await awaitOutcome(Promise.resolve('yes'), { deadlineInMs: 1000, signal })).toEqual({
      kind: 'decided',
      decision: 'yes',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[PM-77, I6] ends closed at the deadline', async () => {
    const outcome = awaitOutcome(never, { deadlineInMs: 1000, signal: new AbortController().signal });
    await vi.advanceTimersByTimeAsync(1000);

    expect(await outcome).toEqual({ kind: 'closed', cause: 'deadline' });
  });

  it('[PM-77, I6] ends closed when withdrawn, before or during', async () => {
    const controller = new AbortController();
    const outcome = awaitOutcome(never, { deadlineInMs: 1000, signal: controller.signal });
    controller.abort();

    expect(await outcome).toEqual({ kind: 'closed', cause: 'withdrawn' });
    expect(
      await awaitOutcome(Promise.resolve('yes'), { deadlineInMs: 1000, signal: controller.signal }),
    ).toEqual({
      kind: 'closed',
      cause: 'withdrawn',
    });
  });

  it('[PM-77, I6] ends closed when the way to the decision breaks', async () => {
    const broken = Promise.reject<string>(new Error('gone'));

    expect(await awaitOutcome(broken, { deadlineInMs: 1000, signal: new AbortController().signal })).toEqual({
      kind: 'closed',
      cause: 'failed',
    });
  });
});
