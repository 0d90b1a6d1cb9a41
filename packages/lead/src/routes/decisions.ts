import { type DecideInput, decideRequest, verifyLeadMode } from '@placet/mailbox';
import { fromTimestamp, type PermissionMode, type RequestRecord } from '@placet/protocol';
import type { LeadContext } from '../lead-context.ts';
import { decide } from '../services/decide.ts';
import { about } from './requests.ts';
import type { Handlers } from './route.ts';

/** The route by which a lead decides. */
export function decisionRoutes(context: LeadContext): Pick<Handlers, 'decideRequest'> {
  const { stores, keyRing, policy, policyDigest, alarm, metrics } = context;
  const deps = {
    getRecord: (team: string, requestId: string) => stores.requests.get(team, requestId),
    getOwnerProof: (team: string, teammate: string) => stores.requests.ownerProof(team, teammate),
    keys: keyRing,
    getJobCeiling: async ({ team, teammate, sessionId }: RequestRecord) =>
      (await stores.tasks.get({ team, teammate, sessionId }))?.job.permissionCeiling,
    getLeadMode: (record: RequestRecord) => leadModeOf(context, record),
    policy,
    policyDigest,
    decide: async (input: DecideInput) =>
      decideRequest({ requests: stores.requests, signer: await keyRing.activeSigner() }, input),
    alarm,
  };
  return {
    decideRequest: async ({ params, body, principal, request }) => {
      const { kind, record } = await decide(deps, {
        team: params.team,
        requestId: params.id,
        body,
        principal,
      });
      if (kind === 'decided') {
        metrics.requests.inc({ outcome: body.outcome });
        measure(context, record);
        request.log.info(
          { ...about(record), outcome: body.outcome, by: principal.sub, kind: principal.kind },
          'a request was decided',
        );
      }
      return { status: 200, body: record };
    },
  };
}

/** The mode that the lead last said it is in, else the configured one; what the lead did not sign it did not say (IN-6). */
async function leadModeOf(context: LeadContext, record: RequestRecord): Promise<PermissionMode | undefined> {
  const { stores, keyRing, config, alarm } = context;
  const said = await stores.inboxes.leadMode(record.team);
  if (said === undefined) return config.leadMode;
  const mode = await verifyLeadMode(said, record.team, keyRing);
  if (mode === undefined)
    await alarm(record, 'lead_mode_unproven', "the lead's mode in the store is not signed by the lead");
  return mode ?? config.leadMode;
}

function measure({ metrics }: LeadContext, { submittedAt, decision }: RequestRecord): void {
  if (decision)
    metrics.decisionSeconds.observe((fromTimestamp(decision.decidedAt) - fromTimestamp(submittedAt)) / 1000);
}
