/**
 * What runs a call; each is trusted differently while planning. It says nothing of who asked: a button that calls a
 * tool of a server makes an `mcp` call.
 */
export const toolSources = ['builtin', 'shell', 'mcp', 'daemon', 'agent-spawn'] as const;
export type ToolSource = (typeof toolSources)[number];

/** Where a call was asked for. It is logged and decides nothing: no surface is trusted more than another (PM-21). */
export const surfaces = ['chat', 'ui', 'voice', 'realtime', 'sub-agent'] as const;
export type Surface = (typeof surfaces)[number];

/** What a tool's manifest says of it. Only a declaration makes a call plan-safe (PM-22). */
export interface ToolManifest {
  readonly readOnlyHint?: boolean;
  readonly safetyTier?: string;
}

/**
 * A call as it is about to be executed (PM-21). How a host describes each kind:
 *
 * | what runs | the call |
 * |---|---|
 * | a tool of the host | `{ source: 'builtin', tool, manifest }`, with `writesFile` where it writes one |
 * | a shell command | `{ source: 'shell', tool, shellIsReadOnly }` |
 * | a tool of an MCP server | `{ source: 'mcp', tool, server, serverName, serverTool }` |
 * | a tool of a daemon | `{ source: 'daemon', tool, server, serverName, serverTool }` |
 * | a new agent | `{ source: 'agent-spawn', tool }`; the agent's own calls go through the same gate |
 *
 * A UI action, a chained or a realtime voice is a {@link Surface}, with whichever of these it runs.
 */
export interface ToolCall {
  readonly source: ToolSource;
  /** The tool's name as it was called, such as `mcp__docs__read`; refusals and logs show it. */
  readonly tool: string;
  readonly surface?: Surface;
  /** From the host's own catalogue. What servers and daemons declare of themselves is not looked at (PM-23). */
  readonly manifest?: ToolManifest;
  /** The host's object for what offers the tool; an object, so that no name can imitate it (PM-25). */
  readonly server?: object;
  /** The server's name in the operator's configuration (PM-23); never what the server calls itself. */
  readonly serverName?: string;
  /** The tool's name on its server, where that is not `tool`. */
  readonly serverTool?: string;
  /** The one file it writes, where it writes exactly one (PM-26): the path that will be opened, links and all. */
  readonly writesFile?: string;
  /** What the host's classifier proved of a shell command (PM-27); unknown is unsafe. */
  readonly shellIsReadOnly?: boolean;
}

/** Whether a manifest declares that the tool changes nothing (PM-22). Names prove nothing. */
export function isPlanSafe(manifest: ToolManifest | undefined): boolean {
  return manifest?.readOnlyHint === true || manifest?.safetyTier === 'safe';
}
