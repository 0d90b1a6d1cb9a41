import { constants, lstatSync, realpathSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { maxPlanBytes, PlacetError, unsafeText } from '@placet/protocol';
import { HeldFolder } from './held-folder.ts';
import { isInside } from './is-inside.ts';
import {
  faultOfPlanText,
  type PlanStorage,
  planTooLarge,
  type StoredPlan,
  storedPlan,
} from './plan-storage.ts';
import { replaceFileIn } from './replace-file.ts';

/**
 * The plan file of one session. Writes are whole or not at all (PM-43); reads never follow a link and never take more
 * than a plan may have. With a boundary, neither leaves it, also where a folder on the way is swapped for a link
 * between the look at it and its use (PM-41).
 *
 * Every method throws PlacetError `validation_failed` where something else than a plan file, or no way to one, is in
 * its place. Several writers at once leave the plan of one of them, whole.
 */
export class PlanFile implements PlanStorage {
  readonly path: string;
  readonly #boundary: string | undefined;

  /**
   * `path` is absolute; its folder is made, private, when something is written. `boundary` is absolute too and has no
   * links in it: the folder that the plan is to stay in.
   * @throws PlacetError `validation_failed` for a path that cannot be one, or that is outside the boundary.
   */
  constructor(path: string, boundary?: string) {
    if (!isAbsolute(path) || path.includes('\0'))
      throw new PlacetError(
        'validation_failed',
        `the plan's path ${JSON.stringify(path)} is not absolute, or holds NUL`,
      );
    this.path = resolve(path);
    this.#boundary = boundary === undefined ? undefined : resolve(boundary);
    if (this.#boundary !== undefined && !isInside(dirname(this.path), this.#boundary))
      throw new PlacetError('validation_failed', `the plan ${this.path} is outside ${this.#boundary}`);
  }

  /**
   * Nothing and an empty file are no plan.
   * @throws PlacetError `payload_too_large` for a file over 1 MiB, `validation_failed` for one that is no UTF-8 text,
   * holds NUL characters or is not a regular file.
   */
  async load(): Promise<StoredPlan | undefined> {
    const bytes = await this.#inPlace(() => this.#read());
    if (!bytes || bytes.length === 0) return undefined;
    const text = decode(bytes);
    const fault = text === undefined ? 'is not UTF-8' : unsafeText(text);
    if (fault || text === undefined)
      throw new PlacetError('validation_failed', `the plan ${this.path} ${fault}`);
    return storedPlan(text);
  }

  /**
   * Replaces the plan atomically: a temporary file beside it, fsync, rename (PM-43). Mode 0600. An empty text is no plan.
   * @throws PlacetError `payload_too_large`, `validation_failed`; the old plan stays.
   */
  async save(text: string): Promise<StoredPlan> {
    const plan = storedPlan(text);
    const fault = faultOfPlanText(plan);
    if (fault) throw fault;
    await this.#inPlace(() => this.#write(plan.bytes));
    return plan;
  }

  /** Leaves an empty file, which is no plan, in place of whatever is there; so the name stays taken. */
  async clear(): Promise<void> {
    await this.#inPlace(() => this.#write(''));
  }

  /**
   * Whether a write to `path` would be a write to this very file and no other (PM-26): absolute, the same canonical
   * place whether `..` is taken as the system takes it or as it is written, and nothing there, or a regular file of one
   * name only. The answer holds for the moment it is given.
   */
  readonly isPlanFile = (path: string): boolean => {
    if (!isAbsolute(path) || path.includes('\0') || /[/\\]$/.test(path)) return false;
    const own = this.#ownPlace();
    return own !== undefined && own === placeOf(path) && own === placeOf(resolve(path));
  };

  #ownPlace(): string | undefined {
    const place = placeOf(this.path);
    if (place === undefined || this.#boundary === undefined) return place;
    return place === this.path ? place : undefined; // within a boundary there is no link on the way
  }

  async #read(): Promise<Uint8Array | undefined> {
    const folder = await this.#folder(false).catch(missing);
    if (!folder) return undefined;
    try {
      // Without O_NONBLOCK a pipe in the plan's place would hold us for ever.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(await folder.wayTo(basename(this.path)), flags).catch(missing);
      return file && (await this.#readAndClose(file));
    } finally {
      await folder.close();
    }
  }

  async #readAndClose(file: FileHandle): Promise<Uint8Array> {
    try {
      const stats = await file.stat();
      if (!stats.isFile())
        throw new PlacetError('validation_failed', `the plan ${this.path} is not a regular file`);
      if (stats.size > maxPlanBytes) throw planTooLarge(stats.size);
      const bytes = await readUpTo(file, maxPlanBytes + 1); // it may grow meanwhile
      if (bytes.length > maxPlanBytes) throw planTooLarge(bytes.length);
      return bytes;
    } finally {
      await file.close();
    }
  }

  async #write(content: Uint8Array | string): Promise<void> {
    const folder = await this.#folder(true);
    try {
      await replaceFileIn(folder, basename(this.path), content);
    } finally {
      await folder.close();
    }
  }

  async #folder(make: boolean): Promise<HeldFolder> {
    const path = dirname(this.path);
    if (this.#boundary !== undefined) return HeldFolder.holdInside(this.#boundary, path, { make });
    if (make) await mkdir(path, { recursive: true, mode: 0o700 });
    return HeldFolder.hold(path);
  }

  /** Faults of what is in the plan's place are told as such; those of the machine are passed on. */
  async #inPlace<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
      const fault = faultsOfPlace.get(code);
      if (fault === undefined || thrown instanceof PlacetError) throw thrown;
      throw new PlacetError('validation_failed', `the plan ${this.path} ${fault} (${code})`, {
        cause: thrown,
      });
    }
  }
}

const faultsOfPlace = new Map([
  ['ELOOP', 'is a link, or behind one'],
  ['ENOTDIR', 'is behind something that is no folder'],
  ['EEXIST', 'is behind something that is no folder'],
  ['EISDIR', 'is a folder'],
  ['ENXIO', 'is not a regular file'],
  ['ENODEV', 'is not a regular file'],
  ['ENAMETOOLONG', 'has too long a name'],
  ['EACCES', 'may not be reached'],
  ['EPERM', 'may not be reached'],
  ['ENOENT', 'is in a folder that went away'],
  ['EILSEQ', 'has a name that this file system does not take'],
  ['EINVAL', 'has a name that this file system does not take'],
]);

function missing(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code !== 'ENOENT') throw thrown;
  return undefined;
}

/** Where a path leads, links of its folders resolved as the system does; undefined where only a write elsewhere, or none, is possible. */
function placeOf(path: string): string | undefined {
  const name = basename(path);
  if (name === '.' || name === '..') return undefined;
  try {
    const place = join(realpathSync.native(dirname(path)), name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    return stats && !(stats.isFile() && stats.nlink === 1) ? undefined : place;
  } catch {
    return undefined; // no such folder: nothing there is the plan file
  }
}

async function readUpTo(file: FileHandle, most: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(most);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, most - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === most) return bytes.subarray(0, length);
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
