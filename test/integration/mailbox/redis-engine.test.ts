import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisEngine, startManagedRedis } from '@placet/mailbox';
import { silentLog } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let dir: string;
let bin: string;
let said: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'placet-engine-'));
  bin = join(dir, 'bin');
  mkdirSync(bin);
  said = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const search = (path: string) => ({
  path,
  engineDir: join(dir, 'engine'),
  say: (line: string) => void said.push(line),
});

function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

describe('looking for a Redis', () => {
  it('[OP-2] takes redis-server from PATH, before valkey-server', async () => {
    program('redis-server', 'echo "Redis server v=7.2.4 sha=0 malloc=x bits=64"');
    program('valkey-server', 'echo "Server v=8.0.1 sha=0 malloc=x bits=64"');
    expect(await findRedisEngine(search(bin))).toMatchObject({
      program: join(bin, 'redis-server'),
      version: '7.2.4',
    });
  });

  it('[OP-2] passes over one that is too old or does not start, and says so', async () => {
    program('redis-server', 'echo "Redis server v=6.2.1 sha=0"');
    program('valkey-server', 'echo "Server v=8.0.1 sha=0"');
    expect(await findRedisEngine(search(bin))).toMatchObject({ program: join(bin, 'valkey-server') });
    expect(said.join()).toContain('redis-server');
  });

  it('[OP-2] says what to install where nothing can be got', async () => {
    await expect(findRedisEngine(search(bin))).rejects.toMatchObject({
      code: 'redis_unsuitable',
      message: expect.stringContaining('PLACET_REDIS_URL'),
    });
  });

  it('[OP-2] uses Docker where its engine answers', async () => {
    program('docker', 'exit 0');
    expect(await findRedisEngine(search(bin))).toMatchObject({
      kind: 'docker',
      program: join(bin, 'docker'),
    });
  });

  it('[OP-2] installs with brew only when that was agreed to', async () => {
    program('brew', `if [ "$1" = --prefix ]; then echo ${dir}/brewed; else echo installed; fi`);
    await expect(findRedisEngine(search(bin))).rejects.toMatchObject({ code: 'redis_unsuitable' });
    const refused = { ...search(bin), confirm: () => Promise.resolve(false) };
    await expect(findRedisEngine(refused)).rejects.toMatchObject({ code: 'redis_unsuitable' });
  });

  it.runIf(hasPackages())(
    '[OP-2] gets Debian’s packages without root, says so before, runs, and is found again',
    async (context) => {
      for (const folder of ['/usr/bin', '/bin', '/usr/sbin'])
        for (const name of readdirSync(folder)) {
          if (/^(redis|valkey|docker)/.test(name) || readdirSync(bin).includes(name)) continue;
          symlinkSync(join(folder, name), join(bin, name));
        }
      const found = await findRedisEngine(search(bin)).catch((error: unknown) => {
        if (String(error).includes('Failed to fetch'))
          return context.skip('the packages cannot be reached from here');
        throw error;
      });
      expect(said[0]).toContain('apt-get download');
      expect(readdirSync(dir).sort()).toEqual(['bin', 'engine']);
      expect(await findRedisEngine(search(bin))).toEqual(found);

      const managed = await startManagedRedis({ dataDir: join(dir, 'data'), engine: found, log: silentLog });
      try {
        expect(readlinkSync(`/proc/${managed.pid}/exe`)).toContain(join(dir, 'engine'));
      } finally {
        await managed.close();
      }
    },
    120_000,
  );
});

/** Whether this machine has apt and knows the package; the test of the download needs both. */
function hasPackages(): boolean {
  try {
    return (
      execFileSync('apt-cache', ['show', 'redis-server'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0
    );
  } catch {
    return false;
  }
}
