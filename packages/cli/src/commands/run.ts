import { readFile, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Job, PermissionMode, PlacetError, parseOrThrow, WorkingMode } from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import { findRun } from '../connection/discover.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim } from '../output/output.ts';
import { followTask } from '../requests/follow-task.ts';

const shape = z.object({
  cwd: z.string().optional(),
  permissionMode: PermissionMode.optional(),
  permissionCeiling: WorkingMode.optional(),
  planModeInstructions: z.string().optional(),
  label: z.array(z.string().regex(/^[^=]+=/, 'must look like name=value')).default([]),
  follow: z.boolean().default(false),
  resume: z.string().optional(),
});

/** `placet run TASK`: puts a task into a teammate's queue. */
export const runCommand = defineCommand({
  name: 'run',
  summary: 'give a task to a teammate; with --follow until its end, and the exit code says which',
  arguments: [{ name: '[task]', doc: 'what is to be done' }],
  options: [
    {
      flags: '--cwd <dir>',
      doc: "the folder to work on, below one of the teammate's roots; this folder unless set",
    },
    {
      flags: '--permission-mode <mode>',
      doc: 'the mode to go back to by "restore"; planning comes first in any case',
    },
    { flags: '--permission-ceiling <mode>', doc: 'no decision grants more than this for the task' },
    { flags: '--plan-mode-instructions <file>', doc: 'a file with instructions for planning' },
    { flags: '--label <name=value...>', doc: 'labels, which the lead sees' },
    { flags: '--follow', doc: 'show the phases to the end' },
    { flags: '--resume <job>', doc: 'have a task that timed out tried again, instead of a new one' },
  ],
  settings: [...clientSettings, 'teammate', 'agent', 'deadlineMs', 'redisUrl'],
  examples: [
    'placet run "rename getUser to fetchUser" --cwd ./app --follow',
    'placet run --resume task-0192e0c4-5d0e-7cc3-9f1e-2f6d9f3c1a77 --follow',
  ],
  shape,
  async run(context, options, task) {
    const { team, teammate, world, settings, output } = context;
    if ((task === undefined) === (options.resume === undefined))
      throw new PlacetError('usage', 'give a task, or --resume with the job of one');
    const redisUrl = await redisUrlOf(context);
    const job = options.resume === undefined ? await jobOf(context, options, task ?? '') : undefined;
    const { enqueueTask } = await import('../requests/enqueue-task.ts');
    const { jobId, sessionId, after } = await enqueueTask({
      redisUrl,
      timeoutMs: settings.config.storeTimeoutMs,
      durability: { profile: settings.config.durability, replicas: settings.config.replicas },
      signal: world.signal,
      team,
      teammate,
      what: job ? { job } : { resume: sessionOf(options.resume ?? '') },
    });
    output.value({ jobId, sessionId, team, teammate });
    output.line('Queued ', bold(jobId), ` for ${teammate} of team ${team}.`, dim(` Session ${sessionId}.`));
    return options.follow ? followTask(context, sessionId, after) : exitCodes.done;
  },
});

async function redisUrlOf({ world, settings }: Context): Promise<string> {
  const { redisUrl, dataDir } = settings.config;
  if (redisUrl) return redisUrl;
  const { run, looked } = await findRun(world, dataDir);
  if (run) return run.redisUrl;
  throw new PlacetError(
    'service_unreachable',
    `no Placet runs here (looked in ${looked.join(', then ')}), and tasks go through Redis: start it, or give --redis-url`,
  );
}

async function jobOf(
  { world, team, settings }: Context,
  options: z.output<typeof shape>,
  task: string,
): Promise<Job> {
  const { agent, deadlineMs } = settings.config;
  const instructions = options.planModeInstructions;
  return parseOrThrow(
    Job,
    {
      task,
      team,
      cwd: await realpath(resolve(world.cwd, options.cwd ?? '.')),
      agent,
      labels: Object.fromEntries(
        options.label.map((label) => [
          label.slice(0, label.indexOf('=')),
          label.slice(label.indexOf('=') + 1),
        ]),
      ),
      ...(settings.sources.deadlineMs !== 'default' && { deadlineMs }),
      ...(options.permissionCeiling && { permissionCeiling: options.permissionCeiling }),
      ...(options.permissionMode && { permissionMode: options.permissionMode }),
      ...(instructions && { planModeInstructions: await readFile(resolve(world.cwd, instructions), 'utf8') }),
    },
    'the task',
  );
}

/** A job is named `task-<session>`; either name will do. */
function sessionOf(job: string): string {
  return job.replace(/^task-/, '');
}
