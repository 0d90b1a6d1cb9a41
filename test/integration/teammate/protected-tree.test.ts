import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CommandRuntime,
  type Confinement,
  confinements,
  minimalEnvironment,
  Profiles,
  startGuarded,
} from '@placet/teammate';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis-server.ts';
import { TeammateWorld, writePlan } from '../../support/teammate-world.ts';

const environment = minimalEnvironment(process.env);
const unprotected = confinements.filter(({ protectsFolders }) => !protectsFolders);
let redis: TestRedis;
let world: TeammateWorld;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  world = await TeammateWorld.open(redis.url);
});
afterEach(() => world.close());

/** A teammate whose planning agents are held by this confinement and no stronger one. */
function teammateWith(confinement: Confinement) {
  const profiles = new Profiles(world.agents, world.folder);
  const runtime = new CommandRuntime({
    profiles,
    environment,
    confinements: { plan: confinement, implement: confinement },
  });
  return world.teammate({ runtime });
}

/** Ways to change a tree while planning, some of which try not to be seen. */
const violations = [
  ['changes a file', 'echo x >> README.md'],
  ['adds a file', 'echo x > new.txt'],
  ['adds a file that is ignored', 'mkdir -p ignored; echo x > ignored/new.txt'],
  ['removes a file', 'rm README.md'],
  ['changes a mode', 'chmod +x README.md'],
  ['commits', 'git -c user.name=x -c user.email=x@x commit --quiet --allow-empty -m x'],
  ['hides a change in the index', 'git update-index --assume-unchanged README.md; echo x >> README.md'],
  ['stages and restores', 'echo x >> README.md; git add README.md; git show HEAD:README.md > README.md'],
  [
    'keeps the time of what it changes',
    'touch -r README.md /tmp/ref$$; printf "READ me\\n" > README.md; touch -r /tmp/ref$$ README.md',
  ],
  [
    'has Git exclude what it adds',
    'echo new.txt >> "$(git rev-parse --git-common-dir)/info/exclude"; echo x > new.txt',
  ],
  [
    'leaves a hook',
    'd="$(git rev-parse --git-common-dir)/hooks"; mkdir -p "$d"; echo "touch /tmp/x" > "$d/pre-commit"; chmod +x "$d/pre-commit"',
  ],
  ['configures Git', 'git config core.fsmonitor "touch /tmp/x"'],
  ['moves the tree away', 'mv .git .got'],
] as const;

describe('the tree of a planning agent', () => {
  it.each(violations)(
    '[TM-22, I1] is thrown away, and nothing submitted, when the agent %s',
    async (_what, script) => {
      const [confinement] = unprotected;
      if (!confinement) throw new Error('there is no confinement to try');
      world.agent('codemod', { plan: `${writePlan}; ${script}` });
      await teammateWith(confinement);
      const sessionId = await world.task();

      expect(await world.untilPhase(sessionId, 'failed')).toMatchObject({
        reason: 'plan_mode_violation',
        revision: 0,
      });
      expect(await world.alarms()).toContain('plan_mode_violation');
      expect(await world.git('worktree', 'list').then((list) => list.split('\n'))).toHaveLength(1);
      expect(await world.lead.mailbox.inboxes.read(world.team, 'team-lead', { limit: 10 })).toEqual([]);
    },
  );

  it('[TM-22] is not taken for changed when the agent only reads', async () => {
    const [confinement] = unprotected;
    if (!confinement) throw new Error('there is no confinement to try');
    world.agent('codemod', {
      plan: `${writePlan}; git status; git diff; git log; find . > /dev/null; touch -a README.md`,
    });
    await teammateWith(confinement);

    expect(await world.untilPlanned(await world.task())).toMatchObject({ state: 'pending' });
  });

  it('[TM-22] and the source are read-only where the system can do that, and the plan file is not', async () => {
    const source = join(world.repository, 'README.md');
    world.agent('codemod', {
      plan: `echo x >> README.md || true; echo x > new.txt || true; echo x >> "${source}" || true; echo x > "${world.dataDir}/journal.ndjson" || true; ${writePlan}; echo note > "$(dirname "$PLACET_TASK_FILE")/note"`,
    });
    await world.teammate();
    await world.untilPlanned(await world.task());

    expect(await readFile(source, 'utf8')).toBe('read me\n');
    expect(await readFile(join(world.dataDir, 'journal.ndjson'), 'utf8')).toContain('"intent"');
    expect(world.logged.map(({ message }) => message)).toContain(
      'agents plan on a tree that is read-only for them',
    );
  });
});

describe('what holds a process', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'placet-held-'));
    await writeFile(join(folder, 'file'), 'as it was');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function run(confinement: Confinement, script: string, readOnly = [folder], writable: string[] = []) {
    const guarded = await startGuarded({
      command: ['sh', '-c', script],
      cwd: folder,
      environment,
      confinement,
      readOnly,
      writable,
    }).catch(() => undefined);
    if (!guarded) return undefined; // not on this system
    let said = '';
    for (const stream of guarded.output) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    guarded.go();
    return { code: await guarded.ended, said };
  }

  it.for(confinements.filter(({ protectsFolders }) => protectsFolders))(
    '[TM-22] by $name cannot be undone from within',
    async (confinement, { skip }) => {
      const ran = await run(
        confinement,
        `for try in "echo x > file" "mount -o remount,bind,rw ${folder}" "umount ${folder}" "mount --bind /tmp ${folder}" "echo x > /proc/1/root${folder}/file" "unshare -m umount ${folder}" "unshare -Urm mount -o remount,bind,rw ${folder}"; do sh -c "$try" 2>/dev/null; sh -c "echo x > file" 2>/dev/null; done; true`,
      );
      if (!ran) return skip('not on this system');

      expect(await readFile(join(folder, 'file'), 'utf8')).toBe('as it was');
    },
  );

  it.for(confinements.filter(({ protectsFolders }) => protectsFolders))(
    '[TM-22, I1] by $name cannot be put aside with a folder above, for another in its place',
    async (confinement, { skip }) => {
      const outer = join(folder, 'outer');
      const inner = join(outer, 'middle', 'inner');
      await mkdir(inner, { recursive: true });
      await writeFile(join(inner, 'file'), 'as it was');
      const ran = await run(
        confinement,
        `for above in "${join(outer, 'middle')}" "${outer}"; do mv "$above" "$above.gone"; done; mkdir -p "${inner}"; echo x > "${inner}/file"; echo new > "${outer}/beside"`,
        [inner],
      );
      if (!ran) return skip('not on this system');

      expect(await readFile(join(inner, 'file'), 'utf8')).toBe('as it was');
      expect(await readFile(join(outer, 'beside'), 'utf8')).toBe('new\n');
    },
  );

  it.for(confinements)(
    '[TM-22] $name says the mode that is really in the environment, and how it ended',
    async (confinement, { skip }) => {
      const options = {
        command: ['sh', '-c', 'exit 7'],
        cwd: folder,
        confinement,
        readOnly: [],
        writable: [],
      };
      const guarded = await startGuarded({
        ...options,
        environment: { ...environment, PLACET_PERMISSION_MODE: 'auto' },
      }).catch(() => undefined);
      if (!guarded) return skip('not on this system');
      for (const stream of guarded.output) stream.resume();
      expect(guarded.mode).toBe('auto');
      guarded.go();

      expect(await guarded.ended).toBe(7);
    },
  );

  it.for(confinements)(
    '[TM-16] $name does nothing before it is told to, and leaves nothing of its group',
    async (confinement, { skip }) => {
      const mark = join(folder, 'mark');
      const options = { cwd: folder, environment, confinement, readOnly: [], writable: [] };
      const waiting = await startGuarded({ ...options, command: ['sh', '-c', `echo x > ${mark}`] }).catch(
        () => undefined,
      );
      if (!waiting) return skip('not on this system');
      waiting.kill();
      await waiting.ended;
      await expect(readFile(mark)).rejects.toMatchObject({ code: 'ENOENT' });

      const busy = await startGuarded({
        ...options,
        command: ['sh', '-c', `(sleep 50; echo x > ${mark}) & echo $!; sleep 50`],
      });
      const heard = new Promise((resolve) => busy.output[0]?.once('data', resolve));
      busy.output[1]?.resume();
      busy.go();
      await heard;
      busy.kill();
      expect(await busy.ended).toBe(137);
      await eventually(async () => !(await isRunning(mark)), { what: 'nothing left of the group' });
    },
  );

  it('[TM-22] binds a folder that can be written inside of one that cannot', async () => {
    const inner = await mkdtemp(join(folder, 'inner-'));
    for (const confinement of confinements.filter(({ protectsFolders }) => protectsFolders)) {
      const ran = await run(confinement, `echo in > ${inner}/file; ! echo x > file`, [folder], [inner]);
      if (ran) expect(ran).toMatchObject({ code: 0 });
    }
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('as it was');
    await symlink(folder, join(folder, 'link')); // a link in the way changes nothing
  });
});

async function isRunning(mark: string): Promise<boolean> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    execFile('pgrep', ['-f', `echo x > ${mark}`], (error) => resolve(!error));
  });
}
