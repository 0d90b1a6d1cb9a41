import { PlacetError } from '@placet/protocol';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a duration of the command line in milliseconds: a number is milliseconds, and `500ms`, `30s`, `10m`, `2h` and
 * `1d` say their unit.
 * @throws PlacetError `usage` naming the flag.
 */
export function parseDurationMs(text: string, flag: string): number {
  const match = /^(\d{1,12}(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  const ms = match ? Number(match[1]) * (unitMs[match[2] ?? 'ms'] ?? 1) : Number.NaN;
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new PlacetError('usage', `${flag}: "${text}" is no duration; write milliseconds, or 30s, 10m, 2h`);
}
