import { type SettingName, settings as settingTable } from '@placet/protocol';
import { Command, Option } from 'commander';
import type { CommandSpec, Context } from './command.ts';
import { commands } from './commands/index.ts';
import { connect } from './connection/connect.ts';
import { readTokenNames } from './connection/token-names.ts';
import { reportFailure } from './output/failure.ts';
import { Output } from './output/output.ts';
import { flagName, loadSettings, type Settings } from './settings/load-settings.ts';
import type { World } from './world.ts';

/** Runs the command that the arguments name and answers its exit code; everything that fails has been printed. */
export async function runProgram(world: World, version: string): Promise<number> {
  const output = createOutput(world);
  let exitCode = 0;
  const program = createParser(world, version, async (spec, args, options) => {
    exitCode = await runCommand(spec, world, output, args, options);
  });
  try {
    await program.parseAsync([...world.argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportFailure(error, output);
  }
}

type Run = (spec: CommandSpec, args: string[], options: Record<string, unknown>) => Promise<void>;

async function runCommand(
  spec: CommandSpec,
  world: World,
  output: Output,
  args: string[],
  given: Record<string, unknown>,
): Promise<number> {
  const values: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const settingOf = new Map(
    settingsOf(spec).map((setting) => [optionOf(spec, setting).attributeName(), setting]),
  );
  for (const [name, value] of Object.entries(given)) {
    const setting = settingOf.get(name);
    if (setting) values[setting] = value;
    else options[name] = value;
  }
  const { config } = options;
  const settings = await loadSettings(world, {
    values,
    configFile: typeof config === 'string' ? config : undefined,
  });
  return spec.run(createContext(world, settings, output), args, options);
}

function createContext(world: World, settings: Settings, output: Output): Context {
  const { config, sources } = settings;
  const names = readTokenNames(config.token);
  const team = sources.team === 'default' ? (names?.teams[0] ?? config.team) : config.team;
  const teammate = sources.teammate === 'default' ? (names?.teammate ?? config.teammate) : config.teammate;
  return {
    world,
    settings,
    output,
    team,
    teammate,
    connect: (actor) => connect(world, settings, actor),
    asLead: async () => (await connect(world, settings, { role: 'lead', team })).client,
  };
}

function createOutput({ argv, env, stdout, stderr }: World): Output {
  const json = argv.includes('--json');
  const colour = !json && stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return new Output({ stdout, stderr, json, colour });
}

/** The parser of every command in the table. */
export function createParser(
  { stdout, stderr }: Pick<World, 'stdout' | 'stderr'>,
  version: string,
  run: Run,
): Command {
  const program = new Command('placet');
  program
    .description(
      'Plan approval for teams of AI agents: who plans may change nothing before a lead approved the plan.',
    )
    .version(version)
    .addHelpText(
      'after',
      '\nExample:\n  $ placet up\n  $ placet inbox\n  $ placet approve 3f9a1c --mode acceptEdits',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: () => undefined, // failures are reported in one place
    });
  const groups = new Map<string, Command>([['', program]]);
  for (const spec of commands) addCommand(groups, spec, run);
  return program;
}

const groupSummaries: Readonly<Record<string, string>> = {
  token: 'make, list and revoke tokens',
  keys: 'rotate and list the keys that sign decisions',
};

function addCommand(groups: Map<string, Command>, spec: CommandSpec, run: Run): void {
  const words = spec.name.split(' ');
  const name = words.pop() ?? '';
  const command = groupOf(groups, words.join(' ')).command(name).description(spec.summary);
  for (const argument of spec.arguments) command.argument(argument.name, argument.doc);
  for (const { flags, doc } of spec.options) command.option(flags, doc);
  for (const setting of settingsOf(spec)) command.addOption(optionOf(spec, setting));
  if (!spec.options.some(({ flags }) => flags.startsWith('--config')))
    command.option(
      '--config <file>',
      "the project's settings file; placet.config.json nearest upward unless set",
    );
  command.option('--json', 'print JSON for programs');
  command.addHelpText('after', `\nExample:\n${spec.examples.map((line) => `  $ ${line}`).join('\n')}`);
  command.action(async () => {
    await run(spec, command.args, command.opts<Record<string, unknown>>());
  });
}

function groupOf(groups: Map<string, Command>, name: string): Command {
  const known = groups.get(name);
  if (known) return known;
  const group = groupOf(groups, '')
    .command(name)
    .description(groupSummaries[name] ?? '');
  const first = commands.find((spec) => spec.name.startsWith(`${name} `));
  group.addHelpText('after', `\nExample:\n  $ ${first?.examples[0] ?? ''}`);
  groups.set(name, group);
  return group;
}

function settingsOf(spec: CommandSpec): SettingName[] {
  return [...spec.settings, 'dataDir'];
}

function optionOf(spec: CommandSpec, setting: SettingName): Option {
  const value = setting === 'planModeRequired' ? '' : ` <${setting === 'dataDir' ? 'dir' : 'value'}>`;
  return new Option(`${spec.flags[setting] ?? flagName(setting)}${value}`, settingTable[setting].doc);
}
