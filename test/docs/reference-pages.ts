import { type CommandSpec, exitCodes, flagName } from '@placet/cli';
import { keyOf, keyTable, queueName, queuePrefix, teamsKey } from '@placet/mailbox';
import { environmentName, errorCatalogue, type SettingName, settings } from '@placet/protocol';

const generated =
  '<!-- Generated from the sources; change those, then run: npx vitest run --project system test/docs -u -->';

/** `docs/reference/errors.md`: every code that Placet answers. */
export function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, exitCode, retryable, title, doc }]) =>
      `| \`${code}\` | ${status} | ${exitCode} | ${retryable ? 'yes' : 'no'} | **${title}.** ${cell(doc)} |`,
  );
  return page(
    'Errors',
    'HTTP answers errors as `application/problem+json` with a `code`; commands print the code and exit as listed. Branch on the code, never on a text. *Again* says whether the same call may succeed later, unchanged.',
    ['| code | HTTP | exit | again | what it means, what to do |', '|---|---|---|---|---|', ...rows],
  );
}

/** `docs/reference/configuration.md`: every setting. */
export function configurationPage(): string {
  const names = Object.keys(settings) as SettingName[]; // the keys of the literal in protocol
  const rows = names.map((name) => {
    const setting = settings[name];
    const fallback: unknown = setting.schema.parse(undefined);
    const shown = fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``;
    const strictest = 'restrict' in setting ? ' The strictest of all layers holds.' : '';
    const variable = name === 'agents' ? 'files only' : `\`${environmentName(name)}\``;
    return `| \`${name}\` | ${variable} | ${shown} | ${cell(setting.doc)}${strictest} |`;
  });
  return page(
    'Settings',
    [
      'A setting is looked for in this order, and the first that has it wins: the flag of a command (`--max-revisions` for `maxRevisions`; `--data` for `dataDir`), the environment, the project file (`--config`, `PLACET_CONFIG`, else `placet.config.json` here or nearest above), the file `placet/config.json` in `$XDG_CONFIG_HOME` or `~/.config`, the default. Where it says so, the strictest of all layers holds instead.',
      "An unknown or bad setting is an error that names it and where it came from. `placet doctor --config` prints what is in effect, and why. Relative paths in a file are meant from that file's folder. `PLACET_DATA` is another name of `PLACET_DATA_DIR`.",
    ].join('\n\n'),
    ['| setting | environment | default | what it means |', '|---|---|---|---|', ...rows],
  );
}

/** `docs/reference/commands.md`: every command with its flags. */
export function commandsPage(commands: readonly CommandSpec[]): string {
  const codes = Object.entries(exitCodes).map(([name, code]) => `| ${code} | ${meanings[name] ?? name} |`);
  const sections = commands.flatMap((spec) => {
    const usage = [`placet ${spec.name}`, ...spec.arguments.map(({ name }) => name)].join(' ');
    const flags = [
      ...spec.options.map(({ flags, doc }) => `| \`${cell(flags)}\` | ${cell(doc)} |`),
      ...spec.settings.map(
        (name) => `| \`${spec.flags[name] ?? flagName(name)}\` | ${cell(settings[name].doc)} |`,
      ),
    ];
    return [
      `## \`${usage}\``,
      '',
      `${spec.summary[0]?.toUpperCase()}${spec.summary.slice(1)}.`,
      '',
      ...(flags.length > 0 ? ['| flag | |', '|---|---|', ...flags, ''] : []),
      '```sh',
      ...spec.examples,
      '```',
      '',
    ];
  });
  return page(
    'Commands',
    'Every command takes `--data`, `--config`, `--json` (JSON on stdout, errors as JSON on stderr) and `--help`.',
    ['| exit code | |', '|---|---|', ...codes, '', ...sections.slice(0, -1)],
  );
}

/** `docs/reference/redis-keys.md`: every key that Placet writes. */
export function redisKeysPage(): string {
  const team = '<team>';
  const rows = Object.values(keyTable).map(
    ({ pattern, type, holds, life }) => `| \`${pattern}\` | ${type} | ${cell(holds)} | ${life} |`,
  );
  const prefix = keyOf(team, 'pending').slice(0, -keyTable.pending.pattern.length);
  return page(
    'Redis keys',
    [
      `Every key of a team begins with \`${prefix}\`: one hash tag, so that each script works on one slot of a Cluster. The first part after it says who may write: \`m.<teammate>\` that teammate and the lead, \`lead\` the lead alone, \`log\` both. Times are milliseconds since the epoch. Nothing here needs to be believed: decisions, owners and the lead's mode carry the lead's signature.`,
      `Beside them there are \`${teamsKey}\`, a set of all teams in a slot of its own, and what BullMQ keeps under \`${queuePrefix(team, '<teammate>')}:${queueName}\`.`,
    ].join('\n\n'),
    ['| key | type | holds | stays |', '|---|---|---|---|', ...rows],
  );
}

const meanings: Readonly<Record<string, string>> = {
  done: 'done, approved',
  failure: 'failure',
  usage: 'the command or a setting is wrong',
  rejected: 'rejected',
  timeout: 'timed out: the deadline of a plan, or the time a command was to wait',
  teleport: 'teleported, handed over',
  withdrawn: 'withdrawn or superseded',
  notAuthorised: 'not authorised',
  unreachable: 'store or service cannot be reached',
};

function page(title: string, intro: string, lines: readonly string[]): string {
  return `${generated}\n\n# ${title}\n\n${intro}\n\n${lines.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
