import { connectRedis, type RedisHandle } from '@placet/mailbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';

let server: OwnRedis;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await startOwnRedis();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => server.stop());

function connect(options: { url?: string; timeoutMs?: number; password?: string } = {}): RedisHandle {
  const handle = connectRedis({ url: server.url, name: 'test', ...options });
  closing.push(() => handle.close());
  return handle;
}

describe('the connection to Redis', () => {
  it('[OP-6] waits for a Redis that is not there yet, says so, and is ready when it comes', async () => {
    await server.kill9();
    const handle = connect();
    let ready = false;
    const waiting = handle.ready().then(() => {
      ready = true;
    });
    await eventually(() => handle.redis.status === 'reconnecting');
    expect([ready, handle.state()]).toEqual([false, 'down']);
    await server.restart();
    await waiting;
    expect([handle.state(), await handle.redis.ping()]).toEqual(['ready', 'PONG']);
  });

  it('[WR-30] a command fails at once while Redis is away', async () => {
    const handle = connect();
    await handle.ready();
    await server.kill9();
    await eventually(() => handle.state() === 'down');
    const at = performance.now();
    await expect(handle.redis.get('x')).rejects.toThrow();
    expect(performance.now() - at).toBeLessThan(100);
    await server.restart();
  });

  it('[WR-30] a command fails at once while a connection is being made', async () => {
    server.pause(); // the system still accepts connections, but nobody answers
    try {
      const handle = connect();
      await eventually(() => handle.redis.status === 'connect');
      const at = performance.now();
      await expect(handle.redis.get('x')).rejects.toThrow();
      expect(performance.now() - at).toBeLessThan(500);
    } finally {
      server.resume();
    }
  });

  it('[WR-30] a command ends within its deadline when Redis hangs, and the connection works afterwards', async () => {
    const handle = connect({ timeoutMs: 200 });
    await handle.ready();
    server.pause();
    const at = performance.now();
    await expect(handle.redis.get('x')).rejects.toThrow('timed out');
    expect(performance.now() - at).toBeLessThan(1000);
    server.resume();
    await eventually(() => handle.redis.ping());
  });

  it('[TM-45] a command in flight when the connection breaks is rejected and never sent again', async () => {
    const handle = connect();
    await handle.ready();
    await handle.redis.set('n', 0);
    server.pause();
    const inFlight = handle.redis.incr('n');
    const failed = expect(inFlight).rejects.toThrow();
    await server.kill9();
    const at = performance.now();
    await failed;
    expect(performance.now() - at).toBeLessThan(1000);
    await server.restart();
    await handle.ready();
    expect(await handle.redis.get('n')).toBe('0');
  });

  it('[OP-6] a blocked read ends when the connection breaks, instead of waiting for ever', async () => {
    const handle = connect();
    await handle.ready();
    const blocking = handle.duplicate('blocking');
    await eventually(() => blocking.status === 'ready');
    const reading = blocking.xread('BLOCK', 0, 'STREAMS', 'none', '$');
    const failed = expect(reading).rejects.toThrow();
    await eventually(async () => String(await handle.redis.client('LIST')).includes('cmd=xread'));
    await server.kill9();
    const at = performance.now();
    await failed;
    expect(performance.now() - at).toBeLessThan(1000);
    await server.restart();
  });

  it('[OP-6] a blocked read may take longer than the deadline of commands', async () => {
    const handle = connect({ timeoutMs: 100 });
    await handle.ready();
    const blocking = handle.duplicate('blocking');
    await eventually(() => blocking.status === 'ready');
    expect(await blocking.xread('BLOCK', 300, 'STREAMS', 'none', '$')).toBeNull();
  });

  it('[TM-14] refuses a Redis that may evict, says how to mend it, and takes it when it is mended', async () => {
    const admin = connect();
    await admin.ready();
    await admin.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const handle = connect();
    await expect(handle.ready()).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
    });
    expect(handle.state()).toBe('down');
    await admin.redis.config('SET', 'maxmemory-policy', 'noeviction');
    await server.restart();
    await eventually(() => handle.state() === 'ready');
  });

  it('takes the password beside the URL, and says when it is refused instead of waiting for ever', async () => {
    const locked = await startOwnRedis(['--requirepass', 'right']);
    closing.push(() => locked.stop());
    const good = connect({ url: locked.url.replace('redis://', 'redis://:right@') });
    await good.ready();
    await connect({ url: locked.url, password: 'right' }).ready();
    await expect(connect({ url: locked.url, password: 'wrong' }).ready()).rejects.toMatchObject({
      code: 'redis_unsuitable',
    });
    await expect(connect({ url: locked.url }).ready()).rejects.toMatchObject({ code: 'redis_unsuitable' });
  });

  it('stops waiting when its signal aborts, and when it is closed', async () => {
    const nowhere = 'redis://127.0.0.1:1';
    const handle = connect({ url: nowhere });
    await expect(handle.ready(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'TimeoutError' });
    const waiting = expect(handle.ready()).rejects.toMatchObject({ code: 'store_unavailable' });
    await handle.close();
    await handle.close();
    await waiting;
  });

  it('closes what it made, and leaves no connection', async () => {
    const admin = connect();
    await admin.ready();
    const handle = connectRedis({ url: server.url, name: 'closing' });
    await handle.ready();
    const blocking = handle.duplicate('blocking');
    await eventually(() => blocking.status === 'ready');
    await handle.close();
    await eventually(async () => !String(await admin.redis.client('LIST')).includes('name=closing'));
  });
});
