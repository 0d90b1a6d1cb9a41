import { execFileSync } from 'node:child_process';
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldFolder, PlanFile, replaceFile } from '@placet/plan-mode';
import { isPlacetError, maxPlanBytes } from '@placet/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
let project: string;
let outside: string;
let plans: string;
let servers: Server[] = [];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'placet-hostile-')));
  [project, outside] = [join(root, 'project'), join(root, 'outside')];
  plans = join(project, 'plans');
  await Promise.all([mkdir(plans, { recursive: true }), mkdir(outside)]);
  await writeFile(join(outside, 'a.md'), 'kept');
});
afterEach(async () => {
  for (const server of servers) server.close();
  servers = [];
  await rm(root, { recursive: true, force: true });
});

const planFile = () => new PlanFile(join(plans, 'a.md'), project);

/** What is outside the project, with what it says. */
async function outsideNow() {
  const names = await readdir(outside);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(outside, name), 'utf8')])),
  );
}

/** Each puts something into the place of the plan. */
const thingsInPlace: [what: string, put: (place: string) => Promise<unknown>][] = [
  ['a folder', (place) => mkdir(join(place, 'x'), { recursive: true })],
  ['a link to a file outside', (place) => symlink(join(outside, 'a.md'), place)],
  [
    'a link to a link outside',
    (place) => symlink(join(outside, 'a.md'), `${place}.link`).then(() => symlink(`${place}.link`, place)),
  ],
  ['a relative link', (place) => symlink('../../outside/a.md', place)],
  ['a link to nothing outside', (place) => symlink(join(outside, 'new.md'), place)],
  ['a loop of links', (place) => symlink('b.md', place).then(() => symlink('a.md', join(plans, 'b.md')))],
  ['a link to itself', (place) => symlink(place, place)],
  ['a link to a device', (place) => symlink('/dev/zero', place)],
  ['a pipe', async (place) => execFileSync('mkfifo', [place])],
  [
    'a socket',
    async (place) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(place, resolve));
      servers.push(server);
    },
  ],
];

describe("what stands in a plan's place", () => {
  it.each(thingsInPlace)(
    '[PM-26, PM-42] is not read, and no own plan file, where it is %s',
    async (_what, put) => {
      await put(join(plans, 'a.md'));
      const file = planFile();

      expect(file.isPlanFile(file.path)).toBe(false);
      await expect(file.load()).rejects.toMatchObject({ code: 'validation_failed' });
      expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
    },
  );

  it.each(thingsInPlace)('[PM-43] is replaced and not written through where it is %s', async (what, put) => {
    await put(join(plans, 'a.md'));
    const file = planFile();

    if (what === 'a folder')
      await expect(file.save('plan')).rejects.toMatchObject({ code: 'validation_failed' });
    else expect((await file.save('plan')) && (await readFile(file.path, 'utf8'))).toBe('plan');
    expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
    expect((await readdir(plans)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('[PM-26] is no own plan file where it has another name elsewhere', async () => {
    await link(join(outside, 'a.md'), join(plans, 'a.md'));
    const file = planFile();
    expect(file.isPlanFile(file.path)).toBe(false);

    await file.save('plan');

    expect(file.isPlanFile(file.path)).toBe(true);
    expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
  });
});

describe('a folder that is swapped for a link after the plan was placed', () => {
  /** Each puts a link on the way to the plan. */
  const swaps: [what: string, swap: () => Promise<void>][] = [
    ['the folder', () => rename(plans, `${plans}-old`).then(() => symlink(outside, plans))],
    ['a relative link', () => rename(plans, `${plans}-old`).then(() => symlink('../outside', plans))],
    [
      'a link to a link',
      async () => {
        await rename(plans, `${plans}-old`);
        await symlink(outside, join(root, 'hop'));
        await symlink(join(root, 'hop'), plans);
      },
    ],
    ['a loop', () => rename(plans, `${plans}-old`).then(() => symlink(plans, plans))],
    ['a file', () => rename(plans, `${plans}-old`).then(() => writeFile(plans, ''))],
  ];

  it.each(swaps)(
    '[PM-26, PM-41] is neither read, written, nor taken for the own one: %s',
    async (_what, swap) => {
      const file = planFile();
      await file.save('plan');
      await swap();

      expect(file.isPlanFile(file.path)).toBe(false);
      expect(file.isPlanFile(join(outside, 'a.md'))).toBe(false);
      for (const step of [() => file.load(), () => file.save('other'), () => file.clear()])
        await expect(step()).rejects.toMatchObject({ code: 'validation_failed' });
      expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
    },
  );

  it('[PM-41, PM-43] never leads a write outside, however often it is swapped meanwhile', async () => {
    const file = planFile();
    let isOver = false;
    const swapping = (async () => {
      // A write may make the folder anew where it is missing just then: this is tried again.
      const ignore = () => undefined;
      for (let swap = 0; !isOver; swap += 1) {
        await rename(plans, `${plans}-${swap}`).catch(ignore);
        await symlink(outside, plans).catch(ignore);
        await rm(plans, { recursive: true, force: true }).catch(ignore);
        await rename(`${plans}-${swap}`, plans).catch(ignore);
      }
    })();
    const codes = new Set<string>();
    for (let write = 0; write < 300; write += 1)
      await file.save(`plan ${write}`).catch((thrown: unknown) => {
        if (!isPlacetError(thrown)) throw thrown;
        codes.add(thrown.code);
      });
    isOver = true;
    await swapping;

    expect([...codes].filter((code) => code !== 'validation_failed')).toEqual([]);
    expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
  });
});

describe('a folder that is held', () => {
  it.each([
    ['where the system shows open files', undefined],
    ['where it does not', '/nowhere'],
  ])('[PM-41] is not another one when its name is: %s', async (_what, anchors) => {
    const folder = await HeldFolder.hold(plans, anchors);
    await writeFile(await folder.wayTo('b.md'), 'inside');
    await rename(plans, `${plans}-old`);
    await symlink(outside, plans);

    await folder.wayTo('c.md').then(
      (way) => writeFile(way, 'inside too'),
      (thrown: unknown) => expect(thrown).toMatchObject({ code: 'ELOOP' }),
    );
    await folder.close();
    expect(await readFile(join(`${plans}-old`, 'b.md'), 'utf8')).toBe('inside');
    expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
  });

  it.each([undefined, '/nowhere'])(
    '[PM-41] is reached and made without following a link (%s)',
    async (anchors) => {
      await symlink(outside, join(project, 'link'));
      const inside = await HeldFolder.holdInside(project, join(project, 'x', 'y'), { make: true, anchors });
      await inside.close();

      expect(await readdir(join(project, 'x'))).toEqual(['y']);
      for (const name of ['link', 'link/y'])
        await expect(
          HeldFolder.holdInside(project, join(project, name), { make: true, anchors }),
        ).rejects.toMatchObject({ code: expect.stringMatching(/^(?:ELOOP|ENOTDIR)$/) });
      expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
    },
  );
});

describe('a path to a plan', () => {
  it.each([
    ['relative', 'plans/a.md'],
    ['empty', ''],
    ['with NUL', '/plans/a\0.md'],
  ])('[PM-41] is refused: %s', (_what, path) => {
    expect(() => new PlanFile(path)).toThrowError(expect.objectContaining({ code: 'validation_failed' }));
  });

  it.each(['../outside/a.md', 'plans/../../outside/a.md', '../project-2/a.md', '..'])(
    '[PM-41] is refused outside its boundary: %s',
    (way) => {
      expect(() => new PlanFile(join(project, way), project)).toThrowError(
        expect.objectContaining({ code: 'validation_failed' }),
      );
    },
  );

  it.each([
    ['a name of 255 bytes', `${'x'.repeat(252)}.md`, undefined],
    ['a name that is too long', `${'x'.repeat(253)}.md`, 'validation_failed'],
    ['a name that is too long in bytes', `${'ä'.repeat(130)}.md`, 'validation_failed'],
    ['a path that is too long', `${'x/'.repeat(5000)}a.md`, 'validation_failed'],
    ['a name that ends in a dot', 'a.md.', undefined],
    ['a name that ends in a blank', 'a.md ', undefined],
    ['a name of line ends', '\n\r.md', undefined],
    ['a name in composed form', 'é.md', undefined],
  ])('[PM-43] holds a plan or is refused, and leaves nothing beside it: %s', async (_what, name, code) => {
    const file = new PlanFile(join(plans, name), name.includes('/') ? undefined : project);

    if (code) await expect(file.save('plan')).rejects.toMatchObject({ code });
    else expect((await file.save('plan')) && (await file.load())?.text).toBe('plan');
    expect((await readdir(plans)).filter((entry) => entry.endsWith('.tmp'))).toEqual([]);
    if (!code) expect(file.isPlanFile(file.path)).toBe(true);
  });

  it('[PM-26] is another one in another case, another form of letters, or with something after it', async () => {
    const file = new PlanFile(join(plans, 'é.md'));
    await file.save('plan');
    const { path } = file;

    for (const other of [
      path.toUpperCase(),
      join(plans, 'É.md'),
      path.normalize('NFD'),
      `${path}.`,
      `${path} `,
      `${path}/`,
      `${path}/.`,
      `${path}/..`,
      `${path}\0`,
      `${path}\u200b`,
      ` ${path}`,
      'é.md',
      `./${path}`,
      `file://${path}`,
      '',
      '.',
      '/',
    ])
      expect(file.isPlanFile(other), JSON.stringify(other)).toBe(false);
  });

  it('[PM-26] is another one where ".." after a link leads elsewhere than it reads', async () => {
    const file = planFile();
    await file.save('plan');
    await mkdir(join(outside, 'deep', 'plans'), { recursive: true });
    await symlink(join(outside, 'deep', 'x'), join(project, 'x'));
    await mkdir(join(outside, 'deep', 'x'));
    await symlink(plans, join(outside, 'way'));

    // It reads as the plan, and the system takes it to outside/deep/plans/a.md.
    expect(file.isPlanFile(`${project}/x/../plans/a.md`)).toBe(false);
    // The system takes it to the plan, and it reads as another file.
    expect(file.isPlanFile(`${outside}/way/../plans/a.md`)).toBe(false);
  });

  it('[PM-26] of a relative call is none, wherever this process stands', async () => {
    const here = process.cwd();
    const file = planFile();
    await file.save('plan');
    try {
      process.chdir(plans);
      expect(file.isPlanFile('a.md')).toBe(false);
    } finally {
      process.chdir(here);
    }
  });

  it('[PM-26, PM-41, PM-43] whatever it is, ends in a plan or in a documented error, and nothing is outside', async () => {
    await symlink(outside, join(project, 'link'));
    await symlink(join(project, 'link'), join(project, 'link2'));
    await symlink('loop', join(project, 'loop'));
    const part = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        'plans',
        'link',
        'link2',
        'loop',
        'a.md',
        'A.MD',
        'é.md',
        'e\u0301.md',
        '~',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('x'.repeat(256), ' ', '...', 'a.md ', 'a\0b', '\ud800'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
        const path = `${project}/${parts.join('/')}`;
        try {
          const file = new PlanFile(path, project);
          file.isPlanFile(path);
          await file.load();
          await file.save('plan');
          expect((await file.load())?.text).toBe('plan');
          expect(await readFile(await realpath(file.path), 'utf8')).toBe('plan');
        } catch (thrown) {
          if (!isPlacetError(thrown, 'validation_failed', 'payload_too_large')) throw thrown;
        }
        expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
        expect((await readdir(root)).toSorted()).toEqual(['outside', 'project']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('many at once', () => {
  it('[PM-43] leave one whole plan, and nothing beside it', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => String(at).repeat(50_000));
    await Promise.all(texts.map((text) => planFile().save(text)));

    expect(texts).toContain((await planFile().load())?.text);
    expect(await readdir(plans)).toEqual(['a.md']);
  });

  it('[PM-43] never show a reader half a plan', async () => {
    const file = planFile();
    const [one, two] = ['1'.repeat(maxPlanBytes), '2'.repeat(maxPlanBytes)];
    await file.save(one);
    const writing = (async () => {
      for (let write = 0; write < 10; write += 1) await file.save(write % 2 ? one : two);
    })();
    for (let read = 0; read < 20; read += 1) expect([one, two]).toContain((await file.load())?.text);
    await writing;
  });

  it('replace a file at any path as they replace a plan', async () => {
    await symlink(join(outside, 'a.md'), join(plans, 'b.md'));
    await replaceFile(join(plans, 'b.md'), 'new');

    expect(await readFile(join(plans, 'b.md'), 'utf8')).toBe('new');
    expect(await outsideNow()).toEqual({ 'a.md': 'kept' });
  });
});
