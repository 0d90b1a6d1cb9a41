import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRedis, type RedisHandle, RedisRevocations, Revocations } from '@placet/mailbox';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OwnRedis, startOwnRedis, uniqueTeam } from '../../support/redis-server.ts';

let server: OwnRedis;
let handle: RedisHandle;
let dir: string;

beforeAll(async () => {
  server = await startOwnRedis();
  handle = connectRedis({ url: server.url, name: 'test', timeoutMs: 300 });
  await handle.ready();
});
afterAll(async () => {
  await handle.close();
  await server.stop();
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'placet-revoked-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** As the store's table of keys names it. */
const revokedKey = (team: string) => `placet:{${team}}:lead:revoked`;
const hourMs = 3_600_000;
const clockAt = () => {
  const clock = { atMs: Date.now(), now: () => clock.atMs };
  return clock;
};
const inRedis = (team: string) => new RedisRevocations(handle, { list: async () => [team] });

describe('revocations', () => {
  it('[WR-32] hold in the file, for whoever opens it, until the token has expired anyway', async () => {
    const clock = clockAt();
    const revocations = await Revocations.open(dir, { clock });
    await revocations.revoke('short', clock.atMs + hourMs);
    await revocations.revoke('long');
    const again = await Revocations.open(dir, { clock });

    expect(statSync(join(dir, 'revoked.ndjson')).mode & 0o777).toBe(0o600);
    expect(await again.isRevoked('short')).toBe(true);
    expect(await again.isRevoked('other')).toBe(false);
    clock.atMs += hourMs;
    expect(await again.isRevoked('short')).toBe(false);
    expect((await again.list()).map(({ jti }) => jti)).toEqual(['long']);
    clock.atMs += 89 * 24 * hourMs;
    expect(await again.isRevoked('long')).toBe(true);
  });

  it('[WR-32] of another process count within a second, and none of those made at once is lost', async () => {
    const clock = clockAt();
    const service = await Revocations.open(dir, { clock });
    const commands = await Promise.all(Array.from({ length: 20 }, () => Revocations.open(dir)));
    await Promise.all(commands.map((command, index) => command.revoke(`token-${index}`)));
    clock.atMs += 1000;

    expect(await service.list()).toHaveLength(20);
  });

  it('[WR-32] a line that a crash left half written swallows no other, and is told', async () => {
    const faults: string[] = [];
    await (await Revocations.open(dir)).revoke('before');
    appendFileSync(join(dir, 'revoked.ndjson'), '{"jti":"ha');
    await (await Revocations.open(dir)).revoke('after');
    const again = await Revocations.open(dir, { onFault: (detail) => faults.push(detail) });

    expect((await again.list()).map(({ jti }) => jti)).toEqual(['before', 'after']);
    expect(faults[0]).toContain('1 damaged lines');
  });

  it('[WR-32] in a file or folder that others can read are refused', async () => {
    await (await Revocations.open(dir)).revoke('x');
    chmodSync(join(dir, 'revoked.ndjson'), 0o644);
    await expect(Revocations.open(dir)).rejects.toMatchObject({
      message: expect.stringContaining('chmod 600'),
    });
    chmodSync(dir, 0o755);
    await expect(Revocations.open(dir)).rejects.toMatchObject({
      message: expect.stringContaining('chmod 700'),
    });
  });

  it('[WR-32] stand in Redis as well, and the union counts', async () => {
    const team = uniqueTeam();
    const revocations = await Revocations.open(dir, { store: inRedis(team) });
    await handle.redis.hset(revokedKey(team), 'by another lead', Date.now() + hourMs);
    await revocations.revoke('mine');

    expect(Object.keys(await handle.redis.hgetall(revokedKey(team))).sort()).toEqual([
      'by another lead',
      'mine',
    ]);
    expect(await revocations.isRevoked('by another lead')).toBe(true);
    expect(await revocations.isRevoked('mine')).toBe(true);
  });

  it('[WR-32] taken out of Redis hold all the same, and are put back', async () => {
    const team = uniqueTeam();
    const clock = clockAt();
    const revocations = await Revocations.open(dir, { clock, store: inRedis(team) });
    await handle.redis.hset(revokedKey(team), 'by another lead', Date.now() + hourMs);
    await revocations.isRevoked('x');
    await handle.redis.del(revokedKey(team));
    clock.atMs += 5000;

    expect(await revocations.isRevoked('by another lead')).toBe(true);
    expect(await handle.redis.hexists(revokedKey(team), 'by another lead')).toBe(1);
  });

  it('[WR-32] written into Redis by a stranger cannot fill the disk or outlive a token', async () => {
    const team = uniqueTeam();
    const clock = clockAt();
    const revocations = await Revocations.open(dir, { clock, store: inRedis(team) });
    await handle.redis.hset(
      revokedKey(team),
      'x'.repeat(65),
      Date.now() + hourMs,
      'bad',
      'never',
      'far',
      9e15,
    );
    await revocations.isRevoked('x');

    const lines = readFileSync(join(dir, 'revoked.ndjson'), 'utf8').split('\n').filter(Boolean);
    expect(lines).toHaveLength(1);
    clock.atMs += 90 * 24 * hourMs + 1000;
    await handle.redis.del(revokedKey(team));
    expect(await revocations.isRevoked('far')).toBe(false);
  });

  it('[WR-32] hold while Redis does not answer', async () => {
    const faults: string[] = [];
    const store = inRedis(uniqueTeam());
    const revocations = await Revocations.open(dir, { store, onFault: (detail) => faults.push(detail) });
    server.pause();
    try {
      await expect(revocations.revoke('mine')).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await revocations.isRevoked('mine')).toBe(true);
      expect(await revocations.isRevoked('other')).toBe(false);
      expect(faults).toHaveLength(1);
    } finally {
      server.resume();
    }
  });
});
