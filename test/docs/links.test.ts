import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { inRepository, sourceFiles, textOf } from '../support/repository.ts';

const pages = sourceFiles().filter((path) => /^(?:docs\/.*|[A-Z]+)\.md$/.test(path));

it('every page links to what is there', () => {
  const links = pages.flatMap((path) =>
    [...textOf(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(
      (match) => [path, match[1] ?? ''] as const,
    ),
  );
  const broken = links.filter(([path, target]) => !existsSync(inRepository(join(dirname(path), target))));
  expect(links.length).toBeGreaterThan(20);
  expect(broken).toEqual([]);
});

it.each([
  ['an approval undoes nothing', /undoes nothing that already happened/],
  ['an approval is no transaction', /no transaction/],
  ["an approval proves no reviewer's care", /proves no reviewer's care/],
  ['read-only tools can still cost, log or leak', /Read-only tools can still cost money, log, or leak/],
  [
    'a runtime beside the gate is not held by it',
    /does not route its calls through the gate is not held by it/,
  ],
  ['whoever holds the key can approve', /holds the lead's signing key can approve anything/],
  [
    'whoever controls a teammate controls what it does',
    /controls a teammate's process controls what it does/,
  ],
])('[OP-9] the documentation says that %s', (_, text) => {
  expect(textOf('docs/security.md')).toMatch(text);
  expect(textOf('README.md')).toContain('docs/security.md');
});
