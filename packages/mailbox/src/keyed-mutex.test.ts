import { describe, expect, it } from 'vitest';
import { KeyedMutex } from './keyed-mutex.ts';

const never = () => new AbortController().signal;

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('KeyedMutex', () => {
  it('lets those who want one key act in turn, and others at once', async () => {
    const mutex = new KeyedMutex();
    const { open, opened } = gate();
    const seen: string[] = [];
    const act = (name: string, wait?: Promise<void>) => async () => {
      seen.push(`${name} begins`);
      await wait;
      seen.push(`${name} ends`);
    };

    const first = mutex.run('a', never, act('first', opened));
    const second = mutex.run('a', never, act('second'));
    const third = mutex.run('a', never, act('third'));
    await mutex.run('b', never, act('other'));
    open();
    await Promise.all([first, second, third]);

    expect(seen).toEqual(
      ['first begins', 'other begins', 'other ends', 'first ends'].concat([
        'second begins',
        'second ends',
        'third begins',
        'third ends',
      ]),
    );
  });

  it('goes on after one that failed, and answers its failure to its own caller only', async () => {
    const mutex = new KeyedMutex();
    const failing = mutex.run('a', never, () => Promise.reject(new Error('mine')));
    const next = mutex.run('a', never, async () => 'fine');

    await expect(failing).rejects.toThrow('mine');
    await expect(next).resolves.toBe('fine');
  });

  it('lets one who waits give up, without letting the next overtake', async () => {
    const mutex = new KeyedMutex();
    const { open, opened } = gate();
    const giveUp = new AbortController();
    let ranAfter = false;
    const first = mutex.run('a', never, () => opened);
    const second = mutex.run(
      'a',
      () => giveUp.signal,
      async () => expect.fail('it had given up'),
    );
    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    const third = mutex.run('a', never, async () => {
      ranAfter = true;
    });
    await Promise.resolve();

    expect(ranAfter).toBe(false);
    open();
    await Promise.all([first, third]);
    expect(ranAfter).toBe(true);
  });

  it('forgets a key that nobody holds', async () => {
    const mutex = new KeyedMutex();
    await Promise.all([mutex.run('a', never, async () => {}), mutex.run('a', never, async () => {})]);
    await Promise.resolve();

    expect(mutex.isHeld('a')).toBe(false);
  });
});
