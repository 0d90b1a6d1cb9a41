import { join } from 'node:path';
import {
  connectRedis,
  createMailbox,
  KeyRing,
  RedisRevocations,
  Revocations,
  TaskQueues,
} from '@placet/mailbox';
import type { Config } from '@placet/protocol';
import { createLead } from './app.ts';
import type { Log } from './log.ts';

/** What a lead service runs on. */
export interface LeadProcessOptions {
  config: Config;
  redisUrl: string;
  /** Used where the URL has no password. */
  redisPassword?: string | undefined;
  /** The data folder: keys in `keys`, the public ones in `jwks.json`. */
  dataDir: string;
  log: Log;
}

/** A lead service with all that it opened. */
export interface LeadProcess {
  readonly url: string;
  /** Stops the service, then closes what it stands on. */
  close(): Promise<void>;
}

/**
 * Opens the keys and the connections of a lead service and starts it, whether Redis is there or not (OP-6).
 * @throws PlacetError `config_invalid` for keys that others can read; Node's error when the port is taken
 */
export async function startLeadProcess(options: LeadProcessOptions): Promise<LeadProcess> {
  const { config, redisUrl, redisPassword, dataDir, log } = options;
  const keysDir = join(dataDir, 'keys');
  const keyRing = await KeyRing.open(keysDir, { publishTo: join(dataDir, 'jwks.json') });
  const handle = connectRedis({
    url: redisUrl,
    password: redisPassword,
    name: 'placet-lead',
    timeoutMs: config.storeTimeoutMs,
    durability: { profile: config.durability, replicas: config.replicas },
    log,
  });
  const mailbox = createMailbox(handle, {
    retentionMs: config.retentionMs,
    retentionCount: config.retentionCount,
    visibilityMs: config.visibilityMs,
    log,
  });
  const revocations = await Revocations.open(keysDir, {
    store: new RedisRevocations(handle, mailbox.teams),
    onFault: (detail) => log.warn({ detail }, 'revocations could not be read in full'),
  });
  const queues = new TaskQueues(handle);
  const lead = await createLead({ handle, mailbox, queues, keyRing, revocations, config, log });
  const close = async () => {
    await lead.close();
    await mailbox.close();
    await queues.close();
    await handle.close();
  };
  try {
    return { url: await lead.start({ host: config.host, port: config.port }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
