import { once } from 'node:events';
import { PlacetError } from '@placet/protocol';
import { z } from 'zod';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { dataFolderToUse } from '../settings/paths.ts';

/** `placet lead`: the lead service alone, on a Redis that is there. */
export const leadCommand = defineCommand({
  name: 'lead',
  summary: 'run the lead service alone, on a Redis of yours',
  settings: ['port', 'host', 'redisUrl', 'logLevel'],
  examples: [
    'placet lead --redis-url redis://127.0.0.1:6379 --host 0.0.0.0 --port 4180 --data /var/lib/placet',
  ],
  shape: z.object({}),
  async run({ world, settings, output }) {
    const { config } = settings;
    const { redisUrl } = config;
    if (!redisUrl)
      throw new PlacetError(
        'usage',
        'say which Redis to use with --redis-url or PLACET_REDIS_URL; placet up starts a private one',
      );
    const dataDir = await dataFolderToUse(world, config.dataDir);
    const { startLeadProcess } = await import('@placet/lead');
    const { openLog } = await import('../up/service-log.ts');
    const { whenSuitable } = await import('../up/suitable-redis.ts');
    const lead = await startLeadProcess({ config, redisUrl, dataDir, log: openLog(config.logLevel, 2) });
    output.value({ event: 'listening', url: lead.url, dataDir });
    output.line(`The lead service listens at ${lead.url}; its keys are in ${dataDir}.`);
    try {
      // It may start before its Redis does (OP-6), but not go on with one that loses what it is told.
      await whenSuitable(redisUrl, config, world.signal, () => output.note('waiting for Redis'));
      await once(world.signal, 'abort');
    } catch (error) {
      if (!world.signal.aborted) throw error;
    } finally {
      await lead.close();
    }
    return exitCodes.done;
  },
});
