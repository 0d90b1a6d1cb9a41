import { type Digest, digestOfBytes, maxPlanBytes, PlacetError, unsafeText } from '@placet/protocol';

/** A plan as it is stored: its text, its exact bytes and the digest of those (PM-44). */
export interface StoredPlan {
  text: string;
  bytes: Uint8Array;
  digest: Digest;
}

/**
 * Where one session's plan is kept (PM-45). The file is one such place, a mailbox another, so that a session can be
 * taken up on another host.
 */
export interface PlanStorage {
  /** The plan; undefined where there is none, which an empty one is not. */
  load(): Promise<StoredPlan | undefined>;
  /**
   * Replaces the plan as a whole; an empty text is no plan.
   * @throws PlacetError `payload_too_large`, `validation_failed`; the old plan stays.
   */
  save(text: string): Promise<StoredPlan>;
}

/** What a plan's text is as bytes, and their digest: no normalisation of any kind (PM-44). */
export function storedPlan(text: string): StoredPlan {
  const bytes = new TextEncoder().encode(text);
  return { text, bytes, digest: digestOfBytes(bytes) };
}

/** Why a text cannot be kept as a plan, if so (PM-43): too large, or no text that every store can hold. */
export function faultOfPlanText({ text, bytes }: StoredPlan): PlacetError | undefined {
  if (bytes.length > maxPlanBytes) return planTooLarge(bytes.length);
  const unsafe = unsafeText(text);
  return unsafe ? new PlacetError('validation_failed', `the plan ${unsafe}; the old plan stays`) : undefined;
}

/** What is said of a plan of so many bytes. */
export function planTooLarge(bytes: number): PlacetError {
  return new PlacetError(
    'payload_too_large',
    `the plan has ${bytes} bytes; ${maxPlanBytes} are allowed. The old plan stays`,
  );
}
