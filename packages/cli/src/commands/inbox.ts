import { fromTimestamp, type RequestRecord, RequestState } from '@placet/protocol';
import { z } from 'zod';
import { clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold, dim, type Output } from '../output/output.ts';
import { handleOf } from '../requests/handles.ts';
import { stateSpan, timeLeft } from '../requests/plan-view.ts';

/** More are not listed at once; a person decides one after the other. */
const maxListed = 1000;

/** `placet inbox`: the plans that wait, the most urgent first. */
export const inboxCommand = defineCommand({
  name: 'inbox',
  summary: 'list the plans that wait for a decision, oldest deadline first',
  options: [
    { flags: '--state <state>', doc: 'list requests in another state; "all" lists every one, newest first' },
    { flags: '--from <teammate>', doc: 'only those of this teammate' },
    { flags: '--limit <number>', doc: 'list at most this many (100)' },
  ],
  settings: clientSettings,
  examples: ['placet inbox', 'placet inbox --state all --from worker --json'],
  shape: z.object({
    state: z.enum([...RequestState.options, 'all']).default('pending'),
    from: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(maxListed).default(100),
  }),
  async run({ asLead, team, output }, { state, from, limit }) {
    const client = await asLead();
    const records: RequestRecord[] = [];
    let cursor: string | undefined;
    do {
      const query = {
        state: state === 'all' ? undefined : state,
        teammate: from,
        cursor,
        limit: Math.min(200, limit),
      };
      const { body } = await client.call('listRequests', { params: { team }, query });
      records.push(...body.requests);
      cursor = body.nextCursor;
    } while (cursor !== undefined && records.length < limit);
    const shown = records.slice(0, limit);
    if (state === 'pending')
      shown.sort((one, other) => fromTimestamp(one.deadline) - fromTimestamp(other.deadline));
    output.value({ requests: shown, ...(cursor !== undefined && { nextCursor: cursor }) });
    printList(output, shown, team);
    return exitCodes.done;
  },
});

function printList(output: Output, records: RequestRecord[], team: string): void {
  if (records.length === 0) output.line(`Nothing waits in team ${team}.`);
  const ids = records.map(({ requestId }) => requestId);
  for (const record of records) {
    const { requestId, teammate, revision, plan, state, deadline, summary } = record;
    const when = state === 'pending' ? timeLeft(fromTimestamp(deadline) - Date.now()) : record.submittedAt;
    output.line(
      bold(handleOf(requestId, ids).padEnd(8)),
      '  ',
      stateSpan(state),
      `  ${teammate}  revision ${revision}  ${when}  `,
      dim(summary ?? plan.path),
    );
    output.line(dim(`          ${requestId}`));
  }
  const first = records.find(({ state }) => state === 'pending');
  if (first) output.line(dim(`\u2192 placet show ${handleOf(first.requestId, ids)}`));
}
