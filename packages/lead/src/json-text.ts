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

/** Beyond this many levels a text is not even parsed; where the fault is would be no help to anybody. */
const abyssDepth = 1000;

/** Whether a text, JSON or not, is nested so deep that parsing it is a waste: millions of levels fit into a body. */
export function isAbyss(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (char === 0x5b || char === 0x7b) {
      depth += 1;
      if (depth > abyssDepth) return true;
    } else if (char === 0x5d || char === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** The most values that a body may hold: none of ours needs a tenth, and each costs far more to check than to send. */
export const maxJsonValues = 10_000;

/** Whether a text, JSON or not, holds more than {@link maxJsonValues} values, as its commas tell. */
export function isCrowd(text: string): boolean {
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = endOfString(text, at);
      if (at === -1) return false;
    } else if (char === 0x2c) {
      commas += 1;
      if (commas >= maxJsonValues) return true;
    }
  }
  return false;
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

/** The position of the quote that ends the string which begins at `start`; -1 where nothing ends it. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
