import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface ServerSentEvent {
  id: string | undefined;
  event: string | undefined;
  data: string;
}

/** Reads a body as server-sent events until it ends; leaving the loop cancels the body. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent, void> {
  const ready: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      ready.push({ id, event, data });
    },
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the connection may be gone already; there is nothing to save
  }
}
