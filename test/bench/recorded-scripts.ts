import type { RedisClient } from '@placet/mailbox';

/** One call of a script, with the bytes that went over the wire. */
export interface ScriptCall {
  sha: string;
  keyCount: number;
  rest: (string | number | Buffer)[];
}

/** A Redis whose script calls are written down, in the order in which they were sent. */
export interface RecordingRedis {
  redis: RedisClient;
  calls: ScriptCall[];
}

/** Wraps a connection; everything works as before. */
export function recordScripts(redis: RedisClient): RecordingRedis {
  const calls: ScriptCall[] = [];
  const evalsha = (
    sha: string,
    keyCount: number,
    ...rest: (string | number | Buffer)[]
  ): Promise<unknown> => {
    calls.push({ sha, keyCount, rest });
    return redis.evalsha(sha, keyCount, ...rest);
  };
  const recording = new Proxy(redis, {
    get(target, name) {
      if (name === 'evalsha') return evalsha;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { redis: recording, calls };
}

/** Sends a script call again, with the same bytes. */
export async function replay(redis: RedisClient, { sha, keyCount, rest }: ScriptCall): Promise<string> {
  const reply: unknown = await redis.evalsha(sha, keyCount, ...rest);
  return Array.isArray(reply) ? String(reply[0]) : '';
}
