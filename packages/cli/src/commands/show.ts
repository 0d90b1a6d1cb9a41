import { isPlacetError, type RequestRecord } from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';
import { z } from 'zod';
import { clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { type FetchedPlan, fetchPlan, withPlanContent } from '../requests/fetched-plan.ts';
import { findRequestId } from '../requests/handles.ts';
import { printRequest } from '../requests/plan-view.ts';

/** `placet show ID`: one plan, with what changed since its predecessor. */
export const showCommand = defineCommand({
  name: 'show',
  summary: 'show one plan, with what changed since the one it supersedes',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  options: [{ flags: '--raw', doc: "print the plan's bytes and nothing else" }],
  settings: clientSettings,
  examples: ['placet show 3f9a1c', 'placet show 3f9a1c --raw > plan.md'],
  shape: z.object({ raw: z.boolean().default(false) }),
  async run({ asLead, team, output, world }, { raw }, text) {
    const client = await asLead();
    const id = await findRequestId(client, team, text ?? '');
    if (raw && world.stdout.isTTY !== true) {
      output.bytes(await client.callForBytes('readPlan', { params: { team, id } }));
      return exitCodes.done;
    }
    const plan = await fetchPlan(client, team, id);
    if (raw) output.quote(plan.text);
    else {
      output.value(withPlanContent(plan));
      if (!output.json) printRequest(output, plan, await predecessorOf(client, team, plan), Date.now());
    }
    return exitCodes.done;
  },
});

/** The plan that this one took the place of: the one it names, else the session's latest before it. */
async function predecessorOf(
  client: PlacetClient,
  team: string,
  { record }: FetchedPlan,
): Promise<FetchedPlan | undefined> {
  const id = record.supersedes ?? (record.revision > 1 ? await earlierOf(client, record) : undefined);
  if (id === undefined) return undefined;
  try {
    return await fetchPlan(client, team, id);
  } catch (error) {
    if (isPlacetError(error, 'not_found')) return undefined; // its retention is over
    throw error;
  }
}

/** Looks through the teammate's latest requests only: an older plan is not worth the wait. */
async function earlierOf(client: PlacetClient, record: RequestRecord): Promise<string | undefined> {
  const { team, teammate, sessionId, revision } = record;
  const { body } = await client.call('listRequests', { params: { team }, query: { teammate, limit: 200 } });
  const earlier = body.requests.filter((other) => other.sessionId === sessionId && other.revision < revision);
  return earlier.sort((one, other) => other.revision - one.revision)[0]?.requestId;
}
