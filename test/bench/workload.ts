import { createOwnerProof, createSigner, fixedKeys, type KeySource, type Signer } from '@placet/mailbox';
import {
  type Digest,
  digestOfText,
  newRequestId,
  newSessionId,
  Policy,
  policyDigest,
  Submission,
} from '@placet/protocol';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';

/** The team and teammate that every measurement speaks of. */
export const team = 'bench';
export const teammate = 'worker';
export const owner = 'teammate:worker';
/** How many requests are under way at once (PF-2). */
export const inFlight = 64;
/** The digest of the policy that is in force by default. */
export const defaultPolicyDigest: Digest = policyDigest(Policy.parse({}));

/** A plan of about 2 KiB, different for each number, as an agent would write it. */
function planOf(number: number): string {
  const steps = Array.from(
    { length: 20 },
    (_, step) =>
      `${step + 1}. In \`packages/part-${step}/src/module-${number}.ts\`: rename \`before\` to \`after\` and run its tests.`,
  );
  return `# Plan ${number}\n\n${steps.join('\n')}\n`;
}

/** A submission as a teammate makes it: own session, own ID, own plan. */
export function submissionOf(number: number): Submission {
  const planContent = planOf(number);
  return Submission.parse({
    requestId: newRequestId(teammate, team),
    planFilePath: `/home/dev/.placet/plans/quiet-blue-heron-${number}.md`,
    planContent,
    planDigest: digestOfText(planContent),
    sessionId: newSessionId(),
    workspace: { cwd: '/home/dev/project', head: 'a'.repeat(40), agent: 'codemod' },
  });
}

/** A key of the lead with what it proves, for processes that have no key folder. */
export async function createLeadKey(): Promise<{ signer: Signer; keys: KeySource; ownerProof: string }> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
  const kid = await calculateJwkThumbprint(await exportJWK(publicKey));
  const signer = createSigner(kid, privateKey);
  const ownerProof = await createOwnerProof(signer, { team, teammate, owner }, Date.now());
  return { signer, keys: fixedKeys(new Map([[kid, publicKey]])), ownerProof };
}
