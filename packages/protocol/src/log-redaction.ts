const secretFields = ['token', 'authorization', 'password', 'redisUrl', 'privateKey', 'cookie', 'ownerProof'];
const unloggedFields = ['planContent', 'feedback', 'text', 'body', 'message.text'];
const hidden = [...secretFields, ...unloggedFields];

/**
 * What every log leaves out, as pino's `redact` takes it: secrets, plans and feedback, wherever they stand at the top
 * or one level below (IN-24).
 */
export const logRedaction: Readonly<{ paths: readonly string[]; censor: string }> = {
  paths: [...hidden, ...hidden.map((field) => `*.${field}`)],
  censor: '[redacted]',
};
