import { z } from 'zod';
import { showInvisible } from './invisible-text.ts';

const exactName = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(256, 'must have at most 256 characters')
  .refine((name) => name === name.trim(), 'must not begin or end with a blank')
  .refine((name) => name === showInvisible(name), 'must not hold characters that nobody sees')
  .refine((name) => !name.includes('*'), 'must be one exact name; there are no wildcards');

/**
 * A tool of an MCP server or a daemon that the operator trusts to change nothing, so that it runs while a session
 * plans (PM-23). Both names are exact: the server as the operator's configuration names it, never as it names itself,
 * and the tool as that server lists it.
 */
export const TrustedTool = z.strictObject({ server: exactName, tool: exactName });
export type TrustedTool = z.infer<typeof TrustedTool>;

/** Whether both are the same exact names. */
export function isSameTool(one: TrustedTool, other: TrustedTool): boolean {
  return one.server === other.server && one.tool === other.tool;
}
