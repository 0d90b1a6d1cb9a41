import { PlacetError, parseOrThrow, type SettingName } from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';
import type { z } from 'zod';
import type { Connection } from './connection/connect.ts';
import type { Actor } from './connection/local-tokens.ts';
import type { Output } from './output/output.ts';
import type { Settings } from './settings/load-settings.ts';
import type { World } from './world.ts';

/** What a command works with. */
export interface Context {
  world: World;
  settings: Settings;
  output: Output;
  /** The team and the teammate that are meant: as set, else those that the token is for. */
  team: string;
  teammate: string;
  /** Finds the service anew and speaks to it as someone; see `connect`. */
  connect: (actor: Actor) => Promise<Connection>;
  /** A client that acts as a lead of {@link team}. */
  asLead: () => Promise<PlacetClient>;
}

/** A command as data: the parser, the help and the reference are made from it. */
export interface CommandSpec {
  /** As it is typed, such as `token create`. */
  name: string;
  summary: string;
  arguments: readonly { name: string; doc: string }[];
  options: readonly { flags: string; doc: string }[];
  /** Settings that have a flag here; `--data`, `--config` and `--json` have one everywhere. */
  settings: readonly SettingName[];
  /** The flag of a setting where it is another than the setting's own name. */
  flags: Readonly<Partial<Record<SettingName, string>>>;
  /** What `--help` shows, one command line each. */
  examples: readonly string[];
  /** Answers the exit code. */
  run: (context: Context, args: readonly string[], options: unknown) => Promise<number>;
}

/** A command with the schema that its options are parsed by. */
export interface CommandDefinition<Shape extends z.ZodType> {
  name: string;
  summary: string;
  arguments?: CommandSpec['arguments'];
  options?: CommandSpec['options'];
  settings?: readonly SettingName[];
  flags?: CommandSpec['flags'];
  examples: readonly string[];
  shape: Shape;
  run: (context: Context, options: z.output<Shape>, ...args: string[]) => Promise<number>;
}

/** The settings that say where the service is and how to speak to it (WR-43). */
export const clientSettings = ['team', 'url', 'token'] as const satisfies readonly SettingName[];

/** Defines a command: its options are parsed by its schema before it runs. */
export function defineCommand<Shape extends z.ZodType>(definition: CommandDefinition<Shape>): CommandSpec {
  const { shape, run, ...rest } = definition;
  return {
    arguments: [],
    options: [],
    settings: [],
    flags: {},
    ...rest,
    run: (context, args, options) => run(context, parseOptions(shape, options), ...args),
  };
}

function parseOptions<Shape extends z.ZodType>(shape: Shape, options: unknown): z.output<Shape> {
  try {
    return parseOrThrow(shape, options, 'an option');
  } catch (error) {
    if (!(error instanceof PlacetError) || !error.issues?.[0]) throw error;
    const { path, message } = error.issues[0];
    const flag = `--${path.split('.')[0]?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new PlacetError('usage', `${flag}: ${message}`);
  }
}
