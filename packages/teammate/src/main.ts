import { environmentLayer, isPlacetError, PlacetError, resolveConfig } from '@placet/protocol';
import { createTeammateLog, type TeammateLog } from './log.ts';
import { startTeammateProcess } from './teammate-process.ts';

// A teammate as a process of its own, configured by its environment alone: what a container runs.
let log: TeammateLog = createTeammateLog({ level: 'info' });
try {
  const { config } = resolveConfig([environmentLayer(process.env)]);
  log = createTeammateLog({ level: config.logLevel });
  const { redisUrl, dataDir = '.placet' } = config;
  if (redisUrl === undefined)
    throw new PlacetError(
      'config_invalid',
      'say which Redis to use in PLACET_REDIS_URL; `placet up` starts a private one',
    );
  const started = await startTeammateProcess({
    config,
    redisUrl,
    dataDir,
    baseFolder: process.cwd(),
    environment: process.env,
    log,
  });
  stopOnSignals(() => started.close(), log);
} catch (err) {
  log.fatal({ err }, 'the teammate cannot start');
  process.exitCode = isPlacetError(err) ? err.exitCode : 1;
}

function stopOnSignals(close: () => Promise<void>, log: TeammateLog): void {
  const stop = (signal: string) => {
    log.info({ signal }, 'stopping');
    close().then(
      () => process.exit(0),
      (err: unknown) => {
        log.fatal({ err }, 'the teammate did not stop in order');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
