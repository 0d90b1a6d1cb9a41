// Builds what is not built and runs the benchmark in a process of its own: `npm run bench [-- --quick] [-- --json]`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

console.error('bench: building');
run('npm', ['run', '--silent', 'build']);
run(process.execPath, ['--import', 'tsx', 'test/bench/main.ts', ...process.argv.slice(2)]);
