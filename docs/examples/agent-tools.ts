// The tools of the agent in agent-loop.ts: what each does, and how it tells the gate what it is about to do.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import type { PlanDraft, PlanSession, Rejection, ToolCall } from '@placet/plan-mode';

/** What a model gives to a tool. */
export type Input = { path?: string; text?: string };
/** A tool; `call` says what it is about to do, `run` does it. */
export type Tool = {
  name: string;
  call(input: Input): ToolCall;
  run(call: ToolCall, input: Input): Promise<string>;
};

/** Reads any file of the folder. It declares that it changes nothing, which is why it runs while planning. */
export function readTool(folder: string): Tool {
  return {
    name: 'read',
    call: () => ({ source: 'builtin', tool: 'read', manifest: { readOnlyHint: true } }),
    run: (_, { path = '' }) => readFile(inFolder(folder, path), 'utf8'),
  };
}

/** Writes a file of the folder, or the plan where no path is given. While planning the gate lets only the plan through. */
export function writeTool(folder: string, plan: PlanDraft): Tool {
  return {
    name: 'write',
    call: ({ path = plan.path }) => ({
      source: 'builtin',
      tool: 'write',
      writesFile: inFolder(folder, path),
    }),
    async run({ writesFile = '' }, { text = '' }) {
      if (plan.isPlanFile(writesFile)) return `the plan is ${(await plan.save(text)).digest}`;
      // A host that asks for consent in some modes asks here: an approved plan is none.
      await mkdir(dirname(writesFile), { recursive: true });
      await writeFile(writesFile, text);
      return 'written';
    },
  };
}

/** Submits the plan and waits for the review. `server` is what it is known by: any other tool of its name is refused. */
export function submitTool(
  server: object,
  session: PlanSession,
  review: (plan: string) => Promise<'approved' | Rejection>,
): Tool {
  return {
    name: 'plan_submit',
    call: () => ({ source: 'mcp', tool: 'plan_submit', server }),
    async run() {
      const submitted = await session.submit();
      if (submitted.kind === 'refused') return submitted.detail;
      if (submitted.kind === 'draft') return 'there is no plan mode to leave; the plan is kept';
      const answer = await review(submitted.plan.text);
      const decided =
        answer === 'approved'
          ? await session.approve('user', { planDigest: submitted.plan.digest, mode: 'acceptEdits' })
          : await session.reject('user', answer);
      return decided.kind === 'refused' ? decided.detail : decided.result;
    },
  };
}

/** A sandbox of the host looks at links, too. */
function inFolder(folder: string, path: string): string {
  const place = resolve(folder, path);
  if (!place.startsWith(folder + sep)) throw new Error(`${path} is outside the folder`);
  return place;
}
