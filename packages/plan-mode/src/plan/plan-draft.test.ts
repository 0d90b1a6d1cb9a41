import { type Log, PlacetError, silentLog } from '@placet/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { PlanDraft } from './plan-draft.ts';
import { faultOfPlanText, type PlanStorage, type StoredPlan, storedPlan } from './plan-storage.ts';

/** Keeps a plan in memory, as a file or a mailbox would. */
class Held implements PlanStorage {
  text = '';
  writes = 0;
  fault: PlacetError | undefined;
  readonly path = '/plans/a.md';
  readonly isPlanFile = (path: string) => path === this.path;

  load(): Promise<StoredPlan | undefined> {
    if (this.fault) return Promise.reject(this.fault);
    return Promise.resolve(this.text === '' ? undefined : storedPlan(this.text));
  }

  save(text: string): Promise<StoredPlan> {
    const plan = storedPlan(text);
    const fault = this.fault ?? faultOfPlanText(plan);
    if (fault) return Promise.reject(fault);
    this.text = text;
    this.writes += 1;
    return Promise.resolve(plan);
  }
}

let file: Held;
let storage: Held;
let warnings: object[];
const log: Log = { ...silentLog, warn: (fields) => warnings.push(fields) };

beforeEach(() => {
  [file, storage, warnings] = [new Held(), new Held(), []];
});

const open = (more: { storage?: PlanStorage } = { storage }) =>
  PlanDraft.open({ sessionId: 'session-1', file, log, ...more });

describe('the plan of a session', () => {
  it('[PM-42] is the cached one while the file has its digest', async () => {
    file.text = 'one';
    const draft = await open();
    const cached = await draft.load();
    storage.text = 'two';

    expect(await draft.load()).toBe(cached);
  });

  it('[PM-42] is the stored one before the file, which then says the same', async () => {
    [file.text, storage.text] = ['left over', 'stored'];
    const draft = await open();

    expect(await draft.load()).toEqual(storedPlan('stored'));
    expect(file.text).toBe('stored');
    expect(warnings).toEqual([expect.objectContaining({ fileDigest: storedPlan('left over').digest })]);
  });

  it('[PM-42] is the stored one where the file went away', async () => {
    const draft = await open();
    await draft.save('one');
    file.text = '';

    expect(await draft.load()).toEqual(storedPlan('one'));
    expect(file.text).toBe('one');
  });

  it.each([
    ['with a storage that has none', true],
    ['without a storage', false],
  ])('[PM-42] is the raw file, %s', async (_what, withStorage) => {
    file.text = 'one';
    const draft = await open(withStorage ? { storage } : {});

    expect(await draft.load()).toEqual(storedPlan('one'));
    expect(storage.text).toBe(withStorage ? 'one' : '');
  });

  it('[PM-42] is none where nothing is anywhere', async () => {
    expect(await (await open()).load()).toBeUndefined();
  });

  it('[PM-42, PM-45] is what the session wrote into its file, and the storage has it then', async () => {
    storage.text = 'first';
    const draft = await open();
    file.text = 'second';

    expect(await draft.load()).toEqual(storedPlan('second'));
    expect(storage.text).toBe('second');
    const { writes } = storage;
    await draft.load();
    expect(storage.writes).toBe(writes);
  });

  it.each([
    ['another text', 'two', 3],
    ['the text with a line end', 'one\n', 4],
    ['nothing', '', 0],
    ['more than any plan may have', 'x'.repeat(2_000_000), 2_000_000],
  ])('[PM-42] is not what a call carries: %s', async (_what, argument, argumentChars) => {
    file.text = 'one';
    const draft = await open();

    expect(await draft.load({ argument })).toEqual(storedPlan('one'));
    expect(warnings).toEqual([expect.objectContaining({ digest: storedPlan('one').digest, argumentChars })]);
    expect(JSON.stringify(warnings)).not.toContain('two'); // no plan text in a log
    expect([file.text, storage.text]).toEqual(['one', 'one']);
  });

  it('[PM-42] is not what a call carries where there is no plan', async () => {
    expect(await (await open()).load({ argument: 'a plan' })).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it.each([['one'], [undefined], [null], [7], [{ plan: 'two' }], [['two']]])(
    '[PM-42] gives no cause for a log line where the call carries %j',
    async (argument) => {
      file.text = 'one';

      expect(await (await open()).load({ argument })).toEqual(storedPlan('one'));
      expect(warnings).toEqual([]);
    },
  );

  it('[PM-45] is taken up on another host', async () => {
    await (await open()).save('one');
    const elsewhere = new Held();
    const draft = await PlanDraft.open({ sessionId: 'session-1', file: elsewhere, storage });

    expect(await draft.load()).toEqual(storedPlan('one'));
    expect(elsewhere.text).toBe('one');
  });

  it('[PM-43, PM-45] is the old one where the storage does not take the new one', async () => {
    const draft = await open();
    await draft.save('one');
    storage.fault = new PlacetError('store_unavailable', 'no answer');

    await expect(draft.save('two')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(file.text).toBe('one');
    storage.fault = undefined;
    storage.text = 'two'; // it was written, and only its answer was lost
    expect(await draft.load()).toEqual(storedPlan('one'));
    expect(storage.text).toBe('one');
  });

  it('[PM-43] is the old one where the new one is no plan', async () => {
    const draft = await open();
    await draft.save('one');

    await expect(draft.save('a\0b')).rejects.toMatchObject({ code: 'validation_failed' });
    expect([file.text, storage.text]).toEqual(['one', 'one']);
  });

  it('[PM-45] is none everywhere once it is cleared', async () => {
    const draft = await open();
    await draft.save('one');
    await draft.save('');

    expect(await draft.load()).toBeUndefined();
    expect([file.text, storage.text]).toEqual(['', '']);
  });

  it('[PM-42] is replaced and read in the order of the calls', async () => {
    const draft = await open();
    const loaded = [draft.save('one'), draft.load(), draft.save('two'), draft.load()];

    expect((await Promise.all(loaded)).map((plan) => plan?.text)).toEqual(['one', 'one', 'two', 'two']);
  });

  it('[PM-42] is taken from the storage where the file cannot be read', async () => {
    storage.text = 'stored';
    file.fault = new PlacetError('validation_failed', 'it is a link');
    const opening = open();
    file.fault = undefined; // the read is under way, and what is written next works
    const draft = await opening;

    expect(await draft.load()).toEqual(storedPlan('stored'));
  });

  it('[PM-42] is read anew after a read that failed', async () => {
    file.text = 'one';
    const draft = await open();
    file.fault = new PlacetError('payload_too_large', 'it is too large');
    await expect(draft.load()).rejects.toMatchObject({ code: 'payload_too_large' });
    file.fault = undefined;

    expect(await draft.load()).toEqual(storedPlan('one'));
  });
});
