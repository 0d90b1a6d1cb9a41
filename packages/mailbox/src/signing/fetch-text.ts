import { PlacetError } from '@placet/protocol';

/** How {@link fetchText} goes about it. */
export interface FetchTextOptions {
  fetch: typeof fetch;
  /** Longer answers are refused as soon as they are seen to be. */
  maxChars: number;
  signal: AbortSignal;
}

/** Fetches a text; follows no redirect. @throws PlacetError `service_unreachable` */
export async function fetchText(url: string, options: FetchTextOptions): Promise<string> {
  const { origin } = new URL(url);
  try {
    const response = await options.fetch(url, { redirect: 'error', signal: options.signal });
    if (!response.ok) throw new PlacetError('service_unreachable', `${origin} answered ${response.status}`);
    return await readBounded(response, options.maxChars, origin);
  } catch (cause) {
    if (cause instanceof PlacetError) throw cause;
    throw new PlacetError('service_unreachable', `${origin} cannot be reached`, { cause });
  }
}

async function readBounded(response: Response, maxChars: number, origin: string): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    // Leaving the loop cancels the body.
    if (text.length > maxChars) throw new PlacetError('service_unreachable', `${origin} answered too much`);
  }
  return text + decoder.decode();
}
