import type { ModelName } from '@placet/protocol';

/** What the name of a model says of it, as far as it can be told for certain. */
export interface ParsedModel {
  /** Whose spelling it is, such as `us.anthropic.`; empty for the maker's own. A family's alias is of every one. */
  provider: string;
  /** All words of the name in order, such as `claude-opus` or `gpt-codex`, with what stands in brackets behind it. */
  family: string;
  /** Such as `[4, 1]`; empty where the name has none. */
  version: readonly number[];
  /** Of the snapshot, as 20250805. Infinity for a name that follows the newest one of its version. */
  date: number;
  /** It names a family and no member of it: `opus`. */
  isFamilyAlias: boolean;
}

/** The short names that stand for the newest of a family. */
const familyAliases = new Map([
  ['opus', 'claude-opus'],
  ['sonnet', 'claude-sonnet'],
  ['haiku', 'claude-haiku'],
]);

const awsPattern = /^((?:(?:us|us-gov|eu|apac|jp|au|global)\.)?anthropic\.)(.+?)(?:-v\d{1,2}(?::\d{1,2})?)?$/;
const hubPattern = /^((?:anthropic|openai|google|models)\/)(.+)$/;
const variantPattern = /^(.+?)(\[[a-z0-9]{1,8}\])$/;
const datePattern = /^(.+)[-@](\d{4})-?(\d{2})-?(\d{2})$/;

/**
 * Reads a name such as `claude-opus-4-1-20250805`, `claude-3-5-sonnet-latest`, `gpt-5.1-codex` or `o4-mini`. A date is
 * no version, so `claude-opus-4-20250514` is older than `claude-opus-4-1`. Undefined for a name that can be read in
 * more than one way, such as `gpt-4-0613`: nothing is concluded from it.
 */
export function parseModel(name: ModelName): ParsedModel | undefined {
  const [, bare = name, variant = ''] = variantPattern.exec(name) ?? [];
  const alias = familyAliases.get(bare);
  if (alias !== undefined) return { ...undated, provider: '', family: alias + variant, isFamilyAlias: true };
  const [, provider = '', own = bare] = awsPattern.exec(bare) ?? hubPattern.exec(bare) ?? [];
  const dated = withoutDate(own);
  const parts = dated && partsOf(dated.rest.split('-'));
  if (!dated || !parts) return undefined;
  const { words, version } = parts;
  return { provider, family: words.join('-') + variant, version, date: dated.date, isFamilyAlias: false };
}

/** Whether `candidate` is of the family that `wanted` names, in the spelling of the same provider. */
export function isOfFamily(candidate: ParsedModel, wanted: ParsedModel): boolean {
  if (candidate.family !== wanted.family) return false;
  return wanted.isFamilyAlias || candidate.isFamilyAlias || candidate.provider === wanted.provider;
}

/**
 * Whether `one` is certainly newer than `other`, of the same family: by version, component by component, then by date.
 * A name without a version is older than any with one: which it stands for cannot be known.
 */
export function isNewer(one: ParsedModel, other: ParsedModel): boolean {
  const length = Math.max(one.version.length, other.version.length);
  for (let at = 0; at < length; at += 1) {
    // 4 and 4.0 are the same; no version at all is less than either.
    const difference = (one.version[at] ?? missing(one)) - (other.version[at] ?? missing(other));
    if (difference !== 0) return difference > 0;
  }
  return one.date > other.date;
}

const undated = { version: [], date: Number.POSITIVE_INFINITY };

function missing({ version }: ParsedModel): number {
  return version.length === 0 ? -1 : 0;
}

function withoutDate(name: string): { rest: string; date: number } | undefined {
  const [, rest, year = '', month = '', day = ''] = datePattern.exec(name) ?? [];
  if (rest === undefined) return { rest: name.replace(/-latest$/, ''), date: undated.date };
  const date = new Date(`${year}-${month}-${day}T00:00:00.000Z`);
  // The 31st of February rolls over, and is no date.
  const isDate = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`);
  return isDate && year.startsWith('20') ? { rest, date: Number(year + month + day) } : undefined;
}

/**
 * Tells words from the version, which is one run of numbers of one or two digits: `4-1`, `4.1`, `5`, or the number in
 * `o3`. Longer numbers are stamps of one sort or another, and a second run could be one too.
 */
function partsOf(tokens: readonly string[]): { words: string[]; version: number[] } | undefined {
  const words: string[] = [];
  const version: number[] = [];
  let lastVersionAt = -1;
  for (const [at, token] of tokens.entries()) {
    const [, letters = '', numbers] = /^([a-z]*?)((?:\d{1,2})(?:\.\d{1,2}){0,2})$/.exec(token) ?? [];
    if (numbers === undefined) {
      // Such as `mini`, or `70b` and `4o`, which name a kind and not a version.
      if (!/^\d{0,4}[a-z][a-z0-9]{0,30}$/.test(token) || /[a-z]\d{3,}$/.test(token)) return undefined;
      words.push(token);
    } else {
      if (version.length > 0 && (lastVersionAt !== at - 1 || letters !== '')) return undefined;
      if (letters !== '') words.push(letters);
      version.push(...numbers.split('.').map(Number));
      lastVersionAt = at;
    }
  }
  return words.length === 0 || version.length > 3 ? undefined : { words, version };
}
