import { digestOfText, type RequestRecord } from '@placet/protocol';
import { PlacetClient } from '@placet/protocol/client';
import { expect, test } from 'vitest';
import { fetchPlan } from './fetched-plan.ts';

const text = '\ufeff# Plan\r\n';
const at = '2026-01-01T00:00:00.000Z';
const record: RequestRecord = {
  v: 1,
  requestId: 'r1',
  team: 'main',
  teammate: 'worker',
  owner: 'user:ada',
  sessionId: 's1',
  revision: 1,
  state: 'pending',
  work: { state: 'none', epoch: 0 },
  plan: { digest: digestOfText(text), path: '/p.md', chars: text.length, bytes: 12 },
  prePlanMode: 'default',
  executionTarget: 'local',
  submittedAt: at,
  deadline: at,
  labels: {},
  policyDigest: digestOfText('policy'),
  votes: [],
  delivery: {},
};

/** A service that answers these bytes as the plan, whatever its record says. */
function serviceWith(bytes: string): PlacetClient {
  const answer = (input: string | URL | Request) =>
    Promise.resolve(
      String(input instanceof Request ? input.url : input).endsWith('/plan')
        ? new Response(bytes)
        : Response.json({ ...record, planContent: 'something else altogether' }),
    );
  return new PlacetClient({ url: 'http://placet.invalid', fetch: answer });
}

test('[IN-5] the digest is that of the bytes that came, and the text is all of them', async () => {
  const plan = await fetchPlan(serviceWith(text), 'main', 'r1');
  expect(plan).toMatchObject({ text, digest: digestOfText(text) });
});

test('[IN-5] a service whose plan is not the one its record names is refused', async () => {
  await expect(fetchPlan(serviceWith('# Another plan\n'), 'main', 'r1')).rejects.toMatchObject({
    code: 'stale_plan',
  });
});
