import { access, constants, readdir, stat } from 'node:fs/promises';
import { openKeys } from '../connection/local-tokens.ts';
import { runFileOf } from '../connection/run-file.ts';
import { examine, type Finding, ok, wrong } from './finding.ts';

/** Checks a data folder: that it can be written, that nobody else can read its secrets, and its keys. */
export async function checkDataFolder(dataDir: string): Promise<Finding[]> {
  const found = await stat(dataDir).catch(() => undefined);
  if (!found) return [ok('data folder', `${dataDir} is not there yet; placet up makes it`)];
  return [
    ...(await examine('data folder', 'give it to this user, or use another --data', () =>
      permissions(dataDir),
    )),
    ...(await examine(
      'keys',
      'chmod -R go= on the keys folder; a damaged file must be restored from a backup',
      () => keys(dataDir),
    )),
  ];
}

async function permissions(dataDir: string): Promise<Finding[]> {
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  const run = await stat(runFileOf(dataDir)).catch(() => undefined);
  if (run && (run.mode & 0o077) !== 0)
    return [
      wrong(
        'fault',
        'data folder',
        `${runFileOf(dataDir)} can be read by others, and holds a password`,
        `chmod 600 ${runFileOf(dataDir)}`,
      ),
    ];
  return [ok('data folder', `${dataDir} (${(await readdir(dataDir)).length} entries)`)];
}

async function keys(dataDir: string): Promise<Finding[]> {
  const list = await (await openKeys(dataDir)).list();
  const active = list.find(({ state }) => state === 'active');
  if (!active)
    return [wrong('fault', 'keys', 'every key is revoked: nothing can be signed', 'placet keys rotate')];
  return [ok('keys', `${active.kid} signs; ${list.length - 1} older`)];
}
