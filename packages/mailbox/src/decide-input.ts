import type {
  ContextChoice,
  DecisionOutcome,
  Digest,
  ImageRef,
  RequestRecord,
  Scope,
  WorkingMode,
} from '@placet/protocol';

/** A decision as the lead service authenticated it; modes are resolved and ceilings checked before. */
export interface DecideInput {
  team: string;
  /** The request as it was read. */
  record: RequestRecord;
  outcome: DecisionOutcome;
  /** The digest of the plan that the lead read (WR-22). */
  planDigest: Digest;
  /** The mode granted, for an approval; a rejection grants none, whatever stands here. */
  permissionMode: WorkingMode | null;
  context: ContextChoice;
  feedback?: string | undefined;
  images?: ImageRef[] | undefined;
  scope?: Scope | undefined;
  /** The exact bytes of the plan as approved; an edit where they differ from the stored plan. */
  approvedPlan?: Uint8Array | undefined;
  decidedBy: string;
  /** How long after the decision work may begin (WR-28), in milliseconds. */
  notAfterMs: number;
  policyDigest: Digest;
  notices: string[];
  /** Ends the waiting, for rivals and before anything is sent. */
  signal?: AbortSignal | undefined;
}
