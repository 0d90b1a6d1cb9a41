import {
  connectRedis,
  createMailbox,
  decideRequest,
  type Mailbox,
  type RedisHandle,
  type Signer,
} from '@placet/mailbox';
import type { Submission } from '@placet/protocol';
import { throughput } from './measure.ts';
import { recordScripts, replay, type ScriptCall } from './recorded-scripts.ts';
import {
  createLeadKey,
  defaultPolicyDigest,
  inFlight,
  owner,
  submissionOf,
  team,
  teammate,
} from './workload.ts';

/** What one round says: submissions with their decision, a second. */
export interface LibraryRound {
  library: number;
  scripts: number;
}

/**
 * PF-2, in the process of the load: the library submits and decides, signing included; then the same scripts are sent
 * to the same Redis with the same bytes and nothing around them.
 */
async function main(): Promise<void> {
  const [url = '', count = '2000', rounds = '3'] = process.argv.slice(2);
  const handle = connectRedis({ url, name: 'bench-library', timeoutMs: 30_000 });
  await handle.ready();
  const key = await createLeadKey();
  await runLibrary(createMailbox(handle), key, Number(count) / 4); // warms up both sides
  for (let round = 0; round < Number(rounds); round += 1) {
    await handle.redis.flushall();
    const library = await runLibrary(createMailbox(handle), key, Number(count));
    const scripts = await runScripts(handle, key, Number(count));
    const result: LibraryRound = { library, scripts };
    console.log(JSON.stringify(result));
  }
  await handle.close();
}

type LeadKey = { signer: Signer; ownerProof: string };

async function runLibrary(mailbox: Mailbox, key: LeadKey, count: number): Promise<number> {
  const submissions = Array.from({ length: count }, (_, index) => submissionOf(index));
  return throughput(count, inFlight, async (index) => {
    const submission = submissions[index];
    if (submission) await submitAndDecide(mailbox, key, submission);
  });
}

async function submitAndDecide(
  mailbox: Mailbox,
  { signer, ownerProof }: LeadKey,
  submission: Submission,
): Promise<void> {
  const { record } = await mailbox.requests.submit({
    team,
    teammate,
    owner,
    ownerProof,
    submission,
    policyDigest: defaultPolicyDigest,
  });
  const { kind } = await decideRequest(
    { requests: mailbox.requests, signer },
    {
      team,
      record,
      outcome: 'approved',
      planDigest: record.plan.digest,
      permissionMode: 'acceptEdits',
      context: 'keep',
      decidedBy: 'local:bench',
      notAfterMs: 60_000,
      policyDigest: defaultPolicyDigest,
      notices: [],
    },
  );
  if (kind !== 'decided') throw new Error(`a decision was ${kind}`);
}

/** Records what the library sends for each request, empties Redis, and sends just that. */
async function runScripts(handle: RedisHandle, key: LeadKey, count: number): Promise<number> {
  await handle.redis.flushall();
  const chains: ScriptCall[][] = [];
  await throughput(count, inFlight, async (index) => {
    const { redis, calls } = recordScripts(handle.redis);
    chains[index] = calls;
    await submitAndDecide(
      createMailbox({ ...plain(handle), redis, writer: redis }),
      key,
      submissionOf(index),
    );
  });
  await handle.redis.flushdb();
  return throughput(count, inFlight, async (index) => {
    for (const call of chains[index] ?? []) {
      const word = await replay(handle.redis, call);
      if (!['created', 'reserved', 'committed'].includes(word))
        throw new Error(`a bare script answered ${word}`);
    }
  });
}

/** The handle as plain functions, for one of them is replaced. */
function plain(handle: RedisHandle): RedisHandle {
  return {
    redis: handle.redis,
    writer: handle.writer,
    confirm: () => handle.confirm(),
    hints: handle.hints,
    options: handle.options,
    workerConnection: () => handle.workerConnection(),
    ready: (signal) => handle.ready(signal),
    state: () => handle.state(),
    masters: () => handle.masters(),
    onLost: (listener) => handle.onLost(listener),
    duplicate: (purpose) => handle.duplicate(purpose),
    close: () => handle.close(),
  };
}

await main();
