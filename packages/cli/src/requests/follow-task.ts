import type { Context } from '../command.ts';
import { printEvent } from '../commands/watch.ts';
import { exitCodeOfTask } from '../exit-codes.ts';
import { Stopped } from '../output/failure.ts';
import { followTeam, isReset } from './follow-team.ts';
import { taskEndOf } from './task-end.ts';

/** Shows what happens to a task until its end, and answers the exit code that says how it ended (WR-40). */
export async function followTask(context: Context, sessionId: string, after: string): Promise<number> {
  const { output, team, world, asLead, settings } = context;
  const onTrouble = ({ message }: Error) => output.note(`${message}; waiting for it to come back`);
  for await (const event of followTeam({ reach: asLead, team, after, signal: world.signal, onTrouble })) {
    if (isReset(event)) {
      output.note('events are missing here: the log does not reach back so far');
      continue;
    }
    if (event.sessionId !== sessionId) continue;
    output.value(event);
    printEvent(output, event);
    const end = taskEndOf(event, { replans: settings.config.onBaseMoved === 'replan' });
    if (end) return exitCodeOfTask(end.phase, end.reason);
  }
  throw new Stopped(130);
}
