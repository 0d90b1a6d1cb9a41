#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { z } from 'zod';
import { runProgram } from './program.ts';
import type { World } from './world.ts';

const stop = new AbortController();

/** One key press can arrive twice, from the terminal and through npm; later than this it is somebody's second wish. */
const sameWishMs = 2000;
let askedAt: number | undefined;

function onSignal(): void {
  askedAt ??= performance.now();
  // The first signal asks; whoever asks again does not want to wait.
  if (performance.now() - askedAt > sameWishMs) process.exit(130);
  stop.abort();
}
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);

/** A reader that went away, such as `head`, ends a command and is no fault. */
function onPipeError(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  stop.abort();
}
process.stdout.on('error', onPipeError);
process.stderr.on('error', onPipeError);

const world: World = {
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  home: process.env.HOME || homedir(),
  user: userName(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
  // Asked for only by services: listening keeps the process alive.
  parentGone: () =>
    new Promise((resolve) => {
      if (process.connected) process.once('disconnect', resolve);
    }),
  tellParent: (message) => {
    if (process.connected) process.send?.(message);
  },
};

process.exitCode = await runProgram(world, version());
// Listening for the end of the parent keeps the channel to it open.
if (process.connected) process.disconnect();

function version(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(file)).version;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER || 'user'; // a user id without an entry in the system's table
  }
}
