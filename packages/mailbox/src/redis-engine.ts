import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PlacetError } from '@placet/protocol';
import { downloadEngine, unpackedEngine } from './managed/apt-engine.ts';
import { usableVersion, whichProgram } from './managed/engine-program.ts';
import type { RedisEngine } from './managed-redis.ts';

/** Where and how to look for an engine (OP-2). */
export interface EngineSearch {
  /** PATH, as the environment has it. */
  path: string;
  /** Where one is unpacked, and was earlier: `.placet/engine`. */
  engineDir: string;
  /** Says what is about to be done. */
  say: (line: string) => void;
  /** Whether to install with brew, which changes the system; asked on a terminal. Without it brew is not used. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** False where a program is needed that runs on this machine itself. */
  docker?: boolean | undefined;
  /** `http_proxy` and its kin of the environment, for the download. */
  proxies?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

const dockerImage = 'redis:7.2-alpine';
const programs = ['redis-server', 'valkey-server'] as const;

/**
 * Finds or gets a Redis engine (OP-2): `redis-server` or `valkey-server` on PATH, one unpacked earlier, Docker, else
 * `apt-get download` without root, or brew. One that is too old is passed over.
 * @throws PlacetError `redis_unsuitable` that says what to install by hand
 */
export async function findRedisEngine(search: EngineSearch): Promise<RedisEngine> {
  const found =
    (await onPath(search)) ??
    (await unpackedEngine(search.engineDir)) ??
    (search.docker === false ? undefined : await docker(search)) ??
    (await downloaded(search)) ??
    (await brewed(search));
  if (found) return found;
  throw new PlacetError(
    'redis_unsuitable',
    'there is no Redis here and none could be got. Install redis-server 7 or newer, or set PLACET_REDIS_URL',
  );
}

async function onPath({ path, say }: EngineSearch): Promise<RedisEngine | undefined> {
  for (const name of programs) {
    const program = await whichProgram(path, name);
    if (!program) continue;
    const version = await usableVersion(program);
    if (version) return { kind: 'program', program, version };
    say(`${program} is older than 7.0 or does not start; looking further`);
  }
  return undefined;
}

async function docker({ path, say, signal }: EngineSearch): Promise<RedisEngine | undefined> {
  const program = await whichProgram(path, 'docker');
  if (!program) return undefined;
  try {
    const run = promisify(execFile);
    await run(program, ['version', '--format', '{{.Server.Version}}'], { timeout: 5000, signal });
    say(`using Docker for Redis (image ${dockerImage})`);
    await run(program, ['pull', '--quiet', dockerImage], { timeout: 10 * 60_000, signal });
    return { kind: 'docker', program, image: dockerImage };
  } catch {
    signal?.throwIfAborted();
    return undefined; // no engine answers, or it cannot get the image
  }
}

async function downloaded(search: EngineSearch): Promise<RedisEngine | undefined> {
  const { path, engineDir, say, proxies, signal } = search;
  const tools = {
    aptGet: await whichProgram(path, 'apt-get'),
    dpkgDeb: await whichProgram(path, 'dpkg-deb'),
  };
  if (!tools.aptGet || !tools.dpkgDeb) return undefined;
  say(
    'there is no Redis here. Getting the packages redis-server and redis-tools with "apt-get download" and',
  );
  say(`unpacking them into ${engineDir}; nothing is installed, no root is needed, the system stays as it is`);
  return downloadEngine({
    aptGet: tools.aptGet,
    dpkgDeb: tools.dpkgDeb,
    path,
    engineDir,
    say,
    proxies,
    signal,
  });
}

async function brewed({ path, say, confirm, signal }: EngineSearch): Promise<RedisEngine | undefined> {
  const brew = await whichProgram(path, 'brew');
  if (!brew || !(await confirm?.('There is no Redis here. Install it with "brew install redis"?')))
    return undefined;
  say('running "brew install redis"');
  const run = promisify(execFile);
  await run(brew, ['install', 'redis'], { timeout: 20 * 60_000, signal });
  const { stdout } = await run(brew, ['--prefix'], { signal });
  return onPath({ path: join(stdout.trim(), 'bin'), engineDir: '', say });
}
