import { ContextChoice, GrantedMode, PlacetError } from '@placet/protocol';
import { z } from 'zod';
import { clientSettings, defineCommand } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { bold } from '../output/output.ts';
import { editText } from '../requests/edit-text.ts';
import { fetchPlan } from '../requests/fetched-plan.ts';
import { findRequestId } from '../requests/handles.ts';
import { printDiff, printHead, printPlan } from '../requests/plan-view.ts';

/** `placet approve ID`: approves exactly the plan that is shown (IN-5). */
export const approveCommand = defineCommand({
  name: 'approve',
  summary: 'show a plan and approve exactly what was shown',
  arguments: [{ name: '<id>', doc: 'the request ID, or its short name from placet inbox' }],
  options: [
    { flags: '--mode <mode>', doc: `what the work may do without asking: ${GrantedMode.options.join(', ')}` },
    { flags: '--context <choice>', doc: 'keep (default) or clear what the agent learned while planning' },
    { flags: '--feedback <text>', doc: 'something to say to the teammate with the approval' },
    {
      flags: '--edit',
      doc: 'change the plan in $VISUAL or $EDITOR first; the edited plan is what is approved',
    },
  ],
  settings: clientSettings,
  examples: ['placet approve 3f9a1c --mode acceptEdits', 'placet approve 3f9a1c --edit --context clear'],
  shape: z.object({
    mode: GrantedMode.optional(),
    context: ContextChoice.optional(),
    feedback: z.string().optional(),
    edit: z.boolean().default(false),
  }),
  async run({ asLead, team, output, world }, { mode, context, feedback, edit }, text) {
    const client = await asLead();
    const id = await findRequestId(client, team, text ?? '');
    const plan = await fetchPlan(client, team, id);
    printHead(output, plan.record, plan.digest, Date.now());
    printPlan(output, plan.text);
    const edited = edit ? await editPlan(world, plan.text) : undefined;
    if (edited !== undefined) {
      output.line(bold('Your changes'));
      printDiff(output, plan.text, edited);
    }
    const { body: record } = await client.call('decideRequest', {
      params: { team, id },
      body: {
        outcome: 'approved',
        planDigest: plan.digest,
        permissionMode: mode,
        context,
        feedback,
        planContent: edited,
      },
    });
    output.value(record);
    output.line(
      { text: 'Approved', style: 'green' },
      ` ${id}, mode ${record.decision?.permissionMode ?? 'default'}.`,
    );
    for (const notice of record.decision?.notices ?? []) output.line(`notice: ${notice}`);
    return exitCodes.done;
  },
});

/** Undefined where the plan was left as it is. */
async function editPlan(world: Parameters<typeof editText>[0], before: string): Promise<string | undefined> {
  const after = await editText(world, before, 'plan.md');
  if (after.trim() === '')
    throw new PlacetError('plan_required', 'the edited plan is empty; nothing was decided');
  return after === before ? undefined : after;
}
