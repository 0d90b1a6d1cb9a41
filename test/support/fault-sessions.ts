import { randomUUID } from 'node:crypto';
import type { MailboxPort } from '@placet/mailbox';
import { digestOfText, type Job, newRequestId, newSessionId, Submission } from '@placet/protocol';

/** A plan that waits. */
export interface ParkedPlan {
  sessionId: string;
  requestId: string;
  planContent: string;
}

const leaseMs = 30_000;

/** Writes a plan of its own, as long as a short real one. */
function planText(number: number): string {
  const steps = Array.from(
    { length: 8 },
    (_, step) => `${step + 1}. Rename \`value${number}\` in step ${step} to \`amount\`.`,
  );
  return `# Plan ${number}\n\n${steps.join('\n')}\n`;
}

/** A submission as a teammate of profile `shared` sends it. */
function taskSubmission(port: MailboxPort, sessionId: string, number: number): Submission {
  const planContent = planText(number);
  return Submission.parse({
    type: 'plan_approval_request',
    requestId: newRequestId(port.teammate, port.team),
    from: port.teammate,
    team: port.team,
    planFilePath: `/var/lib/placet/teammates/${port.team}.${port.teammate}/sessions/${sessionId}/plans/calm-red-fox.md`,
    planContent,
    planDigest: digestOfText(planContent),
    sessionId,
    workspace: {
      cwd: '/srv/repositories/shop',
      head: 'a'.repeat(40),
      task: digestOfText(`task ${number}`),
      agent: 'codemod',
    },
  });
}

export function jobOf(port: MailboxPort, number: number): Job {
  return {
    task: `Rename value${number} to amount, and its uses`,
    team: port.team,
    cwd: '/srv/repositories/shop',
    agent: 'codemod',
  };
}

/**
 * Makes a task and parks its plan, by the calls and in the order in which a teammate makes them (TM-4), without an
 * agent. `submitted` is called the moment the store has the request, while the session is still held, and waited for.
 */
export async function parkPlan(
  port: MailboxPort,
  number: number,
  submitted: (plan: ParkedPlan) => Promise<void> | void = () => undefined,
  sessionId = newSessionId(),
): Promise<ParkedPlan> {
  await port.openTask(sessionId, jobOf(port, number));
  const held = await port.holdSession(sessionId, randomUUID(), leaseMs);
  if (held.kind === 'busy') throw new Error(`the new session ${sessionId} is busy`);
  const submission = taskSubmission(port, sessionId, number);
  const { requestId, planContent } = submission;
  await port.changeTask(held.lease, {
    intent: { requestId, digest: digestOfText(planContent) },
    running: null,
  });
  await port.submit(submission, held.lease);
  const plan = { sessionId, requestId, planContent };
  await submitted(plan);
  await port.changeTask(held.lease, { phase: 'awaiting_approval' });
  await port.releaseSession(held.lease);
  return plan;
}

/** What a wake-up came to. */
export type WakeOutcome = 'worked' | 'busy' | 'nothing';

/**
 * What a teammate does with a wake-up, without an agent (TM-7, TM-16): hold the session, take the decision, claim, work
 * (`work` is called under the claim), settle, let go.
 */
export async function answerWake(
  port: MailboxPort,
  sessionId: string,
  work: (epoch: number) => void = () => undefined,
): Promise<WakeOutcome> {
  const holder = randomUUID();
  const held = await port.holdSession(sessionId, holder, leaseMs);
  if (held.kind === 'busy') return 'busy';
  const { lease } = held;
  try {
    const task = await port.getTask(sessionId);
    const request = task?.requestId === undefined ? undefined : await port.getRequest(task.requestId);
    if (request?.state !== 'approved' || request.work.state !== 'none') return 'nothing';
    const { requestId } = request;
    await port.markDelivered(requestId);
    await port.acknowledge((await port.takeEntries(20)).map(({ id }) => id));
    const claimed = await port.claim(requestId, holder, leaseMs);
    if (claimed.kind === 'busy') return 'busy';
    await port.markApplied(requestId, lease.epoch, 'acceptEdits');
    work(lease.epoch);
    await port.settle(requestId, { epoch: lease.epoch, state: 'done' });
    return 'worked';
  } finally {
    await port.releaseSession(lease);
  }
}

/** Runs `count` pieces, `atOnce` at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  run: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
