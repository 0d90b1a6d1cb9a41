import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOfText, workspaceDigest } from '@placet/protocol';
import { type Intent, Journal } from '@placet/teammate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
let path: string;
const opened: Journal[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placet-journal-'));
  path = join(folder, 'own', 'journal.ndjson');
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((journal) => journal.close()));
  await rm(folder, { recursive: true, force: true });
});

async function openJournal(): Promise<Journal> {
  const journal = new Journal(path);
  opened.push(journal);
  await journal.open();
  return journal;
}

function intent(requestId: string, more: Partial<Intent> = {}): Omit<Intent, 'kind'> {
  const workspace = { cwd: '/räumlich 😀' };
  const plan = {
    planDigest: digestOfText(requestId),
    revision: 1,
    workspace,
    workspaceDigest: workspaceDigest(workspace),
  };
  const { kind: _kind, ...rest } = { kind: 'intent', sessionId: 's', requestId, ...plan, ...more };
  return rest;
}

describe("a teammate's journal", () => {
  it('[TM-17] keeps the last intent, and voids earlier ones only once the store has it', async () => {
    const journal = await openJournal();
    await journal.submitting(intent('r1'));
    expect(await journal.lastIntent('s')).toBeUndefined();
    await journal.submitted('s', 'r1');
    await journal.submitting(intent('r2', { revision: 2 }));

    expect(await journal.lastIntent('s')).toBe('r1');
    expect((await journal.begunIntent('s'))?.requestId).toBe('r2');
    await journal.submitted('s', 'r2');
    expect(await journal.acknowledgedIntent('s')).toMatchObject({ requestId: 'r2', revision: 2 });
    expect(await journal.lastIntent('another')).toBeUndefined();
  });

  it('[TM-17] keeps under which decisions work was begun, in which epoch, and which are settled', async () => {
    const journal = await openJournal();
    expect(await journal.usedAs('j')).toBe('unseen');
    await journal.applying({ requestId: 'r1', jti: 'j', epoch: 3 });
    await journal.applying({ requestId: 'r1', jti: 'j', epoch: 2 });
    expect(await journal.usedAs('j')).toBe('applied');
    expect(await journal.appliedEpoch('j')).toBe(3);
    await journal.settled('j');
    await journal.applying({ requestId: 'r1', jti: 'j', epoch: 4 });

    expect(await journal.usedAs('j')).toBe('settled');
  });

  it('[TM-17] says the same after it was opened again', async () => {
    const journal = await openJournal();
    await journal.submitting(intent('r1'));
    await journal.submitted('s', 'r1');
    await journal.settling({ requestId: 'r1', epoch: 2, branch: 'placet/a', commit: 'c' });
    await journal.close();
    const again = await openJournal();

    expect(await again.acknowledgedIntent('s')).toEqual({ kind: 'intent', ...intent('r1') });
    expect(await again.made('r1')).toMatchObject({ epoch: 2, branch: 'placet/a' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('[TM-17] skips a line that a crash cut off, and loses nothing that comes after it', async () => {
    const journal = await openJournal();
    await journal.submitting(intent('r1'));
    await journal.submitted('s', 'r1');
    await appendFile(path, '\n{"kind":"submitted","sessionId":"s","requ');
    await journal.submitting(intent('r2'));
    await journal.submitted('s', 'r2');

    expect(await journal.lastIntent('s')).toBe('r2');
    expect(await (await openJournal()).lastIntent('s')).toBe('r2');
  });

  it('[TM-17] is shared by processes: each knows at once what the others wrote', async () => {
    const [one, two] = [await openJournal(), await openJournal()];
    await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const journal = at % 2 === 0 ? one : two;
        await journal.submitting(intent(`r-${at}`, { sessionId: `s-${at}` }));
        await journal.submitted(`s-${at}`, `r-${at}`);
      }),
    );

    for (let at = 0; at < 200; at += 1) {
      expect(await one.lastIntent(`s-${at}`)).toBe(`r-${at}`);
      expect(await two.lastIntent(`s-${at}`)).toBe(`r-${at}`);
    }
    const lines = (await readFile(path, 'utf8')).split('\n').filter(Boolean);
    expect(lines.every((line) => typeof JSON.parse(line) === 'object')).toBe(true);
  });

  it('[TM-17] takes no entry that is not of its shape', async () => {
    const journal = await openJournal();
    await appendFile(path, '\n{"kind":"applied","jti":"j"}\n[]\nnull\n{"kind":"other"}\n');

    expect(await journal.usedAs('j')).toBe('unseen');
  });
});
