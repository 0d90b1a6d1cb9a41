import type { KeyRing, Mailbox, RevocationCheck } from '@placet/mailbox';
import type { Clock, Config, Digest, Policy, RequestRecord } from '@placet/protocol';
import type { Log } from './log.ts';
import type { LeadMetrics } from './metrics.ts';

/** The settings that a lead service reads. */
export type LeadConfig = Pick<
  Config,
  'permissionCeiling' | 'leadMode' | 'deadlineMs' | 'notAfterMs' | 'metricsPublic' | 'rateLimitPerMinute'
>;

/** The stores that a lead service works on. */
export type LeadStores = Pick<
  Mailbox,
  | 'requests'
  | 'tasks'
  | 'questions'
  | 'sessions'
  | 'inboxes'
  | 'events'
  | 'hub'
  | 'presence'
  | 'duties'
  | 'teams'
>;

/** What the routes and services of a lead share. */
export interface LeadContext {
  stores: LeadStores;
  keyRing: KeyRing;
  revocations: RevocationCheck;
  config: LeadConfig;
  policy: Policy;
  /** The digest that requests and decisions name it by. */
  policyDigest: Digest;
  clock: Clock;
  log: Log;
  metrics: LeadMetrics;
  /** Aborts when the service begins to stop. */
  stopping: AbortSignal;
  /** Tells the leads of a team of something that they must look at (I8). */
  alarm: (about: RequestRecord, code: string, detail: string) => Promise<void>;
}

/** The policy that the settings make. */
export function policyOf({ permissionCeiling, notAfterMs }: LeadConfig): Policy {
  return { maxPermissionMode: permissionCeiling, notAfterMs };
}
