import { z } from 'zod';
import { PlacetError } from './errors.ts';
import { TeammateName, TeamName } from './ids.ts';
import { defaultMaxRevisions } from './job.ts';
import { lowestCeiling, PermissionMode, WorkingMode } from './permission-mode.ts';
import { deadlineBoundsMs, defaultDeadlineMs, defaultNotAfterMs } from './request.ts';
import { isSameTool, TrustedTool } from './trusted-tool.ts';

/** An agent that a teammate can run: any executable (TM-22). Relative programs are found from the file's folder. */
export const AgentProfile = z.strictObject({
  runtime: z.literal('command').default('command'),
  /** The program and its arguments. */
  command: z.array(z.string().min(1)).min(1),
  /** Environment beside PLACET_*, PATH, HOME and the locale; nothing else of the teammate's is passed on. */
  env: z.record(z.string(), z.string()).default({}),
  /** How long one phase may take, in milliseconds. */
  timeoutMs: z
    .number()
    .int()
    .min(1000)
    .default(30 * 60 * 1000),
});
export type AgentProfile = z.infer<typeof AgentProfile>;

interface Setting {
  schema: z.ZodType;
  doc: string;
  /** Never printed. */
  secret?: true;
  /** Every layer that sets it counts, and the strictest wins; without it the first layer does (WR-41). */
  restrict?: (values: never[]) => unknown;
}

const lowest = (values: number[]) => Math.min(...values);
const highest = (values: number[]) => Math.max(...values);
const anyTrue = (values: boolean[]) => values.some(Boolean);
const allTrue = (values: boolean[]) => values.every(Boolean);
const durationMs = (min: number, max = Number.MAX_SAFE_INTEGER) => z.coerce.number().int().min(min).max(max);
const strictest = (values: ('standard' | 'strict')[]) => (values.includes('strict') ? 'strict' : 'standard');
const flag = z.union([
  z.boolean(),
  z.enum(['1', '0', 'true', 'false']).transform((text) => text === '1' || text === 'true'),
]);
const toolListShape = 'must be a list such as [{"server":"docs","tool":"read_page"}]';
const trustedByAll = (values: TrustedTool[][]) =>
  values.reduce((all, more) => all.filter((tool) => more.some((other) => isSameTool(tool, other))));
const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(',').filter(Boolean))]);

/** A list of tools, in the environment as its JSON. */
const toolList = z.preprocess(
  (value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      context.issues.push({ code: 'custom', input: value, message: toolListShape });
      return z.NEVER;
    }
  },
  z.array(TrustedTool, toolListShape),
);

/** Every setting of Placet (WR-41): the one table of names, shapes, defaults and meanings. */
export const settings = {
  redisUrl: {
    schema: z
      .string()
      .regex(
        /^(rediss?(\+cluster)?|redis\+sentinel|unix):\/\//,
        'must start with redis://, rediss://, unix://, redis+cluster://, rediss+cluster:// or redis+sentinel://',
      )
      .optional(),
    secret: true,
    doc: 'The Redis or Valkey to use: one server, a Cluster, or the master that Sentinels name. Without it a private one is started.',
  },
  url: { schema: z.url({ protocol: /^https?$/ }).optional(), doc: 'Where the lead service is.' },
  token: { schema: z.string().startsWith('plt_').optional(), secret: true, doc: 'The token to present.' },
  dataDir: { schema: z.string().min(1).optional(), doc: 'The data folder; `.placet` unless set.' },
  host: { schema: z.string().min(1).default('127.0.0.1'), doc: 'The address the lead service listens on.' },
  port: {
    schema: z.coerce.number().int().min(0).max(65_535).default(4180),
    doc: 'The port the lead service listens on; 0 takes a free one.',
  },
  team: { schema: TeamName.default('main'), doc: 'The team that commands speak of.' },
  teammate: { schema: TeammateName.default('worker'), doc: 'The teammate that commands speak of.' },
  agent: {
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/)
      .default('codemod'),
    doc: 'The agent profile that tasks run with unless they name another.',
  },
  agents: {
    schema: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/), AgentProfile).default({}),
    doc: 'Agent profiles by name.',
  },
  roots: {
    schema: list.default([]),
    doc: 'Folders below which tasks may work; the current folder unless set.',
  },
  concurrency: {
    schema: z.coerce.number().int().min(1).max(256).default(1),
    doc: 'How many jobs a teammate process runs at once.',
  },
  planModeRequired: {
    schema: flag.default(false),
    restrict: anyTrue,
    doc: 'Whether a teammate changes nothing before a verified approval.',
  },
  planModeDefault: {
    schema: flag.default(false),
    doc: 'Whether a new session starts in plan mode where its start does not say.',
  },
  useAutoModeDuringPlan: {
    schema: flag.default(true),
    restrict: allTrue,
    doc: 'Whether planning sessions have the semantics of `auto`, where that is available, for what only reads.',
  },
  showClearContextOnPlanAccept: {
    schema: flag.default(false),
    doc: 'Whether approving a plan at its session offers to begin the work in a new context.',
  },
  askUserQuestionTimeout: {
    schema: z.enum(['never', '60s', '5m', '10m']).default('never'),
    doc: 'How long a person at a session may be silent before its question goes on with what they chose so far; it never approves a plan.',
  },
  trustedReadOnlyTools: {
    schema: toolList.default([]),
    restrict: trustedByAll,
    doc: 'Tools of MCP servers and daemons that may run while planning, since the operator knows that they change nothing: exact pairs of a `server` as configured and a `tool` as it lists it; in the environment as JSON.',
  },
  permissionCeiling: {
    schema: WorkingMode.default('bypassPermissions'),
    restrict: (values: WorkingMode[]) => lowestCeiling(...values),
    doc: 'No decision grants a mode above this one.',
  },
  leadMode: { schema: PermissionMode.optional(), doc: 'The mode that decisions grant which name none.' },
  deadlineMs: {
    schema: durationMs(deadlineBoundsMs.min, deadlineBoundsMs.max).default(defaultDeadlineMs),
    doc: 'How long a plan waits for its decision.',
  },
  notAfterMs: {
    schema: durationMs(1000).default(defaultNotAfterMs),
    restrict: lowest,
    doc: 'How long an approval waits for its work.',
  },
  maxRevisions: {
    schema: z.coerce.number().int().min(1).max(1000).default(defaultMaxRevisions),
    restrict: lowest,
    doc: 'How often a plan may be revised.',
  },
  onBaseMoved: {
    schema: z.enum(['notice', 'replan', 'refuse']).default('notice'),
    doc: 'What happens when the workspace moved since the plan was made.',
  },
  plansDirectory: {
    schema: z.string().min(1).optional(),
    doc: 'Where plan files are kept, relative to the project.',
  },
  leaseMs: {
    schema: durationMs(1000, 600_000).default(30_000),
    doc: 'How long a worker may be silent before its session is free.',
  },
  visibilityMs: {
    schema: durationMs(1000).default(60_000),
    doc: 'How long an inbox entry is out before it is offered again.',
  },
  storeTimeoutMs: { schema: durationMs(50, 60_000).default(2000), doc: 'How long a store call may take.' },
  shutdownGraceMs: {
    schema: durationMs(0).default(10_000),
    doc: 'How long implementing agents may go on after SIGTERM.',
  },
  retentionMs: {
    schema: durationMs(1000).default(30 * 24 * 60 * 60 * 1000),
    doc: 'How long settled requests are kept.',
  },
  retentionCount: {
    schema: z.coerce.number().int().min(1000).default(1_000_000),
    doc: 'How many settled requests of a team are kept at most, and how many of its events.',
  },
  durability: {
    schema: z.enum(['standard', 'strict']).default('standard'),
    restrict: strictest,
    doc: 'When a write counts as done: `standard` when Redis answers, which syncs its file once a second; `strict` when it is on the disk and on `replicas`.',
  },
  replicas: {
    schema: z.coerce.number().int().min(0).max(16).default(0),
    restrict: highest,
    doc: 'How many replicas of Redis must acknowledge each write in durability `strict`.',
  },
  jwksFile: {
    schema: z.string().min(1).optional(),
    doc: "A file with the lead's public keys, for teammates.",
  },
  jwksUrl: {
    schema: z.url({ protocol: /^https?$/ }).optional(),
    doc: "Where teammates fetch the lead's public keys; needs keyThumbprints.",
  },
  keyThumbprints: {
    schema: list.default([]),
    doc: 'The RFC 7638 thumbprints of the keys that teammates accept.',
  },
  rateLimitPerMinute: {
    schema: z.coerce.number().int().min(0).default(60_000),
    doc: 'How many writing calls a principal may make in a minute; 0 sets no bound.',
  },
  metricsPublic: { schema: flag.default(true), doc: 'Whether /metrics answers without a token.' },
  logLevel: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    doc: 'The least level that is logged.',
  },
} as const satisfies Record<string, Setting>;

/** The name of a setting. */
export type SettingName = keyof typeof settings;
/** The configuration in effect. */
export type Config = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> };

/** One layer of configuration: where it is from, and what it sets. */
export interface ConfigLayer {
  /** Such as `--port`, `PLACET_PORT` or a file's path; said in errors. */
  source: string;
  values: Record<string, unknown>;
  /** Where single settings of this layer come from, where that can be said more exactly than `source` does. */
  sourceOf?: Readonly<Record<string, string>>;
}

/** A configuration with where each setting came from (`default` where nobody set it). */
export interface ResolvedConfig {
  config: Config;
  sources: Record<SettingName, string>;
}

/** The environment variable of a setting: `maxRevisions` is `PLACET_MAX_REVISIONS`. */
export function environmentName(name: SettingName): string {
  return `PLACET_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Environment variables of ours that are no settings: of commands, of tests, and those an agent is given (TM-22). */
const otherVariables =
  /^PLACET_(?:DATA|CONFIG|TEST_.*|PHASE|PLAN_FILE|TASK|TASK_FILE|FEEDBACK_FILE|PERMISSION_MODE|SESSION|REVISION|NOTICES)$/;

/**
 * The layer that the environment makes: every `PLACET_*` variable that is not empty. One that is no setting is kept
 * under its own name, so that {@link resolveConfig} names it.
 */
export function environmentLayer(environment: Record<string, string | undefined>): ConfigLayer {
  const names = new Map(settingNames().map((name) => [environmentName(name), name]));
  names.delete(environmentName('agents')); // profiles are too rich for a variable; files set them
  const values: Record<string, unknown> = {};
  const sourceOf: Record<string, string> = {};
  const set = (name: string, variable: string, value: string) => {
    values[name] = value;
    sourceOf[name] = variable;
  };
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith('PLACET_') || !value || otherVariables.test(variable)) continue;
    set(names.get(variable) ?? variable, variable, value);
  }
  if (environment.PLACET_DATA) set('dataDir', 'PLACET_DATA', environment.PLACET_DATA);
  return { source: 'environment', values, sourceOf };
}

/**
 * Joins layers, the first being the strongest, into the configuration in effect (WR-41).
 * @throws PlacetError `config_invalid` that names a setting which is unknown or bad, and where it came from.
 */
export function resolveConfig(layers: readonly ConfigLayer[]): ResolvedConfig {
  const known = new Set<string>(settingNames());
  for (const { source, values } of layers)
    for (const name of Object.keys(values))
      if (!known.has(name))
        throw new PlacetError('config_invalid', `${source}: there is no setting "${name}"`);
  const config: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const name of settingNames()) {
    const setting: Setting = settings[name];
    const set = layers.filter(({ values }) => values[name] !== undefined);
    const parsed = set.map((layer) => parseSetting(name, setting, layer));
    if (parsed.length === 0) {
      config[name] = setting.schema.parse(undefined);
      sources[name] = 'default';
    } else {
      const chosen = setting.restrict ? setting.restrict(parsed as never[]) : parsed[0]; // parsed by the setting's own schema, which its restrict is written for
      config[name] = chosen;
      const layer = set[Math.max(0, parsed.indexOf(chosen))];
      sources[name] = layer ? sourceIn(layer, name) : 'default';
    }
  }
  return { config: config as Config, sources: sources as ResolvedConfig['sources'] }; // each key of `settings` was just set by its schema
}

function settingNames(): SettingName[] {
  return Object.keys(settings) as SettingName[]; // the keys of the literal above
}

function sourceIn({ source, sourceOf }: ConfigLayer, name: string): string {
  return sourceOf?.[name] ?? source;
}

function parseSetting(name: string, setting: Setting, layer: ConfigLayer): unknown {
  const parsed = setting.schema.safeParse(layer.values[name]);
  if (parsed.success) return parsed.data;
  const fault = parsed.error.issues[0];
  const where = fault && fault.path.length > 0 ? `${name}.${fault.path.join('.')}` : name;
  throw new PlacetError(
    'config_invalid',
    `${sourceIn(layer, name)}: the setting "${where}" is not valid: ${fault?.message ?? 'unknown fault'}`,
  );
}
