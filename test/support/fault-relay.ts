import { connectRedis, OutboxRelay, TaskQueues, Teams } from '@placet/mailbox';

/** How a process is started that relays wake-ups of a Redis and does nothing else. */
export function relayProgram(redisUrl: string): { program: string; env: Record<string, string> } {
  return { program: 'test/support/fault-relay.ts', env: { FAULT_RELAY: redisUrl } };
}

async function main(url: string): Promise<void> {
  const handle = connectRedis({ url, name: 'fault-relay' });
  const queues = new TaskQueues(handle);
  const relay = new OutboxRelay({ handle, queues, teams: new Teams(handle) });
  relay.start();
  await handle.ready();
  process.stdout.write('started\n');
  process.once('SIGTERM', () => {
    void relay
      .close()
      .then(() => queues.close())
      .finally(() => process.exit(0));
  });
}

if (process.env.FAULT_RELAY !== undefined) await main(process.env.FAULT_RELAY);
