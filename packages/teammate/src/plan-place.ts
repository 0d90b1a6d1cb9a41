import { existsSync, readFileSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlanFile, planFileName, replaceFile, resolvePlanDirectory, slugOf } from '@placet/plan-mode';
import type { SessionRun } from './session-run.ts';

/** How often another slug is tried where a project's plan directory has a plan of that name already. */
const slugAttempts = 100;

/**
 * The plan file of a session (PM-40, PM-41): in the project's plan directory where one is configured and can be used,
 * else in the session's own folder. The place is chosen once and then kept.
 */
export async function planFileOf(run: SessionRun): Promise<PlanFile> {
  const { folders, sessionId, source, parts } = run;
  const place = join(folders.root, 'plan-path');
  if (existsSync(place)) return new PlanFile(readFileSync(place, 'utf8'));
  const directory = await resolvePlanDirectory({
    projectRoot: source.cwd,
    plansDirectory: parts.settings.plansDirectory,
    defaultDirectory: folders.plans,
    onRefused: (detail) => parts.log.error({ sessionId }, detail),
  });
  const path = await freePath(directory, sessionId, directory === folders.plans);
  await replaceFile(place, path);
  return new PlanFile(path);
}

/** The branch that a session's work is published as: unique, and short enough for its record. */
export function branchOf(sessionId: string): string {
  return `placet/${slugOf(sessionId)}-${slugSuffix(sessionId)}`;
}

function slugSuffix(sessionId: string): string {
  return sessionId.replace(/[^0-9a-z]/g, '').slice(-8) || 'task';
}

async function freePath(directory: string, sessionId: string, isOwn: boolean): Promise<string> {
  for (let attempt = 0; attempt < slugAttempts; attempt += 1) {
    const path = join(directory, planFileName(slugOf(sessionId, attempt)));
    if (isOwn) return path;
    // Made at once, and empty, which is no plan: two sessions never share a file.
    const file = await open(path, 'wx', 0o600).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'EEXIST') return undefined;
      throw thrown;
    });
    await file?.close();
    if (file) return path;
  }
  throw new Error(`there are too many plans in ${directory}`);
}

const feedbackName = /^(\d+)\.md$/;

/** Keeps what a lead said of a revision, for every later one. The same again changes nothing. */
export async function keepFeedback(run: SessionRun, revision: number, text: string): Promise<void> {
  await replaceFile(join(run.folders.root, 'feedback', `${revision}.md`), text);
}

/** Everything that leads said so far, the latest last; undefined where there is nothing. */
export async function feedbackSoFar(run: SessionRun): Promise<string | undefined> {
  const folder = join(run.folders.root, 'feedback');
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => feedbackName.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.length > 0 ? `${texts.map((text) => text.trimEnd()).join('\n\n')}\n` : undefined;
}
