import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PlacetError } from '@placet/protocol';
import { z } from 'zod';
import type { RedisEngine } from '../managed-redis.ts';
import { usableVersion } from './engine-program.ts';

/** What {@link downloadEngine} works with. */
export interface EngineDownload {
  aptGet: string;
  dpkgDeb: string;
  path: string;
  engineDir: string;
  say: (line: string) => void;
  /** `http_proxy` and its kin, where the network is reached through one. */
  proxies?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/** Paths from the engine's folder on. */
const Unpacked = z.object({ program: z.string(), libraryFolders: z.array(z.string()), version: z.string() });
const root = 'root';
const serverProgram = join(root, 'usr/bin/redis-server');
const noteFile = 'engine.json';
const listsFolder = 'apt';
const packages = ['redis-server', 'redis-tools'];
/** Libraries of libraries of libraries; Debian's need two rounds at most. */
const maxRounds = 4;

/** The engine that was unpacked earlier, where it still starts. */
export async function unpackedEngine(engineDir: string): Promise<RedisEngine | undefined> {
  try {
    const noted = Unpacked.parse(JSON.parse(await readFile(join(engineDir, noteFile), 'utf8')));
    const program = join(engineDir, noted.program);
    const libraryPath = libraryPathOf(engineDir, noted.libraryFolders);
    const version = await usableVersion(program, libraryPath);
    return version ? { kind: 'program', program, version, libraryPath } : undefined;
  } catch {
    return undefined; // nothing was unpacked, or not to its end
  }
}

/**
 * Downloads Debian's packages of Redis, and those of libraries that the machine lacks, and unpacks them. The folder
 * appears whole or not at all. apt checks what it downloads against the distribution's signatures.
 * @throws PlacetError `redis_unsuitable` with what apt said
 */
export async function downloadEngine(download: EngineDownload): Promise<RedisEngine> {
  const { engineDir, say } = download;
  const work = `${engineDir}.${randomUUID()}`;
  await mkdir(join(work, root), { recursive: true });
  try {
    const unpacker = new Unpacker(download, work);
    const version = await unpacker.unpackEngine();
    const libraryFolders = await unpacker.libraryFolders();
    await writeFile(
      join(work, noteFile),
      JSON.stringify({ program: serverProgram, libraryFolders, version }),
    );
    await rm(join(work, listsFolder), { recursive: true, force: true });
    // Another process may have been as far at the same time: the one that works stays.
    if (!(await unpackedEngine(engineDir))) {
      await rm(engineDir, { recursive: true, force: true });
      await rename(work, engineDir);
    }
    say(`Redis ${version} is unpacked in ${engineDir}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const engine = await unpackedEngine(engineDir);
  if (engine) return engine;
  throw new PlacetError('redis_unsuitable', `the Redis that was unpacked into ${engineDir} does not start`);
}

class Unpacker {
  readonly #download: EngineDownload;
  readonly #work: string;
  readonly #unpacked = new Set<string>();
  /** Options that give apt lists of its own; empty as long as the system's will do. */
  #ownLists: string[] = [];

  constructor(download: EngineDownload, work: string) {
    this.#download = download;
    this.#work = work;
  }

  /** @returns the version, once the server starts with the libraries that are there */
  async unpackEngine(): Promise<string> {
    let wanted = packages;
    for (let round = 0; round < maxRounds && wanted.length > 0; round += 1) {
      const depended = await this.#unpack(wanted);
      const libraryPath = libraryPathOf(this.#work, await this.libraryFolders());
      const version = await usableVersion(join(this.#work, serverProgram), libraryPath);
      if (version) return version;
      wanted = depended.filter((name) => !this.#unpacked.has(name));
    }
    throw new PlacetError(
      'redis_unsuitable',
      'the packages of this distribution have no Redis 7 that starts here',
    );
  }

  /** The folders of libraries in what is unpacked, from the work folder on. */
  async libraryFolders(): Promise<string[]> {
    const folders: string[] = [];
    for (const parent of ['usr/lib', 'lib']) {
      const names = await readdir(join(this.#work, root, parent)).catch(() => []); // not every package has one
      folders.push(
        ...names.filter((name) => name.includes('-linux-')).map((name) => join(root, parent, name)),
      );
    }
    return folders;
  }

  /** @returns the libraries that these packages need */
  async #unpack(names: readonly string[]): Promise<string[]> {
    await this.#get(names);
    const depended = new Set<string>();
    for (const file of await readdir(this.#work)) {
      if (!file.endsWith('.deb')) continue;
      const archive = join(this.#work, file);
      const { stdout } = await this.#run(this.#download.dpkgDeb, ['-f', archive, 'Pre-Depends', 'Depends']);
      for (const name of librariesIn(stdout)) depended.add(name);
      await this.#run(this.#download.dpkgDeb, ['-x', archive, join(this.#work, root)]);
      await rm(archive);
    }
    for (const name of names) this.#unpacked.add(name);
    return [...depended];
  }

  /** With the system's lists; where it has none (as in a fresh container), with lists fetched for this alone. */
  async #get(names: readonly string[]): Promise<void> {
    this.#download.say(`apt-get download ${names.join(' ')}`);
    try {
      await this.#apt(['download', ...names]);
    } catch (error) {
      this.#download.signal?.throwIfAborted();
      if (this.#ownLists.length > 0) throw aptFailed(error);
      this.#download.say('this machine has no lists of packages; fetching them into the same folder');
      const lists = join(this.#work, listsFolder);
      await mkdir(join(lists, 'lists', 'partial'), { recursive: true });
      await mkdir(join(lists, 'archives', 'partial'), { recursive: true });
      this.#ownLists = ['-o', `Dir::State::lists=${lists}/lists`, '-o', `Dir::Cache=${lists}`];
      await this.#apt(['update']).catch((failure: unknown) => Promise.reject(aptFailed(failure)));
      await this.#apt(['download', ...names]).catch((failure: unknown) => Promise.reject(aptFailed(failure)));
    }
  }

  #apt(command: readonly string[]) {
    const unattended = ['-q', '-o', 'APT::Sandbox::User=', '-o', 'Acquire::Retries=3', ...this.#ownLists];
    return this.#run(this.#download.aptGet, [...unattended, ...command]);
  }

  #run(program: string, programArguments: readonly string[]) {
    const { path, proxies, signal } = this.#download;
    const env = { PATH: path, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive', ...proxies };
    return promisify(execFile)(program, [...programArguments], {
      cwd: this.#work,
      env,
      signal,
      timeout: 10 * 60_000,
    });
  }
}

/** Undefined where the system's own libraries are all there is: an empty path would mean the current folder. */
function libraryPathOf(dir: string, folders: readonly string[]): string | undefined {
  return folders.length > 0 ? folders.map((folder) => join(dir, folder)).join(':') : undefined;
}

/** The libraries among a package's dependencies, of alternatives the preferred one; the C library is the machine's own, or nothing here would run. */
export function librariesIn(fields: string): string[] {
  const names = fields
    .replaceAll(/^(Pre-)?Depends:/gm, '')
    .split(/[,\n]/)
    .map((dependency) => /^[a-z0-9][a-z0-9+.-]*/.exec(dependency.trim())?.[0] ?? '');
  return [...new Set(names)].filter((name) => /^lib(?!c6$|c-bin$)/.test(name));
}

function aptFailed(error: unknown): PlacetError {
  const said =
    error instanceof Error && 'stderr' in error
      ? String(error.stderr).trim().split('\n').at(-1)
      : String(error);
  return new PlacetError(
    'redis_unsuitable',
    `apt-get could not get Redis: ${said}. Install redis-server by hand`,
    { cause: error },
  );
}
