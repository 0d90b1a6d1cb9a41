import type { Log } from '@placet/protocol';
import { keyOf } from './keys.ts';
import type { RedisClient } from './redis-client.ts';
import { type Reply, runScript, type ScriptArgument, type ScriptName, type ScriptRunner } from './scripts.ts';

/** What the stores of this package share. */
export interface StoreContext {
  redis: RedisClient;
  /** Runs the scripts that write (TM-46). */
  writer: ScriptRunner;
  /** Waits until what was written before is as durable as is configured. */
  confirm(): Promise<void>;
  /** How long what is settled is kept, in milliseconds (TM-42). */
  retentionMs: number;
  /** How many settled requests of a team are kept at most, and how many of its events (TM-42). */
  retentionCount: number;
  /** How long a submission or withdrawal waits for a decision that is being made, in milliseconds. */
  rivalWaitMs: number;
  /** How long the reconciler leaves an ended request or a new task alone before it looks, in milliseconds (TM-5). */
  reconcileAfterMs: number;
  log: Log;
  /** Writes the team down before its first key (ST-1). */
  registerTeam(team: string): Promise<void>;
}

/** Whose background duty a sweep runs under: its steps are refused once another process has the duty (ST-7). */
export interface DutyFence {
  duty: string;
  epoch: number;
}

/** Runs a script on the keys of `lua/parts/team.lua` and, from the tenth on, those given. */
export function runTeamScript(
  context: StoreContext,
  team: string,
  name: ScriptName,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<Reply> {
  return runScript(context, name, [...teamKeys(team), ...keys], args);
}

/** The key of a fence's lease; any key of the team where there is none. */
export function fenceKey(team: string, fence: DutyFence | undefined): string {
  return keyOf(team, 'lease', fence?.duty ?? 'none');
}

/** A fence's epoch as scripts take it. */
export function fenceEpoch(fence: DutyFence | undefined): string {
  return fence === undefined ? '' : String(fence.epoch);
}

/** Of how many teams the keys are kept in memory. */
const maxKnownTeams = 1000;
const knownTeamKeys = new Map<string, readonly string[]>();

/** In the order that `lua/parts/team.lua` gives them names. Every script takes them, so they are made once. */
function teamKeys(team: string): readonly string[] {
  const known = knownTeamKeys.get(team);
  if (known) return known;
  if (knownTeamKeys.size >= maxKnownTeams) knownTeamKeys.clear();
  const keys = [
    keyOf(team, 'sequence'),
    keyOf(team, 'events'),
    keyOf(team, 'audit'),
    keyOf(team, 'outbox'),
    keyOf(team, 'pending'),
    keyOf(team, 'deadlines'),
    keyOf(team, 'ended'),
    keyOf(team, 'due'),
    keyOf(team, 'settled'),
  ];
  knownTeamKeys.set(team, keys);
  return keys;
}
