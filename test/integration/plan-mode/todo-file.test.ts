import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TodoFile, TodoList } from '@placet/plan-mode';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const list = (...contents: string[]) => ({
  todos: contents.map((content) => ({ content, status: 'pending' })),
});

describe('the mirror of a working list', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'placet-todos-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const open = (sessionId: string, lines: string[] = []) => {
    const write = (_: object, message: string) => void lines.push(message);
    const log = { debug: write, info: write, warn: write, error: write };
    return TodoList.open({ sessionId, mirror: new TodoFile(join(folder, 'todos'), sessionId), log });
  };

  it('[PM-92] outlives its host, private, with no other file beside it', async () => {
    const before = await open('a');
    await before.replace(list('x'.repeat(500), '😀\n"'));
    const { path } = new TodoFile(join(folder, 'todos'), 'a');

    expect((await open('a')).todos).toEqual(before.todos);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'todos'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'todos'))).toHaveLength(1);
  });

  it('[PM-92] holds the longest list there can be', async () => {
    const before = await open('a');
    await before.replace(list(...Array.from({ length: 40 }, () => '\u0001'.repeat(500)))); // six bytes each in JSON
    const lines: string[] = [];
    expect((await open('a', lines)).todos).toEqual(before.todos);
    expect(before.todos).toHaveLength(40);
    expect(lines).toEqual([]);
  });

  it('[PM-92] of several sessions is apart, whatever their IDs hold', async () => {
    const ids = ['a', 'A', 'a/b', '../a', '..%2fa', 'x'.repeat(128)];
    await Promise.all(ids.map(async (id) => (await open(id)).replace(list(`of ${id}`))));
    for (const id of ids) expect((await open(id)).todos).toMatchObject([{ content: `of ${id}` }]);
    expect(await readdir(folder)).toEqual(['todos']);
    expect(await readdir(join(folder, 'todos'))).toHaveLength(ids.length);

    const { path } = new TodoFile(join(folder, 'todos'), 'a');
    await writeFile(path, '{"version":1,');
    expect((await open('a')).todos).toEqual([]);
    expect((await open('A')).todos).toHaveLength(1);
  });

  it('[PM-92] that is corrupt stops no start and is replaced by the next list', async () => {
    const { path } = new TodoFile(join(folder, 'todos'), 'a');
    await mkdir(join(folder, 'todos'));
    await writeFile(join(folder, 'secret'), '{}');
    const places: Record<string, () => unknown> = {
      'half a file': () => writeFile(path, '{"version":1,"sessionId":"a","tod'),
      'an empty file': () => writeFile(path, ''),
      'bytes that are no text': () => writeFile(path, Buffer.from([0xff, 0xfe])),
      'a file without end': () => writeFile(path, '['.repeat(1024 * 1024)),
      'a link': () => symlink(join(folder, 'secret'), path),
      'a pipe': () => execFileSync('mkfifo', [path]),
    };
    for (const [name, place] of Object.entries(places)) {
      await rm(path, { force: true });
      await place();
      const lines: string[] = [];
      const todos = await open('a', lines);
      expect(todos.todos, name).toEqual([]);
      expect(lines, name).toEqual(['the mirror of the working list is corrupt; the list starts empty']);
      expect(await todos.replace(list('x')), name).toMatchObject({ isMirrored: true });
      expect((await open('a')).todos, name).toHaveLength(1);
    }
    expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('{}');
  });

  it('[PM-92] that cannot be written leaves the list to work with', async () => {
    const { path } = new TodoFile(join(folder, 'todos'), 'a');
    await mkdir(path, { recursive: true }); // a folder in its place
    const lines: string[] = [];
    const todos = await open('a', lines);
    expect(await todos.replace(list('x'))).toMatchObject({ kind: 'written', isMirrored: false });
    expect(todos.todos).toHaveLength(1);
    expect(lines).toHaveLength(2);
    await chmod(folder, 0o700);
  });

  it('[PM-92] has the last of many lists that were written at once', async () => {
    const todos = await open('a');
    const writes = Array.from({ length: 50 }, (_, at) => todos.replace(list(`item ${at}`)));
    await Promise.all(writes);
    expect((await open('a')).todos).toMatchObject([{ content: 'item 49' }]);
    expect(await readdir(join(folder, 'todos'))).toHaveLength(1);
  });

  it('is in a folder that is named in full', () => {
    expect(() => new TodoFile('todos', 'a')).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});
