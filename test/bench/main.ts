import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { type OwnRedis, startOwnRedis } from '../support/redis-server.ts';
import { median } from './measure.ts';
import { owner, team, teammate } from './workload.ts';

const LibraryRounds = z.array(z.object({ library: z.number(), scripts: z.number() })).min(1);
const HttpRounds = z.array(z.object({ http: z.number() })).min(1);
const WakeRounds = z
  .array(
    z.object({ placetP50: z.number(), placetP99: z.number(), floorP50: z.number(), floorP99: z.number() }),
  )
  .min(1);

const GateRounds = z
  .array(
    z.object({
      gateUs: z.number(),
      floorUs: z.number(),
      halfwayBytes: z.number(),
      finalBytes: z.number(),
    }),
  )
  .min(1);

/** One line of the table: a measured ratio against its bound. */
interface Row {
  rule: string;
  what: string;
  placet: string;
  floor: string;
  ratio: number;
  bound: string;
  isMet: boolean;
}

/** The one bound that is a time and no ratio (PF-4). */
const gateBoundUs = 2;
/** Nothing grows; the rest is what the collector's figure wavers by. */
const heapBound = 1.01;

const bin = fileURLToPath(new URL('../../packages/cli/dist/bin.js', import.meta.url));

/** Runs every measurement beside its floor, in one run, and prints a table of ratios. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } });
  const count = values.quick ? '500' : '3000';
  const rounds = values.quick ? '1' : '5';
  const rows = [
    ...(await measureWakes(count, rounds)),
    ...(await measureThroughput(count, rounds)),
    ...(await measureGate(count, rounds)),
  ];
  if (values.json) console.log(JSON.stringify(rows));
  else printTable(rows);
  if (rows.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

/** PF-1: from sending a decision to the work that goes on, against one script and one BullMQ add-to-active. */
async function measureWakes(count: string, rounds: string): Promise<Row[]> {
  const redis = await startOwnRedis();
  try {
    const measured = WakeRounds.parse(await runRounds('wake-latency.ts', [redis.url, count, rounds]));
    const ms = (pick: (round: (typeof measured)[number]) => number) => median(measured.map(pick));
    return [
      latencyRow(
        'decision to resumed work, p50',
        ms((r) => r.placetP50),
        ms((r) => r.floorP50),
        3,
      ),
      latencyRow(
        'decision to resumed work, p99',
        ms((r) => r.placetP99),
        ms((r) => r.floorP99),
        6,
      ),
    ];
  } finally {
    await redis.stop();
  }
}

/** PF-2: submissions with their decision a second, against the bare scripts with the same bytes. */
async function measureThroughput(count: string, rounds: string): Promise<Row[]> {
  const redis = await startOwnRedis();
  try {
    const library = LibraryRounds.parse(await runRounds('library-load.ts', [redis.url, count, rounds]));
    const scripts = median(library.map((round) => round.scripts));
    const http = HttpRounds.parse(await measureHttp(redis, count, rounds));
    return [
      rateRow('submit + decide, library', median(library.map((round) => round.library)), scripts, 0.5),
      rateRow('submit + decide, HTTP', median(http.map((round) => round.http)), scripts, 0.25),
    ];
  } finally {
    await redis.stop();
  }
}

/** PF-4: a call of the gate, against reading the same call out of JSON; and whether calls leave anything behind. */
async function measureGate(count: string, rounds: string): Promise<Row[]> {
  const calls = String(Number(count) * 100);
  const measured = GateRounds.parse(await runRounds('gate-calls.ts', [calls, rounds]));
  const middle = (pick: (round: (typeof measured)[number]) => number) => median(measured.map(pick));
  const gateUs = middle((r) => r.gateUs);
  const floorUs = middle((r) => r.floorUs);
  const growth = middle((r) => r.finalBytes / r.halfwayBytes);
  const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(2)} MiB`;
  return [
    {
      rule: 'PF-4',
      what: 'gate, one call',
      placet: `${gateUs.toFixed(2)} µs`,
      floor: `${floorUs.toFixed(2)} µs`,
      ratio: gateUs / floorUs,
      bound: `at most ${gateBoundUs} µs`,
      isMet: gateUs <= gateBoundUs,
    },
    {
      rule: 'PF-4',
      what: `gate, heap after ${calls} calls`,
      placet: mib(middle((r) => r.finalBytes)),
      floor: mib(middle((r) => r.halfwayBytes)),
      ratio: growth,
      bound: `at most ${heapBound}`,
      isMet: growth <= heapBound,
    },
  ];
}

async function measureHttp(redis: OwnRedis, count: string, rounds: string): Promise<unknown[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'placet-bench-'));
  const lead = await startLead(redis.url, dataDir);
  try {
    const leadToken = await createToken(dataDir, ['--principal', 'local:bench', '--role', 'lead']);
    const as = ['--principal', owner, '--role', 'teammate', '--teammate', teammate, '--owner', owner];
    const teammateToken = await createToken(dataDir, as);
    return await runRounds('http-load.ts', [lead.url, leadToken, teammateToken, count, rounds]);
  } finally {
    lead.process.kill('SIGTERM');
    await once(lead.process, 'exit');
    await rm(dataDir, { recursive: true });
  }
}

async function startLead(redisUrl: string, dataDir: string): Promise<{ process: ChildProcess; url: string }> {
  const args = [bin, 'lead', '--redis-url', redisUrl, '--data', dataDir, '--port', '0', '--json'];
  const env = { PATH: process.env.PATH, PLACET_RATE_LIMIT_PER_MINUTE: '0', PLACET_LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout }))
    return { process: child, url: z.object({ url: z.string() }).parse(JSON.parse(line)).url };
  throw new Error('placet lead ended before it listened');
}

async function createToken(dataDir: string, who: string[]): Promise<string> {
  const args = [bin, 'token', 'create', '--data', dataDir, '--team', team, ...who, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH } });
  return z.object({ token: z.string() }).parse(JSON.parse(stdout)).token;
}

/** Runs a load in a process of its own and reads a line of JSON for each round. */
async function runRounds(file: string, args: string[]): Promise<unknown[]> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const rounds: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) rounds.push(JSON.parse(line));
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`${file} ended with ${child.exitCode}`);
  return rounds;
}

function latencyRow(what: string, placetMs: number, floorMs: number, most: number): Row {
  const ratio = placetMs / floorMs;
  const placet = `${placetMs.toFixed(2)} ms`;
  return {
    rule: 'PF-1',
    what,
    placet,
    floor: `${floorMs.toFixed(2)} ms`,
    ratio,
    bound: `at most ${most}`,
    isMet: ratio <= most,
  };
}

function rateRow(what: string, placet: number, floor: number, least: number): Row {
  const ratio = placet / floor;
  const rate = (value: number) => `${value.toFixed(0)}/s`;
  return {
    rule: 'PF-2',
    what,
    placet: rate(placet),
    floor: rate(floor),
    ratio,
    bound: `at least ${least}`,
    isMet: ratio >= least,
  };
}

function printTable(rows: readonly Row[]): void {
  const lines = rows.map(({ rule, what, placet, floor, ratio, bound, isMet }) => [
    rule,
    what,
    placet,
    floor,
    ratio.toFixed(2),
    bound,
    isMet ? 'met' : 'missed',
  ]);
  const table = [['rule', 'what', 'Placet', 'floor', 'ratio', 'bound', ''], ...lines];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  );
  for (const line of table)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  console.log(
    `\nmedians of the rounds; ${cpus().length} cores, Node ${process.versions.node}, Redis append-only, fsync each second`,
  );
}

await main();
