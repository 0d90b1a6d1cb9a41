import { describe, expect, it } from 'vitest';
import { sourceFiles, textOf } from '../support/repository.ts';

/**
 * The files outside plan-mode that may leave plan mode in a person's name, each with how it knows that it is one. A new
 * tool, route or command that does must be entered here by somebody who looked at it.
 */
const doors: Record<string, string> = {};

const own = 'packages/plan-mode/src/posture/';
const isProduct = (path: string) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\./.test(path);

interface Act {
  path: string;
  act: string;
  actor: string;
}

/** Every call that leaves, cycles or decides planning, with what stands in the place of its actor. */
function actsIn(path: string, text: string): Act[] {
  if (!/\bPlanSession\b/.test(text)) return [];
  const calls = text.matchAll(/(\w+)(?:\?|!)?\.(exit|cycle|approve|reject)\(\s*([^,)]*)/g);
  return [...calls]
    .filter(([, object]) => object !== 'process' && object !== 'Promise')
    .map(([, , act = '', actor = '']) => ({ path, act, actor: actor.trim() }));
}

const acts = sourceFiles()
  .filter((path) => isProduct(path) && !path.startsWith(own))
  .flatMap((path) => actsIn(path, textOf(path)));

describe('the ways out of plan mode', () => {
  it('[PM-13] are only where they were looked at, and say literally that a person goes them', () => {
    expect(acts.filter(({ path, actor }) => !(path in doors) || actor !== "'user'")).toEqual([]);
  });

  it('[PM-13] are listed only where there are any', () => {
    expect(Object.keys(doors).filter((path) => !acts.some((act) => act.path === path))).toEqual([]);
  });

  it('[PM-13] cannot be reached by computing the name of the act or by taking it along', () => {
    const reflecting = sourceFiles()
      .filter((path) => isProduct(path) && /\bPlanSession\b/.test(textOf(path)))
      .filter((path) => /\bReflect\.|\bsession\[|\bposture\[|PlanSession\.prototype/.test(textOf(path)));

    expect(reflecting).toEqual([]);
  });

  it.each([
    ["import { PlanSession } from 'x'; s.exit(actor);", [{ path: 'a.ts', act: 'exit', actor: 'actor' }]],
    ["let p: PlanSession; p?.approve(\n 'user', {});", [{ path: 'a.ts', act: 'approve', actor: "'user'" }]],
    ['let p: PlanSession; process.exit(1); Promise.reject(x);', []],
    ["s.exit('model')", []],
  ])('[PM-13] are found in %j', (text, found) => {
    expect(actsIn('a.ts', text)).toEqual(found);
  });
});
