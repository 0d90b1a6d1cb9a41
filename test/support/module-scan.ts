import { parseSync } from 'oxc-parser';

/** What one source file imports and exports, types included: an arrow is an arrow also when it is erased. */
export type ModuleScan = {
  /** Specifiers of every import, re-export and dynamic import; `undefined` for one that is not a literal. */
  imports: (string | undefined)[];
  hasDefaultExport: boolean;
  /** `export *` in any form. */
  hasStarExport: boolean;
  /** The text without its comments. */
  code: string;
};

/** Reads one TypeScript or JavaScript file. @throws Error when it does not parse. */
export function scanModule(path: string, text: string): ModuleScan {
  const { module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const exported = module.staticExports.flatMap((statement) => statement.entries);
  return {
    imports: [
      ...module.staticImports.map((statement) => statement.moduleRequest.value),
      ...exported.flatMap((entry) => entry.moduleRequest?.value ?? []),
      ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => literal(text.slice(start, end))),
    ],
    hasDefaultExport: exported.some(
      ({ exportName }) => String(exportName.kind) === 'Default' || exportName.name === 'default',
    ),
    hasStarExport: exported.some(({ importName }) => importName.kind.startsWith('All')),
    code: comments.reduceRight((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text),
  };
}

/** The package that a specifier names: `@placet/protocol` of `@placet/protocol/client`. */
export function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function literal(source: string): string | undefined {
  return /^(['"`])([^'"`$]*)\1$/.exec(source)?.[2];
}
