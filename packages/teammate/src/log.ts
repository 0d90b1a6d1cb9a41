import { logRedaction } from '@placet/protocol';
import { type DestinationStream, type Logger, pino } from 'pino';

/** The log of a teammate's process: pino's. */
export type TeammateLog = Logger;

/** Makes the log of a teammate: JSON lines without secrets, plans and feedback (IN-24). */
export function createTeammateLog({
  level,
  destination,
}: {
  level: string;
  destination?: DestinationStream;
}): TeammateLog {
  const options = { level, redact: { ...logRedaction, paths: [...logRedaction.paths] } };
  return destination ? pino(options, destination) : pino(options);
}
