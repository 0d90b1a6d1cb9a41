import { GrantedMode } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MessageOrigin, parseMetaCommand } from './meta-command.ts';

const text = { kind: 'text' };
const commands = [
  '/plan',
  '/plan status',
  '/plan approve',
  '/plan approve auto',
  '/plan reject no',
  '/plan exit',
];
// Every character that Unicode calls white space.
const whiteSpaces = [...Array(0x10000).keys()]
  .map((code) => String.fromCharCode(code))
  .filter((character) => /\p{White_Space}/u.test(character));

describe('the meta-command of a message', () => {
  it.each([
    ['/plan', { kind: 'enter' }],
    ['/plan status', { kind: 'status' }],
    ['/plan approve', { kind: 'approve', mode: undefined }],
    ['/plan reject no tests', { kind: 'reject', feedback: 'no tests' }],
    ['/plan reject\r\n- no tests\n  at all \n', { kind: 'reject', feedback: '- no tests\n  at all' }],
    ['/plan reject "quoted" `code` /plan exit', { kind: 'reject', feedback: '"quoted" `code` /plan exit' }],
    ['/plan exit', { kind: 'exit' }],
    ['  /plan\n', { kind: 'enter' }],
    ['\t/plan \r\n status', { kind: 'status' }],
  ])('[PM-11] of %j is known', (message, command) => {
    expect(parseMetaCommand(message, 'user')).toEqual(command);
  });

  it.each(GrantedMode.options)('[PM-11] of an approval may grant %s', (mode) => {
    expect(parseMetaCommand(`/plan approve ${mode}`, 'user')).toEqual({ kind: 'approve', mode });
  });

  it.each([
    '',
    ' ',
    '/',
    '/plans',
    '/planning',
    '/Plan',
    '/PLAN',
    '/plan/',
    '/plan,',
    '/plan.',
    '/plan:status',
    '/plan-exit',
    '//plan',
    '\\/plan',
    '/ plan',
    'please /plan',
    'plan',
    '> /plan',
    '"/plan"',
    "'/plan'",
    '“/plan”',
    '`/plan`',
    '```\n/plan\n```',
    '~~~\n/plan exit\n~~~',
    '- /plan',
    '# /plan',
    '<b>/plan</b>',
    '[/plan](x)',
    '**/plan**',
    '\ufeff/plan',
    '/plan\ufeff',
    '\u200b/plan',
    '/plan\u200b',
    '/plan\u200b status',
    '/\u200dplan',
    '/plan\u2060',
    '/plan\u00ad',
    '\u202e/plan',
    '\u2066/plan\u2069',
    '/plan\0',
    '\0/plan',
    '\u001b[0m/plan',
    '/plan\u0301',
    '/pl\u0430n',
    '\uff0fplan',
    '\u2215plan',
    '/\uff50lan',
    '/plan\u180e',
    '/plan\u2800',
    '/plan\ud800',
    '&#47;plan',
    '%2fplan',
  ])('[PM-10, PM-11] is none in %j', (message) => {
    expect(parseMetaCommand(message, 'user')).toEqual(text);
  });

  it.each([
    '/plan now',
    '/plan the rollout',
    '/plan Status',
    '/plan approved',
    '/plan status now',
    '/plan exit please',
    '/plan approve plan',
    '/plan approve yolo',
    '/plan approve Auto',
    '/plan approve auto now',
    '/plan approve\u200b',
    '/plan "exit"',
    '/plan > exit',
    '/plan ```\nexit\n```',
    '/plan __proto__',
    '/plan approve constructor',
    '/plan /plan exit',
  ])('[PM-11] in %j is refused with what can be said, and does nothing', (message) => {
    expect(parseMetaCommand(message, 'user')).toMatchObject({
      kind: 'refused',
      code: 'usage',
      detail: expect.stringContaining('Nothing was done'),
    });
  });

  it.each(['/plan reject', '/plan reject \n\u2003', '/plan reject \u0085', '/plan reject \ufeff'])(
    '[PM-76] asks %j for a reason',
    (message) => {
      expect(parseMetaCommand(message, 'user')).toMatchObject({ kind: 'refused', code: 'feedback_required' });
    },
  );

  it('[PM-11] ends its tokens at every white space of Unicode, and at nothing else', () => {
    expect(whiteSpaces).toHaveLength(25);
    for (const space of whiteSpaces)
      expect(parseMetaCommand(`${space}/plan${space}exit${space}`, 'user'), JSON.stringify(space)).toEqual({
        kind: 'exit',
      });
  });

  it.each(['model', 'transcript', 'tool'] satisfies MessageOrigin[])(
    '[PM-13, PM-19] is none in whatever a %s says',
    (origin) => {
      for (const command of commands) expect(parseMetaCommand(command, origin)).toEqual(text);
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), (rest) => {
          expect(parseMetaCommand(`/plan ${rest}`, origin)).toEqual(text);
        }),
      );
    },
  );

  it('[PM-10, PM-11] is none wherever the first token is another one', () => {
    const word = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => {
      const [first] = one.split(/\p{White_Space}+/u).filter(Boolean);
      return first !== undefined && first !== '/plan';
    });
    fc.assert(
      fc.property(
        word,
        fc.constantFrom(...commands),
        fc.constantFrom(...whiteSpaces),
        (before, command, space) => {
          expect(parseMetaCommand(`${before}${space}${command}`, 'user')).toEqual(text);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('[PM-11] never throws, and passes a reason on as it was written', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('/plan', 'reject', 'approve', ...whiteSpaces),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const message = parts.join('');
        const command = parseMetaCommand(message, 'user');
        if (command.kind === 'reject') expect(message).toContain(command.feedback);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['white space', ' '.repeat(1 << 20)],
    ['one token', 'x'.repeat(1 << 20)],
    ['many tokens', 'x '.repeat(1 << 19)],
    ['slashes', '/plan'.repeat(200_000)],
  ])('[PM-11] takes a megabyte of %s', (_what, megabyte) => {
    for (const message of [
      megabyte,
      `/plan ${megabyte}`,
      `/plan reject ${megabyte}`,
      `${megabyte} /plan exit`,
    ])
      expect(() => parseMetaCommand(message, 'user')).not.toThrow();
    expect(parseMetaCommand(`${' '.repeat(1 << 20)}/plan`, 'user')).toEqual({ kind: 'enter' });
  });
});
