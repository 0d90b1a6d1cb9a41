// A whole agent that plans first: its model and its reviewer are arguments. Its tools are in agent-tools.ts.
import { join } from 'node:path';
import {
  choosePlanPlace,
  createExecutor,
  exposeTools,
  PlanDraft,
  PlanSession,
  planFileAt,
  type Rejection,
  Reminders,
  type ToolCall,
  toolErrorOf,
} from '@placet/plan-mode';
import { newSessionId } from '@placet/protocol';
import { type Input, readTool, submitTool, type Tool, writeTool } from './agent-tools.ts';

/** What a model says: one call of a tool, or that it is done. */
export type Said = { tool: string; input: Input } | 'done';
/** What an agent is run with. `review` is a person's answer to a plan; a rejection says why. */
export type Agent = {
  /** Absolute, without links: where the agent works. */
  folder: string;
  task: string;
  model: (context: readonly string[], tools: readonly string[]) => Promise<Said>;
  review: (plan: string) => Promise<'approved' | Rejection>;
};

/** Runs an agent for at most a hundred turns; returns what its model was told. */
export async function runAgent({ folder, task, model, review }: Agent): Promise<string[]> {
  const context = [task];
  const sessionId = newSessionId();
  const place = await choosePlanPlace({
    sessionId,
    projectRoot: folder,
    defaultDirectory: join(folder, '.plans'),
    onRefused: (detail) => context.push(detail),
  });
  const plan = await PlanDraft.open({ sessionId, file: planFileAt(place) });
  const reminders = new Reminders({ planFilePath: plan.path });
  const server = {}; // what serves plan_submit
  const session = new PlanSession({
    sessionId,
    planModeRequired: false,
    planFile: plan,
    ownServers: new Map([[server, { submit: ['plan_submit'] }]]),
    onEvent: (event) => reminders.observe(event),
  });
  const tools = [readTool(folder), writeTool(folder, plan), submitTool(server, session, review)];
  const run = (call: ToolCall, { tool, input }: { tool: Tool; input: Input }) => tool.run(call, input);
  const executor = createExecutor({ gate: session.gate, run });

  /** One call of the model, with what it is told of it. */
  const answer = async (said: Exclude<Said, 'done'>): Promise<string> => {
    const tool = tools.find(({ name }) => name === said.tool);
    if (!tool) return `there is no tool ${said.tool}`;
    try {
      const execution = await executor.execute(tool.call(said.input), { tool, input: said.input });
      if (execution.kind === 'done') return execution.output;
      return toolErrorOf(execution.refusal).content[0].text;
    } catch (thrown) {
      return `the call failed: ${String(thrown)}`;
    }
  };

  session.enter('api');
  for (let turn = 0; turn < 100; turn += 1) {
    const planExists = (await plan.load()) !== undefined;
    const reminder = reminders.next({ mode: session.mode, userTurn: turn === 0, planExists });
    if (reminder) context.push(reminder.text);
    const offered = exposeTools({
      gate: session.gate,
      toolboxes: [{ tools }],
      callOf: (tool: Tool) => tool.call({}),
    });
    const said = await model(
      [...context],
      offered.tools.map(({ name }) => name),
    );
    if (said === 'done') break;
    context.push(await answer(said));
  }
  return context;
}
