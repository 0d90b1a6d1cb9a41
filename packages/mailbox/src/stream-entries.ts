import { PlacetError } from '@placet/protocol';

/** An entry of a stream: its id, and field and value in turns; no fields where it was deleted. */
export interface StreamEntry {
  id: string;
  fields: string[];
}

/** The number of an id of ours, `<n>-0`. */
export function numberOfEntry(id: string): number {
  return Number(id.slice(0, id.indexOf('-')));
}

/** The value of a field; the empty text where there is none. */
export function fieldOf(fields: readonly string[], name: string): string {
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (fields[index] === name) return fields[index + 1] ?? '';
  }
  return '';
}

/**
 * Reads what XREAD and XREADGROUP answer: entries by key. Nothing where the time ran out.
 * @throws PlacetError `internal` where it is of another shape
 */
export function parseStreams(reply: unknown): { key: string; entries: StreamEntry[] }[] {
  if (reply === null || reply === undefined) return [];
  return list(reply).map((stream) => {
    const [key, entries] = list(stream);
    return { key: String(key), entries: parseEntries(entries) };
  });
}

/** Reads a list of entries, as XRANGE answers it. @throws as {@link parseStreams} */
export function parseEntries(reply: unknown): StreamEntry[] {
  return list(reply).map((entry) => {
    const [id, fields] = list(entry);
    return { id: String(id), fields: fields === null ? [] : list(fields).map(String) };
  });
}

function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new PlacetError('internal', 'Redis answered a stream command in an unknown shape');
}
