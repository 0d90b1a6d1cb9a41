// What needs keys and no Redis: a command that makes a token should not load a Redis client and a queue first.
export { type KeyInfo, KeyRing, type KeyRingOptions } from './key-ring.ts';
export { Revocations } from './revocations.ts';
export { type CreatedToken, createToken, type TokenSpec } from './tokens.ts';
