import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Where Linux shows what a process holds open. */
const openFiles = '/proc/self/fd';
const folderOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A folder that is the same one for as long as it is held: what is done in it is done there, also when its name leads
 * elsewhere by then. A system without `/proc` has no such way in: there the name is looked at before each use.
 */
export class HeldFolder {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #anchors: string;
  readonly #isAnchored: boolean;

  private constructor(handle: FileHandle, path: string, anchors: string, isAnchored: boolean) {
    this.#handle = handle;
    this.#path = path;
    this.#anchors = anchors;
    this.#isAnchored = isAnchored;
  }

  /**
   * Holds the folder that `path` leads to, links included.
   * @throws the system's error where there is none, as every method here does.
   */
  static async hold(path: string, anchors = openFiles): Promise<HeldFolder> {
    const real = await realpath(path);
    return HeldFolder.#holding(await open(real, folderOnly), real, anchors);
  }

  /**
   * Holds the folder `path`, which is `root` or lies in it, going down from `root` without following a link.
   * With `make`, folders that are missing are made, private.
   */
  static async holdInside(
    root: string,
    path: string,
    { make = false, anchors = openFiles }: { make?: boolean; anchors?: string } = {},
  ): Promise<HeldFolder> {
    let held = await HeldFolder.hold(root, anchors);
    for (const name of relative(root, path).split(sep).filter(Boolean)) {
      const outer = held;
      try {
        held = await outer.#enter(name, make);
      } finally {
        await outer.close();
      }
    }
    return held;
  }

  static async #holding(handle: FileHandle, path: string, anchors: string): Promise<HeldFolder> {
    const shown = await readlink(`${anchors}/${handle.fd}`).catch(() => undefined); // no such place on this system
    return new HeldFolder(handle, path, anchors, shown !== undefined);
  }

  /** The way to an entry of this very folder; for one use at once. */
  async wayTo(name: string): Promise<string> {
    if (this.#isAnchored) return `${this.#anchors}/${this.#handle.fd}/${name}`;
    if ((await realpath(this.#path)) !== this.#path)
      throw Object.assign(new Error(`the folder ${this.#path} leads elsewhere by now`), { code: 'ELOOP' });
    return join(this.#path, name);
  }

  /** Puts on disk which entries the folder has: a new or renamed one is lost to a power cut without it. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #enter(name: string, make: boolean): Promise<HeldFolder> {
    const way = await this.wayTo(name);
    if (make)
      await mkdir(way, { mode: 0o700 }).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== 'EEXIST') throw thrown;
      });
    return HeldFolder.#holding(await open(way, folderOnly), join(this.#path, name), this.#anchors);
  }
}
