/** Who runs a call; each is trusted differently while planning. */
export type ToolSource = 'builtin' | 'mcp' | 'daemon' | 'ui' | 'voice' | 'agent-spawn' | 'shell';

/** What a tool's manifest says of it. Only a declaration makes a call plan-safe (PM-22). */
export interface ToolManifest {
  readOnlyHint?: boolean;
  safetyTier?: string;
}

/** A call as it is about to be executed, whatever surface it came from (PM-21). */
export interface ToolCall {
  tool: string;
  source: ToolSource;
  manifest?: ToolManifest;
  /** The server that the host runs the tool from; an object, so that no name can imitate it (PM-25). */
  server?: object;
  /** The one file it writes, where it writes exactly one (PM-26). */
  writesFile?: string;
  /** What the host's classifier proved of a shell command (PM-27); unknown is unsafe. */
  shellIsReadOnly?: boolean;
}

/** Whether a manifest declares that the tool changes nothing (PM-22). Names prove nothing. */
export function isPlanSafe(manifest: ToolManifest | undefined): boolean {
  return manifest?.readOnlyHint === true || manifest?.safetyTier === 'safe';
}
