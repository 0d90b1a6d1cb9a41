import type { Writable } from 'node:stream';
import { showInvisible, toVisibleJson } from '@placet/protocol';

/** How a piece of a line looks on a terminal. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
/** A piece of a line: text, with or without a style. Text is shown, never interpreted. */
export type Span = string | { text: string; style: Style };

const codes: Readonly<Record<Style, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Where output goes, and how. */
export interface OutputOptions {
  stdout: Writable;
  stderr: Writable;
  /** Whether a program reads: JSON, and nothing else, on both streams. */
  json: boolean;
  /** Whether styles are written. */
  colour: boolean;
}

/**
 * Everything that a command prints goes through here, and here every text is made safe for a terminal (IN-23): only
 * the styles of this file reach it as escape sequences, and a line is one line.
 */
export class Output {
  readonly json: boolean;
  readonly #options: OutputOptions;

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.#options = options;
  }

  /** One line for a person; nothing with `--json`. */
  line(...spans: Span[]): void {
    if (!this.json) this.#write(this.#options.stdout, `${this.#styled(spans)}\n`);
  }

  /** Lines of a text that is not ours, each behind a margin, so that none can pass for one of ours. */
  quote(text: string, styleOf: (line: string) => Style | undefined = () => undefined): void {
    for (const line of showInvisible(text, { multiline: true }).split('\n')) {
      const style = styleOf(line);
      const shown = line.replaceAll('\t', '    ');
      this.line({ text: '│ ', style: 'dim' }, style ? { text: shown, style } : shown);
    }
  }

  /** One value for a program, on a line of its own; nothing without `--json`. */
  value(value: unknown): void {
    if (this.json) this.#write(this.#options.stdout, `${toVisibleJson(value)}\n`);
  }

  /** Bytes exactly as they are, for a file or a pipe. */
  bytes(bytes: Uint8Array): void {
    this.#options.stdout.write(bytes);
  }

  /** One line beside the result, on stderr: progress, a hint. With `--json` it is `{ note }`. */
  note(...spans: Span[]): void {
    const { stderr } = this.#options;
    if (this.json) this.#write(stderr, `${toVisibleJson({ note: spans.map(textOf).join('') })}\n`);
    else this.#write(stderr, `${this.#styled(spans)}\n`);
  }

  /** One value on stderr for a program. */
  errorValue(value: unknown): void {
    this.#write(this.#options.stderr, `${toVisibleJson(value)}\n`);
  }

  #styled(spans: Span[]): string {
    return spans
      .map((span) => {
        const text = showInvisible(textOf(span));
        if (typeof span === 'string' || !this.#options.colour) return text;
        const [on, off] = codes[span.style];
        return `\u001b[${on}m${text}\u001b[${off}m`;
      })
      .join('');
  }

  #write(stream: Writable, text: string): void {
    stream.write(text);
  }
}

function textOf(span: Span): string {
  return typeof span === 'string' ? span : span.text;
}

/** A piece of a line in bold. */
export const bold = (text: string): Span => ({ text, style: 'bold' });
/** A piece of a line that steps back. */
export const dim = (text: string): Span => ({ text, style: 'dim' });
