import { createHash } from 'node:crypto';
import { chmod, lstat, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { narrowedBy } from './feedback.mjs';
import { listFiles } from './files.mjs';
import { readPlan, writePlan } from './plan.mjs';
import { transformFor } from './transforms.mjs';

/**
 * Runs one phase. What to do comes from the environment, as Placet sets it: PLACET_PHASE, PLACET_TASK or
 * PLACET_TASK_FILE, PLACET_PLAN_FILE, PLACET_FEEDBACK_FILE.
 * @returns {Promise<number>} the exit code
 */
export async function main(env, root) {
  try {
    if (env.PLACET_PHASE === 'plan') return await plan(env, root);
    if (env.PLACET_PHASE === 'implement') return await implement(env, root);
    throw new Error('PLACET_PHASE must be plan or implement: this program is started by Placet');
  } catch (error) {
    console.error(`codemod: ${error.message}`);
    return 1;
  }
}

async function plan(env, root) {
  const task = env.PLACET_TASK_FILE ? await readFile(env.PLACET_TASK_FILE, 'utf8') : (env.PLACET_TASK ?? '');
  const feedback = env.PLACET_FEEDBACK_FILE ? await readFile(env.PLACET_FEEDBACK_FILE, 'utf8') : '';
  const transform = transformFor(task);
  const { keeps, said } = narrowedBy(feedback);
  const changes = [];
  const left = [];
  for (const path of await listFiles(root)) {
    if (!transform.appliesTo(path)) continue;
    const before = await readText(join(root, path));
    if (before === undefined) continue;
    const { text, edits } = transform.apply(before, path);
    if (text === before) continue;
    if (keeps(path)) changes.push({ path, edits, before: digest(before), after: digest(text) });
    else left.push(path);
  }
  await writeFile(env.PLACET_PLAN_FILE, writePlan({ task, transform, changes, left, said }), { mode: 0o600 });
  console.log(`planned ${changes.length} files`);
  return 0;
}

async function implement(env, root) {
  const { transform: spec, changes } = readPlan(await readFile(env.PLACET_PLAN_FILE, 'utf8'));
  const transform = transformFor(spec);
  const texts = [];
  // All of it is checked before any of it is written: a plan is done as it was approved, or not at all.
  for (const { path, before, after } of changes) {
    await refuseLinks(root, path);
    const text = await readText(join(root, path));
    if (text === undefined || digest(text) !== before)
      throw new Error(`${path} is not as it was planned on: plan again`);
    const changed = transform.apply(text, path).text;
    if (digest(changed) !== after) throw new Error(`${path} would not become what the plan says: plan again`);
    texts.push({ path, text: changed });
  }
  for (const { path, text } of texts) await replace(join(root, path), text);
  console.log(`changed ${texts.length} files`);
  return 0;
}

/** Follows no link, in the path or at its end: the plan names files of this tree. */
async function refuseLinks(root, path) {
  let place = root;
  for (const part of path.split('/')) {
    place = join(place, part);
    if (part === '..' || part === '.git' || (await lstat(place)).isSymbolicLink())
      throw new Error(`${path} is not a file of this tree`);
  }
}

async function replace(path, text) {
  const { mode } = await lstat(path);
  await writeFile(`${path}.codemod`, text, { flag: 'wx' });
  await chmod(`${path}.codemod`, mode & 0o777);
  await rename(`${path}.codemod`, path);
}

/** The text of a file; undefined for what is no text, too large or no regular file. */
async function readText(path) {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isFile() || stats.size > 1024 * 1024) return undefined;
  const bytes = await readFile(path);
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function digest(text) {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
