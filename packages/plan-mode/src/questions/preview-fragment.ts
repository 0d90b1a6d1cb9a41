import { Tokenizer } from 'parse5';
import { deniedElements, deniedLoads, isUrlAttribute, obeyedAnywhere, runsAsCode } from './preview-rules.ts';

/** How many faults of one preview are listed at most. */
const maxFaults = 5;

/**
 * What a preview is read with in turn: a surface puts it between markup of its own, which must not complete a tag or a
 * quoted value that the preview left open.
 */
const completions = ['', '>', '">', "'>"];

interface Tag {
  tagName: string;
  attrs: readonly { name: string; value: string }[];
}

/**
 * Why a preview is refused, as sentences for the model; nothing, where it is plain text or a harmless fragment of HTML
 * (PM-61). A preview does not say which of the two it is, so each is read as HTML.
 *
 * It is read as tokens, by a tokenizer that follows the HTML standard: a tree would have lost the tags that the place
 * of the fragment does not allow, such as `<body onload=…>`. What changes how the following text is read (scripts and
 * other raw text, SVG, MathML) is refused, and so the tokens are the same wherever a surface puts the fragment.
 */
export function faultsOfPreview(preview: string): string[] {
  const faults = new Set<string>();
  for (const completion of completions) readTags(preview + completion, (fault) => faults.add(fault));
  return [...faults].slice(0, maxFaults);
}

function readTags(html: string, fault: (message: string) => void): void {
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: (tag) => {
        judgeElement(tag, fault);
        for (const { name, value } of tag.attrs) judgeAttribute(tag, name, value, fault);
      },
      onEndTag: (tag) => judgeElement(tag, fault),
      onDoctype: () => fault('it has a doctype; send the fragment alone'),
      onComment: ignore,
      onEof: ignore,
      onCharacter: ignore,
      onNullCharacter: ignore,
      onWhitespaceCharacter: ignore,
    },
  );
  tokenizer.write(html, true);
}

function judgeElement({ tagName }: Tag, fault: (message: string) => void): void {
  const element = localName(tagName);
  if (deniedElements.has(element)) fault(`it has the element <${element}>`);
}

function judgeAttribute(tag: Tag, fullName: string, value: string, fault: (message: string) => void): void {
  const name = localName(fullName);
  const where = `the attribute ${name} of <${localName(tag.tagName)}>`.slice(0, 100);
  if (/^on[a-z]/.test(name)) fault(`it has an event handler, ${where}`);
  else if (runsAsCode(value)) fault(`it has a URL that runs as code, in ${where}`);
  else if (obeyedAnywhere.has(name)) fault(`it has ${where}`);
  else if (name === 'style' && deniedLoads.test(value))
    fault(`${where} loads something or hides what it says behind a backslash; plain properties are fine`);
  else if (isUrlAttribute(name) && !isHarmlessUrl(localName(tag.tagName), name, value))
    fault(
      `${where} leads or loads from elsewhere; links may be https, http, mailto or #anchors, images data: URLs`,
    );
}

function isHarmlessUrl(element: string, name: string, value: string): boolean {
  if (element === 'a' && name === 'href') return /^(?:#|https?:\/\/|mailto:)/i.test(value);
  return element === 'img' && name === 'src' && /^data:image\/(?:png|jpeg|gif|webp)[;,]/i.test(value);
}

/** In XHTML a prefix may stand before any name. */
function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1).toLowerCase();
}
