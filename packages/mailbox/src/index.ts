export { type AuditEntry, AuditLog, leafBytes } from './audit-log.ts';
export {
  type ConnectOptions,
  connectRedis,
  maxBlockMs,
  type RedisHandle,
  type RedisMaster,
} from './connection.ts';
export type { DecideInput } from './decide-input.ts';
export { type DecideDeps, type DecideResult, decideRequest } from './decide-request.ts';
export type {
  CommitCommand,
  CommitResult,
  DecisionStore,
  ReserveCommand,
  ReserveResult,
} from './decision-store.ts';
export { type Durability, type GivenDurability, judgeStrict, readDurability } from './durability.ts';
export { Duties } from './duties.ts';
export {
  EventHub,
  type EventHubOptions,
  type FeedItem,
  type RequestReader,
  type WaitResult,
} from './event-hub.ts';
export { EventLog, type EventPage } from './event-log.ts';
export type { InboxQuestions, InboxRequests } from './inbox-requests.ts';
export {
  type DeadLetter,
  type InboxOptions,
  InboxStore,
  type Sending,
} from './inbox-store.ts';
export { KeyedMutex } from './keyed-mutex.ts';
export { keyOf, keyTable, queueName, queuePrefix, teamsKey } from './keys.ts';
export { createMailbox, type Mailbox, type MailboxOptions, type PortOwner } from './mailbox.ts';
export type {
  LeaseResult,
  MailboxPort,
  SessionLease,
  Settlement,
  SubmitResult,
  TakenEntry,
  TaskChange,
  VerifiedDecision,
} from './mailbox-port.ts';
export { isAlive as isProcessAlive, startOf as startOfProcess } from './managed/process-identity.ts';
export {
  type ManagedRedis,
  type ManagedRedisOptions,
  type RedisEngine,
  startManagedRedis,
} from './managed-redis.ts';
export { OutboxRelay, type OutboxRelayOptions } from './outbox-relay.ts';
export { Presence, type TeammatePresence } from './presence.ts';
export type { AskCommand, AskResult } from './question-asking.ts';
export type { QuestionName } from './question-codec.ts';
export type { AnswerCommand } from './question-ending.ts';
export type { QuestionQuery } from './question-listing.ts';
export { QuestionStore } from './question-store.ts';
export type { RedisClient } from './redis-client.ts';
export { type EngineSearch, findRedisEngine } from './redis-engine.ts';
export { RedisMailboxPort } from './redis-mailbox-port.ts';
export { judgeRedis } from './redis-suitability.ts';
export { maskRedisUrl, parseRedisUrl, type RedisNode, type RedisPlace } from './redis-url.ts';
export type { ListQuery } from './request-listing.ts';
export type { RequestName } from './request-reader.ts';
export { RequestStore } from './request-store.ts';
export type { SubmitCommand } from './request-submitting.ts';
export type { SessionName } from './session-name.ts';
export { type OrderCommand, SessionStore, type SessionView } from './session-store.ts';
export { signDecision } from './signing/decision-signing.ts';
export { DecisionVerifier } from './signing/decision-verifier.ts';
export { type JwksLocation, JwksSource, type JwksSourceOptions } from './signing/jwks-source.ts';
export { type KeyInfo, KeyRing, type KeyRingOptions } from './signing/key-ring.ts';
export {
  fixedKeys,
  importJwks,
  Jwks,
  type KeyLookup,
  type KeySource,
  PublicJwk,
} from './signing/key-source.ts';
export { createLeadMode, verifyLeadMode } from './signing/lead-mode.ts';
export { createModeOrder, type ModeOrder, verifyModeOrder } from './signing/mode-order.ts';
export { createOwnerProof, type Ownership, verifyOwnerProof } from './signing/owner-proof.ts';
export { RedisRevocations, type TeamList } from './signing/redis-revocations.ts';
export { type RevocationStore, Revocations, type RevocationsOptions } from './signing/revocations.ts';
export type { SignatureFault, SignedResult } from './signing/signed-object.ts';
export { createSigner, type Signer } from './signing/signer.ts';
export {
  type CreatedToken,
  createToken,
  type RevocationCheck,
  type TokenFault,
  type TokenResult,
  type TokenSpec,
  verifyToken,
} from './signing/tokens.ts';
export {
  type ApprovedDecision,
  type DecisionJournal,
  type InvalidDecision,
  type InvalidReason,
  type OwnRequest,
  ownRequestOf,
  requireApproved,
  type ValidDecision,
  type VerifyInput,
} from './signing/verification.ts';
export type { DutyFence } from './store-context.ts';
export { type QueueCounts, TaskQueues } from './task-queues.ts';
export { TaskStore } from './task-store.ts';
export { Teams } from './teams.ts';
