import type { Readable, Writable } from 'node:stream';

/** What a command is given of the process it runs in; `bin.ts` makes the real one. */
export interface World {
  /** The arguments behind the command's own name. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The person's home folder. */
  home: string;
  /** The name the person logged in with. */
  user: string;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  /** Aborts when the process is told to end. */
  signal: AbortSignal;
  /** Resolves when the parent process is gone; never where there is none to speak of. */
  parentGone: () => Promise<void>;
  /** Says something to the parent process, where it listens. */
  tellParent: (message: object) => void;
}
