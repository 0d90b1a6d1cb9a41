import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type Context, defineCommand } from '../command.ts';
import type { RunFile } from '../connection/run-file.ts';
import { exitCodes } from '../exit-codes.ts';
import { Stopped } from '../output/failure.ts';
import { bold, dim } from '../output/output.ts';
import { dataFolderToUse } from '../settings/paths.ts';
import { demoFolder } from '../up/demo-clone.ts';
import type { Stack } from '../up/stack.ts';

/** `placet up`: everything on this machine, until it is told to stop. */
export const upCommand = defineCommand({
  name: 'up',
  summary: 'start everything on this machine: a private Redis, the lead service, one teammate',
  options: [
    { flags: '--no-teammate', doc: 'start no teammate' },
    {
      flags: '--demo',
      doc: 'have the teammate plan something worth doing on a clone, so that a first plan waits',
    },
    { flags: '--once', doc: 'play the whole story without a person, print what happened, and stop' },
  ],
  settings: ['port', 'host', 'team', 'roots', 'agent', 'redisUrl', 'logLevel'],
  examples: ['placet up', 'placet up --port 0 --data /tmp/placet --json'],
  shape: z.object({
    teammate: z.boolean().default(true),
    demo: z.boolean().default(false),
    once: z.boolean().default(false),
  }),
  async run(context, { teammate, demo, once: onlyOnce }) {
    const { world } = context;
    const stack = await start(context, { withTeammate: teammate, demo: demo || onlyOnce });
    try {
      announce(context, stack.run, { withNext: !demo && !onlyOnce });
      if (onlyOnce) return await (await import('../up/story.ts')).runStory(context, stack.run);
      if (demo) await (await import('../up/demo.ts')).startDemo(context, stack.run);
      if (!world.signal.aborted) await once(world.signal, 'abort');
      return exitCodes.done;
    } finally {
      context.output.note(dim('stopping'));
      await stack.close();
    }
  },
});

async function start(
  context: Context,
  { withTeammate, demo }: { withTeammate: boolean; demo: boolean },
): Promise<Stack> {
  const { world, settings, output } = context;
  const { config } = settings;
  const dataDir = await dataFolderToUse(world, config.dataDir);
  if (demo) await mkdir(demoFolder(dataDir), { recursive: true, mode: 0o700 });
  // Demonstrations of earlier starts go on, too.
  const roots = [...(config.roots.length > 0 ? config.roots : [world.cwd]), demoFolder(dataDir)];
  const say = (line: string) => output.note(dim(line));
  const { startStack } = await import('../up/stack.ts');
  try {
    return await startStack({
      world,
      settings,
      dataDir,
      withTeammate,
      roots: roots.map((root) => resolve(world.cwd, root)),
      say,
    });
  } catch (error) {
    throw world.signal.aborted ? new Stopped(exitCodes.done) : error;
  }
}

function announce(
  { output }: Context,
  { url, redisUrl, dataDir, team, teammate }: RunFile,
  { withNext }: { withNext: boolean },
): void {
  output.value({ event: 'ready', url, redisUrl, dataDir });
  output.line(bold('Placet is running. '), dim('Ctrl-C stops it.'));
  output.line(dim('  service   '), url, dim(`  (API: ${url}/docs)`));
  output.line(dim('  data      '), dataDir);
  output.line(dim('  teammate  '), teammate ? `${teammate} of team ${team}, which plans first` : 'none');
  // A demonstration says for itself what comes next.
  if (withNext)
    output.line(
      dim('  next      '),
      'placet run "what is to be done" --follow, and placet inbox in another terminal',
    );
}
