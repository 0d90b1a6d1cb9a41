import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonOf, placet, temporaryFolder } from '../../support/placet.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';

let server: OwnRedis;
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  folder = temporaryFolder();
  server = await startOwnRedis();
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

const Findings = z.looseObject({
  findings: z.array(
    z.looseObject({ check: z.string(), status: z.string(), detail: z.string(), mend: z.string().optional() }),
  ),
});

/** What the doctor finds about a check, with these settings. */
async function examine(check: string, env: Record<string, string>) {
  const ran = await placet(['doctor', '--json'], {
    cwd: folder.path,
    env: { PLACET_REDIS_URL: server.url, PLACET_URL: 'http://127.0.0.1:9', ...env },
  });
  return Findings.parse(jsonOf(ran)).findings.find((finding) => finding.check === check);
}

describe('the doctor on durability', () => {
  it('[TM-46] says which profile the server really gives', async () => {
    expect(await examine('persistence', {})).toMatchObject({
      status: 'ok',
      detail: 'append-only, fsync everysec (gives profile standard)',
    });
    expect(await examine('replicas', {})).toBeUndefined();
  });

  it('[TM-46] says how to mend a server that does not give strict, and which replicas it lacks', async () => {
    const strict = { PLACET_DURABILITY: 'strict', PLACET_REPLICAS: '2' };
    const persistence = await examine('persistence', strict);
    expect(persistence).toMatchObject({ status: 'fault' });
    expect(persistence?.detail).toContain('CONFIG SET appendfsync always');
    expect(await examine('replicas', strict)).toMatchObject({
      status: 'fault',
      detail: '0 follow it, 2 must acknowledge each write: every write is answered not_durable',
    });
  });

  it('[TM-46] warns of replicas that nothing waits for', async () => {
    expect(await examine('replicas', { PLACET_REPLICAS: '1' })).toMatchObject({ status: 'warning' });
  });
});
