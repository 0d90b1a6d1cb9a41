import { surfaces, type ToolCall, type ToolManifest, toolSources } from './tool-call.ts';

/** What was read of a call. */
export interface Snapshot {
  /** The name that was called, as far as it could be read. */
  readonly tool: string;
  /** Undefined where a property throws, is missing or is of a wrong type. */
  readonly call: ToolCall | undefined;
}

/** What may have any property, of any type. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Copies a call, reading each property once, so that nothing that answers differently the next time is judged as one
 * thing and executed as another. Never throws.
 *
 * What would open the gate must be the object's own: a polluted prototype declares no tool safe.
 */
export function snapshotOf(call: unknown): Snapshot {
  let tool = 'unknown';
  try {
    if (!isObject(call)) return { tool, call: undefined };
    const name = call.tool;
    if (typeof name !== 'string' || name === '') return { tool, call: undefined };
    tool = name;
    return { tool, call: readCall(call, tool) };
  } catch {
    return { tool, call: undefined }; // a getter or a proxy threw: the call is what its maker made it
  }
}

function readCall(call: Fields, tool: string): ToolCall | undefined {
  const source = memberOf(toolSources, call.source);
  const { server, serverName, serverTool, writesFile } = call;
  if (!source || (server !== undefined && !isObject(server))) return undefined;
  if (!isText(serverName) || !isText(serverTool) || !isText(writesFile)) return undefined;
  const surface = memberOf(surfaces, call.surface);
  const manifest = manifestOf(own(call, 'manifest'));
  const isReadOnly = own(call, 'shellIsReadOnly');
  // Each field is set, undefined or not: objects of one shape are what an engine is quick with.
  return Object.freeze({
    source,
    tool,
    surface,
    manifest,
    server,
    serverName,
    serverTool,
    writesFile,
    shellIsReadOnly: typeof isReadOnly === 'boolean' ? isReadOnly : undefined,
  });
}

function manifestOf(manifest: unknown): ToolManifest | undefined {
  if (!isObject(manifest)) return undefined;
  const readOnlyHint = own(manifest, 'readOnlyHint');
  const safetyTier = own(manifest, 'safetyTier');
  return Object.freeze({
    readOnlyHint: typeof readOnlyHint === 'boolean' ? readOnlyHint : undefined,
    safetyTier: typeof safetyTier === 'string' ? safetyTier : undefined,
  });
}

function own(from: Fields, name: string): unknown {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function isObject(value: unknown): value is Fields {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function memberOf<Member extends string>(members: readonly Member[], value: unknown): Member | undefined {
  for (const member of members) if (member === value) return member;
  return undefined;
}
