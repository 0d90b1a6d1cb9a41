// A process of its own that keeps the private Redis of a folder: `redis-starter.ts FOLDER [write NAME]`.
// Says each change of whom it depends on, and with `write` each value whose storing Redis acknowledged.
import { findRedisEngine, startManagedRedis } from '@placet/mailbox';
import { silentLog } from '@placet/protocol';
import { Redis } from 'ioredis';

const [, , dataDir = '', task, name = ''] = process.argv;
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const engine = await findRedisEngine({ path: process.env.PATH ?? '', engineDir: '', say: () => undefined });
const managed = await startManagedRedis({ dataDir, engine, log: silentLog });
let stopped = false;
process.once('SIGTERM', () => {
  stopped = true;
  void managed.close().then(() => process.exit(0));
});
// The test has ended, however that happened.
process.stdin.resume().once('end', () => process.exit(1));

let said = '';
let redis: Redis | undefined;
for (let n = 1; !stopped; n += 1) {
  const { url, pid, adopted } = managed;
  const now = JSON.stringify({ url, pid, adopted });
  if (now !== said) {
    say({ url, pid, adopted });
    said = now;
    redis?.disconnect();
    redis = new Redis(url, { commandTimeout: 1000, maxRetriesPerRequest: 0, retryStrategy: () => 50 });
    redis.on('error', () => undefined);
  }
  if (task === 'write') {
    try {
      await redis?.sadd('values', `${name}-${n}`);
      say({ value: `${name}-${n}` });
    } catch {
      // not acknowledged
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}
