import { findLookAlikes, fromTimestamp, type RequestRecord } from '@placet/protocol';
import { bold, dim, type Output, type Span, type Style } from '../output/output.ts';
import type { FetchedPlan } from './fetched-plan.ts';
import { diffLines, withContext } from './line-diff.ts';

const stateStyles: Readonly<Partial<Record<RequestRecord['state'], Style>>> = {
  pending: 'yellow',
  approved: 'green',
  rejected: 'red',
};

/** A request's state as a piece of a line. */
export function stateSpan(state: RequestRecord['state']): Span {
  return { text: state, style: stateStyles[state] ?? 'cyan' };
}

/** Prints what a decision needs beside the plan: who, what, until when. */
export function printHead(output: Output, record: RequestRecord, digest: string, nowMs: number): void {
  const rows: [string, ...Span[]][] = [
    ['request', bold(record.requestId)],
    ['state', stateSpan(record.state), ...(record.supersededBy ? [` by ${record.supersededBy}`] : [])],
    ['from', `${record.teammate} of team ${record.team}, owned by ${record.owner}`],
    ['session', `${record.sessionId}, revision ${record.revision}`],
    ['plan', `${record.plan.path} (${record.plan.chars} characters)`],
    ['digest', digest],
    ['mode before', record.prePlanMode],
  ];
  if (record.summary) rows.splice(1, 0, ['about', record.summary]);
  if (record.workspace) rows.push(['workspace', workspaceText(record.workspace)]);
  if (Object.keys(record.labels).length > 0)
    rows.push([
      'labels',
      Object.entries(record.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ]);
  if (record.state === 'pending')
    rows.push(['deadline', `${record.deadline} (${timeLeft(fromTimestamp(record.deadline) - nowMs)})`]);
  for (const [name, ...spans] of rows) output.line(dim(name.padEnd(12)), ...spans);
}

/** Prints a plan, and what a reader could be deceived by. */
export function printPlan(output: Output, text: string): void {
  output.line();
  output.quote(text.replace(/\n$/, ''), (line) => (/^#{1,6} /.test(line) ? 'bold' : undefined));
  output.line();
  for (const { word, letters } of findLookAlikes(text))
    output.line({
      text: `careful: "${word}" mixes alphabets that look alike (${letters.join(' ')})`,
      style: 'yellow',
    });
}

/** Prints what changed from one plan to the next. */
export function printDiff(output: Output, before: string, after: string): void {
  const styles: Record<string, Style | undefined> = { '+': 'green', '-': 'red' };
  for (const line of withContext(diffLines(before, after)))
    output.quote(line ? `${line.kind} ${line.text}` : '…', () => (line ? styles[line.kind] : 'dim'));
  output.line();
}

/** Prints how a request was decided and what became of its work. */
export function printDecision(output: Output, { decision, work }: RequestRecord): void {
  if (!decision) return;
  const mode = decision.permissionMode ? `, mode ${decision.permissionMode}` : '';
  const edited = decision.planEdited ? ', plan edited' : '';
  output.line(
    dim('decided'.padEnd(12)),
    stateSpan(decision.outcome),
    ` by ${decision.decidedBy} at ${decision.decidedAt}${mode}${edited}`,
  );
  if (decision.feedback !== undefined) {
    output.line(dim('feedback'));
    output.quote(decision.feedback);
  }
  if (work.state !== 'none')
    output.line(
      dim('work'.padEnd(12)),
      work.state,
      work.reason ? `: ${work.reason}` : '',
      work.settledAt ? ` at ${work.settledAt}` : '',
    );
}

/** Prints a request as a whole; `predecessor` is the plan that it supersedes. */
export function printRequest(
  output: Output,
  plan: FetchedPlan,
  predecessor: FetchedPlan | undefined,
  nowMs: number,
): void {
  printHead(output, plan.record, plan.digest, nowMs);
  printDecision(output, plan.record);
  printPlan(output, plan.text);
  if (!predecessor) return;
  output.line(
    bold(`Changes since revision ${predecessor.record.revision}`),
    dim(` (${predecessor.record.requestId})`),
  );
  const feedback = predecessor.record.decision?.feedback;
  if (feedback !== undefined) {
    output.line(dim('it was rejected with'));
    output.quote(feedback);
  }
  output.line();
  printDiff(output, predecessor.text, plan.text);
}

/** How long something takes, in one or two units: `2 h 5 min`. */
export function timeLeft(ms: number): string {
  if (ms <= 0) return 'over';
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min left`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min left` : `${Math.floor(hours / 24)} d left`;
}

function workspaceText({ cwd, head, dirty, agent }: NonNullable<RequestRecord['workspace']>): string {
  const at = head ? ` at ${head.slice(0, 12)}` : '';
  return `${cwd}${at}${dirty ? ', with changes that are not committed' : ''}${agent ? `, agent ${agent}` : ''}`;
}
