import { type DecideInput, type DecideResult, type KeySource, verifyOwnerProof } from '@placet/mailbox';
import {
  currentOf,
  type DecisionBody,
  type Digest,
  digestOfText,
  exceeds,
  isTerminal,
  lowestCeiling,
  maxApprovablePlanChars,
  type PermissionMode,
  PlacetError,
  type Policy,
  type RequestRecord,
  resolveGrantedMode,
  type TokenClaims,
  type WorkingMode,
} from '@placet/protocol';

/** What the lead's rules are held against. */
export interface DecideDeps {
  getRecord: (team: string, requestId: string) => Promise<RequestRecord | undefined>;
  /** The proof of who owns a teammate, as the store has it: believed for its signature only (IN-6). */
  getOwnerProof: (team: string, teammate: string) => Promise<string | undefined>;
  keys: KeySource;
  /** The ceiling that the job of a session sets, if there is one. */
  getJobCeiling: (record: RequestRecord) => Promise<WorkingMode | undefined>;
  /** The lead's last `mode_changed`, else the configured mode (TM-30). */
  getLeadMode: (record: RequestRecord) => Promise<PermissionMode | undefined>;
  policy: Policy;
  policyDigest: Digest;
  /** Reserve, sign, commit (WR-20). */
  decide: (input: DecideInput) => Promise<DecideResult>;
  /** Tells the leads of something they must look at (I8). */
  alarm: (about: RequestRecord, code: string, detail: string) => Promise<void>;
}

/** A lead's call to decide a request of a team. */
export interface DecideCommand {
  team: string;
  requestId: string;
  body: DecisionBody;
  /** Authenticated by this process as a lead of the team. */
  principal: TokenClaims;
  signal?: AbortSignal;
}

/**
 * Holds a decision to the lead's rules, in this order, and makes it: the request exists; its owner decides nothing
 * (TM-32); what is decided stands (WR-21); the plan is the one that was read (WR-22); a rejection says why; a plan
 * that is approved can be read in full (PM-72) and is not empty (PM-71); the mode is below every ceiling (TM-30).
 * @throws PlacetError the code of the first rule that is broken, and what `decideRequest` of the mailbox throws
 */
export async function decide(deps: DecideDeps, command: DecideCommand): Promise<DecideResult> {
  const { team, requestId, body, principal, signal } = command;
  const record = await deps.getRecord(team, requestId);
  if (!record) throw new PlacetError('not_found', `team ${team} has no request ${requestId}`);
  const [jobCeiling, leadMode] = await Promise.all([
    deps.getJobCeiling(record),
    body.outcome === 'approved' && body.permissionMode === undefined ? deps.getLeadMode(record) : undefined,
    refuseOwner(deps, record, principal),
  ]);
  const edit = editOf(body, record);
  const { prePlanMode } = record;
  const permissionMode =
    body.outcome === 'approved'
      ? resolveGrantedMode({ granted: body.permissionMode, prePlanMode, leadMode })
      : null;
  if (!isTerminal(record.state)) {
    refuseStale(body, record);
    refuseMisplacedFields(body, edit);
    refuseWhatCannotBeDecided(body, record);
    if (permissionMode)
      refuseHighMode(permissionMode, lowestCeiling(deps.policy.maxPermissionMode, jobCeiling));
  }
  // One that has ended is handed on as well: whether it was this very decision is for the deciding step to say (WR-21).
  return deps.decide({
    team,
    record,
    outcome: body.outcome,
    planDigest: body.planDigest,
    permissionMode,
    context: body.context ?? 'keep',
    feedback: body.feedback,
    images: body.images,
    scope: body.scope,
    approvedPlan: edit?.bytes,
    decidedBy: principal.sub,
    notAfterMs: deps.policy.notAfterMs,
    policyDigest: deps.policyDigest,
    notices: [],
    signal,
  });
}

/** The owner is who the lead's own key says (IN-6), and who the record says: neither may decide, and doubt closes. */
async function refuseOwner(deps: DecideDeps, record: RequestRecord, { sub }: TokenClaims): Promise<void> {
  const { team, teammate, requestId } = record;
  const proof = await deps.getOwnerProof(team, teammate);
  const proven =
    proof === undefined ? undefined : await verifyOwnerProof(proof, { team, teammate }, deps.keys);
  if (proven?.kind !== 'valid') {
    const reason = proven === undefined ? 'absent' : proven.reason;
    await deps.alarm(record, 'owner_unproven', `the proof of who owns ${teammate} is not valid: ${reason}`);
    throw new PlacetError(
      'self_approval_forbidden',
      `who owns ${teammate} cannot be established, so nobody decides ${requestId}`,
    );
  }
  if (proven.claims.owner !== record.owner)
    await deps.alarm(
      record,
      'owner_differs',
      `the record of ${requestId} names another owner than the proof does`,
    );
  // The name that a teammate acts under is as good as its owner's, whatever role a token gives it.
  if (sub === proven.claims.owner || sub === record.owner || sub === `teammate:${teammate}`)
    throw new PlacetError(
      'self_approval_forbidden',
      `${sub} owns ${teammate}; another lead must decide ${requestId}`,
    );
}

interface Edit {
  text: string;
  digest: Digest;
  bytes: Uint8Array;
}

/** The plan as the lead changed it; undefined where it is the stored one. */
function editOf({ planContent }: DecisionBody, record: RequestRecord): Edit | undefined {
  if (planContent === undefined) return undefined;
  const digest = digestOfText(planContent);
  return digest === record.plan.digest
    ? undefined
    : { text: planContent, digest, bytes: new TextEncoder().encode(planContent) };
}

function refuseStale({ planDigest }: DecisionBody, record: RequestRecord): void {
  if (planDigest !== record.plan.digest)
    throw new PlacetError(
      'stale_plan',
      `the plan of ${record.requestId} is not the one that was read; read it again`,
      {
        current: currentOf(record),
      },
    );
}

function refuseMisplacedFields(body: DecisionBody, edit: Edit | undefined): void {
  const misplaced: string[] = [];
  if (body.outcome !== 'approved' && body.permissionMode !== undefined) misplaced.push('permissionMode');
  if (body.outcome === 'rejected') {
    if (body.context !== undefined) misplaced.push('context');
    if (body.scope !== undefined) misplaced.push('scope');
    if (edit) misplaced.push('planContent');
  }
  if (misplaced.length > 0)
    throw new PlacetError(
      'validation_failed',
      `${misplaced.join(', ')} cannot be given with "${body.outcome}"`,
      {
        issues: misplaced.map((path) => ({ path, message: `cannot be given with "${body.outcome}"` })),
      },
    );
}

function refuseWhatCannotBeDecided(body: DecisionBody, record: RequestRecord): void {
  const { outcome, feedback = '', images = [], planContent } = body;
  if (outcome === 'rejected' && feedback.trim() === '' && images.length === 0)
    throw new PlacetError('feedback_required', 'a rejection needs feedback text or an image');
  if (outcome === 'rejected') return;
  if (outcome === 'teleport' && record.executionTarget !== 'remote')
    throw new PlacetError(
      'validation_failed',
      `${record.requestId} is to be executed here; only a remote plan can be teleported`,
      {
        issues: [{ path: 'outcome', message: 'teleport is for requests whose executionTarget is remote' }],
      },
    );
  if (planContent !== undefined && planContent.trim() === '')
    throw new PlacetError('plan_required', 'the plan as edited is empty');
  if (
    outcome === 'approved' &&
    Math.max(record.plan.chars, planContent?.length ?? 0) > maxApprovablePlanChars
  )
    throw new PlacetError(
      'plan_too_large_to_approve',
      `the plan has more than ${maxApprovablePlanChars} characters: too large to be shown in full`,
    );
}

function refuseHighMode(mode: WorkingMode, ceiling: WorkingMode): void {
  if (exceeds(mode, ceiling))
    throw new PlacetError(
      'mode_not_allowed',
      `${mode} is above ${ceiling}, the highest mode that may be granted here`,
    );
}
