import type { Gate } from './gate.ts';
import type { ToolCall } from './tool-call.ts';

/** A group of tools, as the prompt's catalogue shows it; a host's own has more to it. */
export interface Toolbox<Tool> {
  readonly tools: readonly Tool[];
}

/** All that a host could offer the model. */
export interface ToolCatalog<Tool, Box extends Toolbox<Tool>> {
  gate: Gate;
  toolboxes: readonly Box[];
  /**
   * The call of a tool that has most hope: for a tool that writes files, one that writes the plan file; for a shell with
   * a classifier, one that is proved to be read-only. So a tool that can do something while planning stays.
   */
  callOf(this: void, tool: Tool): ToolCall;
}

/** What to offer: the same tools twice, so that the prompt names none that the model does not have. */
export interface ExposedTools<Tool, Box extends Toolbox<Tool>> {
  /** For the tool array. */
  tools: Tool[];
  /** For the prompt's catalogue: copies of the toolboxes without what is not exposed, none of them empty. */
  toolboxes: (Box & { readonly tools: readonly Tool[] })[];
}

/**
 * Filters the tool array and the prompt's catalogue to what the gate would allow now, tool by tool (PM-20). It is a
 * courtesy to the model; what holds is the gate. To be called whenever a context is assembled, for the mode changes.
 */
export function exposeTools<Tool, Box extends Toolbox<Tool>>(
  catalog: ToolCatalog<Tool, Box>,
): ExposedTools<Tool, Box> {
  const toolboxes = catalog.toolboxes
    .map((box) => ({ ...box, tools: box.tools.filter((tool) => isExposed(catalog, tool)) }))
    .filter(({ tools }) => tools.length > 0);
  return { tools: toolboxes.flatMap(({ tools }) => tools), toolboxes };
}

function isExposed<Tool, Box extends Toolbox<Tool>>(
  { gate, callOf }: ToolCatalog<Tool, Box>,
  tool: Tool,
): boolean {
  let call: ToolCall;
  try {
    call = callOf(tool);
  } catch {
    return gate.wouldAllow({ source: 'builtin', tool: 'unknown' }); // not described: offered only outside plan mode
  }
  return gate.wouldAllow(call);
}
