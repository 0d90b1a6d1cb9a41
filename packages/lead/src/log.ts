import { type DestinationStream, type Logger, pino } from 'pino';

/** The log of a service: pino's, of which only these are used. */
export type Log = Logger;

const secretFields = ['token', 'authorization', 'password', 'redisUrl', 'privateKey', 'cookie', 'ownerProof'];
const unloggedFields = ['planContent', 'feedback', 'text', 'body', 'message.text'];
const hidden = [...secretFields, ...unloggedFields];

/**
 * Makes the log of a lead service: JSON lines with secrets, plans and feedback taken out wherever they stand at the
 * top or one level below (IN-24).
 */
export function createLog({ level, destination }: { level: string; destination?: DestinationStream }): Log {
  const options = {
    level,
    redact: { paths: [...hidden, ...hidden.map((field) => `*.${field}`)], censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}
