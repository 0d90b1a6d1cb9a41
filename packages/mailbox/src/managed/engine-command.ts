import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import type { RedisEngine } from '../managed-redis.ts';

/** What a server is to be started on. */
export interface EngineStart {
  dir: string;
  configFile: string;
  port: number;
}

/** The command that becomes the server. */
export function commandOf(engine: RedisEngine, start: EngineStart): string[] {
  if (engine.kind === 'docker') return dockerCommand(engine.program, engine.image, start);
  const { program, libraryPath } = engine;
  const libraries = libraryPath ? ['env', `LD_LIBRARY_PATH=${libraryPath}`] : [];
  return [...libraries, program, start.configFile];
}

/**
 * A container that ends with the client that started it: its own shell reads the client's input, which the guard holds
 * open. Its name is made of the folder, so that Docker itself refuses a second one on it.
 */
function dockerCommand(program: string, image: string, { dir, configFile, port }: EngineStart): string[] {
  const name = `placet-redis-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`;
  const { uid, gid } = userInfo();
  const inside = 'redis-server "$1" --bind 0.0.0.0 & s=$!; (cat >/dev/null; kill $s) & wait $s';
  const options = ['--rm', '-i', '--name', name, '--user', `${uid}:${gid}`];
  const reach = ['-v', `${dir}:${dir}`, '-p', `127.0.0.1:${port}:${port}`];
  return [program, 'run', ...options, ...reach, image, 'sh', '-c', inside, 'placet-redis', configFile];
}
