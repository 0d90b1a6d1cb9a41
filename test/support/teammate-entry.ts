import { resolveConfig } from '@placet/protocol';
import { checkpoints, createTeammateLog, startTeammateProcess } from '@placet/teammate';
import { z } from 'zod';

/** What a teammate's process of a test is started with, as JSON in its environment. */
export const TeammateSpec = z.object({
  values: z.record(z.string(), z.unknown()),
  redisUrl: z.string(),
  dataDir: z.string(),
  baseFolder: z.string(),
  /** After which step it kills itself, and at which time that it comes to it. */
  killAt: z.enum(checkpoints).optional(),
  times: z.number().int().positive().default(1),
});
export type TeammateSpec = z.input<typeof TeammateSpec>;

// A teammate's process that ends as kill -9 ends it, exactly after the step that it was told.
const { values, redisUrl, dataDir, baseFolder, killAt, times } = TeammateSpec.parse(
  JSON.parse(process.env.TEAMMATE ?? ''),
);
let left = times;
const started = await startTeammateProcess({
  config: resolveConfig([{ source: 'test', values }]).config,
  redisUrl,
  dataDir,
  baseFolder,
  environment: process.env,
  log: createTeammateLog({ level: 'info' }),
  checkpoint: (name) => {
    if (name !== killAt || --left > 0) return undefined;
    console.log(`killed at ${name}`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined); // no step comes after this one
  },
});
console.log('ready');
process.once('SIGTERM', () => void started.close().then(() => process.exit(0)));
