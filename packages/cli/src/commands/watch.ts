import type { TeamEvent } from '@placet/protocol';
import { z } from 'zod';
import { clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim, type Output } from '../output/output.ts';
import { followTeam, isReset } from '../requests/follow-team.ts';

/** `placet watch`: what happens in a team, as it happens. */
export const watchCommand = defineCommand({
  name: 'watch',
  summary: 'follow what happens in a team until you stop it',
  options: [
    { flags: '--after <event>', doc: 'begin behind this event; 0-0 begins with the oldest that is kept' },
  ],
  settings: clientSettings,
  examples: ['placet watch', 'placet watch --after 0-0 --json'],
  shape: z.object({
    after: z
      .string()
      .regex(/^\d+-\d+$/, 'must look like 12-0')
      .optional(),
  }),
  async run({ asLead, team, output, world }, { after }) {
    const onTrouble = ({ message }: Error) => output.note(`${message}; waiting for it to come back`);
    for await (const event of followTeam({ reach: asLead, team, after, signal: world.signal, onTrouble })) {
      if (isReset(event)) {
        output.value({ type: 'reset' });
        output.line({ text: 'events are missing here: the log does not reach back so far', style: 'yellow' });
      } else {
        output.value(event);
        printEvent(output, event);
      }
    }
    return exitCodes.done;
  },
});

/** Prints one event as a line: when, what, about what. */
export function printEvent(output: Output, event: TeamEvent): void {
  const { id, at, team: _team, type, teammate, sessionId: _session, requestId, ...rest } = event;
  const details = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${String(value)}`);
  output.line(
    dim(`${at.slice(11, 23)} ${id.padEnd(8)}`),
    bold(type.padEnd(14)),
    [teammate, ...details].filter(Boolean).join(' '),
    dim(requestId ? ` ${requestId}` : ''),
  );
}
