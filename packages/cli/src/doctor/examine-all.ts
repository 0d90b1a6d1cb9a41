import type { Context } from '../command.ts';
import { findRun } from '../connection/discover.ts';
import { dataFolderToUse } from '../settings/paths.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { checkQueue } from './check-queue.ts';
import { checkRedis } from './check-redis.ts';
import { checkService } from './check-service.ts';
import type { Finding } from './finding.ts';

/** Examines everything that a command here would work with. */
export async function examineAll(context: Context): Promise<Finding[]> {
  const { world, settings, team, teammate } = context;
  const { dataDir, redisUrl, storeTimeoutMs } = settings.config;
  const { run } = await findRun(world, dataDir);
  const redis = redisUrl ?? run?.redisUrl;
  return [
    ...(await checkDataFolder(run?.dataDir ?? (await dataFolderToUse(world, dataDir)))),
    ...(await checkService(context)),
    ...(redis ? await checkRedis(redis, settings.config) : []),
    ...(redis ? await checkQueue(redis, team, teammate, storeTimeoutMs) : []),
  ];
}
