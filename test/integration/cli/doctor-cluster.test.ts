import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonOf, placet, temporaryFolder } from '../../support/placet.ts';
import { startCluster, type TestCluster } from '../../support/redis-cluster.ts';

let cluster: TestCluster;
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  folder = temporaryFolder();
  cluster = await startCluster();
});
afterAll(async () => {
  await cluster.stop();
  folder.remove();
});

const Findings = z.looseObject({
  findings: z.array(z.looseObject({ check: z.string(), status: z.string(), detail: z.string() })),
});

async function examine(check: string, env: Record<string, string> = {}) {
  const ran = await placet(['doctor', '--json'], {
    cwd: folder.path,
    env: { PLACET_REDIS_URL: cluster.url, PLACET_URL: 'http://127.0.0.1:9', ...env },
  });
  return Findings.parse(jsonOf(ran)).findings.filter((finding) => finding.check === check);
}

describe('the doctor on a Cluster', () => {
  it('[ST-8] looks at every master, and names it', async () => {
    const found = await examine('persistence');
    const named = found.map(({ detail }) => detail.replace(/: .*/, '')).sort();
    expect(named).toEqual(cluster.masters.map(({ port }) => `127.0.0.1:${port}`).sort());
    expect(await examine('queue')).toMatchObject([{ status: 'ok' }]);
  });

  it('[ST-8, TM-46] says that no replica can be waited for', async () => {
    const strict = { PLACET_DURABILITY: 'strict', PLACET_REPLICAS: '1' };
    expect(await examine('replicas', strict)).toMatchObject([{ status: 'fault' }]);
  });

  it('[WR-41, IN-24] refuses a malformed URL, and prints no password of it', async () => {
    const ran = await placet(['doctor', '--json'], {
      cwd: folder.path,
      env: { PLACET_REDIS_URL: 'redis+cluster://u:secret@a,', PLACET_URL: 'http://127.0.0.1:9' },
    });
    expect(ran.stdout + ran.stderr).toContain('must name its hosts as host:port');
    expect(ran.stdout + ran.stderr).not.toContain('secret');
  });
});
