// One program run to its end, as the steps of the setup need it.
import { spawn } from 'node:child_process';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program and resolves with its exit code (128 + n when signal n ended it) and what it printed.
 * With `quiet` its output is kept and returned; otherwise it goes straight to ours.
 * A signal that should end us ends the program first.
 */
export function run(command, args, { cwd, env = process.env, quiet = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
    const printed = [];
    child.stdout?.on('data', (chunk) => printed.push(chunk));
    child.stderr?.on('data', (chunk) => printed.push(chunk));

    let endedBy;
    const pass = (signal) => {
      endedBy = signal;
      child.kill(signal);
    };
    for (const signal of forwarded) process.on(signal, pass);
    const release = () => {
      for (const signal of forwarded) process.off(signal, pass);
    };

    child.on('error', (error) => {
      release();
      reject(error);
    });
    child.on('close', (code, signal) => {
      release();
      // We were told to end: end the same way, now that nothing of ours is left running.
      if (endedBy !== undefined) process.kill(process.pid, endedBy);
      resolve({ code: code ?? exitCodeOf(signal), printed: Buffer.concat(printed).toString() });
    });
  });
}

function exitCodeOf(signal) {
  return signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : signal === 'SIGKILL' ? 137 : 1;
}
