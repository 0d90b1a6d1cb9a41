import type { Digest, RequestId, RequestRecord, RequestWithPlan, TeamName } from '@placet/protocol';
import type { QuestionParts } from './question-codec.ts';

/** What the inboxes read requests with, to make whole messages of references (WR-14). */
export interface InboxRequests {
  get(team: TeamName, requestId: RequestId): Promise<RequestRecord | undefined>;
  getWithPlan(team: TeamName, requestId: RequestId): Promise<RequestWithPlan | undefined>;
  planBytes(team: TeamName, digest: Digest): Promise<Uint8Array | undefined>;
}

/** What the inboxes read questions with. */
export interface InboxQuestions {
  find(team: TeamName, requestIds: readonly RequestId[]): Promise<(QuestionParts | undefined)[]>;
  findReadable(team: TeamName, requestIds: readonly RequestId[]): Promise<(QuestionParts | undefined)[]>;
}
