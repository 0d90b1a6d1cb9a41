import { logRedaction } from '@placet/protocol';
import { type DestinationStream, type Logger, pino } from 'pino';

/** The log of a service: pino's, of which only these are used. */
export type Log = Logger;

/** Makes the log of a lead service: JSON lines without secrets, plans and feedback (IN-24). */
export function createLog({ level, destination }: { level: string; destination?: DestinationStream }): Log {
  const options = { level, redact: { ...logRedaction, paths: [...logRedaction.paths] } };
  return destination ? pino(options, destination) : pino(options);
}
