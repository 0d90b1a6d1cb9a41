import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import {
  digestOfBytes,
  ExecutionTarget,
  maxPlanBytes,
  newRequestId,
  newSessionId,
  PermissionMode,
  PlacetError,
  RequestId,
  SessionId,
} from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { handleOf } from '../requests/handles.ts';
import { parseDurationMs } from '../settings/durations.ts';
import { waitAndReport } from './wait.ts';

const shape = z.object({
  session: SessionId.optional(),
  revision: z.coerce.number().int().min(1).default(1),
  supersedes: RequestId.optional(),
  requestId: RequestId.optional(),
  prePlanMode: PermissionMode.optional(),
  target: ExecutionTarget.optional(),
  summary: z.string().max(1000).optional(),
  wait: z.boolean().default(false),
  timeout: z.string().optional(),
});

/** `placet submit FILE`: submits a plan file as a teammate, for hooks and scripts. */
export const submitCommand = defineCommand({
  name: 'submit',
  summary: 'submit a plan file for approval, as a teammate',
  arguments: [{ name: '<file>', doc: 'the plan; - is the standard input' }],
  options: [
    {
      flags: '--session <id>',
      doc: 'the session that plans; a new plan of it supersedes its pending one. A new session unless set',
    },
    { flags: '--revision <number>', doc: "which revision of the session's plan this is (1)" },
    { flags: '--supersedes <id>', doc: 'the request that this one takes the place of' },
    {
      flags: '--request-id <id>',
      doc: 'the ID to submit under; the same one again submits nothing twice. A new ID unless set',
    },
    { flags: '--pre-plan-mode <mode>', doc: 'the mode to go back to by "restore" (default)' },
    { flags: '--target <target>', doc: 'where the work is to be done: local (default) or remote' },
    { flags: '--summary <text>', doc: 'a line for the inbox' },
    { flags: '--wait', doc: 'wait for the decision; the exit code is the outcome, as with placet wait' },
    { flags: '--timeout <duration>', doc: 'with --wait: wait at most this long' },
  ],
  settings: [...clientSettings, 'teammate', 'deadlineMs'],
  examples: [
    'placet submit plan.md --wait --timeout 1h',
    'placet submit plan.md --session refactor-auth --revision 2',
  ],
  shape,
  async run(context, options, file) {
    const { team, teammate, output } = context;
    const timeoutMs =
      options.timeout === undefined
        ? Number.POSITIVE_INFINITY
        : parseDurationMs(options.timeout, '--timeout');
    const submission = await submissionOf(context, options, file ?? '');
    const reach = async () => (await context.connect({ role: 'teammate', team, teammate })).client;
    const { status, body: record } = await (await reach()).call('submitRequest', {
      params: { team },
      body: submission,
    });
    output.value(record);
    const standing = record.requestId !== submission.requestId;
    const said = standing
      ? 'This plan is already approved as'
      : status === 200
        ? 'Submitted before as'
        : 'Submitted';
    output.line(
      `${said} ${record.requestId}`,
      ` (${handleOf(record.requestId, [])}), session ${record.sessionId}.`,
    );
    if (!options.wait) return exitCodes.done;
    return waitAndReport(context, { id: record.requestId, timeoutMs, reach });
  },
});

async function submissionOf(
  { team, teammate, settings, world }: Context,
  options: z.output<typeof shape>,
  file: string,
) {
  const bytes = await read(file === '-' ? world.stdin : createReadStream(resolve(world.cwd, file)), file);
  const { session, revision, supersedes, requestId, prePlanMode, target, summary } = options;
  return {
    requestId: requestId ?? newRequestId(teammate, team),
    planFilePath: file === '-' ? 'stdin' : resolve(world.cwd, file),
    planContent: textOf(bytes, file),
    planDigest: digestOfBytes(bytes),
    sessionId: session ?? newSessionId(),
    revision,
    supersedes,
    prePlanMode,
    executionTarget: target,
    summary,
    deadlineMs: settings.sources.deadlineMs === 'default' ? undefined : settings.config.deadlineMs,
  };
}

/** @throws PlacetError `payload_too_large` as soon as there is more than a plan may have: a device never ends */
async function read(input: Readable, file: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    if (length > maxPlanBytes)
      throw new PlacetError('payload_too_large', `${file}: has more than ${maxPlanBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

/** The text whose UTF-8 is these bytes, byte-order mark and all: the digest is over the bytes (PM-44). */
function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new PlacetError('validation_failed', `${file}: is not UTF-8 text`);
  }
}
