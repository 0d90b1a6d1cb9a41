import { matches } from './files.mjs';

const words = {
  test: ['**/*.test.*', '**/*.spec.*', 'test/', 'tests/', '**/__tests__/'],
  doc: ['**/*.md', 'docs/'],
};
const leaving = /\b(?:skip|leave|exclude|ignore|without|except|not|don't touch|do not touch|keep)\b/i;
const only = /\bonly\b/i;

/**
 * Reads what a lead said of a plan, line by line: `skip docs/…`, `leave the tests as they are`, `only src/**`. A line
 * that says nothing of files narrows nothing, and the plan says so.
 */
export function narrowedBy(feedback) {
  const skipped = [];
  const kept = [];
  const said = [];
  for (const line of feedback.split('\n').map((text) => text.trim())) {
    if (line === '') continue;
    const patterns = patternsOf(line);
    const list = only.test(line) ? kept : leaving.test(line) ? skipped : undefined;
    if (list && patterns.length > 0) {
      list.push(...patterns);
      said.push({ line, effect: `${list === kept ? 'only' : 'without'} ${patterns.join(', ')}` });
    } else said.push({ line, effect: 'not understood by this agent' });
  }
  const isIn = (path, patterns) => patterns.some((pattern) => matches(path, pattern));
  return { keeps: (path) => !isIn(path, skipped) && (kept.length === 0 || isIn(path, kept)), said };
}

function patternsOf(line) {
  const paths = line
    .split(/[\s,;'"`]+/)
    .filter((token) => /[/*]|\w\.\w+$/.test(token))
    .map((token) => token.replace(/[.:]$/, ''));
  const named = Object.entries(words).flatMap(([word, patterns]) =>
    new RegExp(`\\b${word}s?\\b`, 'i').test(line.replace(/\S*[/*]\S*/g, '')) ? patterns : [],
  );
  return [...paths, ...named];
}
