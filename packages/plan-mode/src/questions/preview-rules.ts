/** Names, some to a line. */
const names = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(' ')));

/**
 * Elements that no preview has (PM-61): what makes a document, what runs, loads or sends, and what changes how the text
 * after it is read. Names that HTML does not know are inert and not here, so that `Map<string, number>` in a plain text
 * stays a text.
 */
export const deniedElements = names([
  // a document
  'html head body title base meta link frameset frame noframes isindex',
  // code and style sheets
  'script noscript style template slot portal applet object embed param canvas',
  // what loads or sends
  'iframe fencedframe form audio video source track picture image bgsound map area dialog keygen layer',
  'ilayer xml import',
  // other grammars
  'svg math textarea xmp noembed plaintext listing foreignobject annotation-xml',
]);

/** Attributes that act on whatever element they stand, beside event handlers and URLs. */
export const obeyedAnywhere = names([
  'srcdoc http-equiv is slot nonce autofocus shadowrootmode attributionsrc target',
]);

const urlAttributes = names([
  'href src srcset imagesrcset lowsrc dynsrc action formaction data poster background cite longdesc',
  'usemap classid codebase archive manifest ping profile icon base',
]);

/** Whether an attribute holds an address that is gone to, loaded or sent to. */
export function isUrlAttribute(name: string): boolean {
  return urlAttributes.has(name);
}

/** What a value of `style` may not hold: whatever loads, old ways to run code, and escapes, which could spell both. */
export const deniedLoads =
  /\\|\b(?:url|src|image|image-set|cross-fade|element|paint|expression)\(|@import|(?<![-\w])behavior\s*:|-moz-binding/i;

/**
 * Whether a value would run as code if it were taken for a URL, in whatever attribute it stands. As a browser reads
 * URLs: white space and control characters before it, and tabs and line breaks within, do not count. The value is
 * without entities, as a tokenizer gives it.
 */
export function runsAsCode(value: string): boolean {
  // What a browser takes out of a URL before it reads it.
  const url = value.replace(/^[\0-\x20]+/, '').replace(/[\t\n\r]/g, '');
  return /^(?:(?:javascript|vbscript|livescript):|data: *(?:text|application|image\/svg)\b)/i.test(url);
}
