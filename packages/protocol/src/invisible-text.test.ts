import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLookAlikes, showInvisible, toVisibleJson } from './invisible-text.ts';

test.each([
  ['an escape sequence', 'a\u001b[2Jb', 'a⟨U+001B⟩[2Jb'],
  ['a C1 control sequence introducer', 'a\u009b31mb', 'a⟨U+009B⟩31mb'],
  ['a carriage return that overwrites', 'rm -rf /\rls', 'rm -rf /⟨U+000D⟩ls'],
  ['a backspace', 'no\b\byes', 'no⟨U+0008⟩⟨U+0008⟩yes'],
  ['a bidirectional override', 'a\u202etxt.exe', 'a⟨U+202E⟩txt.exe'],
  ['a bidirectional isolate', '\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
  ['a zero-width space', 'a\u200bb', 'a⟨U+200B⟩b'],
  ['a byte-order mark', '\ufeffa', '⟨U+FEFF⟩a'],
  ['a soft hyphen', 'a\u00adb', 'a⟨U+00AD⟩b'],
  ['a tag character', 'a\u{e0041}', 'a⟨U+E0041⟩'],
  ['a hidden variation selector', 'a\ufe0fb\u{e0100}', 'a⟨U+FE0F⟩b⟨U+E0100⟩'],
  ['a joiner outside of an emoji', 'a\u200db', 'a⟨U+200D⟩b'],
  ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
  ['a Hangul filler', 'a\u3164b', 'a⟨U+3164⟩b'],
  ['a lone surrogate', 'a\ud800b', 'a⟨U+D800⟩b'],
  ['DEL', 'a\u007fb', 'a⟨U+007F⟩b'],
])('[IN-23] %s is made visible', (_, text, shown) => {
  expect(showInvisible(text)).toBe(shown);
  expect(showInvisible(text, { multiline: true })).toBe(shown);
});

test('[IN-23] ordinary text stays as it is, of any language, and so do emoji', () => {
  const text = 'Añadir “naïve” 検索 עברית العربية ❤️ 👩‍💻 👨‍👩‍👧 👍🏽 – 100 %';
  expect(showInvisible(text)).toBe(text);
});

test('[IN-23] line breaks and tabs stay only in a text of several lines', () => {
  expect(showInvisible('a\n\tb\r\nc', { multiline: true })).toBe('a\n\tb\nc');
  expect(showInvisible('a\nb\tc')).toBe('a⟨U+000A⟩b⟨U+0009⟩c');
});

test('[IN-23] whatever the text, nothing that is shown can act on a terminal', () => {
  const acting = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b-\u200c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(showInvisible(text)).not.toMatch(acting);
      expect(showInvisible(text, { multiline: true }).replace(/[\n\t]/g, '')).not.toMatch(acting);
    }),
  );
});

test('[IN-23] visible JSON is the same value without a character that acts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (values) => {
      const json = toVisibleJson(values, 2);
      expect(JSON.parse(json)).toEqual(values);
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
  expect(toVisibleJson('\u009b31m\u{e0041}')).toBe('"\\u009b31m\\udb40\\udc41"');
});

test('[IN-23] words that mix look-alike alphabets are found, words of one alphabet are not', () => {
  expect(findLookAlikes('install p\u0430ypal and p\u0430ypal, привет, αβγ, café')).toEqual([
    { word: 'p\u0430ypal', letters: ['U+0430'] },
  ]);
});
