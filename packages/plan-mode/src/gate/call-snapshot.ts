import { surfaces, type ToolCall, type ToolManifest, toolSources } from './tool-call.ts';

/** What was read of a call. */
export interface Snapshot {
  /** The name that was called, as far as it could be read. */
  readonly tool: string;
  /** Undefined where a property throws, is missing or is of a wrong type. */
  readonly call: ToolCall | undefined;
}

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
    const name: unknown = Reflect.get(call, 'tool');
    if (typeof name !== 'string' || name === '') return { tool, call: undefined };
    tool = name;
    return { tool, call: readCall(call, tool) };
  } catch {
    return { tool, call: undefined }; // a getter or a proxy threw: the call is what its maker made it
  }
}

function readCall(call: object, tool: string): ToolCall | undefined {
  const source = toolSources.find(is(Reflect.get(call, 'source')));
  const server: unknown = Reflect.get(call, 'server');
  const serverName: unknown = Reflect.get(call, 'serverName');
  const serverTool: unknown = Reflect.get(call, 'serverTool');
  const writesFile: unknown = Reflect.get(call, 'writesFile');
  if (!source || (server !== undefined && !isObject(server))) return undefined;
  if (!isText(serverName) || !isText(serverTool) || !isText(writesFile)) return undefined;
  const surface = surfaces.find(is(Reflect.get(call, 'surface')));
  const manifest = manifestOf(own(call, 'manifest'));
  const isReadOnly = own(call, 'shellIsReadOnly');
  return Object.freeze({
    source,
    tool,
    ...(surface !== undefined && { surface }),
    ...(manifest !== undefined && { manifest }),
    ...(server !== undefined && { server }),
    ...(serverName !== undefined && { serverName }),
    ...(serverTool !== undefined && { serverTool }),
    ...(writesFile !== undefined && { writesFile }),
    ...(typeof isReadOnly === 'boolean' && { shellIsReadOnly: isReadOnly }),
  });
}

function manifestOf(manifest: unknown): ToolManifest | undefined {
  if (!isObject(manifest)) return undefined;
  const readOnlyHint = own(manifest, 'readOnlyHint');
  const safetyTier = own(manifest, 'safetyTier');
  return Object.freeze({
    ...(typeof readOnlyHint === 'boolean' && { readOnlyHint }),
    ...(typeof safetyTier === 'string' && { safetyTier }),
  });
}

function own(from: object, name: string): unknown {
  return Object.hasOwn(from, name) ? Reflect.get(from, name) : undefined;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function is(value: unknown): (candidate: string) => boolean {
  return (candidate) => candidate === value;
}
