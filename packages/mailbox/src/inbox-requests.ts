import type { Digest, RequestId, RequestRecord, RequestWithPlan, TeamName } from '@placet/protocol';

/** What the inboxes read requests with, to make whole messages of references (WR-14). */
export interface InboxRequests {
  get(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined>;
  getWithPlan(team: TeamName, requestId: RequestId): Promise<RequestWithPlan | undefined>;
  planBytes(team: TeamName, digest: Digest): Promise<Uint8Array | undefined>;
}
