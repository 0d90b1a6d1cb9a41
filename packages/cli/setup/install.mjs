// Brings a clone to where it can run: the Node version, the packages, the build.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

const oldestNode = [20, 19];

/** Checks Node, installs when the installed packages are not those of the lock file, and builds. Exits on failure. */
export async function prepare() {
  checkNode();
  const reason = reasonToInstall();
  if (reason !== undefined) await install(reason);
  await build();
}

/** One line about what is being done. On stderr, so that stdout stays the program's own. */
export function say(line) {
  process.stderr.write(`placet: ${line}\n`);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  fail(
    `Node ${oldestNode.join('.')} or newer is needed; this is ${process.versions.node} (${process.execPath}).`,
  );
}

/** Compares what npm noted as installed with the lock file; times of files say nothing after a checkout. */
function reasonToInstall() {
  const installedNote = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedNote)) return 'the packages are not installed';
  const locked = packagesIn(join(root, 'package-lock.json'));
  const installed = packagesIn(installedNote);
  for (const [path, entry] of Object.entries(locked)) {
    if (!path.includes('node_modules/') || entry.optional || entry.devOptional || entry.peer) continue;
    const found = installed[path];
    if (found === undefined) return `${path} is not installed`;
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path} is not the version of the lock file`;
    }
    if (!entry.link && !existsSync(join(root, path))) return `${path} is gone`;
  }
  return undefined;
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages ?? {};
  } catch (error) {
    return fail(`cannot read ${lockFile}: ${error.message}`);
  }
}

async function install(reason) {
  say(`${reason}: running npm ci`);
  // Compilers come as optional packages and the build as dev ones, whatever NODE_ENV or the user's npm settings say.
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const { code } = await npm(args);
  if (code !== 0) fail(`npm ci failed with exit code ${code}; its message is above.`, code);
}

async function build() {
  say('building');
  const turbo = join(root, 'node_modules', 'turbo', 'bin', 'turbo');
  const { code, printed } = await run(
    process.execPath,
    [turbo, 'run', 'build', '--output-logs=errors-only'],
    {
      cwd: root,
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
      quiet: true,
    },
  );
  if (code === 0) return;
  process.stderr.write(printed);
  fail(`the build failed with exit code ${code}; its message is above.`, code);
}

/** The npm that started us, if one did. */
function npm(args) {
  const ours = process.env.npm_execpath;
  if (ours !== undefined && basename(ours) === 'npm-cli.js') {
    return run(process.execPath, [ours, ...args], { cwd: root });
  }
  return run('npm', args, { cwd: root });
}

function fail(line, code = 1) {
  say(line);
  process.exit(code);
}
