// Control and format characters, lone surrogates, private use, line and paragraph separators, whatever fonts draw as
// nothing, and the blank braille pattern.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
// What belongs to an emoji is seen as the emoji.
const emojiJoint = /^(?:\ufe0f|\u200d)$/;
const endsWithPictograph = /\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?$/u;
const startsWithPictograph = /^\p{Extended_Pictographic}/u;

/** How a text is going to be shown. */
export interface ShownAs {
  /** Several lines: line feeds (with or without a carriage return before them) and tabs stay. Default false. */
  multiline?: boolean;
}

/**
 * Makes visible what a reader would not see or what would act on a terminal (IN-23): control characters, and with them
 * escape sequences; bidirectional controls; zero-width and other invisible characters. Each becomes `⟨U+202E⟩`.
 */
export function showInvisible(text: string, { multiline = false }: ShownAs = {}): string {
  const lines = multiline ? text.replaceAll('\r\n', '\n') : text;
  return lines.replace(invisible, (character, offset: number) => {
    if (multiline && (character === '\n' || character === '\t')) return character;
    if (emojiJoint.test(character) && isInsideEmoji(lines, character, offset)) return character;
    return `⟨${nameOf(character)}⟩`;
  });
}

/** Writes JSON in which no character is invisible or acts on a terminal: the same value, with `\u` escapes. */
export function toVisibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(invisible, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

/** A word that mixes alphabets which look alike. */
export interface LookAlike {
  word: string;
  /** The letters of the rarer alphabet in it, such as `U+0430`. */
  letters: string[];
}

const word = /[\p{L}\p{M}\p{N}_]+/gu;
const latin = /\p{Script=Latin}/u;
const lookingLatin =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}]/gu;

/** Finds words that mix Latin with letters of alphabets that look like it (IN-23); each word once, at most 20. */
export function findLookAlikes(text: string): LookAlike[] {
  const found = new Map<string, LookAlike>();
  for (const [candidate] of text.matchAll(word)) {
    const strangers = latin.test(candidate) ? candidate.match(lookingLatin) : null;
    if (!strangers || found.has(candidate)) continue;
    found.set(candidate, { word: candidate, letters: [...new Set(strangers)].map(nameOf) });
    if (found.size === 20) break;
  }
  return [...found.values()];
}

function isInsideEmoji(text: string, character: string, offset: number): boolean {
  if (!endsWithPictograph.test(text.slice(Math.max(0, offset - 6), offset))) return false;
  return character === '\ufe0f' || startsWithPictograph.test(text.slice(offset + 1, offset + 3));
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
