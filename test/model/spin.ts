import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inRepository } from '../support/repository.ts';

/** What the search of one variant found. `broken` is the assertion that fails first, if one does. */
export type Verdict = { complete: boolean; errors: number; states: number; broken: string | undefined };

/** `assertions`: none breaks in any state or at any end. `cycles`: no run goes on for ever. */
export type Search = 'assertions' | 'cycles';

const run = promisify(execFile);
const searchTimeoutMs = 50_000;

// Optimising takes longer than it saves.
const compile = {
  assertions: ['-O0', '-w', '-DMEMLIM=2000', '-DSAFETY', '-DNOCLAIM'],
  cycles: ['-O0', '-w', '-DMEMLIM=2000', '-DNP'],
};

/** Says which package brings what is missing here, or `undefined` when the models can be checked. */
export async function missingTools(): Promise<string | undefined> {
  const tools = [
    {
      name: 'spin',
      present: await answers('spin', ['-V']),
      brings: 'package spin (Debian), spin (Homebrew)',
    },
    { name: 'gcc', present: await answers('gcc', ['--version']), brings: 'package gcc' },
  ];
  const missing = tools.filter(({ present }) => !present);
  if (missing.length === 0) return undefined;
  return missing.map(({ name, brings }) => `${name} is not installed: ${brings}`).join('; ');
}

/**
 * Searches one variant of a model of this folder exhaustively, in a folder of its own.
 * `defines` are the preprocessor's, as `CRASHES=1` or `BUG_NO_LAPSE`.
 */
export async function check(model: string, defines: string[], search: Search): Promise<Verdict> {
  const cwd = await mkdtemp(join(tmpdir(), 'placet-model-'));
  try {
    const source = inRepository(`test/model/${model}.pml`);
    await run('spin', ['-a', ...defines.map((define) => `-D${define}`), source], { cwd });
    await run('gcc', [...compile[search], '-o', 'pan', 'pan.c'], { cwd });
    const options = search === 'cycles' ? ['-m20000', '-l'] : ['-m20000'];
    const { stdout } = await run(join(cwd, 'pan'), options, { cwd, timeout: searchTimeoutMs });
    return verdictIn(stdout);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function verdictIn(report: string): Verdict {
  const errors = Number(/errors: (\d+)/.exec(report)?.[1]);
  const states = Number(/(\S+) states, stored/.exec(report)?.[1]);
  if (Number.isNaN(errors) || Number.isNaN(states))
    throw new Error(`unreadable report of the search:\n${report}`);
  const cut = /max search depth too small|out of memory|memory limit/.test(report);
  const stopped = /Search not completed/.test(report);
  return { complete: !cut && !stopped, errors, states, broken: /pan:1: (.+) \(at depth/.exec(report)?.[1] };
}

async function answers(command: string, args: string[]): Promise<boolean> {
  try {
    await run(command, args);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
