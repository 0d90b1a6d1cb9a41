import { z } from 'zod';

/** An RFC 3339 time in UTC with milliseconds, as every time on the wire is written (WR-3). */
export const Timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be RFC 3339 in UTC with milliseconds')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a time that exists');
export type Timestamp = z.infer<typeof Timestamp>;

/** Where the time comes from: milliseconds since the epoch. An argument everywhere, so that tests own it. */
export interface Clock {
  now(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Writes milliseconds since the epoch as a {@link Timestamp}. */
export function toTimestamp(atMs: number): Timestamp {
  return new Date(atMs).toISOString();
}

/** Reads a {@link Timestamp} as milliseconds since the epoch. */
export function fromTimestamp(timestamp: Timestamp): number {
  return Date.parse(timestamp);
}
