import type { RequestRecord } from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import { exitCodeOfState } from '../exit-codes.ts';
import { Stopped } from '../output/failure.ts';
import { findRequestId } from '../requests/handles.ts';
import { printDecision, stateSpan } from '../requests/plan-view.ts';
import { waitForOutcome } from '../requests/wait-for-outcome.ts';
import { parseDurationMs } from '../settings/durations.ts';

/** `placet wait ID`: blocks until a request has ended; the exit code is the outcome. */
export const waitCommand = defineCommand({
  name: 'wait',
  summary:
    'wait until a plan is decided; exits 0 approved, 3 rejected, 4 timed out (its deadline, or --timeout), 5 teleported, 6 withdrawn or superseded',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  options: [
    {
      flags: '--timeout <duration>',
      doc: 'wait at most this long: milliseconds, or 30s, 10m, 2h; until it has ended unless set',
    },
  ],
  settings: clientSettings,
  examples: ['placet wait 3f9a1c --timeout 10m && echo approved'],
  shape: z.object({ timeout: z.string().optional() }),
  async run(context, { timeout }, text) {
    const timeoutMs =
      timeout === undefined ? Number.POSITIVE_INFINITY : parseDurationMs(timeout, '--timeout');
    const id = await findRequestId(await context.asLead(), context.team, text ?? '');
    return waitAndReport(context, { id, timeoutMs, reach: context.asLead });
  },
});

/** Waits for a request, prints how it ended, and answers the exit code that says so (WR-40). */
export async function waitAndReport(
  { team, output, world }: Context,
  { id, timeoutMs, reach }: { id: string; timeoutMs: number; reach: Context['asLead'] },
): Promise<number> {
  let record: RequestRecord;
  try {
    const onTrouble = ({ message }: Error) => output.note(`${message}; waiting for it to come back`);
    record = await waitForOutcome({ reach, team, id, timeoutMs, signal: world.signal, onTrouble });
  } catch (error) {
    throw world.signal.aborted ? new Stopped(130) : error;
  }
  output.value(record);
  output.line(stateSpan(record.state), ` ${id}`);
  printDecision(output, record);
  if (record.state === 'pending')
    output.note(`${id} is still pending after ${timeoutMs} ms; its deadline is ${record.deadline}`);
  return exitCodeOfState(record.state);
}
