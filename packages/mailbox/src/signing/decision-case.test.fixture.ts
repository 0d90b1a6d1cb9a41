import {
  type Decision,
  type DecisionClaims,
  digestOfBytes,
  digestOfText,
  type RequestRecord,
  toTimestamp,
} from '@placet/protocol';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { DecideInput } from '../decide-input.ts';
import { draftDecision } from '../draft-decision.ts';
import { fixedKeys, type KeySource } from './key-source.ts';
import { createSigner, type Signer } from './signer.ts';
import { type OwnRequest, ownRequestOf, type VerifyInput } from './verification.ts';

/** When everything in these cases happens. */
export const nowMs = Date.parse('2026-01-02T03:04:05.678Z');

/** A key of a lead, in memory. */
export interface TestKey {
  kid: string;
  x: string;
  publicKey: CryptoKey;
  privateKey: CryptoKey;
  signer: Signer;
  keys: KeySource;
}

/** Makes a key as a lead has it. */
export async function makeKey(): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const { x = '' } = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
  const signer = createSigner(kid, privateKey);
  return { kid, x, publicKey, privateKey, signer, keys: fixedKeys(new Map([[kid, publicKey]])) };
}

/** A pending request as a store answers it. */
export function pendingRecord(changes: Partial<RequestRecord> = {}): RequestRecord {
  const plan = new TextEncoder().encode('# Plan\n\nRename the function.\n');
  return {
    v: 1,
    requestId: 'plan_approval-0194f3a0-1c2b-7d3e-8f40-123456789abc@worker@main',
    team: 'main',
    teammate: 'worker',
    owner: 'teammate:worker',
    sessionId: '0194f3a0-0000-7000-8000-000000000001',
    revision: 2,
    state: 'pending',
    work: { state: 'none', epoch: 0 },
    plan: { digest: digestOfBytes(plan), path: '/plans/a.md', chars: plan.length, bytes: plan.length },
    prePlanMode: 'default',
    executionTarget: 'local',
    submittedAt: toTimestamp(nowMs - 60_000),
    deadline: toTimestamp(nowMs + 60_000),
    labels: {},
    workspace: { cwd: '/repository', head: 'a'.repeat(40), agent: 'codemod' },
    policyDigest: digestOfText('policy'),
    votes: [],
    delivery: {},
    ...changes,
  };
}

/** What a lead sends to approve that request. */
export function decideInput(record: RequestRecord, changes: Partial<DecideInput> = {}): DecideInput {
  return {
    team: record.team,
    record,
    outcome: 'approved',
    planDigest: record.plan.digest,
    permissionMode: 'acceptEdits',
    context: 'keep',
    feedback: 'Mind the tests.',
    images: [{ digest: digestOfText('image'), mediaType: 'image/png' }],
    decidedBy: 'local:ada',
    notAfterMs: 24 * 60 * 60 * 1000,
    policyDigest: record.policyDigest,
    notices: ['the workspace moved'],
    ...changes,
  };
}

/** A decided request with everything that its verification needs. */
export interface DecisionCase {
  record: RequestRecord & { decision: Decision };
  own: OwnRequest;
  plan: Uint8Array;
  input: VerifyInput;
}

/** Decides the request of {@link pendingRecord} as the lead does, without a store. */
export async function decidedCase(
  signer: Signer,
  changes: Partial<DecideInput> = {},
  recordChanges: Partial<RequestRecord> = {},
): Promise<DecisionCase> {
  const pending = pendingRecord(recordChanges);
  const decide = decideInput(pending, changes);
  const { decision } = await draftDecision(signer, decide, nowMs);
  const record = { ...pending, state: decision.outcome, decision };
  const own = ownRequestOf(pending);
  const plan = decide.approvedPlan ?? new TextEncoder().encode('# Plan\n\nRename the function.\n');
  return {
    record,
    own,
    plan,
    input: { record, own, approvedPlan: plan, nowMs: nowMs + 1000, claimedBefore: false },
  };
}

/** The claims in a JWS, unverified. */
export function claimsIn(jws: string): DecisionClaims {
  // What our own signing wrote a moment ago.
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as DecisionClaims;
}
