export {
  type DecideDeps,
  type DecideInput,
  type DecideResult,
  type DecisionStore,
  decideRequest,
} from './decide-request.ts';
export { signDecision } from './signing/decision-signing.ts';
export {
  type ApprovedDecision,
  type DecisionJournal,
  DecisionVerifier,
  type InvalidDecision,
  type InvalidReason,
  type OwnRequest,
  ownRequestOf,
  requireApproved,
  type ValidDecision,
  type VerifyInput,
} from './signing/decision-verifier.ts';
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
export { createOwnerProof, type Ownership, verifyOwnerProof } from './signing/owner-proof.ts';
export { type RevocationStore, Revocations, type RevocationsOptions } from './signing/revocations.ts';
export type { SignatureFault, SignedResult } from './signing/signed-object.ts';
export { createSigner, type Signer } from './signing/signer.ts';
export {
  type CreatedToken,
  createToken,
  type RevocationCheck,
  type TokenResult,
  type TokenSpec,
  verifyToken,
} from './signing/tokens.ts';
export { type ConnectOptions, connectRedis, maxBlockMs, type RedisHandle } from './connection.ts';
export { type Log, silentLog } from './log.ts';
export { judgeRedis } from './redis-suitability.ts';
export { maskRedisUrl, parseRedisUrl } from './redis-url.ts';
