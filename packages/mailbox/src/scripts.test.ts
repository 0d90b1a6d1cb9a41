import { PlacetError } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { execAll, Reply, storeCall } from './scripts.ts';

/** An error as ioredis throws it when Redis answers with one. */
function replyError(message: string): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}

const thrownBy = (error: unknown) =>
  storeCall('a call', () => Promise.reject(error)).catch((thrown: unknown) => thrown);

describe('a call to the store', () => {
  it.each([
    new Error('Command timed out'),
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    new Error('Connection is closed.'),
    replyError('LOADING Redis is loading the dataset in memory'),
    replyError('READONLY You can’t write against a read only replica.'),
    replyError('OOM command not allowed when used memory > maxmemory'),
    replyError('EXECABORT Transaction discarded because of previous errors.'),
  ])('[WR-30] [TM-44] fails as store_unavailable, to be repeated: %s', async (error) => {
    expect(await thrownBy(error)).toMatchObject({
      code: 'store_unavailable',
      retryAfterMs: 1000,
      cause: error,
    });
  });

  it.each(['WRONGTYPE Operation against a key', 'NOPERM no permissions', 'ERR user_script:3: oops'])(
    '[TM-44] fails as internal when Redis refuses it: %s',
    async (message) => {
      expect(await thrownBy(replyError(message))).toMatchObject({ code: 'internal' });
    },
  );

  it('[I8] passes on what is no fault of the store', async () => {
    const ours = [new TypeError('a bug'), new PlacetError('not_found', 'gone')];
    for (const error of ours) expect(await thrownBy(error)).toBe(error);
  });

  it('[TM-44] fails when any command of a transaction failed', async () => {
    const batch = {
      exec: () =>
        Promise.resolve<[Error | null, unknown][]>([
          [null, 1],
          [new Error('late'), undefined],
        ]),
    };
    await expect(execAll('a batch', batch)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a reply', () => {
  it('is a word and what belongs to it', () => {
    const reply = new Reply('held', [3, 'text', null]);
    expect([reply.number(0), reply.text(1), reply.text(2), reply.text(9)]).toEqual([3, 'text', '', '']);
    expect(reply.texts(1)).toEqual(['text', '']);
  });
});
