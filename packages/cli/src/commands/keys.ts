import { z } from 'zod';
import { type Context, defineCommand } from '../command.ts';
import { openKeys } from '../connection/local-tokens.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim } from '../output/output.ts';
import { dataFolderToUse } from '../settings/paths.ts';

/** `placet keys list`: the lead's signing keys, without a secret of them. */
export const keysListCommand = defineCommand({
  name: 'keys list',
  summary: 'list the keys that sign decisions and tokens',
  examples: ['placet keys list'],
  shape: z.object({}),
  async run(context) {
    const keys = await (await open(context)).list();
    context.output.value({ keys });
    for (const { kid, state, createdAt } of keys)
      context.output.line(bold(kid), `  ${state.padEnd(8)}`, dim(`since ${createdAt}`));
    return exitCodes.done;
  },
});

/** `placet keys rotate`: a new key signs from now on (IN-4). */
export const keysRotateCommand = defineCommand({
  name: 'keys rotate',
  summary: 'make a new key that signs from now on; the older ones still verify',
  options: [{ flags: '--revoke <kid>', doc: 'revoke this key: what it signed, tokens too, is void at once' }],
  examples: ['placet keys rotate', 'placet keys rotate --revoke m3Zb…'],
  shape: z.object({ revoke: z.string().optional() }),
  async run(context, { revoke }) {
    const ring = await open(context);
    const kid = await ring.rotate();
    if (revoke !== undefined) await ring.revoke(revoke);
    context.output.value({ kid, ...(revoke !== undefined && { revoked: revoke }) });
    context.output.line(`${kid} signs from now on.`);
    if (revoke !== undefined)
      context.output.line(`${revoke} is revoked; make new tokens where its were used.`);
    return exitCodes.done;
  },
});

async function open({ world, settings }: Context) {
  return openKeys(await dataFolderToUse(world, settings.config.dataDir));
}
