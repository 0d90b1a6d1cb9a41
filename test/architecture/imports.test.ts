import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ModuleScan, packageNameOf, scanModule } from '../support/module-scan.ts';
import { declaredDependencies, sourceFiles, textOf } from '../support/repository.ts';
import {
  arrows,
  consoleArrows,
  consoleFolder,
  libraryHomes,
  networkModules,
  protocolLibraries,
  testLibraries,
} from './house.ts';

type Source = ModuleScan & { path: string; home: string; isTest: boolean };

const files = sourceFiles();
const sources: Source[] = files
  .filter((path) => /^packages\/[^/]+\/(?:src|console)\/.*\.tsx?$/.test(path))
  .map((path) => ({
    ...scanModule(path, textOf(path)),
    path,
    home: homeOf(path),
    isTest: /\.test\.(?:fixture\.)?tsx?$/.test(path),
  }));
const imports = sources.flatMap((source) =>
  source.imports.flatMap((specifier) => (specifier === undefined ? [] : [{ ...source, specifier }])),
);
const homes = [...new Set(files.filter((path) => path.startsWith('packages/')).map(homeOf))];

describe('who imports whom', () => {
  it.each(homes)('package %s is in the table of the house', (home) => {
    expect(Object.keys(arrows)).toContain(home);
  });

  it.each(homes)('the scan saw the imports of %s', (home) => {
    const own = sources.filter((source) => source.home === home);
    const placeholder = own.every(({ code }) => code.trim() === 'export {};');

    expect(own).not.toEqual([]);
    expect(own.flatMap((source) => source.imports).length).toBeGreaterThan(placeholder ? -1 : 0);
  });

  it('no arrow between the packages runs against the table', () => {
    const wrong = imports.filter(({ path, home, specifier }) => {
      const target = /^@placet\/([^/]+)/.exec(specifier)?.[1];
      const allowed = path.startsWith(consoleFolder) ? consoleArrows : arrows[home];
      return target !== undefined && allowed?.includes(target) !== true;
    });

    expect(wrong.map(said)).toEqual([]);
  });

  it('a relative import stays in its package and names a file', () => {
    const wrong = imports.filter(({ path, home, specifier }) => {
      if (!specifier.startsWith('.')) return false;
      const target = normalize(join(dirname(path), specifier));
      return !target.startsWith(`packages/${home}/`) || !/\.[a-z]+$/.test(specifier);
    });

    expect(wrong.map(said)).toEqual([]);
  });

  it('what is imported is declared by the package itself', () => {
    const wrong = imports.filter(({ home, specifier, isTest }) => {
      if (/^(?:\.|node:)/.test(specifier)) return false;
      const name = packageNameOf(specifier);
      const declared = declaredDependencies(`packages/${home}/package.json`).has(name);
      return !declared && !(isTest && testLibraries.includes(name));
    });

    expect(wrong.map(said)).toEqual([]);
  });

  it('a library with a home is imported nowhere else', () => {
    const wrong = imports.filter(
      ({ home, specifier }) => libraryHomes[packageNameOf(specifier)]?.includes(home) === false,
    );

    expect(wrong.map(said)).toEqual([]);
  });

  it('no specifier is computed', () => {
    expect(sources.filter((source) => source.imports.includes(undefined)).map(({ path }) => path)).toEqual(
      [],
    );
  });
});

describe('what stays pure', () => {
  it('protocol imports nothing of Node and only its few libraries', () => {
    const wrong = imports.filter(({ home, specifier, isTest }) => {
      if (home !== 'protocol' || specifier.startsWith('.')) return false;
      const name = packageNameOf(specifier);
      // Tests run in Node, and may compare with what Node itself computes.
      const forTests = testLibraries.includes(name) || name.startsWith('node:');
      return !protocolLibraries.includes(name) && !(isTest && forTests);
    });

    expect(wrong.map(said)).toEqual([]);
  });

  it('protocol names no global that only Node has', () => {
    const wrong = sources.filter(
      ({ home, isTest, code }) =>
        home === 'protocol' && !isTest && /\b(?:process|Buffer|setImmediate|__dirname)\b[.(]/.test(code),
    );

    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('plan-mode has no network', () => {
    const wrong = imports.filter(
      ({ home, specifier }) => home === 'plan-mode' && networkModules.includes(packageNameOf(specifier)),
    );

    expect(wrong.map(said)).toEqual([]);
  });

  it('outside mailbox, ioredis is only what BullMQ is given', () => {
    const wrong = imports.filter(
      ({ home, specifier, imports: all }) =>
        home !== 'mailbox' && specifier === 'ioredis' && !all.includes('bullmq'),
    );

    expect(wrong.map(said)).toEqual([]);
  });

  it('[ST-1] only mailbox spells a key of ours', () => {
    const wrong = sources.filter(
      ({ home, code }) => home !== 'mailbox' && /placet:(?:\{|teams\b)/.test(code),
    );

    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('only main.ts and bin.ts read the environment', () => {
    const reads =
      /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[\s*['"`]env|\{[^}]*\benv\b[^}]*\}\s*(?:=\s*process\b|from\s*['"](?:node:)?process)/;
    const wrong = sources.filter(({ path, code }) => !/\/(?:main|bin)\.ts$/.test(path) && reads.test(code));

    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe('what a package shows', () => {
  const entries = sources.filter(({ path }) => /^packages\/[^/]+\/src\/(?:[^/]+\/)*index\.ts$/.test(path));

  it.each(entries)('$path exports by name, one by one', ({ hasDefaultExport, hasStarExport }) => {
    expect({ hasDefaultExport, hasStarExport }).toEqual({ hasDefaultExport: false, hasStarExport: false });
  });

  it('nothing has a default export or exports a star', () => {
    const wrong = sources.filter(({ hasDefaultExport, hasStarExport }) => hasDefaultExport || hasStarExport);

    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('a test reaches a package by its name, not through its sources', () => {
    const wrong = files
      .filter((path) => /^test\/.*\.tsx?$/.test(path) && !path.startsWith('test/bench/peers/'))
      .flatMap((path) =>
        scanModule(path, textOf(path)).imports.map((specifier) => ({ path, specifier: specifier ?? '' })),
      )
      .filter(({ specifier }) => /packages\/[^/]+\/(?:src|dist)\//.test(specifier));

    expect(wrong.map(said)).toEqual([]);
  });
});

function homeOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function said({ path, specifier }: { path: string; specifier: string }): string {
  return `${path} imports ${specifier}`;
}
