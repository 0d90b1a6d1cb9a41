import { PlacetError, parseNativeRequestId } from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import { readTokenNames } from '../connection/token-names.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRequestId, isHandle } from '../requests/handles.ts';

/** `placet withdraw ID`: its teammate takes a pending plan back. */
export const withdrawCommand = defineCommand({
  name: 'withdraw',
  summary: 'take a pending plan back, as the teammate that submitted it',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  settings: [...clientSettings, 'teammate'],
  examples: ['placet withdraw 3f9a1c'],
  shape: z.object({}),
  async run(context, _options, text) {
    const { team, output } = context;
    const { id, teammate, owner } = await submitterOf(context, text ?? '');
    const { client } = await context.connect({ role: 'teammate', team, teammate, owner });
    const { body: record } = await client.call('withdrawRequest', { params: { team, id } });
    output.value(record);
    output.line(`Withdrawn ${id}.`);
    return exitCodes.done;
  },
});

/** Who submitted a request; whoever holds this machine's keys may act as any of its teammates. */
async function submitterOf(
  context: Context,
  text: string,
): Promise<{ id: string; teammate: string; owner?: string }> {
  const { team, teammate, settings } = context;
  if (readTokenNames(settings.config.token)?.role === 'teammate') {
    if (isHandle(text))
      throw new PlacetError('usage', 'with a token of a teammate, give the whole request ID');
    return { id: text, teammate };
  }
  const client = await context.asLead();
  const id = await findRequestId(client, team, text);
  const { body: record } = await client.call('showRequest', { params: { team, id } });
  return { id, teammate: parseNativeRequestId(id)?.teammate ?? record.teammate, owner: record.owner };
}
