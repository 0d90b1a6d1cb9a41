import { builtinModules } from 'node:module';
import { matches } from './files.mjs';

const scripts = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const builtins = new Set(builtinModules.filter((name) => !name.startsWith('_') && !name.includes(':')));

/**
 * The change that a task asks for. Understood: `rename OLD NEW`, `replace "x" "y" [in PATTERN]`, licence headers
 * (`add SPDX licence headers [of ID] [in PATTERN]`), and `node:` prefixes for imports of Node's own modules.
 */
export function transformFor(task) {
  const text = task.trim();
  const rename =
    /\brename\s+`?([A-Za-z_$][\w$]*)`?\s+(?:to\s+|into\s+)?`?([A-Za-z_$][\w$]*)`?(?:\s+in\s+(\S+))?/i.exec(
      text,
    );
  if (rename) return renaming(rename[1], rename[2], rename[3]);
  const replace =
    /\breplace\s+"((?:[^"\\]|\\.)+)"\s+(?:by\s+|with\s+)?"((?:[^"\\]|\\.)*)"(?:\s+in\s+(\S+))?/i.exec(text);
  if (replace) return replacing(unquoted(replace[1]), unquoted(replace[2]), replace[3]);
  if (/\b(?:spdx|licen[cs]e)\b/i.test(text))
    return licensing(
      /\bof\s+([A-Za-z0-9.+-]+)/.exec(text)?.[1] ?? 'Apache-2.0',
      /\bin\s+(\S*[/*]\S*)/.exec(text)?.[1],
    );
  if (/\bnode:|\bprefix/i.test(text)) return prefixing();
  throw new Error(
    'this agent understands: rename OLD NEW; replace "x" "y" [in PATTERN]; add SPDX licence headers; import the modules of Node by their node: names',
  );
}

/** @param {string} [pattern] scripts of every kind, unless given */
function renaming(from, to, pattern) {
  const word = new RegExp(`(?<![\\w$])${escaped(from)}(?![\\w$])`, 'g');
  return {
    spec: `rename ${from} ${to}${pattern ? ` in ${pattern}` : ''}`,
    says: `Rename the identifier \`${from}\` to \`${to}\`, where it stands as a whole word.`,
    appliesTo: (path) => (pattern ? matches(path, pattern) : scripts.test(path)),
    apply: (text) => edited(text, word, () => to),
  };
}

function replacing(from, to, pattern = '**') {
  return {
    spec: `replace ${JSON.stringify(from)} ${JSON.stringify(to)} in ${pattern}`,
    says: `Replace the text \`${from}\` by \`${to}\` in \`${pattern}\`.`,
    appliesTo: (path) => matches(path, pattern),
    apply: (text) => edited(text, new RegExp(escaped(from), 'g'), () => to),
  };
}

/** An import, export or require of a bare name, at the start of a statement: not one that a string only speaks of. */
const importing =
  /^(\s*(?:import\s+|(?:(?:import|export)\b[^'"`;()=]*|\})\s*from\s*|(?:const|let|var)\s[^'"`;=]*=\s*(?:await\s+import|require)\s*\(\s*))(['"])([a-z_/]+)\2/gm;

function prefixing() {
  return {
    spec: 'add node: prefixes',
    says: 'Import the modules of Node by their `node:` names, so that no package can take their place.',
    appliesTo: (path) => scripts.test(path),
    apply: (text) =>
      edited(text, importing, (whole, start, quote, name) =>
        builtins.has(name) ? `${start}${quote}node:${name}${quote}` : whole,
      ),
  };
}

function licensing(id, pattern = '**') {
  const header = `// SPDX-License-Identifier: ${id}\n`;
  return {
    spec: `add SPDX licence headers of ${id} in ${pattern}`,
    says: `Say the licence of each source file in its first line: \`${header.trim()}\`.`,
    appliesTo: (path) => scripts.test(path) && matches(path, pattern),
    apply: (text) => {
      if (/SPDX-License-Identifier:/.test(text.slice(0, 1000))) return { text, edits: [] };
      // A line that names the interpreter stays the first one, and so does a byte-order mark.
      const start = /^\ufeff?(?:#![^\n]*\n)?/.exec(text)?.[0] ?? '';
      const line = start.includes('\n') ? 2 : 1;
      return {
        text: start + header + text.slice(start.length),
        edits: [{ line, before: '', after: header.trim() }],
      };
    },
  };
}

/** Applies a pattern and says, line by line, what became of what. */
function edited(text, pattern, replacement) {
  const edits = [];
  const changed = text.replace(pattern, (...args) => {
    const whole = args[0];
    const offset = args.find((arg) => typeof arg === 'number');
    const after = replacement(...args);
    if (after !== whole) {
      // A match may begin with the line breaks before it.
      const leading = /^\s*/.exec(whole)[0].length;
      edits.push({
        line: text.slice(0, offset + leading).split('\n').length,
        before: whole.trim(),
        after: after.trim(),
      });
    }
    return after;
  });
  return { text: changed, edits };
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function unquoted(text) {
  return text.replace(/\\(.)/g, '$1');
}
