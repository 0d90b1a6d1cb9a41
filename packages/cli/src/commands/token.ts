import {
  maxTokenLifetimeMs,
  PlacetError,
  Principal,
  PrincipalKind,
  Role,
  TeammateName,
  TeamName,
  toTimestamp,
} from '@placet/protocol';
import { z } from 'zod';
import { type Context, defineCommand } from '../command.ts';
import { listIssued, noteIssued } from '../connection/issued-tokens.ts';
import { keysFolder, openKeys } from '../connection/local-tokens.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim } from '../output/output.ts';
import { parseDurationMs } from '../settings/durations.ts';
import { dataFolderToUse } from '../settings/paths.ts';

const names = z
  .string()
  .transform((text) => text.split(',').filter(Boolean))
  .pipe(z.array(TeamName).min(1));

/** `placet token create`: needs no service, only the data folder's keys (WR-32, WR-43). */
export const tokenCreateCommand = defineCommand({
  name: 'token create',
  summary: 'make a token; it is shown once',
  options: [
    { flags: '--principal <name>', doc: 'who it is for, such as user:ada' },
    { flags: '--role <role>', doc: Role.options.join(', ') },
    { flags: '--team <names>', doc: 'the team, or several with commas between them' },
    { flags: '--teammate <name>', doc: 'for the role teammate: the one name it acts as' },
    { flags: '--owner <name>', doc: 'for the role teammate: who owns it, and so never decides its plans' },
    { flags: '--kind <kind>', doc: 'person or agent; teammates are agents, others persons unless set' },
    {
      flags: '--expires-in <duration>',
      doc: 'milliseconds, or 30m, 12h, 7d; at most 90d, which is also the default',
    },
  ],
  examples: [
    'placet token create --principal user:ada --role lead --team main --json',
    'placet token create --principal teammate:worker --role teammate --team main --teammate worker --owner user:bob',
  ],
  shape: z.object({
    principal: Principal,
    role: Role,
    team: names.optional(),
    teammate: TeammateName.optional(),
    owner: Principal.optional(),
    kind: PrincipalKind.optional(),
    expiresIn: z.string().optional(),
  }),
  async run(context, { principal, role, team, teammate, owner, kind, expiresIn }) {
    const { output, settings } = context;
    if (role === 'teammate' && (teammate === undefined || owner === undefined))
      throw new PlacetError('usage', 'a token of role teammate needs --teammate and --owner');
    const dataDir = await dataFolder(context);
    const nowMs = Date.now();
    const spec = {
      principal,
      role,
      teams: team ?? [settings.config.team],
      kind: kind ?? (role === 'teammate' ? ('agent' as const) : ('person' as const)),
      teammate,
      owner,
    };
    const expiresInMs =
      expiresIn === undefined ? maxTokenLifetimeMs : parseDurationMs(expiresIn, '--expires-in');
    const { createToken } = await import('@placet/mailbox/signing');
    const created = await createToken(await (await openKeys(dataDir)).activeSigner(), {
      ...spec,
      expiresInMs,
      nowMs,
    });
    const { id, token, expiresAt } = created;
    await noteIssued(dataDir, { id, ...spec, createdAt: toTimestamp(nowMs), expiresAt });
    output.value({ id, token, expiresAt });
    output.line(token);
    output.note(
      dim(`${id}, expires ${expiresAt}; it is not shown again. placet token revoke ${id} ends it.`),
    );
    return exitCodes.done;
  },
});

/** `placet token list`: the tokens that were made here. */
export const tokenListCommand = defineCommand({
  name: 'token list',
  summary: 'list the tokens that were made from this data folder',
  examples: ['placet token list --json'],
  shape: z.object({}),
  async run(context) {
    const { output } = context;
    const dataDir = await dataFolder(context);
    const { Revocations } = await import('@placet/mailbox/signing');
    const revoked = new Set(
      (await (await Revocations.open(keysFolder(dataDir))).list()).map(({ jti }) => jti),
    );
    const tokens = (await listIssued(dataDir)).map((token) => ({ ...token, state: stateOf(token, revoked) }));
    output.value({ tokens });
    if (tokens.length === 0) output.line(`No token was made from ${dataDir}.`);
    for (const { id, principal, role, teams, state, expiresAt } of tokens)
      output.line(
        bold(id),
        `  ${state}  ${role}  ${principal}  ${teams.join(',')}  `,
        dim(`until ${expiresAt}`),
      );
    return exitCodes.done;
  },
});

/** `placet token revoke ID`: in the lead's file first, so that nothing in Redis can bring a token back (WR-32). */
export const tokenRevokeCommand = defineCommand({
  name: 'token revoke',
  summary: 'revoke a token by its id',
  arguments: [{ name: '<id>', doc: 'the id that token create printed' }],
  examples: ['placet token revoke 0192e0c4-5d0e-7cc3-9f1e-2f6d9f3c1a77'],
  shape: z.object({}),
  async run(context, _options, id = '') {
    const dataDir = await dataFolder(context);
    const known = (await listIssued(dataDir)).find((token) => token.id === id);
    const { Revocations } = await import('@placet/mailbox/signing');
    const revocations = await Revocations.open(keysFolder(dataDir));
    await revocations.revoke(id, known ? Date.parse(known.expiresAt) : undefined);
    context.output.value({ id, revoked: true });
    context.output.line(`Revoked ${id}.`);
    if (!known)
      context.output.note(`${id} was not made from ${dataDir}; it is revoked for 90 days all the same`);
    return exitCodes.done;
  },
});

function dataFolder({ world, settings }: Context): Promise<string> {
  return dataFolderToUse(world, settings.config.dataDir);
}

function stateOf({ id, expiresAt }: { id: string; expiresAt: string }, revoked: Set<string>): string {
  if (revoked.has(id)) return 'revoked';
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}
