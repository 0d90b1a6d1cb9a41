import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePlanPlace, PlanDraft, PlanPlace, planFileAt, slugOf, storedPlan } from '@placet/plan-mode';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
let project: string;
let refusals: string[];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'placet-place-')));
  project = join(root, 'project');
  await Promise.all([mkdir(project), mkdir(join(root, 'outside'))]);
  refusals = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

const choose = (more: { plansDirectory?: string; sessionId?: string; defaultDirectory?: string } = {}) =>
  choosePlanPlace({
    sessionId: 'session-1',
    projectRoot: project,
    defaultDirectory: join(root, 'default'),
    onRefused: (detail) => refusals.push(detail),
    ...more,
  });

describe("the place of a session's plans", () => {
  it('[PM-40, PM-41] is in the configured directory, under a slug of its own', async () => {
    const place = await choose({ plansDirectory: 'plans' });

    expect(place).toEqual({
      directory: join(project, 'plans'),
      boundary: project,
      slug: slugOf('session-1'),
    });
    expect(PlanPlace.parse(JSON.parse(JSON.stringify(place)))).toEqual(place);
    expect(await readdir(place.directory)).toEqual([`${place.slug}.md`]);
    expect(await planFileAt(place).load()).toBeUndefined();
    expect(refusals).toEqual([]);
  });

  it('[PM-41] is in the default directory where none is configured, links on the way to it included', async () => {
    await symlink(join(root, 'outside'), join(root, 'data'));
    const place = await choose({ defaultDirectory: join(root, 'data', 'plans') });
    await planFileAt(place).save('plan');

    expect(await readFile(join(root, 'outside', 'plans', `${place.slug}.md`), 'utf8')).toBe('plan');
  });

  it('[PM-40] is never the same for two sessions, also where they choose at once', async () => {
    const places = await Promise.all(Array.from({ length: 20 }, () => choose({ plansDirectory: 'plans' })));

    expect(new Set(places.map(({ slug }) => slug)).size).toBe(20);
  });

  it('[PM-40] is not where a link has the name', async () => {
    await mkdir(join(project, 'plans'));
    await symlink(join(root, 'outside', 'a.md'), join(project, 'plans', `${slugOf('session-1')}.md`));

    expect((await choose({ plansDirectory: 'plans' })).slug).toBe(slugOf('session-1', 1));
    expect(await readdir(join(root, 'outside'))).toEqual([]);
  });

  it('[PM-40] gives each agent a file of its own', async () => {
    const place = await choose();
    const ids = [undefined, 'a', 'A', '../a', 'a/b', '\ud800', '\ud801', '', '..'];
    await Promise.all(ids.map((id, at) => planFileAt(place, id).save(`plan ${at}`)));

    const loaded = await Promise.all(ids.map((id) => planFileAt(place, id).load()));
    expect(loaded.map((plan) => plan?.text)).toEqual(ids.map((_, at) => `plan ${at}`));
    expect(await readdir(place.directory)).toHaveLength(ids.length);
  });

  it('[PM-41] is in the default directory, with one error, where the configured one is full of plans', async () => {
    await mkdir(join(project, 'plans'));
    for (let attempt = 0; attempt < 100; attempt += 1)
      await writeFile(join(project, 'plans', `${slugOf('session-1', attempt)}.md`), '');

    expect((await choose({ plansDirectory: 'plans' })).directory).toBe(join(root, 'default'));
    expect(refusals).toEqual([expect.stringContaining('too many plans')]);
  });

  it('[PM-41] is told to be a fault of the configuration where there is none', async () => {
    await writeFile(join(root, 'file'), '');

    await expect(choose({ defaultDirectory: join(root, 'file', 'plans') })).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });

  it('[PM-41] stays inside the project when its record is followed after a restart', async () => {
    const place = await choose({ plansDirectory: 'plans' });
    await planFileAt(place).save('plan');
    await rm(place.directory, { recursive: true });
    await symlink(join(root, 'outside'), place.directory);

    await expect(planFileAt(place).save('other')).rejects.toMatchObject({ code: 'validation_failed' });
    expect(() => planFileAt({ ...place, directory: join(root, 'outside') })).toThrowError(
      expect.objectContaining({ code: 'validation_failed' }),
    );
    expect(await readdir(join(root, 'outside'))).toEqual([]);
  });

  it('[PM-41] is inside the project or the default one, whatever is configured, and nothing is outside', async () => {
    await symlink(join(root, 'outside'), join(project, 'link'));
    await symlink('link', join(project, 'link2'));
    await symlink('loop', join(project, 'loop'));
    await writeFile(join(project, 'file'), '');
    await mkdir(join(project, 'locked'));
    await chmod(join(project, 'locked'), 0o500);
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        'plans',
        'Plans',
        'link',
        'link2',
        'loop',
        'file',
        'locked',
        '~',
        'é',
        'e\u0301',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('x'.repeat(256), ' ', '...', 'a\0b', '\ud800', 'C:\\', '%2e%2e'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
        refusals = [];
        const { directory, boundary } = await choose({ plansDirectory: parts.join('/') });
        const isDefault = directory === join(root, 'default');

        expect(boundary).toBe(isDefault ? directory : project);
        expect(directory === project || directory.startsWith(isDefault ? root : `${project}/`)).toBe(true);
        expect(refusals).toHaveLength(isDefault ? 1 : 0);
        expect(await readdir(join(root, 'outside'))).toEqual([]);
        // Each run takes names of the same session.
        await rm(join(root, 'default'), { recursive: true, force: true });
        expect((await readdir(root)).toSorted()).toEqual(['outside', 'project']);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the plan of a session on disk', () => {
  it('[PM-42, PM-45] is what the model wrote, and goes along to another host', async () => {
    const place = await choose({ plansDirectory: 'plans' });
    const storage = planFileAt(await choose({ defaultDirectory: join(root, 'mailbox') }));
    const here = await PlanDraft.open({ sessionId: 'session-1', file: planFileAt(place), storage });
    await writeFile(here.path, 'written by the model');

    expect(here.isPlanFile(here.path)).toBe(true);
    expect(await here.load({ argument: 'said by the model' })).toEqual(storedPlan('written by the model'));

    const elsewhere = planFileAt(await choose({ defaultDirectory: join(root, 'elsewhere') }));
    const there = await PlanDraft.open({ sessionId: 'session-1', file: elsewhere, storage });
    expect(await there.load()).toEqual(storedPlan('written by the model'));
    expect(await readFile(elsewhere.path, 'utf8')).toBe('written by the model');
  });

  it('[PM-42] is taken up from the storage where a link came into its place, and is then a file again', async () => {
    const place = await choose();
    const storage = planFileAt(await choose({ defaultDirectory: join(root, 'mailbox') }));
    await storage.save('stored');
    await writeFile(join(root, 'outside', 'secret'), 'secret');
    const file = planFileAt(place);
    await rm(file.path);
    await symlink(join(root, 'outside', 'secret'), file.path);

    const draft = await PlanDraft.open({ sessionId: 'session-1', file, storage });
    expect(await draft.load()).toEqual(storedPlan('stored'));
    expect(await readFile(join(root, 'outside', 'secret'), 'utf8')).toBe('secret');
  });

  it('[PM-42] is not read through a link that comes into its place later', async () => {
    const draft = await PlanDraft.open({ sessionId: 'session-1', file: planFileAt(await choose()) });
    await draft.save('plan');
    await writeFile(join(root, 'outside', 'secret'), 'secret');
    await rm(draft.path);
    await symlink(join(root, 'outside', 'secret'), draft.path);

    await expect(draft.load()).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
