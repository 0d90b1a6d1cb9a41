import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { commands } from './commands/index.ts';
import { createParser } from './program.ts';

function helpOf(name: string): string {
  let printed = '';
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      printed += String(chunk);
      done();
    },
  });
  const parser = createParser({ stdout, stderr: stdout }, '0.0.0', () => Promise.resolve());
  expect(() => parser.parse([...name.split(' '), '--help'].filter(Boolean), { from: 'user' })).toThrow(
    '(outputHelp)',
  );
  return printed;
}

test.each(['', 'token', 'keys', ...commands.map(({ name }) => name)])(
  'placet %s --help shows an example',
  (name) => {
    expect(helpOf(name)).toMatch(/\nExample:\n {2}\$ (?:[A-Z_]+=\S+ )?placet /);
  },
);

test('[WR-43] client commands say where the service is and who calls', () => {
  for (const name of [
    'submit',
    'inbox',
    'show',
    'approve',
    'reject',
    'withdraw',
    'teleport',
    'wait',
    'watch',
    'run',
  ])
    for (const flag of ['--data <dir>', '--url <value>', '--token <value>', '--json'])
      expect(helpOf(name)).toContain(flag);
});
