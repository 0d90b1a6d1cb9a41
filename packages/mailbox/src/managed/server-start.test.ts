import { describe, expect, it } from 'vitest';
import { librariesIn } from './apt-engine.ts';
import { commandOf } from './engine-command.ts';
import { parseRecord } from './process-identity.ts';
import { redisSettings } from './redis-settings.ts';

describe('what a server notes of itself', () => {
  const stat = (name: string, state = 'S') =>
    `42 (${name}) ${state} 1 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 2576384 200`;

  it.each(['redis-server', 'a b', 'odd) S 1 (name', '((', ')'])('is read whatever its name: %s', (name) => {
    expect(parseRecord(`42\n${stat(name)}\n`)).toEqual({ pid: 42, start: '987654' });
  });

  it('is read where there is no /proc', () => {
    expect(parseRecord('42\nSun Nov 30 21:25:00 2025  \n')).toEqual({
      pid: 42,
      start: 'Sun Nov 30 21:25:00 2025',
    });
  });

  it.each(['', '42', '42\n', 'x\ny', `42\n${stat('x', 'Z')}`])('is nothing when it is %j', (text) => {
    expect(parseRecord(text)).toBeUndefined();
  });
});

describe('what a server is started with', () => {
  const settings = {
    dir: '/a "b" \\c',
    port: 1,
    socket: undefined,
    password: 'p',
    logFile: '/l',
    durability: 'standard',
  } as const;

  it('[OP-10] quotes whatever a folder may be called', () => {
    expect(redisSettings(settings)).toContain('dir "/a \\"b\\" \\\\c"\n');
  });

  it.each([
    ['standard', 'everysec'],
    ['strict', 'always'],
  ] as const)('[TM-46] syncs its file as %s asks for: %s', (durability, fsync) => {
    const text = redisSettings({ ...settings, durability });
    expect(text).toContain('appendonly yes\n');
    expect(text).toContain(`appendfsync ${fsync}\n`);
  });

  it('has the libraries that were unpacked with it', () => {
    const engine = {
      kind: 'program',
      program: '/e/redis-server',
      version: '7.0.15',
      libraryPath: '/e/lib',
    } as const;
    expect(commandOf(engine, { dir: '/d', configFile: '/d/redis.conf', port: 1 })).toEqual([
      'env',
      'LD_LIBRARY_PATH=/e/lib',
      '/e/redis-server',
      '/d/redis.conf',
    ]);
  });

  it('[OP-10] in Docker has a name made of its folder, so that there is one of them', () => {
    const engine = { kind: 'docker', program: '/usr/bin/docker', image: 'redis:7.2-alpine' } as const;
    const command = (dir: string) => commandOf(engine, { dir, configFile: `${dir}/redis.conf`, port: 7 });
    const nameIn = (dir: string) => command(dir)[command(dir).indexOf('--name') + 1];
    expect(nameIn('/a')).toBe(nameIn('/a'));
    expect(nameIn('/a')).not.toBe(nameIn('/b'));
    expect(command('/a')).toContain('127.0.0.1:7:7');
  });
});

describe('what a package needs', () => {
  it('is its libraries, but never the C library', () => {
    const fields =
      'Pre-Depends: init-system-helpers (>= 1.54~)\nDepends: adduser, libatomic1 (>= 4.8), libc6 (>= 2.34), libjemalloc2 (>= 3.5.0), libssl3t64 | libssl3 (>= 3.0.0)\n';
    expect(librariesIn(fields)).toEqual(['libatomic1', 'libjemalloc2', 'libssl3t64']);
  });
});
