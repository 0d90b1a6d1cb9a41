import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JwksSource, KeyRing } from '@placet/mailbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';

let root: string;
let ring: KeyRing;
let kid: string;
let file: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'placet-jwks-'));
  ring = await KeyRing.open(join(root, 'keys'));
  kid = (await ring.activeSigner()).kid;
  file = join(root, 'jwks.json');
  writeFileSync(file, JSON.stringify(await ring.jwks()));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a teammate's key file", () => {
  it('[IN-7] is read again in the background, so that a revoked key is gone without being asked for', async () => {
    const source = new JwksSource({ file }, { refreshMs: 40 });
    await source.start();
    expect((await source.find(kid)).kind).toBe('found');
    writeFileSync(file, JSON.stringify({ keys: [] }));

    await eventually(async () => (await source.find(kid)).kind === 'unknown');
    await source.close();
    await source.close();
  });

  it('[IN-7] tells of a file that vanished, and keeps its keys meanwhile', async () => {
    const faults: string[] = [];
    const source = new JwksSource({ file }, { refreshMs: 40, onFault: (detail) => faults.push(detail) });
    await source.start();
    rmSync(file);

    await eventually(() => faults.includes(`the key file ${file} cannot be read`));
    expect((await source.find(kid)).kind).toBe('found');
    await source.close();
  });

  it('[IN-2] that is missing, or of no usable key, is refused at start', async () => {
    await expect(new JwksSource({ file: join(root, 'none.json') }).start()).rejects.toMatchObject({
      code: 'config_invalid',
    });
    writeFileSync(file, '{"keys":[]}');
    await expect(new JwksSource({ file }).start()).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('[IN-2] can be pinned as well', async () => {
    expect((await new JwksSource({ file, thumbprints: ['another'] }).find(kid)).kind).toBe('unknown');
    expect((await new JwksSource({ file, thumbprints: [kid] }).find(kid)).kind).toBe('found');
  });
});

describe('a key URL', () => {
  it('[IN-2] is fetched over HTTP, and a redirect is not followed', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/jwks.json' }).end();
      else void ring.jwks().then((keys) => response.end(JSON.stringify(keys)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server that listens on a port has such an address.
    const { port } = server.address() as AddressInfo;
    const at = (path: string) =>
      new JwksSource({ url: `http://127.0.0.1:${port}${path}`, thumbprints: [kid] });

    expect((await at('/jwks.json').find(kid)).kind).toBe('found');
    expect((await at('/moved').find(kid)).kind).toBe('unreachable');
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await expect(at('/jwks.json').start()).rejects.toMatchObject({ code: 'service_unreachable' });
  });
});
