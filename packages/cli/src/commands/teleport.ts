import { z } from 'zod';
import { clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { fetchPlan } from '../requests/fetched-plan.ts';
import { findRequestId } from '../requests/handles.ts';

/** `placet teleport ID`: ends planning there, so that the plan is worked on elsewhere. */
export const teleportCommand = defineCommand({
  name: 'teleport',
  summary: 'end planning where it is; the plan is to be worked on elsewhere',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  settings: clientSettings,
  examples: ['placet teleport 3f9a1c'],
  shape: z.object({}),
  async run({ asLead, team, output }, _options, text) {
    const client = await asLead();
    const id = await findRequestId(client, team, text ?? '');
    const { digest } = await fetchPlan(client, team, id);
    const { body: record } = await client.call('decideRequest', {
      params: { team, id },
      body: { outcome: 'teleport', planDigest: digest },
    });
    output.value(record);
    output.line({ text: 'Teleported', style: 'cyan' }, ` ${id}; its session ends there.`);
    return exitCodes.done;
  },
});
