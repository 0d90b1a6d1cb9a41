/** A line of a difference: kept, added or removed. */
export interface DiffLine {
  kind: ' ' | '+' | '-';
  text: string;
}

/** Beyond this many differing lines the difference is shown as a whole: one text out, the other in. */
const maxEdits = 2000;

/** The shortest difference between two texts, line by line (Myers). */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const head = commonHead(old, now);
  const tail = commonTail(old, now, head);
  const middle = shortestEdit(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [...kept(old.slice(0, head)), ...middle, ...kept(old.slice(old.length - tail))];
}

/** A difference with `context` kept lines around each change; `null` stands where lines were left out. */
export function withContext(lines: readonly DiffLine[], context = 3): (DiffLine | null)[] {
  const near = new Set<number>();
  for (const [at, line] of lines.entries())
    if (line.kind !== ' ') for (let index = at - context; index <= at + context; index += 1) near.add(index);
  const shown: (DiffLine | null)[] = [];
  for (const [at, line] of lines.entries())
    if (near.has(at)) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  return shown;
}

function kept(lines: string[]): DiffLine[] {
  return lines.map((text) => ({ kind: ' ', text }));
}

function commonHead(old: string[], now: string[]): number {
  let at = 0;
  while (at < old.length && at < now.length && old[at] === now[at]) at += 1;
  return at;
}

function commonTail(old: string[], now: string[], head: number): number {
  let count = 0;
  while (count < Math.min(old.length, now.length) - head && old.at(-1 - count) === now.at(-1 - count))
    count += 1;
  return count;
}

/** Walks the edit graph: after `d` edits, `reach` has how far each diagonal came. */
function shortestEdit(old: string[], now: string[]): DiffLine[] {
  const trail: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(old.length + now.length, maxEdits); d += 1) {
    trail.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      let x = stepsDown(reach, k, d) ? at(reach, k + 1) : at(reach, k - 1) + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
      reach.set(k, x);
      if (x >= old.length && x - k >= now.length) return walkBack(trail, old, now);
    }
  }
  return [
    ...old.map((text): DiffLine => ({ kind: '-', text })),
    ...now.map((text): DiffLine => ({ kind: '+', text })),
  ];
}

function walkBack(trail: Map<number, number>[], old: string[], now: string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = old.length;
  let y = now.length;
  for (let d = trail.length - 1; d >= 0; d -= 1) {
    const reach = trail[d] ?? new Map<number, number>();
    const k = x - y;
    const before = stepsDown(reach, k, d) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(reach, before);
    const fromY = d === 0 ? 0 : fromX - before;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ kind: ' ', text: old[x] ?? '' });
    }
    if (d > 0 && x === fromX) lines.push({ kind: '+', text: now[fromY] ?? '' });
    else if (d > 0) lines.push({ kind: '-', text: old[fromX] ?? '' });
    x = fromX;
    y = fromY;
  }
  return lines.reverse();
}

function stepsDown(reach: Map<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1));
}

function at(reach: Map<number, number>, k: number): number {
  return reach.get(k) ?? 0;
}
