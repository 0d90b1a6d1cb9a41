import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ended, errorOf, jsonOf, placet, spawnPlacet, temporaryFolder } from '../../support/placet.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (args: string[], env: Record<string, string> = {}) => placet(args, { cwd: folder.path, env });
const write = (name: string, content: unknown) => {
  const path = join(folder.path, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
};

describe('how commands are used', () => {
  it.each([
    ['an unknown command', ['aprove', 'x'], /unknown command 'aprove'.*Did you mean approve/],
    ['an unknown flag', ['inbox', '--prot', '1'], /unknown option '--prot'/],
    ['a missing argument', ['approve'], /missing required argument 'id'/],
    ['an argument too many', ['show', 'a', 'b'], /too many arguments/],
    ['a value that is none', ['approve', 'x', '--mode', 'plan'], /^placet: --mode: /],
    [
      'a malformed request ID',
      ['show', 'a b', '--url', 'http://127.0.0.1:9', '--token', 'plt_x'],
      /is no request ID/,
    ],
    [
      'a file that is not there',
      ['submit', 'none.md', '--url', 'http://127.0.0.1:9', '--token', 'plt_x'],
      /none\.md: there is no such file/,
    ],
    ['a duration that is none', ['wait', 'x', '--timeout', '3 days'], /--timeout: "3 days" is no duration/],
    ['no command', [], /say which command/],
  ])('[WR-40] %s exits with 2 and says so without a stack', async (_, args, text) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.slice(stderr.indexOf('placet: '))).toMatch(text);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('[WR-31] a plan file that never ends is not read to its end', async () => {
    const ran = await run([
      'submit',
      '/dev/zero',
      '--url',
      'http://127.0.0.1:9',
      '--token',
      'plt_x',
      '--json',
    ]);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'payload_too_large' });
  });

  it('[WR-40] a rejection without a reason exits with 2', async () => {
    const { code, stderr } = await run(['reject', 'x', '--url', 'http://127.0.0.1:9', '--token', 'plt_x']);
    expect(code).toBe(2);
    expect(stderr).toContain('--feedback');
  });

  it('[WR-40] with --json an error is one object on stderr, and stdout is empty', async () => {
    const ran = await run(['inbox', '--json', '--state', 'open']);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'usage', exitCode: 2 });
  });

  it('a reader that goes away ends a command without a fault', async () => {
    const child = spawnPlacet(['doctor', '--config', '--json'], { cwd: folder.path });
    child.stdout?.destroy();
    const { stderr } = await ended(child);
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /);
  });
});

describe('where the service is', () => {
  it('[WR-40, WR-42] where nothing runs, commands exit with 8 and say where they looked', async () => {
    mkdirSync(join(folder.path, '.placet'));
    const ran = await placet(['inbox', '--json'], { cwd: folder.path });
    expect(ran.code).toBe(8);
    expect(errorOf(ran).detail).toContain(join(folder.path, '.placet'));
    expect(errorOf(ran).hint).toContain('placet up');
  });

  it('[WR-40] a URL where nothing listens exits with 8', async () => {
    const { code } = await run(['inbox', '--url', 'http://127.0.0.1:9999', '--token', 'plt_a.b.c']);
    expect(code).toBe(8);
  });

  it('[WR-40, WR-43] a URL elsewhere without a token exits with 7', async () => {
    const ran = await run(['inbox', '--json'], { PLACET_URL: 'http://127.0.0.1:9' });
    expect(ran.code).toBe(7);
    expect(errorOf(ran).detail).toContain('PLACET_TOKEN');
  });

  it('[WR-42] a run file that a killed process left leads no token to whoever has the port now', async () => {
    let calls = 0;
    const stranger = createServer((_request, response) => {
      calls += 1;
      response.end('{}');
    });
    await once(stranger.listen(0, '127.0.0.1'), 'listening');
    const address = z.object({ port: z.number() }).parse(stranger.address());
    const url = `http://127.0.0.1:${address.port}`;
    const left = { v: 1, pid: process.pid, startedAt: 'long ago', url, redisUrl: 'redis://x', team: 'main' };
    write('.placet/run.json', { ...left, dataDir: join(folder.path, '.placet') });
    const { code } = await run(['inbox']);
    stranger.close();
    expect({ code, calls }).toEqual({ code: 8, calls: 0 });
  });
});

describe('settings', () => {
  const settingsOf = async (args: string[], env: Record<string, string> = {}) => {
    const { config } = jsonOf(await run(['doctor', '--config', '--json', ...args], env));
    return config;
  };

  it('[WR-41] flags win over the environment, that over the project, that over the person, and each is named', async () => {
    write('placet.config.json', { team: 'project', teammate: 'project', storeTimeoutMs: 1111 });
    write('.config/placet/config.json', {
      team: 'person',
      teammate: 'person',
      storeTimeoutMs: 2222,
      agent: 'person',
    });
    const config = await settingsOf(['--team', 'flag'], { PLACET_TEAM: 'env', PLACET_TEAMMATE: 'env' });
    expect(config).toMatchObject({
      team: { value: 'flag', source: '--team' },
      teammate: { value: 'env', source: 'PLACET_TEAMMATE' },
      storeTimeoutMs: { value: 1111, source: join(folder.path, 'placet.config.json') },
      agent: { value: 'person', source: join(folder.path, '.config/placet/config.json') },
      host: { value: '127.0.0.1', source: 'default' },
    });
  });

  it('[WR-41] the project file is the nearest upward, unless --config names another', async () => {
    write('placet.config.json', { team: 'above' });
    write('other.json', { team: 'other' });
    const below = join(folder.path, 'a/b');
    mkdirSync(below, { recursive: true });
    const args = ['doctor', '--config', '--json'];
    expect(jsonOf(await placet(args, { cwd: below }))).toMatchObject({
      config: { team: { value: 'above' } },
    });
    const named = await placet(args, { cwd: below, env: { PLACET_CONFIG: '../../other.json' } });
    expect(jsonOf(named)).toMatchObject({ config: { team: { value: 'other' } } });
  });

  it('[WR-41] of a setting that restricts, the strictest layer wins', async () => {
    write('placet.config.json', { permissionCeiling: 'acceptEdits', maxRevisions: 3 });
    const config = await settingsOf([], {
      PLACET_PERMISSION_CEILING: 'bypassPermissions',
      PLACET_MAX_REVISIONS: '50',
    });
    expect(config).toMatchObject({ permissionCeiling: { value: 'acceptEdits' }, maxRevisions: { value: 3 } });
  });

  it('[WR-41] secrets are masked', async () => {
    write('placet.config.json', { agents: { mine: { command: ['./agent'], env: { KEY: 'agent-secret' } } } });
    const env = { PLACET_TOKEN: 'plt_token-secret', PLACET_REDIS_URL: 'redis://:redis-secret@127.0.0.1:1' };
    for (const json of [['--json'], []]) {
      const { stdout } = await run(['doctor', '--config', ...json], env);
      expect(stdout).toContain('***');
      expect(stdout).not.toContain('secret');
    }
  });

  it.each([
    [
      'an unknown key of a file',
      { 'placet.config.json': { prot: 1 } },
      {},
      /placet\.config\.json: there is no setting "prot"/,
    ],
    [
      'a bad value of a file',
      { 'placet.config.json': { port: 'x' } },
      {},
      /placet\.config\.json: the setting "port"/,
    ],
    ['a file that is no JSON', { 'placet.config.json': '{' }, {}, /placet\.config\.json: is not valid JSON/],
    ['an unknown variable', {}, { PLACET_PROT: '1' }, /"PLACET_PROT"/],
    ['a bad variable', {}, { PLACET_PORT: '99999' }, /PLACET_PORT: the setting "port"/],
    [
      'a settings file that is not there',
      {},
      { PLACET_CONFIG: 'none.json' },
      /none\.json: there is no such settings file/,
    ],
  ])('[WR-40, WR-41] %s exits with 2, naming it and where it is', async (_, files, env, text) => {
    for (const [name, content] of Object.entries(files)) write(name, content);
    const { code, stderr } = await run(['inbox'], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(text);
  });
});

describe('tokens and keys', () => {
  const create = ['token', 'create', '--principal', 'user:ada', '--role', 'lead', '--team', 'main', '--json'];

  it('[WR-43] a token is made with every service down, and its keys are private', async () => {
    const data = join(folder.path, 'data');
    const token = jsonOf(await run([...create, '--data', data, '--expires-in', '60000']));
    expect(Object.keys(token)).toEqual(['id', 'token', 'expiresAt']);
    expect(token.token).toMatch(/^plt_[\w-]+\.[\w-]+\.[\w-]+$/);
    const leftMs = Date.parse(String(token.expiresAt)) - Date.now();
    expect(leftMs).toBeGreaterThan(50_000);
    expect(leftMs).toBeLessThanOrEqual(61_000);
    expect(statSync(join(data, 'keys')).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, 'tokens.ndjson')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(data, 'tokens.ndjson'), 'utf8')).not.toContain(String(token.token));
  });

  it.each([
    ['a role that is none', ['--principal', 'a', '--role', 'boss']],
    ['a teammate without its owner', ['--principal', 'a', '--role', 'teammate', '--teammate', 'w']],
    ['more than 90 days', ['--principal', 'a', '--role', 'lead', '--expires-in', '91d']],
    ['no principal', ['--role', 'lead']],
  ])('[WR-40, WR-32] %s exits with 2', async (_, args) => {
    expect((await run(['token', 'create', ...args, '--data', join(folder.path, 'data')])).code).toBe(2);
  });

  it('[WR-32] tokens are listed without themselves, and revoked by id', async () => {
    const data = ['--data', join(folder.path, 'data'), '--json'];
    const { id, token } = jsonOf(await run([...create, ...data]));
    await run(['token', 'revoke', String(id), ...data]);
    const listed = await run(['token', 'list', ...data]);
    expect(jsonOf(listed)).toMatchObject({ tokens: [{ id, state: 'revoked', principal: 'user:ada' }] });
    expect(listed.stdout).not.toContain(String(token));
  });

  it('[IN-4] keys are rotated and listed, and no private half is printed', async () => {
    const data = ['--data', join(folder.path, 'data'), '--json'];
    const before = jsonOf(await run(['keys', 'list', ...data]));
    const { kid } = jsonOf(await run(['keys', 'rotate', ...data]));
    const after = await run(['keys', 'list', ...data]);
    expect(before).toMatchObject({ keys: [{ state: 'active' }] });
    expect(jsonOf(after)).toMatchObject({ keys: [{ state: 'retired' }, { kid, state: 'active' }] });
    expect(after.stdout).not.toMatch(/"d"/);
  });
});
