import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePlanDirectory } from '@placet/plan-mode';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
let project: string;
let outside: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'placet-directory-')));
  [project, outside] = [join(root, 'project'), join(root, 'outside')];
  await Promise.all([mkdir(project), mkdir(outside)]);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function resolved(plansDirectory: string | undefined) {
  const refusals: string[] = [];
  const directory = await resolvePlanDirectory({
    projectRoot: project,
    plansDirectory,
    defaultDirectory: join(root, 'default'),
    onRefused: (detail) => refusals.push(detail),
  });
  return { directory, refusals };
}

describe('the plan directory', () => {
  it('[PM-41] is the default one where none is configured', async () => {
    expect(await resolved(undefined)).toEqual({ directory: join(root, 'default'), refusals: [] });
  });

  it.each(['plans', 'a/b/c', './plans/', 'a/../plans', '..plans', '.'])(
    '[PM-41] is %j inside the project',
    async (configured) => {
      const { directory, refusals } = await resolved(configured);

      expect(directory).toBe(join(project, configured).replace(/\/$/, ''));
      expect(refusals).toEqual([]);
    },
  );

  it('[PM-41] may be a link that stays inside', async () => {
    await mkdir(join(project, 'docs'));
    await symlink(join(project, 'docs'), join(project, 'link'));

    expect(await resolved('link/plans')).toEqual({ directory: join(project, 'docs', 'plans'), refusals: [] });
  });

  it.each([
    ['up', '..'],
    ['a sibling', '../outside'],
    ['up through a folder', 'a/../../outside'],
    ['a sibling with the same start', '../project-2'],
    ['a link', 'link'],
    ['below a link', 'link/plans'],
    ['a dangling link', 'dangling/plans'],
    ['below a file', 'file/plans'],
    ['a file', 'file'],
    ['a NUL character', 'a\0b'],
  ])(
    '[PM-41] is the default one, with one error, for %s, and nothing is written outside',
    async (_what, configured) => {
      await symlink(outside, join(project, 'link'));
      await symlink(join(outside, 'nothing'), join(project, 'dangling'));
      await writeFile(join(project, 'file'), '');

      const { directory, refusals } = await resolved(configured);

      expect(directory).toBe(join(root, 'default'));
      expect(refusals).toHaveLength(1);
      expect(await readdir(outside)).toEqual([]);
      expect((await readdir(root)).toSorted()).toEqual(['outside', 'project']);
    },
  );

  it('[PM-41] is made in no folder outside, however often one on the way is swapped for a link meanwhile', async () => {
    const way = join(project, 'a');
    await mkdir(way);
    let isOver = false;
    const swapping = (async () => {
      const ignore = () => undefined; // the folder may be made anew just then
      for (let swap = 0; !isOver; swap += 1) {
        await rename(way, join(project, `old-${swap}`)).catch(ignore);
        await symlink(outside, way).catch(ignore);
        await rm(way, { force: true }).catch(ignore);
      }
    })();
    for (let time = 0; time < 300; time += 1) await resolved(`a/${time}/plans`);
    isOver = true;
    await swapping;

    expect(await readdir(outside)).toEqual([]);
  });

  it('[PM-41] is never an absolute path', async () => {
    expect((await resolved(join(project, 'plans'))).directory).toBe(join(root, 'default'));
  });

  it('[PM-41] is the default one where the project is missing', async () => {
    await rm(project, { recursive: true });

    expect((await resolved('plans')).refusals).toHaveLength(1);
  });
});
