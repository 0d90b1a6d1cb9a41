import {
  connectRedis,
  createMailbox,
  createSigner,
  type DecideDeps,
  type DecideInput,
  type Durability,
  decideRequest,
  fixedKeys,
  KeyedMutex,
  type KeySource,
  type Mailbox,
  type RedisHandle,
  type Signer,
} from '@placet/mailbox';
import {
  type Digest,
  digestOfText,
  newRequestId,
  newSessionId,
  type RequestRecord,
  type Submission,
} from '@placet/protocol';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';

/** A key of a lead, in memory. */
export interface LeadKey {
  signer: Signer;
  keys: KeySource;
  kid: string;
  /** The public half, as a JWK has it. */
  x: string;
  privateKey: CryptoKey;
}

/** Makes a key as a lead has it. */
export async function makeLeadKey(): Promise<LeadKey> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const { x = '' } = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
  return {
    signer: createSigner(kid, privateKey),
    keys: fixedKeys(new Map([[kid, publicKey]])),
    kid,
    x,
    privateKey,
  };
}

/** The plan that is submitted unless a test says otherwise. */
export const planText = '# Plan\n\nRename the function.\n';
const policyDigest: Digest = digestOfText('policy');

/** One process of the lead: its own connection, its own waiting line, and a count of what it signed. */
export class LeadProcess {
  readonly handle: RedisHandle;
  readonly mailbox: Mailbox;
  signatures = 0;
  readonly #key: LeadKey;
  readonly #mutex = new KeyedMutex();

  private constructor(handle: RedisHandle, key: LeadKey) {
    this.handle = handle;
    this.mailbox = createMailbox(handle);
    this.#key = key;
  }

  static async start(url: string, key: LeadKey, durability?: Durability): Promise<LeadProcess> {
    const handle = connectRedis({ url, name: 'lead', durability });
    await handle.ready();
    return new LeadProcess(handle, key);
  }

  decide(record: RequestRecord, changes: Partial<DecideInput> = {}, deps: Partial<DecideDeps> = {}) {
    const sign: Signer['sign'] = (typ, claims) => {
      this.signatures++;
      return this.#key.signer.sign(typ, claims);
    };
    return decideRequest(
      { requests: this.mailbox.requests, signer: { kid: this.#key.kid, sign }, mutex: this.#mutex, ...deps },
      {
        team: record.team,
        record,
        outcome: 'approved',
        planDigest: record.plan.digest,
        permissionMode: 'acceptEdits',
        context: 'keep',
        decidedBy: 'local:ada',
        notAfterMs: 86_400_000,
        policyDigest,
        notices: [],
        ...changes,
      },
    );
  }

  async close(): Promise<void> {
    await this.mailbox.close();
    await this.handle.close();
  }
}

/** Submits a plan as the teammate `worker` of a team. */
export async function submitPlan(
  mailbox: Mailbox,
  team: string,
  changes: Partial<Submission> = {},
): Promise<RequestRecord> {
  const submission: Submission = {
    requestId: newRequestId('worker', team),
    planFilePath: '/plans/a.md',
    planContent: planText,
    sessionId: newSessionId(),
    revision: 1,
    prePlanMode: 'default',
    executionTarget: 'local',
    labels: {},
    workspace: { cwd: '/repository', head: 'a'.repeat(40), agent: 'codemod' },
    ...changes,
  };
  const { record } = await mailbox.requests.submit({
    team,
    teammate: 'worker',
    owner: 'local:bob',
    submission,
    policyDigest,
  });
  return record;
}
