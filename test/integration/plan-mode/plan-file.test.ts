import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlanFile, storedPlan } from '@placet/plan-mode';
import { maxPlanBytes } from '@placet/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'placet-plan-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('the plan file', () => {
  it('[PM-43] is written whole, private, and leaves nothing beside it', async () => {
    const file = new PlanFile(join(root, 'plans', 'a.md'));
    await file.save('one');
    await file.save('two');

    expect(await readdir(join(root, 'plans'))).toEqual(['a.md']);
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, 'plans'))).mode & 0o777).toBe(0o700);
  });

  it('[PM-43] is replaced, not written into: a reader who has it open keeps the old plan', async () => {
    const file = new PlanFile(join(root, 'a.md'));
    await file.save('one');
    const before = (await stat(file.path)).ino;
    await file.save('two');

    expect((await stat(file.path)).ino).not.toBe(before);
  });

  it.each([
    ['beyond 1 MiB', 'x'.repeat(maxPlanBytes + 1), 'payload_too_large'],
    ['beyond 1 MiB in bytes only', 'ä'.repeat(maxPlanBytes / 2 + 1), 'payload_too_large'],
    ['with a NUL character', 'a\0b', 'validation_failed'],
    ['with a lone surrogate', 'a\ud800', 'validation_failed'],
  ])('[PM-43] refuses a plan %s and keeps the old one', async (_what, text, code) => {
    const file = new PlanFile(join(root, 'a.md'));
    await file.save('the old plan');

    await expect(file.save(text)).rejects.toMatchObject({ code });
    expect(await readFile(file.path, 'utf8')).toBe('the old plan');
    expect(await readdir(root)).toEqual(['a.md']);
  });

  it('[PM-43] may have exactly 1 MiB', async () => {
    const file = new PlanFile(join(root, 'a.md'));

    expect((await file.save('x'.repeat(maxPlanBytes))).bytes).toHaveLength(maxPlanBytes);
    expect((await file.load())?.bytes).toHaveLength(maxPlanBytes);
  });

  it('[PM-44] comes back byte for byte with the digest of its bytes', async () => {
    const file = new PlanFile(join(root, 'a.md'));
    const text = '\ufeffa\r\ne\u0301\n\n';
    await file.save(text);

    expect(await file.load()).toEqual(storedPlan(text));
    expect(new Uint8Array(await readFile(file.path))).toEqual(storedPlan(text).bytes);
  });

  it('[PM-42] is no plan where it is missing or empty', async () => {
    const file = new PlanFile(join(root, 'a.md'));
    expect(await file.load()).toBeUndefined();
    await writeFile(file.path, '');
    expect(await file.load()).toBeUndefined();
  });

  it('[PM-42] is cleared to no plan, whatever was in its place', async () => {
    const file = new PlanFile(join(root, 'a.md'));
    await writeFile(join(root, 'elsewhere'), 'kept');
    await symlink(join(root, 'elsewhere'), file.path);
    await file.clear();

    expect(await file.load()).toBeUndefined();
    expect(await readFile(join(root, 'elsewhere'), 'utf8')).toBe('kept');
  });

  it('[PM-42] is not read through a link, from a pipe, as bytes that are no text, or beyond 1 MiB', async () => {
    await writeFile(join(root, 'secret'), 'secret');
    await symlink(join(root, 'secret'), join(root, 'link.md'));
    execFileSync('mkfifo', [join(root, 'pipe.md')]);
    await writeFile(join(root, 'bytes.md'), Buffer.from([0xff, 0xfe, 0x41]));
    await writeFile(join(root, 'large.md'), 'x'.repeat(maxPlanBytes + 1));

    for (const name of ['link.md', 'pipe.md', 'bytes.md'])
      await expect(new PlanFile(join(root, name)).load()).rejects.toMatchObject({
        code: 'validation_failed',
      });
    await expect(new PlanFile(join(root, 'large.md')).load()).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });

  it('[PM-26] is known by its canonical place', async () => {
    await mkdir(join(root, 'plans'));
    await symlink(join(root, 'plans'), join(root, 'also-plans'));
    const { isPlanFile, path } = new PlanFile(join(root, 'plans', 'a.md'));

    expect(isPlanFile(path)).toBe(true); // before it exists
    await writeFile(path, 'plan');
    for (const way of [
      path,
      join(root, 'also-plans', 'a.md'),
      `${root}/plans/./a.md`,
      `${root}/plans/../plans/a.md`,
    ])
      expect(isPlanFile(way), way).toBe(true);
    for (const way of [
      join(root, 'plans', 'b.md'),
      `${path}\0.txt`,
      `${root}/plans/../a.md`,
      `${path}/../b.md`,
    ])
      expect(isPlanFile(way), way).toBe(false);
  });

  it('[PM-26] is not where a link in its place leads', async () => {
    await writeFile(join(root, 'elsewhere'), 'x');
    await symlink(join(root, 'elsewhere'), join(root, 'a.md'));
    const { isPlanFile, path } = new PlanFile(join(root, 'a.md'));

    expect(isPlanFile(path)).toBe(false);
    expect(isPlanFile(join(root, 'elsewhere'))).toBe(false);
  });
});
