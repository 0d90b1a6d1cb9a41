import { describe, expect, it } from 'vitest';
import { chooseTestEngine, describeTestEngine } from '../support/test-engine.ts';

const program = 'redis-server';
const url = 'redis://:secret@example.org:7000/1';

describe('the Redis that serves the tests', () => {
  it.each([
    [
      { url, dockerAnswers: true, program },
      { kind: 'url', url },
    ],
    [
      { url, dockerAnswers: false, program },
      { kind: 'url', url },
    ],
    [{ url: undefined, dockerAnswers: true, program }, { kind: 'container' }],
    [
      { url: '', dockerAnswers: false, program },
      { kind: 'process', program },
    ],
    [
      { url: undefined, dockerAnswers: false, program },
      { kind: 'process', program },
    ],
  ])('[OP-4] of %j is %j', (surroundings, engine) => {
    expect(chooseTestEngine(surroundings)).toMatchObject(engine);
  });

  it('[OP-4] is said without its password', () => {
    const said = describeTestEngine({ kind: 'url', url });
    expect(said).toContain('example.org:7000');
    expect(said).not.toContain('secret');
  });
});
