import { once } from 'node:events';
import { PlacetError } from '@placet/protocol';
import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { dataFolderToUse } from '../settings/paths.ts';
import type { World } from '../world.ts';

/** How long a teammate whose parent is gone may take to stop, in milliseconds. */
const orphanMs = 3000;

/** `placet teammate`: one process of one teammate (TM-1). */
export const teammateCommand = defineCommand({
  name: 'teammate',
  summary: 'run a teammate: take tasks from its queue, plan, and do what was approved',
  options: [{ flags: '--end-with-parent', doc: 'end when the process that started this one is gone' }],
  settings: ['team', 'teammate', 'planModeRequired', 'concurrency', 'roots', 'redisUrl', 'token', 'logLevel'],
  flags: { teammate: '--name' },
  examples: [
    'PLACET_TOKEN=plt_… placet teammate --team main --name worker --plan-mode-required --redis-url redis://127.0.0.1:6379',
  ],
  shape: z.object({ endWithParent: z.boolean().default(false) }),
  async run(context, { endWithParent }) {
    const { world, settings, output, team, teammate } = context;
    const { redisUrl, dataDir, logLevel } = settings.config;
    if (!redisUrl)
      throw new PlacetError(
        'usage',
        'say which Redis to use with --redis-url or PLACET_REDIS_URL; placet up starts a private one',
      );
    const { startTeammateProcess } = await import('@placet/teammate');
    const { openLog } = await import('../up/service-log.ts');
    const started = await startTeammateProcess({
      config: { ...settings.config, team, teammate },
      redisUrl,
      dataDir: await dataFolderToUse(world, dataDir),
      baseFolder: world.cwd,
      environment: world.env,
      log: openLog(logLevel, 2),
    });
    world.tellParent({ event: 'ready' });
    output.value({ event: 'ready', team, teammate });
    output.line(`The teammate ${teammate} of team ${team} takes tasks.`);
    const parentIsGone = await untilToldToStop(context.world, endWithParent);
    // A parent that is gone has taken Redis with it: there is nothing to finish, and nobody to wait for it.
    const giveUp = parentIsGone ? setTimeout(() => process.exit(exitCodes.failure), orphanMs) : undefined;
    try {
      await started.close();
    } finally {
      clearTimeout(giveUp);
    }
    return exitCodes.done;
  },
});

async function untilToldToStop(world: World, endWithParent: boolean): Promise<boolean> {
  const told = world.signal.aborted ? Promise.resolve() : once(world.signal, 'abort');
  const ends = [told.then(() => false)];
  if (endWithParent) ends.push(world.parentGone().then(() => true));
  return Promise.race(ends);
}
