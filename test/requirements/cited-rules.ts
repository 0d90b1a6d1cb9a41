import { parseSync, Visitor } from 'oxc-parser';

/** One test title of a file and the rules it cites. */
export type Citation = { path: string; title: string; rules: string[]; runs: boolean };

const startsTest = /^(?:describe|it|test|suite)\b/;
const isOff = /\.(?:skip|todo|fails)\b/;

/**
 * Finds the titles of a test file that cite rules: `[WR-1]`, or `[WR-1, WR-2]` for several.
 * `runs` is false for a test that is skipped or still to be written; that proves nothing.
 */
export function citationsIn(path: string, text: string): Citation[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found: Citation[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      const called = text.slice(callee.start, callee.end);
      if (first === undefined || !startsTest.test(called)) return;
      const title = text.slice(first.start, first.end);
      const rules = /^['"`]/.test(title) ? rulesIn(title) : [];
      if (rules.length > 0) found.push({ path, title, rules, runs: !isOff.test(called) });
    },
  }).visit(program);
  return found;
}

function rulesIn(title: string): string[] {
  return [...title.matchAll(/\[((?:[A-Z]{2}-\d+|I\d+)(?:[, ]+(?:[A-Z]{2}-\d+|I\d+))*)\]/g)].flatMap(
    (match) => match[1]?.split(/[, ]+/) ?? [],
  );
}
