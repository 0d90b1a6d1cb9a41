import { environmentLayer, isPlacetError, PlacetError, resolveConfig } from '@placet/protocol';
import { startLeadProcess } from './lead-process.ts';
import { createLog, type Log } from './log.ts';

// The lead service as a process of its own, configured by its environment alone: what a container runs.
let log: Log = createLog({ level: 'info' });
try {
  const { config } = resolveConfig([environmentLayer(process.env)]);
  log = createLog({ level: config.logLevel });
  const { redisUrl, dataDir = '.placet' } = config;
  if (redisUrl === undefined)
    throw new PlacetError(
      'config_invalid',
      'say which Redis to use in PLACET_REDIS_URL; `placet up` starts a private one',
    );
  const lead = await startLeadProcess({ config, redisUrl, dataDir, log });
  stopOnSignals(() => lead.close(), log);
} catch (err) {
  log.fatal({ err }, 'the service cannot start');
  process.exitCode = isPlacetError(err) ? err.exitCode : 1;
}

function stopOnSignals(close: () => Promise<void>, log: Log): void {
  const stop = (signal: string) => {
    log.info({ signal }, 'stopping');
    close().then(
      () => process.exit(0),
      (err: unknown) => {
        log.fatal({ err }, 'the service did not stop in order');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
