import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { PlacetError } from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { fetchPlan } from '../requests/fetched-plan.ts';
import { findRequestId } from '../requests/handles.ts';

/** `placet reject ID --feedback TEXT`: sends a plan back with the reason. */
export const rejectCommand = defineCommand({
  name: 'reject',
  summary: 'send a plan back with a reason; its teammate revises it',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  options: [
    { flags: '--feedback <text>', doc: 'what is wrong with the plan, or what to do instead' },
    { flags: '--feedback-file <file>', doc: 'a file with that text; - is the standard input' },
  ],
  settings: clientSettings,
  examples: ['placet reject 3f9a1c --feedback "Leave the public names as they are."'],
  shape: z.object({ feedback: z.string().optional(), feedbackFile: z.string().optional() }),
  async run(context, options, text) {
    const { asLead, team, output } = context;
    const feedback = await feedbackOf(context, options);
    const client = await asLead();
    const id = await findRequestId(client, team, text ?? '');
    const { digest } = await fetchPlan(client, team, id);
    const { body: record } = await client.call('decideRequest', {
      params: { team, id },
      body: { outcome: 'rejected', planDigest: digest, feedback },
    });
    output.value(record);
    output.line(
      { text: 'Rejected', style: 'red' },
      ` ${id}; ${record.teammate} is told why and revises the plan.`,
    );
    return exitCodes.done;
  },
});

async function feedbackOf(
  { world }: Context,
  options: { feedback?: string | undefined; feedbackFile?: string | undefined },
): Promise<string> {
  const { feedback, feedbackFile } = options;
  if (feedback !== undefined && feedbackFile !== undefined)
    throw new PlacetError('usage', 'give --feedback or --feedback-file, not both');
  const text =
    feedbackFile === '-'
      ? await readAll(world.stdin)
      : feedbackFile !== undefined
        ? await readFile(resolve(world.cwd, feedbackFile), 'utf8')
        : feedback;
  if (!text?.trim())
    throw new PlacetError(
      'feedback_required',
      'say why with --feedback TEXT, so that the plan can be revised',
    );
  return text;
}
