import { describeTestEngine, findTestEngine } from './test-engine.ts';

/** Says once a run which Redis serves the tests (OP-4). */
export async function setup(): Promise<void> {
  process.stdout.write(`placet: tests use ${describeTestEngine(await findTestEngine())}\n`);
}
