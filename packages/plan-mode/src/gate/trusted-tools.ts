import type { TrustedTool } from '@placet/protocol';

/** The tools that the operator trusts while a session plans (PM-23): exact pairs, compared code unit by code unit. */
export class TrustedTools {
  readonly #tools = new Map<string, Set<string>>();

  constructor(pairs: Iterable<TrustedTool> = []) {
    for (const { server, tool } of pairs) {
      const tools = this.#tools.get(server);
      if (tools) tools.add(tool);
      else this.#tools.set(server, new Set([tool]));
    }
  }

  has(server: string, tool: string): boolean {
    return this.#tools.get(server)?.has(tool) === true;
  }
}
