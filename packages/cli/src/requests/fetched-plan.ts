import {
  type Digest,
  digestOfBytes,
  PlacetError,
  RequestRecord,
  type RequestWithPlan,
} from '@placet/protocol';
import type { PlacetClient } from '@placet/protocol/client';

/** A plan as it is shown to a lead, with the digest of exactly the bytes that are shown (IN-5). */
export interface FetchedPlan {
  record: RequestRecord;
  text: string;
  /** Computed here, over the raw bytes; this is what a decision names. */
  digest: Digest;
}

/**
 * Fetches a request and its plan's exact bytes (IN-5). The digest is never taken from the service's word.
 * @throws PlacetError `stale_plan` when the bytes are not those that the record names
 */
export async function fetchPlan(client: PlacetClient, team: string, id: string): Promise<FetchedPlan> {
  const params = { team, id };
  const record = RequestRecord.parse((await client.call('showRequest', { params })).body);
  const bytes = await client.callForBytes('readPlan', { params });
  const digest = digestOfBytes(bytes);
  if (digest !== record.plan.digest)
    throw new PlacetError(
      'stale_plan',
      `the service sent a plan of digest ${digest} for ${id}, whose record says ${record.plan.digest}`,
    );
  // A byte-order mark stays in the text, so that it is shown too.
  return { record, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), digest };
}

/** A record with its plan as one value for programs, as `GET …/:id` answers it. */
export function withPlanContent({ record, text }: FetchedPlan): RequestWithPlan {
  return { ...record, planContent: text };
}
