import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type ConfigLayer,
  environmentLayer,
  PlacetError,
  type ResolvedConfig,
  resolveConfig,
} from '@placet/protocol';
import { z } from 'zod';
import type { World } from '../world.ts';

/** The name of a project's settings file. */
const projectFileName = 'placet.config.json';

/** What a command's flags set; `sourceOf` names the flag of each. */
export interface FlagSettings {
  values: Record<string, unknown>;
  /** `--config`: the project file, instead of the nearest one upward. */
  configFile?: string | undefined;
}

/** The settings in effect, with the files they were read from. */
export interface Settings extends ResolvedConfig {
  files: string[];
  /** The project's file, where there is one. */
  projectFile: string | undefined;
}

/**
 * Reads every layer of settings (WR-41): flags, `PLACET_*`, the project file (`--config`, `PLACET_CONFIG`, else
 * `placet.config.json` nearest upward), the person's file, defaults.
 * @throws PlacetError `config_invalid` naming the setting, or the file that is no JSON object.
 */
export async function loadSettings(
  world: Pick<World, 'env' | 'cwd' | 'home'>,
  flags: FlagSettings,
): Promise<Settings> {
  const named = flags.configFile ?? world.env.PLACET_CONFIG;
  const project = named ? await readNamed(resolve(world.cwd, named)) : await readNearest(world.cwd);
  const person = await readLayer(join(configHome(world), 'placet', 'config.json'));
  const files = [project, person].filter((layer) => layer !== undefined);
  return {
    ...resolveConfig([flagLayer(flags.values), environmentLayer(world.env), ...files]),
    files: files.map(({ source }) => source),
    projectFile: project?.source,
  };
}

/** The flag of a setting: `maxRevisions` is `--max-revisions`. */
export function flagName(setting: string): string {
  if (setting === 'dataDir') return '--data';
  return `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function flagLayer(values: Record<string, unknown>): ConfigLayer {
  return {
    source: 'flags',
    values,
    sourceOf: Object.fromEntries(Object.keys(values).map((name) => [name, flagName(name)])),
  };
}

function configHome({ env, home }: Pick<World, 'env' | 'home'>): string {
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

async function readNamed(file: string): Promise<ConfigLayer> {
  const layer = await readLayer(file);
  if (!layer) throw new PlacetError('config_invalid', `${file}: there is no such settings file`);
  return layer;
}

async function readNearest(folder: string): Promise<ConfigLayer | undefined> {
  for (let here = folder; ; here = dirname(here)) {
    const layer = await readLayer(join(here, projectFileName));
    if (layer || dirname(here) === here) return layer;
  }
}

const SettingsFile = z.record(z.string(), z.unknown());

async function readLayer(file: string): Promise<ConfigLayer | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new PlacetError('config_invalid', `${file}: is not valid JSON`);
  }
  const parsed = SettingsFile.safeParse(content);
  if (!parsed.success)
    throw new PlacetError('config_invalid', `${file}: must hold one JSON object of settings`);
  const { $schema: _schema, ...values } = parsed.data;
  return { source: file, values: withPathsFound(withProgramsFound(values, dirname(file)), dirname(file)) };
}

/** Relative paths in a file are meant from that file's folder. */
function withPathsFound(values: Record<string, unknown>, folder: string): Record<string, unknown> {
  const found = (value: unknown) => (typeof value === 'string' ? resolve(folder, value) : value);
  const { dataDir, jwksFile, roots } = values;
  return {
    ...values,
    ...(dataDir !== undefined && { dataDir: found(dataDir) }),
    ...(jwksFile !== undefined && { jwksFile: found(jwksFile) }),
    ...(Array.isArray(roots) && { roots: roots.map(found) }),
  };
}

/** Relative programs of agent profiles are found from the file that names them. */
function withProgramsFound(values: Record<string, unknown>, folder: string): Record<string, unknown> {
  const profiles = SettingsFile.safeParse(values.agents);
  if (!profiles.success) return values; // absent, or a fault that the schema will name
  const agents = Object.entries(profiles.data).map(([name, profile]) => [
    name,
    withProgramFound(profile, folder),
  ]);
  return { ...values, agents: Object.fromEntries(agents) };
}

const HasCommand = z.looseObject({ command: z.array(z.string()).min(1) });

function withProgramFound(profile: unknown, folder: string): unknown {
  const parsed = HasCommand.safeParse(profile);
  if (!parsed.success) return profile;
  const command = parsed.data.command.map((part) => (/^\.\.?\//.test(part) ? resolve(folder, part) : part));
  return { ...parsed.data, command };
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
