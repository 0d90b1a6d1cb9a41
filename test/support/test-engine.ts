import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { maskRedisUrl } from '@placet/mailbox';

/** Which Redis serves the tests (OP-4). */
export type TestEngine =
  | { kind: 'url'; url: string }
  | { kind: 'container'; image: string }
  | { kind: 'process'; program: string };

/** What the choice depends on. */
export interface TestSurroundings {
  /** PLACET_TEST_REDIS_URL, if it is set. */
  url: string | undefined;
  /** Whether a Docker engine answers. */
  dockerAnswers: boolean;
  /** The server program for a private process. */
  program: string;
}

const image = 'redis:7.2-alpine';

/** The given URL, else a container where a Docker engine answers, else a private process per test file (OP-4). */
export function chooseTestEngine({ url, dockerAnswers, program }: TestSurroundings): TestEngine {
  if (url) return { kind: 'url', url };
  if (dockerAnswers) return { kind: 'container', image };
  return { kind: 'process', program };
}

/** The choice in one line; a password in a URL is not printed. */
export function describeTestEngine(engine: TestEngine): string {
  if (engine.kind === 'url') return `the Redis of PLACET_TEST_REDIS_URL (${maskRedisUrl(engine.url)})`;
  if (engine.kind === 'container') return `${engine.image} in a container per test file`;
  return `${engine.program}, a private process per test file`;
}

let found: Promise<TestEngine> | undefined;

/** Looks around once a process and chooses. */
export function findTestEngine(): Promise<TestEngine> {
  found ??= lookAround().then(chooseTestEngine);
  return found;
}

async function lookAround(): Promise<TestSurroundings> {
  const url = process.env.PLACET_TEST_REDIS_URL;
  return { url, dockerAnswers: !url && (await dockerAnswers()), program: 'redis-server' };
}

async function dockerAnswers(): Promise<boolean> {
  try {
    await promisify(execFile)('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 3000 });
    return true;
  } catch {
    return false; // no program, no engine or no permission: all mean that containers cannot be had
  }
}
