import { inRepository } from './repository.ts';
import { pathWithRedis } from './server-program.ts';
import { describeTestEngine, findTestEngine } from './test-engine.ts';

/** Before a run: sees to it that a Redis can be started, and says which one serves the tests (OP-4). */
export async function setup(): Promise<void> {
  const { PATH: path = '' } = process.env;
  process.env.PATH = await pathWithRedis(path, inRepository('.placet')); // the processes of the tests inherit it
  process.stdout.write(`placet: tests use ${describeTestEngine(await findTestEngine())}\n`);
}
