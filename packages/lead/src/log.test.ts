import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';

describe('what is logged', () => {
  it('[IN-24] holds no secret, plan or feedback, at the top or one level below', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
    const fields = [
      'token',
      'authorization',
      'password',
      'redisUrl',
      'privateKey',
      'ownerProof',
      'planContent',
      'feedback',
    ];
    for (const field of fields) {
      log.info({ [field]: 'hush', team: 'main' }, 'said');
      log.info({ inner: { [field]: 'hush' }, team: 'main' }, 'said');
    }
    expect(lines).toHaveLength(2 * fields.length);
    expect(lines.filter((line) => line.includes('hush') || !line.includes('"team":"main"'))).toEqual([]);
  });
});
