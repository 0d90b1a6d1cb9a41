import { keyOf, type RedisHandle } from '@placet/mailbox';
import { eventually } from './eventually.ts';

/** What a Redis uses, in bytes. */
export interface MemoryUse {
  /** All that it has allocated. */
  used: number;
  /** Of that, the event and audit logs of the team. */
  history: number;
}

const readsToShrink = 5000;

/**
 * Looks at what Redis uses once it is at rest. Redis makes a sorted set's table smaller bit by bit, with each access:
 * a system at work does that by working, and here it is done by reading.
 */
export async function measureMemory({ redis }: RedisHandle, team: string): Promise<MemoryUse> {
  await redis.slowlog('RESET'); // on a busy machine it holds copies of our arguments
  const reading = redis.pipeline();
  for (let read = 0; read < readsToShrink; read += 1)
    for (const index of ['pending', 'deadlines', 'ended', 'due', 'settled'] as const)
      reading.zscore(keyOf(team, index), 'nothing');
  await reading.exec();
  const usedNow = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  let last = 0;
  const used = await eventually(
    async () => {
      const before = last;
      last = await usedNow();
      return Math.abs(last - before) < 1024 && last;
    },
    { everyMs: 300, withinMs: 20_000, what: 'a Redis at rest' },
  );
  const sizes = await Promise.all(
    [keyOf(team, 'events'), keyOf(team, 'audit')].map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)),
  );
  return { used, history: sizes.reduce<number>((sum, size) => sum + Number(size ?? 0), 0) };
}
