import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { JwksSource, KeyRing } from '@placet/mailbox';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
let dir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'placet-keys-'));
  dir = join(root, 'data', 'keys');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const keyFiles = () => readdirSync(dir).filter((name) => name.endsWith('.json'));
const secretIn = (file: string): string => JSON.parse(readFileSync(join(dir, file), 'utf8')).jwk.d;

/** A clock that a test moves. */
const movableClock = () => {
  const clock = { atMs: Date.now(), now: () => clock.atMs };
  return clock;
};

const signedBy = async (ring: KeyRing) => {
  const signer = await ring.activeSigner();
  return decodeProtectedHeader(await signer.sign('test+jwt', {})).kid;
};

describe('the key ring', () => {
  it('[IN-4] makes its key on first start, for its owner alone, and finds it again', async () => {
    const first = await KeyRing.open(dir);
    const again = await KeyRing.open(dir);

    expect(modeOf(dir)).toBe('700');
    expect(readdirSync(dir)).toEqual(['key-0001.json']);
    expect(modeOf(join(dir, 'key-0001.json'))).toBe('600');
    expect(await again.list()).toEqual(await first.list());
    expect(await signedBy(again)).toBe((await first.list())[0]?.kid);
  });

  it('[IN-4] is of one key however many open it for the first time at once', async () => {
    const rings = await Promise.all(Array.from({ length: 10 }, () => KeyRing.open(dir)));
    const kids = await Promise.all(rings.map(signedBy));

    expect(new Set(kids).size).toBe(1);
    expect(readdirSync(dir)).toEqual(['key-0001.json']);
  });

  it('[IN-4] is of one key also where ten processes open it at once', async () => {
    const program = join(root, 'open.mjs');
    writeFileSync(
      program,
      `import { KeyRing } from ${JSON.stringify(new URL('../../../packages/mailbox/dist/index.js', import.meta.url).href)};
       process.on('message', async () => {
         const ring = await KeyRing.open(${JSON.stringify(dir)});
         process.send((await ring.activeSigner()).kid, () => process.exit(0));
       });
       process.send('ready');`,
    );
    const children = Array.from({ length: 10 }, () => fork(program, { execArgv: [] }));
    await Promise.all(children.map((child) => once(child, 'message')));
    const kids = children.map(async (child) => (await once(child, 'message'))[0]);
    const ends = children.map((child) => once(child, 'exit'));
    for (const child of children) child.send('go');

    expect(new Set(await Promise.all(kids)).size).toBe(1);
    await Promise.all(ends);
    expect(readdirSync(dir)).toEqual(['key-0001.json']);
  });

  it('[IN-4] signs with the new key after rotation, while the old one verifies until it is revoked', async () => {
    const ring = await KeyRing.open(dir);
    const old = await signedBy(ring);
    const fresh = await ring.rotate();

    expect(await signedBy(ring)).toBe(fresh);
    expect((await ring.list()).map(({ kid, state }) => [kid, state])).toEqual([
      [old, 'retired'],
      [fresh, 'active'],
    ]);
    expect((await ring.find(old ?? '')).kind).toBe('found');
    await ring.revoke(old ?? '');
    expect((await ring.find(old ?? '')).kind).toBe('unknown');
    expect((await ring.jwks()).keys.map(({ kid }) => kid)).toEqual([fresh]);
    expect((await ring.list()).map(({ state }) => state)).toEqual(['revoked', 'active']);
    expect((await (await KeyRing.open(dir)).list()).map(({ state }) => state)).toEqual(['revoked', 'active']);
  });

  it('[IN-4] makes a new key before it revokes the active one', async () => {
    const ring = await KeyRing.open(dir);
    const old = await signedBy(ring);
    await ring.revoke(old ?? '');

    expect(await signedBy(ring)).not.toBe(old);
    await expect(ring.revoke('unknown')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('[IN-4] of another process learns of rotation and revocation within 5 s, and of an unknown key in 1 s', async () => {
    const clock = movableClock();
    const service = await KeyRing.open(dir, { clock });
    const old = await signedBy(service);
    const command = await KeyRing.open(dir);
    const fresh = await command.rotate();

    expect(await signedBy(service)).toBe(old);
    clock.atMs += 1000;
    expect((await service.find(fresh)).kind).toBe('found');
    await command.revoke(old ?? '');
    clock.atMs += 5000;
    expect((await service.find(old ?? '')).kind).toBe('unknown');
    expect(await signedBy(service)).toBe(fresh);
  });

  it('[IN-4] publishes the public keys for teammates on this machine', async () => {
    const publishTo = join(root, 'jwks.json');
    const ring = await KeyRing.open(dir, { publishTo });
    const old = await signedBy(ring);
    const source = new JwksSource({ file: publishTo });
    expect((await source.find(old ?? '')).kind).toBe('found');
    const fresh = await ring.rotate();
    await ring.revoke(old ?? '');

    const text = readFileSync(publishTo, 'utf8');
    expect(JSON.parse(text).keys).toEqual([
      expect.objectContaining({ kid: fresh, kty: 'OKP', crv: 'Ed25519' }),
    ]);
    expect(text).not.toContain('"d"');
    expect(modeOf(publishTo)).toBe('644');
  });

  it.each(['755', '710', '770'])('[IN-4] refuses a folder of mode %s and says chmod', async (mode) => {
    await KeyRing.open(dir);
    chmodSync(dir, mode);

    await expect(KeyRing.open(dir)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`chmod 700 ${dir}`),
    });
  });

  it.each(['644', '640', '660'])('[IN-4] refuses a key file of mode %s and says chmod', async (mode) => {
    await KeyRing.open(dir);
    chmodSync(join(dir, 'key-0001.json'), mode);

    await expect(KeyRing.open(dir)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`chmod 600 ${join(dir, 'key-0001.json')}`),
    });
  });

  it('[IN-4] shows its private key neither printed nor as JSON', async () => {
    const ring = await KeyRing.open(dir);
    const secret = secretIn('key-0001.json');
    const signer = await ring.activeSigner();
    const shown = [ring, signer, await ring.list(), await ring.jwks(), await ring.find(signer.kid)].flatMap(
      (value) => [inspect(value, { depth: 20, showHidden: true }), JSON.stringify(value)],
    );

    expect(secret).toMatch(/^[\w-]{43}$/);
    for (const text of shown) expect(text).not.toContain(secret);
  });

  it.each<[string, (text: string, other: string) => string]>([
    ['cut off', (text) => text.slice(0, -20)],
    [
      'of halves of two keys',
      (text, other) => text.replace(/"x":"[^"]+"/, /"x":"[^"]+"/.exec(other)?.[0] ?? ''),
    ],
    ['of a later version', (text) => text.replace('"v":1', '"v":2')],
    ['empty', () => ''],
  ])('[IN-4] refuses a key file that is %s, without telling what is in it', async (_what, damage) => {
    const ring = await KeyRing.open(dir);
    await ring.rotate();
    const [first = '', second = ''] = keyFiles().map((name) => readFileSync(join(dir, name), 'utf8'));
    const secret = secretIn('key-0001.json');
    writeFileSync(join(dir, 'key-0001.json'), damage(first, second));
    const error: unknown = await KeyRing.open(dir).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('key-0001.json'),
    });
    const shown = inspect(error, { depth: 20, showHidden: true });
    for (let at = 0; at + 8 <= secret.length; at += 4) expect(shown).not.toContain(secret.slice(at, at + 8));
  });

  it('[IN-4] is made whole: of what a crash left half written nothing counts', async () => {
    await KeyRing.open(dir);
    writeFileSync(join(dir, '.0c3f.tmp'), '{"v":1,"jwk":{"kty":"OK', { mode: 0o600 });

    expect(await (await KeyRing.open(dir)).list()).toHaveLength(1);
  });
});
