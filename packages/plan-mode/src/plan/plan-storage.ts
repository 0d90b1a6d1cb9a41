import { type Digest, digestOfBytes } from '@placet/protocol';

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
  /** Replaces the plan as a whole. @throws PlacetError `payload_too_large`, `validation_failed`; the old plan stays. */
  save(text: string): Promise<StoredPlan>;
}

/** What a plan's text is as bytes, and their digest: no normalisation of any kind (PM-44). */
export function storedPlan(text: string): StoredPlan {
  const bytes = new TextEncoder().encode(text);
  return { text, bytes, digest: digestOfBytes(bytes) };
}

/**
 * Reads a plan in the one order there is (PM-42): what is cached, as long as the file has its digest; then the
 * storage; then the raw file. What a model says the plan is never counts.
 */
export async function readCanonicalPlan(from: {
  cached?: StoredPlan | undefined;
  storage?: PlanStorage | undefined;
  file: PlanStorage;
}): Promise<StoredPlan | undefined> {
  const { cached, storage, file } = from;
  const raw = await file.load();
  if (cached && raw && raw.digest === cached.digest) return cached;
  return (await storage?.load()) ?? raw;
}

/** Whether a text that came in a tool's argument is another than the plan (PM-42): worth a log line, and nothing else. */
export function differsFromPlan(argument: string, plan: StoredPlan | undefined): boolean {
  return storedPlan(argument).digest !== plan?.digest;
}
