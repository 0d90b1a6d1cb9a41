import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));

const PackageFile = z.looseObject({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/** The absolute path of a path of this repository. */
export function inRepository(path: string): string {
  return `${root}${path}`;
}

/** The text of a file of this repository. */
export function textOf(path: string): string {
  return readFileSync(inRepository(path), 'utf8');
}

/** The files that are committed or staged, `/` between folders. */
export function committedFiles(): string[] {
  return listed('--cached');
}

/** The committed files and the new ones that git does not ignore: what a test of the sources should see. */
export function sourceFiles(): string[] {
  return listed('--cached', '--others', '--exclude-standard');
}

/** The names a package may import from outside: all kinds of dependencies of a `package.json`. */
export function declaredDependencies(packageFile: string): Set<string> {
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = PackageFile.parse(
    JSON.parse(textOf(packageFile)),
  );
  return new Set(
    [dependencies, devDependencies, peerDependencies, optionalDependencies].flatMap((kind) =>
      Object.keys(kind),
    ),
  );
}

function listed(...which: string[]): string[] {
  const output = execFileSync('git', ['ls-files', '-z', ...which], { cwd: root, encoding: 'utf8' });
  const paths = new Set(output.split('\0').filter((path) => path !== ''));
  return [...paths].filter((path) => existsSync(inRepository(path))).sort();
}
