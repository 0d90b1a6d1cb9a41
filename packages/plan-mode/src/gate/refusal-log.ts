import type { Log } from '@placet/protocol';
import type { Refusal } from './refusal.ts';
import type { ToolCall } from './tool-call.ts';

/** So many tools of a session are warned of; the names come from a model, and there is no end to them. */
export const maxWarnedTools = 128;

/**
 * Says each refusal of one session: `warn` the first time that a tool is refused, `debug` from then on (PM-28). Beyond
 * {@link maxWarnedTools} tools there is one more warning, and `debug` for the rest.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #warned = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  write(refusal: Refusal, call: Pick<ToolCall, 'source' | 'surface'> | undefined): void {
    const { tool, reason, session_id: sessionId } = refusal;
    const fields = { sessionId, tool, reason, source: call?.source, surface: call?.surface };
    if (this.#warned.has(tool) || this.#warned.size > maxWarnedTools) {
      this.#log.debug(fields, 'plan mode refused a call again');
      return;
    }
    this.#warned.add(tool);
    const isLast = this.#warned.size > maxWarnedTools;
    this.#log.warn(
      fields,
      isLast
        ? 'plan mode refused a call; those of further tools are logged at debug'
        : 'plan mode refused a call',
    );
  }
}
