import type { Issue } from './errors.ts';

/** How deep arrays and objects may be nested in what is sent to us. */
export const maxJsonDepth = 32;

/** How many faults are listed at most. */
const maxIssues = 20;

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);
// With the `u` flag a surrogate matches only where it stands alone.
const loneSurrogate = /[\ud800-\udfff]/u;

interface Place {
  value: unknown;
  path: string;
  depth: number;
}

/**
 * Finds what no body of ours may hold (WR-31): NUL characters, lone surrogates, keys that reach a prototype, nesting
 * deeper than {@link maxJsonDepth}. Looks at every value, also at fields that no schema knows. At most 20 faults.
 */
export function findUnsafeJson(root: unknown): Issue[] {
  const issues: Issue[] = [];
  const places: Place[] = [{ value: root, path: '', depth: 0 }];
  for (let place = places.pop(); place && issues.length < maxIssues; place = places.pop()) {
    const { value, path, depth } = place;
    if (typeof value === 'string') {
      const fault = unsafeText(value);
      if (fault) issues.push({ path: path || '(root)', message: fault });
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= maxJsonDepth)
        issues.push({ path, message: `is nested deeper than ${maxJsonDepth} levels` });
      else
        for (const [key, child] of Object.entries(value)) {
          const childPath = path === '' ? key : `${path}.${key}`;
          if (forbiddenKeys.has(key))
            issues.push({ path: childPath, message: 'is a key that is not allowed' });
          else if (unsafeText(key))
            issues.push({ path, message: 'has a key with a NUL character or a lone surrogate' });
          else places.push({ value: child, path: childPath, depth: depth + 1 });
        }
    }
  }
  return issues;
}

/** What is wrong with a text that is to be stored, if anything: a NUL character or a lone surrogate (WR-31). */
export function unsafeText(text: string): string | undefined {
  if (text.includes('\0')) return 'holds a NUL character';
  if (loneSurrogate.test(text)) return 'holds a lone surrogate';
  return undefined;
}
