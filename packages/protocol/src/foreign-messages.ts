import { z } from 'zod';
import type { PlanApprovalRequest, PlanApprovalResponse } from './messages.ts';

/** What existing clients write into an inbox file: the message as JSON in `text` (WR-13). */
export const ForeignEntry = z.looseObject({ from: z.string(), text: z.string(), timestamp: z.string() });
export type ForeignEntry = z.infer<typeof ForeignEntry>;

/** A plan request as existing clients send it (WR-13). */
export const ForeignRequest = z.looseObject({
  type: z.literal('plan_approval_request'),
  from: z.string(),
  timestamp: z.string(),
  planFilePath: z.string(),
  planContent: z.string(),
  requestId: z.string(),
});
export type ForeignRequest = z.infer<typeof ForeignRequest>;

/** Reads an existing client's plan request; undefined where the entry is something else (WR-13). */
export function readForeignRequest(entry: ForeignEntry): ForeignRequest | undefined {
  let message: unknown;
  try {
    message = JSON.parse(entry.text);
  } catch {
    return undefined; // plain text is an ordinary message of such a client
  }
  const parsed = ForeignRequest.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}

/** Writes a plan request in the shape that existing clients read (WR-13). */
export function toForeignRequest(request: PlanApprovalRequest): ForeignEntry {
  const { type, from, timestamp, planFilePath, planContent, requestId } = request;
  return {
    from,
    text: JSON.stringify({ type, from, timestamp, planFilePath, planContent, requestId }),
    timestamp,
  };
}

/** Writes a response in the shape that existing clients read (WR-13). */
export function toForeignResponse(from: string, response: PlanApprovalResponse): ForeignEntry {
  const { type, requestId, approved, feedback, timestamp, permissionMode, planDigest } = response;
  return {
    from,
    text: JSON.stringify({ type, requestId, approved, feedback, timestamp, permissionMode, planDigest }),
    timestamp,
  };
}
