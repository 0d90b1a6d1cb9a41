import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { bold, Output } from './output.ts';

function written(print: (output: Output) => void, options: { json?: boolean; colour?: boolean } = {}) {
  const streams = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        streams[name] += String(chunk);
        done();
      },
    });
  print(
    new Output({ stdout: into('stdout'), stderr: into('stderr'), json: false, colour: false, ...options }),
  );
  return streams;
}

test('[IN-23] a line is one line, whatever its pieces hold, and only our styles are escape sequences', () => {
  const hostile = 'a\u001b[2J\nApproved \u202e';
  const { stdout } = written((output) => output.line('Plan ', bold(hostile)), { colour: true });
  expect(stdout).toBe('Plan \u001b[1ma⟨U+001B⟩[2J⟨U+000A⟩Approved ⟨U+202E⟩\u001b[22m\n');
});

test('[IN-23] a quoted text stands behind a margin, line by line', () => {
  const { stdout } = written((output) => output.quote('one\n\ttwo\u001b]0;x\u0007'));
  expect(stdout).toBe('│ one\n│     two⟨U+001B⟩]0;x⟨U+0007⟩\n');
});

test('[IN-23] JSON on a terminal acts on nothing and is the same value', () => {
  const { stdout } = written((output) => output.value({ plan: '\u009b31m\u202e' }), { json: true });
  expect(stdout).toBe('{"plan":"\\u009b31m\\u202e"}\n');
});

test('with --json nothing but JSON is printed, and without it no JSON', () => {
  const both = (output: Output) => {
    output.line('a');
    output.quote('b');
    output.value({ c: 1 });
    output.note('d');
  };
  expect(written(both, { json: true })).toEqual({ stdout: '{"c":1}\n', stderr: '{"note":"d"}\n' });
  expect(written(both)).toEqual({ stdout: 'a\n│ b\n', stderr: 'd\n' });
});
