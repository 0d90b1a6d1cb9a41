import { logRedaction } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { createTeammateLog } from './log.ts';

describe("what a teammate's process logs", () => {
  it.each(['token', 'redisUrl', 'privateKey', 'ownerProof', 'planContent', 'feedback', 'body'])(
    '[IN-24] holds no %s, at the top or one level below',
    (field) => {
      const lines: string[] = [];
      const log = createTeammateLog({
        level: 'info',
        destination: { write: (line) => void lines.push(line) },
      });

      log.info({ [field]: 'hush', team: 'main' }, 'said');
      log.info({ inner: { [field]: 'hush' }, team: 'main' }, 'said');

      expect(lines).toHaveLength(2);
      expect(lines.filter((line) => line.includes('hush') || !line.includes(logRedaction.censor))).toEqual(
        [],
      );
    },
  );
});
