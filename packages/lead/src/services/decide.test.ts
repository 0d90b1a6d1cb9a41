import { createOwnerProof, createSigner, type DecideInput, fixedKeys } from '@placet/mailbox';
import {
  type DecisionBody,
  digestOfText,
  isPlacetError,
  type PermissionMode,
  PlacetError,
  Policy,
  type RequestRecord,
  type TokenClaims,
  type WorkingMode,
} from '@placet/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DecideDeps, decide } from './decide.ts';

const plan = '# Plan\n\n1. Do it.\n';
const planDigest = digestOfText(plan);
let ownerProof: string;
let foreignProof: string;
let keys: DecideDeps['keys'];

beforeAll(async () => {
  const { privateKey, publicKey } = await keyPair();
  keys = fixedKeys(new Map([['k', publicKey]]));
  const signer = createSigner('k', privateKey);
  ownerProof = await createOwnerProof(signer, { team: 'main', teammate: 'worker', owner: 'local:owner' }, 0);
  foreignProof = await createOwnerProof(signer, { team: 'main', teammate: 'other', owner: 'local:x' }, 0);
});

interface Situation {
  record?: Partial<RequestRecord>;
  proof?: string | undefined;
  jobCeiling?: WorkingMode;
  leadMode?: PermissionMode;
  ceiling?: WorkingMode;
  by?: string;
  absent?: true;
}

interface Outcome {
  input?: DecideInput;
  code?: string;
  alarms: string[];
}

describe('whose request it is', () => {
  it('an unknown request is not found', async () => {
    expect(await outcomeOf({ outcome: 'approved', planDigest }, { absent: true })).toMatchObject({
      code: 'not_found',
    });
  });

  it('[TM-32] the proven owner decides nothing, whatever the record says', async () => {
    const outcome = await outcomeOf(
      { outcome: 'approved', planDigest },
      { by: 'local:owner', record: { owner: 'local:someone' } },
    );
    expect(outcome).toEqual({ code: 'self_approval_forbidden', alarms: ['owner_differs'] });
  });

  it('[TM-32, I5] nor does the name that the teammate acts under, whatever role its token has', async () => {
    const outcome = await outcomeOf({ outcome: 'approved', planDigest }, { by: 'teammate:worker' });
    expect(outcome).toEqual({ code: 'self_approval_forbidden', alarms: [] });
  });

  it('[TM-32] nor does the owner that the record names', async () => {
    const outcome = await outcomeOf(
      { outcome: 'rejected', planDigest, feedback: 'no' },
      { by: 'local:r', record: { owner: 'local:r' } },
    );
    expect(outcome.code).toBe('self_approval_forbidden');
  });

  it.each([
    ['absent', () => undefined],
    ['forged', () => `${ownerProof.slice(0, -8)}AAAAAAAA`],
    ["another teammate's", () => foreignProof],
    ['no proof at all', () => 'local:owner'],
  ])('[IN-6] a proof that is %s closes and raises an alarm', async (_what, proofOf) => {
    const outcome = await outcomeOf({ outcome: 'approved', planDigest }, { proof: proofOf() });
    expect(outcome).toEqual({ code: 'self_approval_forbidden', alarms: ['owner_unproven'] });
  });
});

describe('what can be decided', () => {
  it('[WR-22] only the plan that was read', async () => {
    expect((await outcomeOf({ outcome: 'approved', planDigest: digestOfText('other') })).code).toBe(
      'stale_plan',
    );
  });

  it.each([[{ feedback: undefined }], [{ feedback: '' }], [{ feedback: ' \n\t' }], [{ images: [] }]])(
    '[PM-76] a rejection without a reason is refused: %o',
    async (given) => {
      expect((await outcomeOf({ outcome: 'rejected', planDigest, ...given })).code).toBe('feedback_required');
    },
  );

  it('[PM-76] an image alone is a reason', async () => {
    const images = [{ digest: planDigest, mediaType: 'image/png' as const }];
    expect((await outcomeOf({ outcome: 'rejected', planDigest, images })).input?.permissionMode).toBeNull();
  });

  it('[PM-72] a plan that cannot be shown in full is rejected but not approved, stored or edited', async () => {
    const chars = 200_001;
    const stored = { record: { plan: { digest: planDigest, path: 'p', chars, bytes: chars } } };
    expect((await outcomeOf({ outcome: 'approved', planDigest }, stored)).code).toBe(
      'plan_too_large_to_approve',
    );
    expect((await outcomeOf({ outcome: 'approved', planDigest, planContent: 'short' }, stored)).code).toBe(
      'plan_too_large_to_approve',
    );
    expect((await outcomeOf({ outcome: 'approved', planDigest, planContent: 'x'.repeat(chars) })).code).toBe(
      'plan_too_large_to_approve',
    );
    expect(
      (await outcomeOf({ outcome: 'approved', planDigest, planContent: 'x'.repeat(200_000) })).code,
    ).toBeUndefined();
    expect(
      (await outcomeOf({ outcome: 'rejected', planDigest, feedback: 'shorter' }, stored)).code,
    ).toBeUndefined();
  });

  it('[PM-71] a plan that was edited away is refused', async () => {
    expect((await outcomeOf({ outcome: 'approved', planDigest, planContent: ' \n' })).code).toBe(
      'plan_required',
    );
  });

  it('an edit is a text that differs; the stored text is none', async () => {
    expect(
      (await outcomeOf({ outcome: 'approved', planDigest, planContent: plan })).input?.approvedPlan,
    ).toBeUndefined();
    const { input } = await outcomeOf({ outcome: 'approved', planDigest, planContent: `${plan} ` });
    expect(new TextDecoder().decode(input?.approvedPlan)).toBe(`${plan} `);
  });

  it('only a remote plan can be teleported', async () => {
    expect((await outcomeOf({ outcome: 'teleport', planDigest })).code).toBe('validation_failed');
    const remote = { record: { executionTarget: 'remote' as const } };
    expect((await outcomeOf({ outcome: 'teleport', planDigest }, remote)).input?.outcome).toBe('teleport');
  });

  it.each([
    { outcome: 'rejected', permissionMode: 'default' },
    { outcome: 'rejected', context: 'clear' },
    { outcome: 'rejected', planContent: 'other' },
    { outcome: 'rejected', scope: { write: [], run: [], tools: [] } },
    { outcome: 'teleport', permissionMode: 'default' },
  ] satisfies Partial<DecisionBody>[])(
    'a field that the outcome gives no meaning is refused: %o',
    async (given) => {
      const remote = { record: { executionTarget: 'remote' as const } };
      expect((await outcomeOf({ planDigest, feedback: 'why', ...given }, remote)).code).toBe(
        'validation_failed',
      );
    },
  );

  it('[WR-21] what has ended is handed on, for the deciding step to compare', async () => {
    const { input } = await outcomeOf(
      { outcome: 'rejected', planDigest: digestOfText('other') },
      { record: { state: 'approved' } },
    );
    expect(input).toBeDefined();
  });
});

describe('the mode that is granted', () => {
  it.each([
    ['the one of the decision', { permissionMode: 'acceptEdits' }, {}, 'acceptEdits'],
    [
      'restore: the one from before planning',
      { permissionMode: 'restore' },
      { record: { prePlanMode: 'auto' } },
      'auto',
    ],
    [
      'restore of plan: default',
      { permissionMode: 'restore' },
      { record: { prePlanMode: 'plan' } },
      'default',
    ],
    ["absent: the lead's own", {}, { leadMode: 'dontAsk' }, 'dontAsk'],
    ['absent and the lead plans: default', {}, { leadMode: 'plan' }, 'default'],
    ['absent and nobody said: default', {}, {}, 'default'],
  ] as const)('[TM-30] %s', async (_what, given, situation, mode) => {
    expect(
      (await outcomeOf({ outcome: 'approved', planDigest, ...given }, situation)).input?.permissionMode,
    ).toBe(mode);
  });

  it.each([
    ['the decision', { permissionMode: 'auto' }, { ceiling: 'acceptEdits' }],
    [
      'restore',
      { permissionMode: 'restore' },
      { ceiling: 'acceptEdits', record: { prePlanMode: 'bypassPermissions' } },
    ],
    ['the lead', {}, { ceiling: 'default', leadMode: 'dontAsk' }],
    ['the decision, by the ceiling of the job', { permissionMode: 'auto' }, { jobCeiling: 'dontAsk' }],
    [
      'the decision, by the lower of both',
      { permissionMode: 'auto' },
      { jobCeiling: 'auto', ceiling: 'acceptEdits' },
    ],
  ] as const)('[TM-30] above the ceiling it is refused, from %s', async (_what, given, situation) => {
    expect((await outcomeOf({ outcome: 'approved', planDigest, ...given }, situation)).code).toBe(
      'mode_not_allowed',
    );
  });

  it('[TM-30] a mode of the same height as the ceiling is granted', async () => {
    const body = { outcome: 'approved', planDigest, permissionMode: 'dontAsk' } as const;
    expect((await outcomeOf(body, { ceiling: 'acceptEdits' })).input?.permissionMode).toBe('dontAsk');
  });
});

async function outcomeOf(body: DecisionBody, situation: Situation = {}): Promise<Outcome> {
  const alarms: string[] = [];
  let input: DecideInput | undefined;
  const record = recordOf(situation.record);
  const deps: DecideDeps = {
    getRecord: async () => (situation.absent ? undefined : record),
    getOwnerProof: async () => ('proof' in situation ? situation.proof : ownerProof),
    keys,
    getJobCeiling: async () => situation.jobCeiling,
    getLeadMode: async () => situation.leadMode,
    policy: Policy.parse(situation.ceiling ? { maxPermissionMode: situation.ceiling } : {}),
    policyDigest: digestOfText('policy'),
    decide: async (given) => {
      input = given;
      return { kind: 'decided', record };
    },
    alarm: async (_record, code) => {
      alarms.push(code);
    },
  };
  try {
    await decide(deps, {
      team: 'main',
      requestId: record.requestId,
      body,
      principal: lead(situation.by ?? 'local:lead'),
    });
    return { ...(input && { input }), alarms };
  } catch (error) {
    if (!isPlacetError(error)) throw error;
    return { code: error.code, alarms };
  }
}

function lead(sub: string): TokenClaims {
  return {
    v: 1,
    iss: 'placet',
    sub,
    jti: 'j',
    iat: 0,
    exp: 1,
    role: 'lead',
    teams: ['main'],
    kind: 'person',
  };
}

function recordOf(changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    v: 1,
    requestId: 'r-1',
    team: 'main',
    teammate: 'worker',
    owner: 'local:owner',
    sessionId: 's-1',
    revision: 1,
    state: 'pending',
    work: { state: 'none', epoch: 0 },
    plan: { digest: planDigest, path: 'plan.md', chars: plan.length, bytes: plan.length },
    prePlanMode: 'default',
    executionTarget: 'local',
    submittedAt: '2026-01-01T00:00:00.000Z',
    deadline: '2026-01-02T00:00:00.000Z',
    labels: {},
    policyDigest: planDigest,
    votes: [],
    delivery: {},
    ...changes,
  };
}

async function keyPair() {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new PlacetError('internal', 'a key pair was asked for');
  return pair;
}
