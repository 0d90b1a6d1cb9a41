import type { ChainableCommander, RedisCommander } from 'ioredis';

/** What a single server's connection and a Cluster's have in common: what code asks that need not know which it is. */
export interface RedisClient extends RedisCommander<{ type: 'default'; mapping: 'resp2' }> {
  /** `ready` where commands are sent; in every other state they fail. */
  readonly status: string;
  /** All keys of a transaction or pipeline belong to one team, hence to one slot. */
  multi(): ChainableCommander;
  pipeline(): ChainableCommander;
}
