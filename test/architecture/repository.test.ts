import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { committedFiles, declaredDependencies, inRepository, textOf } from '../support/repository.ts';
import { chosenLibraries, rivalLibraries, topLevel } from './house.ts';

const files = committedFiles();
const packageFiles = files.filter(
  (path) => /(?:^|\/)package\.json$/.test(path) && !path.startsWith('test/bench/peers/'),
);

describe('the repository', () => {
  it('[OP-8] has the agreed top level and nothing beside it', () => {
    const entries = new Set(files.map((path) => path.split('/')[0] ?? ''));
    const strangers = [...entries].filter((entry) => !entry.startsWith('.') && !topLevel.includes(entry));

    expect(files).toContain('package.json');
    expect(strangers).toEqual([]);
  });

  it.each(chosenLibraries)('[OP-8] uses %s', (library, homes) => {
    for (const home of homes) expect(declaredDependencies(home)).toContain(library);
  });

  it('[OP-8] declares no second library for the same job', () => {
    const rivals = packageFiles.flatMap((path) =>
      [...declaredDependencies(path)]
        .filter((name) => rivalLibraries.includes(name))
        .map((name) => `${path} declares ${name}`),
    );

    expect(packageFiles.length).toBeGreaterThan(2);
    expect(rivals).toEqual([]);
  });

  it('holds no file over 1 MiB', () => {
    expect(files.filter((path) => statSync(inRepository(path)).size > 1024 * 1024)).toEqual([]);
  });

  it('[OP-1] has a lock file that names no registry, so that any can serve it', () => {
    const lock = textOf('package-lock.json');

    expect(lock).toContain('"lockfileVersion": 3');
    expect(lock).not.toMatch(/"resolved": "(?!packages\/|test")/);
  });
});
