import type { Issue } from '@placet/protocol';

/** An open object or array, while a text is scanned. */
interface Level {
  path: string;
  /** The keys seen so far; undefined for an array. */
  keys: Set<string> | undefined;
  /** Where in the value the scan stands: the last key, or the index. */
  at: string;
  index: number;
  /** Whether the next string is a key. */
  expectsKey: boolean;
}

/** How many faults are listed at most. */
const maxIssues = 20;

/**
 * Finds keys that stand twice in one object: parsers disagree on which one counts, so that what was checked may not
 * be what is read later. `text` must be well-formed JSON.
 */
export function findDuplicateKeys(text: string): Issue[] {
  const issues: Issue[] = [];
  const levels: Level[] = [];
  for (let at = 0; at < text.length && issues.length < maxIssues; at++) {
    const level = levels.at(-1);
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = endOfString(text, at);
        if (level?.expectsKey) takeKey(level, text.slice(at, end + 1), issues);
        at = end;
        break;
      }
      case 0x7b: // {
        levels.push({ path: pathOf(level), keys: new Set(), at: '', index: 0, expectsKey: true });
        break;
      case 0x5b: // [
        levels.push({ path: pathOf(level), keys: undefined, at: '0', index: 0, expectsKey: false });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop();
        break;
      case 0x2c: // ,
        if (level) goOn(level);
        break;
    }
  }
  return issues;
}

function takeKey(level: Level, literal: string, issues: Issue[]): void {
  // Escapes can spell one key in two ways; only its value counts.
  const key = String(literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1));
  level.at = key;
  level.expectsKey = false;
  if (level.keys?.has(key)) issues.push({ path: pathOf(level), message: 'is a key that stands twice' });
  level.keys?.add(key);
}

function goOn(level: Level): void {
  if (level.keys) {
    level.expectsKey = true;
  } else {
    level.index += 1;
    level.at = String(level.index);
  }
}

function pathOf(level: Level | undefined): string {
  if (!level) return '';
  return level.path === '' ? level.at : `${level.path}.${level.at}`;
}

/** The position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
