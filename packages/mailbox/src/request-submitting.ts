import {
  currentOf,
  type Digest,
  deadlineBoundsMs,
  defaultDeadlineMs,
  fromTimestamp,
  maxPlanBytes,
  PlacetError,
  parseNativeRequestId,
  type RequestRecord,
  type Submission,
  unsafeText,
} from '@placet/protocol';
import { endedHistory, submittedHistory, workHistory } from './history.ts';
import { invalidField } from './invalid-field.ts';
import { keyOf } from './keys.ts';
import type { SubmitResult } from './mailbox-port.ts';
import { nativeDigestOf } from './native-digest.ts';
import { requireOwnId } from './own-id.ts';
import { packDigest, packRequestId, unpackRequestId } from './packed-names.ts';
import {
  draftRequest,
  encodeRequest,
  isRepetition,
  type RequestDraft,
  toRecord,
  untouchedFields,
} from './request-codec.ts';
import { expireRequest, lapseApproval } from './request-ending.ts';
import type { RequestReader } from './request-reader.ts';
import { retryWhileHeld } from './rivals.ts';
import { type Reply, unknownReply } from './scripts.ts';
import { runTeamScript, type StoreContext } from './store-context.ts';

/** A submission with what the caller established about its sender. */
export interface SubmitCommand {
  team: string;
  teammate: string;
  /** The principal that owns the teammate. */
  owner: string;
  submission: Submission;
  /** The digest of the policy in force (TM-31). */
  policyDigest: Digest;
  /** The proof of ownership as signed, kept for the lead that decides (IN-6). */
  ownerProof?: string | undefined;
  /** The epoch of the lease that the sender holds; with it, a sender that lost its session is refused. */
  epoch?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** How far the clock of a native ID's maker may be ahead of the store's. */
const maxIdAheadMs = 24 * 60 * 60 * 1000;

/** Stores a request, or answers the one that stands (WR-23, WR-25, WR-26). See `RequestStore.submit`. */
export async function submitRequest(
  context: StoreContext,
  reader: RequestReader,
  command: SubmitCommand,
): Promise<SubmitResult> {
  const plan = checkSubmission(command);
  await context.registerTeam(command.team);
  const attempt = new SubmitAttempt(context, reader, command, plan);
  let result: SubmitResult | undefined;
  await retryWhileHeld(context.rivalWaitMs, command.signal, async () => {
    const outcome = await attempt.tryOnce();
    if (typeof outcome === 'number') return outcome;
    result = outcome;
    return undefined;
  });
  if (!result) throw new PlacetError('internal', 'a submission ended without a result');
  return result;
}

interface Plan {
  bytes: Buffer;
  digest: Digest;
}

class SubmitAttempt {
  readonly #context: StoreContext;
  readonly #reader: RequestReader;
  readonly #command: SubmitCommand;
  readonly #plan: Plan;
  readonly #draft: RequestDraft;
  readonly #text: string;
  /** The session's latest request, as its hash has it: a guess, until the script says better. */
  #before: string;

  constructor(context: StoreContext, reader: RequestReader, command: SubmitCommand, plan: Plan) {
    const { team, teammate, submission, owner, policyDigest } = command;
    const { supersedes } = submission;
    this.#context = context;
    this.#reader = reader;
    this.#command = command;
    this.#plan = plan;
    this.#before = supersedes === undefined ? '' : packRequestId(team, teammate, supersedes);
    const facts = {
      teammate,
      owner,
      policyDigest,
      planDigest: plan.digest,
      planBytes: plan.bytes.byteLength,
    };
    this.#draft = draftRequest(submission, facts);
    this.#text = encodeRequest(this.#draft);
  }

  /** @returns what came of it, or for how long it should wait at most before it tries again, in milliseconds */
  async tryOnce(): Promise<SubmitResult | number> {
    const { requestId } = this.#command.submission;
    const reply = await this.#run();
    switch (reply.word) {
      case 'created':
        return { kind: 'created', record: this.#created(reply) };
      case 'exists':
        return this.#replay();
      case 'standing':
        return this.#standing();
      case 'retry':
        this.#before = reply.text(0);
        return 0;
      case 'busy':
        return reply.number(0);
      case 'late':
        await expireRequest(this.#context, this.#predecessor());
        return 0;
      case 'lapsed':
        await lapseApproval(this.#context, this.#predecessor());
        return 0;
      case 'taken':
        throw new PlacetError('request_conflict', `the ID ${requestId} stands for another request`);
      case 'fenced':
        throw new PlacetError(
          'epoch_stale',
          `the session of ${requestId} has a later holder; nothing was stored`,
        );
      case 'old':
        throw invalidField('requestId', 'was made longer ago than requests are kept');
      case 'early':
        throw invalidField('requestId', 'says that it was made in the future: set the clock of its maker');
      case 'deadline':
        throw invalidField('deadline', 'must be 1 s to 30 days from now, by the clock of the store');
      default:
        return unknownReply('submit-request', reply);
    }
  }

  #run(): Promise<Reply> {
    const { team, teammate, ownerProof, epoch, submission } = this.#command;
    const { requestId, sessionId, revision, deadline, deadlineMs = defaultDeadlineMs } = submission;
    const { digest, bytes } = this.#plan;
    const subject = { teammate, sessionId, requestId };
    const history = submittedHistory(team, subject, { planDigest: digest, revision });
    const before = this.#predecessor();
    const ended = endedHistory(subjectOf(before), 'superseded');
    const voided = workHistory(subjectOf(before), { state: 'failed', reason: 'superseded' });
    const keys = [
      keyOf(team, 'request', teammate, requestId),
      keyOf(team, 'foreignRequest', requestId),
      keyOf(team, 'session', teammate, sessionId),
      keyOf(team, 'plan', packDigest(digest)),
      keyOf(team, 'planReferences'),
      keyOf(team, 'request', teammate, before.requestId),
      keyOf(team, 'requestState', teammate, before.requestId),
      keyOf(team, 'inbox', teammate),
      keyOf(team, 'owner', teammate),
      keyOf(team, 'draft', teammate, sessionId),
    ];
    const what = [requestId, packRequestId(team, teammate, requestId), this.#text, bytes, packDigest(digest)];
    const who = [teammate, sessionId, parseNativeRequestId(requestId)?.madeAtMs ?? ''];
    const dueAtMs = deadline === undefined ? '' : fromTimestamp(deadline);
    const when = [this.#context.retentionMs, maxIdAheadMs, dueAtMs, deadlineMs];
    const bounds = [deadlineBoundsMs.min, deadlineBoundsMs.max];
    const latest = [before.requestId, this.#before, JSON.stringify(before.requestId)];
    const sender = [epoch ?? '', ownerProof ?? '', revision];
    const texts = [history, ended, voided].flatMap(({ event, audit }) => [event, audit]);
    const args = [...what, ...who, ...when, ...bounds, ...latest, ...sender, ...texts];
    return runTeamScript(this.#context, team, 'submit-request', keys, args);
  }

  #predecessor() {
    const { team, teammate, submission } = this.#command;
    const requestId = this.#before && unpackRequestId(team, teammate, this.#before);
    return { team, teammate, sessionId: submission.sessionId, requestId };
  }

  /** The record as it was in the moment of its making: nobody can have changed it before that. */
  #created(reply: Reply): RequestRecord {
    const { team, teammate, submission } = this.#command;
    const { requestId } = submission;
    const spliced = { n: reply.number(0), at: reply.number(1), dl: reply.number(2) };
    // The script wrote the predecessor down only if it superseded it.
    const ps = reply.text(3) === '' ? undefined : this.#predecessor().requestId;
    const request = { ...this.#draft, ...spliced, ps };
    return toRecord({ team, teammate, requestId, request, fields: untouchedFields, decision: undefined });
  }

  async #replay(): Promise<SubmitResult | number> {
    const { team, submission } = this.#command;
    const parts = await this.#reader.parts(team, submission.requestId);
    if (!parts) return 0; // purged in between
    const record = toRecord(parts);
    if (isRepetition(parts.request, submission, this.#plan.digest)) return { kind: 'replayed', record };
    throw new PlacetError('request_conflict', `request ${record.requestId} exists with other content`, {
      current: currentOf(record),
    });
  }

  async #standing(): Promise<SubmitResult | number> {
    const record = await this.#reader.get(this.#command.team, this.#predecessor().requestId);
    return record?.state === 'approved' ? { kind: 'standing', record } : 0;
  }
}

function subjectOf({
  teammate,
  sessionId,
  requestId,
}: {
  teammate: string;
  sessionId: string;
  requestId: string;
}) {
  return { teammate, sessionId, requestId };
}

/** @throws PlacetError when the submission cannot be stored whatever the store holds */
function checkSubmission({ team, teammate, submission }: SubmitCommand): Plan {
  const { planContent, planDigest, requestId } = submission;
  if (planContent.trim() === '') {
    throw new PlacetError(
      'plan_required',
      'the plan is empty: write it first. Nothing was sent; still planning',
    );
  }
  const fault = unsafeText(planContent);
  if (fault) throw invalidField('planContent', fault);
  const bytes = Buffer.from(planContent, 'utf8');
  if (bytes.byteLength > maxPlanBytes) {
    throw new PlacetError(
      'payload_too_large',
      `the plan has ${bytes.byteLength} bytes; ${maxPlanBytes} can be stored`,
    );
  }
  const digest = nativeDigestOf(bytes);
  if (planDigest !== undefined && planDigest !== digest) {
    throw invalidField('planDigest', 'is not the digest of planContent');
  }
  if (submission.from !== undefined && submission.from !== teammate)
    throw invalidField('from', 'is not the sender');
  if (submission.team !== undefined && submission.team !== team)
    throw invalidField('team', 'is not the team addressed');
  requireOwnId(requestId, { team, teammate });
  return { bytes, digest };
}
