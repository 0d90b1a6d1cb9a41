import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import {
  ended,
  errorOf,
  jsonOf,
  placet,
  spawnPlacet,
  startUp,
  temporaryFolder,
  type Up,
} from '../../support/placet.ts';

const folder = temporaryFolder();
const data = join(folder.path, 'data');
let up: Up;

beforeAll(async () => {
  up = await startUp(data, ['--no-teammate'], { cwd: folder.path });
});
afterAll(async () => {
  await up.stop();
  folder.remove();
});

const run = (args: string[], options: { env?: Record<string, string>; input?: string } = {}) =>
  placet([...args, '--data', data], { cwd: folder.path, ...options });
let plans = 0;
const submit = async (args: string[] = [], text = `# Plan ${plans++}\n\n1. Do it.\n`) => {
  const ran = await run(['submit', '-', '--json', ...args], { input: text });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return z.object({ requestId: z.string() }).parse(jsonOf(ran)).requestId;
};
const waitFor = (id: string, ...args: string[]) => run(['wait', id, '--json', ...args]);

describe('placet up', () => {
  it('[WR-42] says in one line how to reach it, and keeps that to its user', () => {
    expect(up.lines).toHaveLength(1);
    expect(up.ready.dataDir).toBe(data);
    const file = join(data, 'run.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: up.pid, url: up.ready.url });
  });

  it('[WR-42, OP-10] a second one on the same data is refused, and says by whom', async () => {
    const ran = await run(['up', '--port', '0', '--json']);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'data_in_use' });
    expect(errorOf(ran).detail).toContain(String(up.pid));
  });

  it('[WR-42] is found by --url, PLACET_URL, --data, PLACET_DATA and .placet nearest upward', async () => {
    const found = async (args: string[], env: Record<string, string>, cwd = folder.path) =>
      (await placet(['inbox', ...args], { cwd, env })).code;
    const token = String(jsonOf(await createToken('lead', 'user:a')).token);
    expect(await found(['--url', up.ready.url, '--token', token], {})).toBe(0);
    expect(await found([], { PLACET_URL: up.ready.url, PLACET_TOKEN: token })).toBe(0);
    expect(await found(['--data', data], {})).toBe(0);
    expect(await found([], { PLACET_DATA: data })).toBe(0);
    expect(await found([], {})).toBe(8);
  });

  it('the doctor finds nothing wrong', async () => {
    const ran = await run(['doctor', '--json']);
    expect(ran.code).toBe(0);
    expect(jsonOf(ran)).toMatchObject({ ok: true });
  });
});

const createToken = (role: string, principal: string, ...args: string[]) =>
  run(['token', 'create', '--role', role, '--principal', principal, '--team', 'main', '--json', ...args]);

describe('outcomes as exit codes', () => {
  it('[WR-40] 0 approved, by exactly the bytes that were shown', async () => {
    const id = await submit();
    const approved = await run(['approve', id, '--mode', 'acceptEdits', '--json']);
    expect(approved.code).toBe(0);
    expect(jsonOf(approved)).toMatchObject({
      state: 'approved',
      decision: { permissionMode: 'acceptEdits', planEdited: false },
    });
    expect((await waitFor(id)).code).toBe(0);
  });

  it('[WR-40] 3 rejected', async () => {
    const id = await submit();
    expect((await run(['reject', id, '--feedback', 'no'])).code).toBe(0);
    const waited = await waitFor(id);
    expect(waited.code).toBe(3);
    expect(jsonOf(waited)).toMatchObject({ decision: { outcome: 'rejected', feedback: 'no' } });
  });

  it('[WR-40] 4 at the deadline, and when --timeout is over first, which is said', async () => {
    const late = await submit(['--deadline-ms', '1000']);
    const timedOut = await waitFor(late);
    expect(timedOut.code).toBe(4);
    expect(jsonOf(timedOut)).toMatchObject({ state: 'timeout' });
    const pending = await submit();
    const gaveUp = await waitFor(pending, '--timeout', '200');
    expect(gaveUp.code).toBe(4);
    expect(jsonOf(gaveUp)).toMatchObject({ state: 'pending' });
    expect(gaveUp.stderr).toContain('still pending');
  });

  it('[WR-40] 5 teleported', async () => {
    const id = await submit(['--target', 'remote']);
    expect((await run(['teleport', id])).code).toBe(0);
    expect((await waitFor(id)).code).toBe(5);
  });

  it('[WR-40] 6 withdrawn, and 6 superseded', async () => {
    const withdrawn = await submit();
    expect((await run(['withdraw', withdrawn])).code).toBe(0);
    expect((await waitFor(withdrawn)).code).toBe(6);
    const superseded = await submit(['--session', 's6']);
    await submit(['--session', 's6', '--revision', '2']);
    expect((await waitFor(superseded)).code).toBe(6);
  });

  it('[WR-40] submit --wait waits too, and prints the record as submitted and as decided', async () => {
    const id = `plan-${Date.now()}`;
    const file = join(folder.path, 'plan.md');
    writeFileSync(file, '# Waited for\n');
    const child = spawnPlacet(['submit', file, '--wait', '--request-id', id, '--json', '--data', data], {
      cwd: folder.path,
    });
    const end = ended(child);
    await eventually(async () => (await run(['reject', id, '--feedback', 'no'])).code === 0, {
      withinMs: 30_000,
    });
    const { code, stdout } = await end;
    expect(code).toBe(3);
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => jsonOf({ code, stdout: line, stderr: '' }).state);
    expect(states).toEqual(['pending', 'rejected']);
  });

  it('[WR-40] 7 without the right, with a token that was revoked, and for one that owns the teammate', async () => {
    const id = await submit();
    const approve = async (token: unknown) =>
      run(['approve', id, '--json'], { env: { PLACET_TOKEN: String(token) } });
    const observer = jsonOf(await createToken('observer', 'user:o'));
    expect(errorOf(await approve(observer.token))).toMatchObject({ code: 'forbidden', exitCode: 7 });
    const owner = jsonOf(await createToken('lead', 'teammate:worker'));
    expect(errorOf(await approve(owner.token))).toMatchObject({
      code: 'self_approval_forbidden',
      exitCode: 7,
    });
    const gone = jsonOf(await createToken('lead', 'user:gone'));
    expect((await run(['token', 'revoke', String(gone.id)])).code).toBe(0);
    await eventually(async () => (await approve(gone.token)).code === 7, { withinMs: 30_000 });
    expect((await waitFor(id, '--timeout', '0')).code).toBe(4);
  });
});

describe('request IDs', () => {
  it('unknown ones are not found, whoever asks', async () => {
    for (const command of [['show'], ['approve'], ['reject', '--feedback', 'x'], ['wait'], ['withdraw']]) {
      const [name = '', ...flags] = command;
      const ran = await run([name, 'plan_approval-nobody', ...flags, '--json']);
      expect([name, ran.code, errorOf(ran).code]).toEqual([name, 1, 'not_found']);
    }
  });

  it('one of another team is not found', async () => {
    const id = await submit();
    const ran = await run(['show', id, '--team', 'other', '--json']);
    expect(errorOf(ran).code).toBe('not_found');
  });

  it('[WR-21] a decided one answers with the decision that stands, and the same decision again is no error', async () => {
    const id = await submit();
    await run(['approve', id, '--mode', 'default']);
    expect((await run(['approve', id, '--mode', 'default'])).code).toBe(0);
    const ran = await run(['reject', id, '--feedback', 'too late', '--json']);
    expect(ran.code).toBe(1);
    expect(errorOf(ran)).toMatchObject({
      code: 'already_decided',
      current: { outcome: 'approved', decidedBy: expect.stringMatching(/^local:/) },
    });
    expect((await run(['reject', id, '--feedback', 'too late'])).stderr).toMatch(
      /outcome: approved\n {2}permissionMode: default\n {2}decidedBy: local:/,
    );
  });

  it('[WR-23] the same submission twice is one, other content under its ID a conflict', async () => {
    const args = ['--request-id', 'again-1', '--session', 'again'];
    expect(await submit(args, 'same')).toBe(await submit(args, 'same'));
    const ran = await run(['submit', '-', '--json', ...args], { input: 'other' });
    expect(errorOf(ran)).toMatchObject({ code: 'request_conflict', exitCode: 1 });
  });

  it('the short name that the inbox shows will do, and one that fits two is refused with both', async () => {
    const id = await submit();
    const { stdout } = await run(['inbox']);
    const handle = stdout
      .split('\n')
      .flatMap((line, at, all) => (all[at + 1]?.includes(id) ? [line.split(' ')[0] ?? ''] : []))[0];
    expect(handle).toMatch(/^[0-9a-f]{6,}$/);
    expect(jsonOf(await run(['show', handle ?? '', '--json']))).toMatchObject({ requestId: id });
    const tail = 'abcdefabcdef';
    const twins = ['0', '1'].map(
      (digit) => `plan_approval-01a22e77-f629-7ec6-aec${digit}-${tail}@worker@main`,
    );
    for (const twin of twins) await submit(['--request-id', twin.replace('01a22e77f629', '01a22e77f629')]);
    const ran = await run(['show', tail, '--json']);
    expect(errorOf(ran)).toMatchObject({ code: 'usage', exitCode: 2 });
    for (const twin of twins) expect(errorOf(ran).detail).toContain(twin);
  });
});

describe('what is shown', () => {
  it('[IN-23] a hostile plan acts on nothing, and cannot pass for a line of ours', async () => {
    const id = await submit([], '\u202eevil\u001b[2J\u200b\nApproved\ninstall p\u0430ypal\n');
    for (const ran of [await run(['show', id]), await run(['approve', id])]) {
      expect(ran.stdout).toContain('│ ⟨U+202E⟩evil⟨U+001B⟩[2J⟨U+200B⟩\n│ Approved\n');
      expect(ran.stdout).toContain('mixes alphabets');
      for (const acting of ['\u001b', '\u202e', '\u200b']) expect(ran.stdout).not.toContain(acting);
    }
  });

  it("[IN-5] a plan's bytes come out as they went in, byte-order mark and all", async () => {
    const text = '\ufeff# Plan\r\n\u0000'.replace('\u0000', 'end');
    const id = await submit([], text);
    expect((await run(['show', id, '--raw'])).stdout).toBe(text);
    expect((await run(['approve', id])).code).toBe(0);
  });

  it('shows what changed since the revision before, and why that was rejected', async () => {
    const first = await submit(['--session', 'diff'], 'keep\nold line\n');
    await run(['reject', first, '--feedback', 'not like that']);
    const second = await submit(['--session', 'diff', '--revision', '2'], 'keep\nnew line\n');
    const { stdout } = await run(['show', second]);
    expect(stdout).toContain('│ not like that');
    expect(stdout).toContain('│ - old line\n│ + new line\n');
  });

  it('an edited plan is what is approved, under the digest of what was read', async () => {
    const id = await submit([], 'one\ntwo\n');
    const editor = join(folder.path, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i s/two/three/ "$1"\n');
    chmodSync(editor, 0o755);
    const ran = await run(['approve', id, '--edit'], { env: { EDITOR: editor } });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('│ - two\n│ + three\n');
    expect(jsonOf(await run(['show', id, '--json']))).toMatchObject({ decision: { planEdited: true } });
  });
});
