import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RequestRecord } from '@placet/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis-server.ts';
import { LeadWorld } from './lead-world.ts';
import { openReplyThief } from './reply-thief.ts';

/** The built service, as a container runs it. */
const main = fileURLToPath(
  new URL('./main.js', import.meta.resolve('@placet/lead').replace('/src/', '/dist/')),
);

let redis: OwnRedis;
let dataDir: string;

beforeAll(async () => {
  redis = await startOwnRedis();
  dataDir = await mkdtemp(join(tmpdir(), 'placet-crash-'));
});
afterAll(async () => {
  await redis.stop();
  await rm(dataDir, { recursive: true, force: true });
});

describe('a lead that is killed', () => {
  it('[WR-21] after the store took the decision and before it answered: the same call again answers 200 with the first decision', async () => {
    const world = await LeadWorld.open({ redisUrl: redis.url, dataDir });
    const [teammate, token] = [await world.teammateToken(), await world.token()];
    // So that the server knows the script, and its first answer is that of the commit.
    await world.decide(token, await world.submit(teammate));
    const record = await world.submit(teammate);
    const decision = { outcome: 'approved', planDigest: record.plan.digest, permissionMode: 'acceptEdits' };
    const decideAt = (url: string) =>
      fetch(url + world.path(record.requestId, '/decision'), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(decision),
      });

    let victim: LeadChild | undefined;
    const thief = await openReplyThief(redis.port, {
      isMarked: (sent) => sent.includes('"signature":"'),
      onStolen: () => void victim?.child.kill('SIGKILL'),
    });
    victim = await startLead(thief.url);
    await expect(decideAt(victim.url)).rejects.toThrow();
    expect(await victim.exit).toBe('SIGKILL');

    const stands = await eventually(
      async () => (await world.mailbox.requests.get(world.team, record.requestId))?.decision,
    );
    expect(stands).toMatchObject({ outcome: 'approved', permissionMode: 'acceptEdits' });
    const heir = await startLead(redis.url);
    const repeated = await decideAt(heir.url);
    const answered = RequestRecord.parse(await repeated.json());
    expect([repeated.status, answered.decision]).toEqual([200, stands]);
    const { events } = await world.mailbox.events.read(world.team, undefined, 100);
    expect(
      events.filter(({ type, requestId }) => type === 'plan:decided' && requestId === record.requestId),
    ).toHaveLength(1);

    heir.child.kill('SIGTERM');
    expect(await heir.exit).toBe(0);
    await thief.close();
    await world.close();
  });

  it('[OP-6] SIGTERM ends it in order while a client waits and another follows', async () => {
    const world = await LeadWorld.open({ redisUrl: redis.url, dataDir });
    const teammate = await world.teammateToken();
    const record = await world.submit(teammate);
    const lead = await startLead(redis.url);
    const wait = fetch(`${lead.url}${world.path(record.requestId, '/wait?timeoutMs=60000')}`, {
      headers: { authorization: `Bearer ${teammate}` },
    });
    const stream = await fetch(`${lead.url}/v1/teams/${world.team}/events`, {
      headers: { authorization: `Bearer ${await world.token()}` },
    });
    const began = performance.now();
    lead.child.kill('SIGTERM');
    // Whichever came first, the wait or the signal.
    expect(
      await wait.then(
        ({ status }) => status,
        () => 'refused',
      ),
    ).toSatisfy((seen) => seen === 202 || seen === 'refused');
    await stream.text();
    expect(await lead.exit).toBe(0);
    expect(performance.now() - began).toBeLessThan(3000);
    await world.close();
  });

  it('[WR-41] a setting that is not valid is named, without a stack trace', async () => {
    const child = spawn(process.execPath, [main], {
      env: { PATH: process.env.PATH, PLACET_PORT: 'many', PLACET_REDIS_URL: redis.url },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(2);
    expect(said).toContain('port');
  });
});

interface LeadChild {
  child: ChildProcess;
  url: string;
  /** The exit code, or the signal that ended it. */
  exit: Promise<number | string>;
}

async function startLead(redisUrl: string): Promise<LeadChild> {
  const env = { PATH: process.env.PATH, PLACET_REDIS_URL: redisUrl, PLACET_DATA: dataDir, PLACET_PORT: '0' };
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit').then(([code, signal]) => signal ?? code);
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line);
    if (said.msg !== 'the lead service listens') continue;
    child.stdout.resume();
    await ready(said.url);
    return { child, url: said.url, exit };
  }
  throw new Error('the service ended before it listened');
}

async function ready(url: string): Promise<void> {
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200, { what: 'readiness' });
}
