import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The absolute path of a program, looked for in the folders of a PATH. */
export async function whichProgram(path: string, name: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // not here: the next folder
    }
  }
  return undefined;
}

/** The version of a server program, where it starts and is 7.0 or newer (or a Valkey). */
export async function usableVersion(program: string, libraryPath?: string): Promise<string | undefined> {
  try {
    const env = { PATH: '/usr/bin:/bin', ...(libraryPath && { LD_LIBRARY_PATH: libraryPath }) };
    const { stdout } = await promisify(execFile)(program, ['--version'], { env, timeout: 10_000 });
    const [, version = ''] = /\bv=(\d+\.\d+\.\d+)/.exec(stdout) ?? [];
    return Number.parseInt(version, 10) >= 7 ? version : undefined;
  } catch {
    return undefined; // cannot be run here: another machine's, or a library is missing
  }
}
