import type { Issue } from '@placet/protocol';

/** How many faults an answer lists at most. */
const maxIssues = 20;
/** How long a path or a message is at most, in JavaScript string length: a key of the body may stand in both. */
const maxIssueChars = 200;

/** Faults as an answer lists them: bounded in number and length, so that no call is answered by more than it sent. */
export function boundedIssues(issues: readonly Issue[]): Issue[] {
  return issues.slice(0, maxIssues).map(({ path, message }) => ({ path: cut(path), message: cut(message) }));
}

function cut(text: string): string {
  return text.length > maxIssueChars ? `${text.slice(0, maxIssueChars)}…` : text;
}
