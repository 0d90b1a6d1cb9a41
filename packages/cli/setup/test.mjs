// `npm test`: installs what is missing, builds, runs every test, and ends with one line that counts them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countsLine, countTests } from './counts.mjs';
import { prepare, root, say } from './install.mjs';
import { run } from './run.mjs';

await prepare();

const folder = mkdtempSync(join(tmpdir(), 'placet-test-'));
const report = join(folder, 'report.json');
let code = 1;
try {
  say('running the tests (unit, then system)');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const ran = await run(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
    cwd: root,
  });
  code = ran.code;
} finally {
  const counts = countTests(read(report), code);
  for (const note of counts.notes) say(note);
  process.stdout.write(`${countsLine(counts)}\n`);
  process.exitCode = counts.failed > 0 ? code || 1 : code;
  rmSync(folder, { recursive: true, force: true });
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // No report, or half of one: vitest did not come to its end, and countTests says so.
    return undefined;
  }
}
