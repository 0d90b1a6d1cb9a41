import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { findRedisEngine } from '@placet/mailbox';

/**
 * Makes sure that `redis-server` can be started by its name, getting one first where there is none (OP-2, OP-4).
 * @returns the PATH with which that is so
 */
export async function pathWithRedis(path: string, stateDir: string): Promise<string> {
  const engine = await findRedisEngine({
    path,
    engineDir: join(stateDir, 'engine'),
    docker: false, // tests kill and pause it by its number
    say: (line) => void process.stderr.write(`placet: ${line}\n`),
  });
  if (engine.kind !== 'program') throw new Error('a program was asked for');
  const { program, libraryPath } = engine;
  const onPath = path.split(delimiter).includes(dirname(program)) && program.endsWith('/redis-server');
  if (onPath) return path;
  const bin = join(stateDir, 'test-bin');
  mkdirSync(bin, { recursive: true });
  const libraries = libraryPath ? `LD_LIBRARY_PATH='${libraryPath}' ` : '';
  writeFileSync(join(bin, 'redis-server'), `#!/bin/sh\n${libraries}exec '${program}' "$@"\n`);
  chmodSync(join(bin, 'redis-server'), 0o755);
  return `${bin}${delimiter}${path}`;
}
