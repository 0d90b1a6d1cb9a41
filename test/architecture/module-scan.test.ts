import { describe, expect, it } from 'vitest';
import { packageNameOf, scanModule } from '../support/module-scan.ts';

describe('the scan of a module', () => {
  it('sees every way to import', () => {
    const { imports } = scanModule(
      'a.ts',
      `import one from 'one';
       import type { Two } from 'two';
       import 'three';
       export { four } from 'four';
       export type { Five } from 'five';
       export * from 'six';
       const seven = await import('seven');
       const eight = await import(\`\${one}\`);
       // import nine from 'nine';
       const ten = "import ten from 'ten'";`,
    );

    expect(imports).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven', undefined]);
  });

  it.each([
    ['export default 1;', { hasDefaultExport: true, hasStarExport: false }],
    ["export { a as default } from './a.ts';", { hasDefaultExport: true, hasStarExport: false }],
    ["export * from './a.ts';", { hasDefaultExport: false, hasStarExport: true }],
    ["export * as a from './a.ts';", { hasDefaultExport: false, hasStarExport: true }],
    ["export { a } from './a.ts';", { hasDefaultExport: false, hasStarExport: false }],
  ])('tells the kind of export in %s', (text, expected) => {
    expect(scanModule('a.ts', text)).toMatchObject(expected);
  });

  it('leaves comments out of the code', () => {
    expect(scanModule('a.ts', 'a(/* process.env */); // process.env\n/** é */ b();').code).toBe(
      'a(); \n b();',
    );
  });

  it('refuses what does not parse', () => {
    expect(() => scanModule('a.ts', 'import {')).toThrow('a.ts');
  });

  it('names the package of a specifier', () => {
    expect(['@placet/protocol/client', 'node:fs/promises', 'zod'].map(packageNameOf)).toEqual([
      '@placet/protocol',
      'node:fs',
      'zod',
    ]);
  });
});
