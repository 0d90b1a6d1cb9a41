import { type DestinationStream, type Logger, pino } from 'pino';

/** The log of a teammate's process: pino's. */
export type TeammateLog = Logger;

const hidden = ['token', 'authorization', 'password', 'redisUrl', 'planContent', 'feedback', 'text'];

/** Makes the log of a teammate: JSON lines, with secrets, plans and feedback taken out (IN-24). */
export function createTeammateLog({
  level,
  destination,
}: {
  level: string;
  destination?: DestinationStream;
}): TeammateLog {
  const options = {
    level,
    redact: { paths: [...hidden, ...hidden.map((field) => `*.${field}`)], censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
