import { constants, lstatSync, realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { maxPlanBytes, PlacetError, unsafeText } from '@placet/protocol';
import { type PlanStorage, type StoredPlan, storedPlan } from './plan-storage.ts';
import { replaceFile } from './replace-file.ts';

/**
 * The plan file of one session. Writes are whole or not at all (PM-43); reads never follow a link and never take more
 * than a plan may have.
 */
export class PlanFile implements PlanStorage {
  readonly path: string;

  /** `path` is absolute; its folder is made, private, when something is written. */
  constructor(path: string) {
    this.path = resolve(path);
  }

  /**
   * @throws PlacetError `payload_too_large` for a file over 1 MiB, `validation_failed` for one that is no UTF-8 text,
   * holds NUL characters or is not a regular file.
   */
  async load(): Promise<StoredPlan | undefined> {
    const bytes = await readRegularFile(this.path);
    if (!bytes || bytes.length === 0) return undefined;
    const text = decode(bytes);
    const fault = text === undefined ? 'is not UTF-8' : unsafeText(text);
    if (fault || text === undefined)
      throw new PlacetError('validation_failed', `the plan ${this.path} ${fault}`);
    return storedPlan(text);
  }

  /** Replaces the plan atomically: a temporary file beside it, fsync, rename (PM-43). Mode 0600. */
  async save(text: string): Promise<StoredPlan> {
    const fault = unsafeText(text);
    if (fault) throw new PlacetError('validation_failed', `the plan ${fault}; the old plan stays`);
    const plan = storedPlan(text);
    if (plan.bytes.length > maxPlanBytes) throw tooLarge(plan.bytes.length);
    await replaceFile(this.path, plan.bytes);
    return plan;
  }

  /** Leaves an empty file, which is no plan, in place of whatever is there; so the name stays taken. */
  async clear(): Promise<void> {
    await replaceFile(this.path, '');
  }

  /**
   * Whether a write to `path` would be a write to this very file (PM-26): the same canonical place, and no link there.
   * The answer holds for the moment it is given.
   */
  readonly isPlanFile = (path: string): boolean => {
    if (path.includes('\0')) return false;
    const own = canonical(this.path);
    return own !== undefined && own === canonical(resolve(path));
  };
}

/** Where a path leads, links of its folders resolved; undefined where its folder is missing or it is a link itself. */
function canonical(path: string): string | undefined {
  try {
    const place = join(realpathSync(dirname(path)), basename(path));
    const stats = lstatSync(place, { throwIfNoEntry: false });
    return stats && !stats.isFile() ? undefined : place;
  } catch {
    return undefined; // no such folder: nothing there is the plan file
  }
}

async function readRegularFile(path: string): Promise<Uint8Array | undefined> {
  // Without O_NONBLOCK a pipe in the plan's place would hold us for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return undefined;
      if (thrown.code === 'ELOOP') throw new PlacetError('validation_failed', `the plan ${path} is a link`);
      throw thrown;
    },
  );
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new PlacetError('validation_failed', `the plan ${path} is not a regular file`);
    if (stats.size > maxPlanBytes) throw tooLarge(stats.size);
    const bytes = await file.readFile();
    if (bytes.length > maxPlanBytes) throw tooLarge(bytes.length);
    return bytes;
  } finally {
    await file.close();
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tooLarge(bytes: number): PlacetError {
  return new PlacetError(
    'payload_too_large',
    `the plan has ${bytes} bytes; ${maxPlanBytes} are allowed. The old plan stays`,
  );
}
