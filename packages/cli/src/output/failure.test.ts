import { Writable } from 'node:stream';
import { PlacetError } from '@placet/protocol';
import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { reportFailure } from './failure.ts';
import { Output } from './output.ts';

function reported(thrown: unknown, json = false) {
  let stderr = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      stderr += String(chunk);
      done();
    },
  });
  const exitCode = reportFailure(thrown, new Output({ stdout: sink, stderr: sink, json, colour: false }));
  return { exitCode, stderr };
}

test('[WR-40] an error says what, what stands and what to do, without a stack', () => {
  const error = new PlacetError('already_decided', 'request r1 is decided', {
    current: { outcome: 'rejected', decidedBy: 'local:ada\u001b[2J' },
  });
  const { exitCode, stderr } = reported(error);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^placet: request r1 is decided\n {2}outcome: rejected\n {2}decidedBy: local:ada⟨U\+001B⟩/,
  );
  expect(stderr).toContain('`current` is the decision that stands');
  expect(stderr).not.toMatch(/ at .*:\d+/);
});

test('[WR-40] with --json an error is one object on stderr', () => {
  const { exitCode, stderr } = reported(new PlacetError('forbidden', 'no'), true);
  expect(exitCode).toBe(7);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'forbidden', detail: 'no', exitCode: 7 } });
});

test.each([
  [
    'a file that is not there',
    Object.assign(new Error('ENOENT: x'), { code: 'ENOENT', path: '/p.md' }),
    2,
    '/p.md: there is no such file',
  ],
  [
    'a data folder that is none',
    Object.assign(new Error('EEXIST: x'), { code: 'EEXIST', path: '/dev/null' }),
    2,
    '/dev/null: it is there already, and is no folder',
  ],
  [
    'a folder that is read',
    Object.assign(new Error('EISDIR: x'), { code: 'EISDIR' }),
    2,
    'what was to be read is a folder',
  ],
  [
    'an argument too many',
    new CommanderError(1, 'commander.excessArguments', 'error: too many arguments'),
    2,
    'too many arguments',
  ],
  ['help', new CommanderError(0, 'commander.helpDisplayed', '(outputHelp)'), 0, ''],
])('[WR-40] %s is no fault of ours and shows no stack', (_, thrown, code, text) => {
  const { exitCode, stderr } = reported(thrown);
  expect(exitCode).toBe(code);
  expect(stderr).toContain(text);
  expect(stderr).not.toMatch(/ at .*:\d+/);
});

test('a fault of ours says where it is', () => {
  const { exitCode, stderr } = reported(new TypeError('x is undefined'));
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/x is undefined[\s\S]*\(internal\)[\s\S]* at /);
});
