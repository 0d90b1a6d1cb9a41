import { type SettingName, settings as settingTable } from '@placet/protocol';
import { z } from 'zod';
import { type Context, clientSettings, defineCommand } from '../command.ts';
import type { Finding } from '../doctor/finding.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim, type Style } from '../output/output.ts';
import type { Settings } from '../settings/load-settings.ts';

/** `placet doctor`: what is wrong here, and how to mend it. */
export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'check Redis, keys, clocks, queue and permissions, and say how to mend each',
  options: [
    { flags: '--config [file]', doc: 'print the settings in effect and where each comes from, instead' },
  ],
  settings: [...clientSettings, 'teammate', 'redisUrl'],
  examples: ['placet doctor', 'placet doctor --config --json'],
  shape: z.object({ config: z.union([z.boolean(), z.string()]).optional() }),
  async run(context, { config }) {
    if (config !== undefined) return printSettings(context);
    const { examineAll } = await import('../doctor/examine-all.ts');
    const findings = await examineAll(context);
    context.output.value({
      ok: findings.every(({ status }) => status === 'ok' || status === 'warning'),
      findings,
    });
    for (const finding of findings) printFinding(context, finding);
    if (findings.some(({ status }) => status === 'unreachable')) return exitCodes.unreachable;
    return findings.some(({ status }) => status === 'fault') ? exitCodes.failure : exitCodes.done;
  },
});

const styles: Readonly<Record<Finding['status'], Style>> = {
  ok: 'green',
  warning: 'yellow',
  fault: 'red',
  unreachable: 'red',
};

function printFinding({ output }: Context, { check, status, detail, mend }: Finding): void {
  output.line({ text: status.padEnd(12), style: styles[status] }, bold(check), `  ${detail}`);
  if (mend) output.line(dim(`            mend: ${mend}`));
}

function printSettings({ output, settings }: Context): number {
  const shown = maskedSettings(settings);
  output.value({ files: settings.files, config: shown });
  for (const [name, { value, source }] of Object.entries(shown))
    output.line(
      bold(name.padEnd(20)),
      value === undefined ? dim('not set') : JSON.stringify(value),
      dim(`  (${source})`),
    );
  return exitCodes.done;
}

/** Every setting with its source; secrets, and what agents are given in their environment, are masked. */
function maskedSettings({ config, sources }: Settings): Record<string, { value: unknown; source: string }> {
  const names = Object.keys(settingTable) as SettingName[]; // the keys of the literal in protocol
  return Object.fromEntries(
    names.map((name) => {
      const secret = 'secret' in settingTable[name] && config[name] !== undefined;
      return [
        name,
        {
          value: secret ? '***' : name === 'agents' ? maskedAgents(config.agents) : config[name],
          source: sources[name],
        },
      ];
    }),
  );
}

function maskedAgents(agents: Settings['config']['agents']): unknown {
  const masked = Object.entries(agents).map(([name, { env, ...rest }]) => [
    name,
    { ...rest, env: Object.fromEntries(Object.keys(env).map((variable) => [variable, '***'])) },
  ]);
  return Object.fromEntries(masked);
}
