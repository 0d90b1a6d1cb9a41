import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNewer, isOfFamily, parseModel } from './parse-model.ts';

const follows = Number.POSITIVE_INFINITY;

describe('the name of a model', () => {
  it.each([
    ['claude-opus-4-1-20250805', 'claude-opus', [4, 1], 20_250_805],
    ['claude-opus-4-20250514', 'claude-opus', [4], 20_250_514],
    ['claude-sonnet-4-5', 'claude-sonnet', [4, 5], follows],
    ['claude-3-5-sonnet-20241022', 'claude-sonnet', [3, 5], 20_241_022],
    ['claude-3-7-sonnet-latest', 'claude-sonnet', [3, 7], follows],
    ['claude-sonnet-4-5@20250929', 'claude-sonnet', [4, 5], 20_250_929],
    ['claude-sonnet-4-5-20250929[1m]', 'claude-sonnet[1m]', [4, 5], 20_250_929],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', 'claude-opus', [4, 1], 20_250_805],
    ['anthropic/claude-opus-4.1', 'claude-opus', [4, 1], follows],
    ['gpt-5.1', 'gpt', [5, 1], follows],
    ['gpt-5.1-codex-max', 'gpt-codex-max', [5, 1], follows],
    ['gpt-5-mini-2025-08-07', 'gpt-mini', [5], 20_250_807],
    ['gpt-4o-2024-08-06', 'gpt-4o', [], 20_240_806],
    ['o4-mini', 'o-mini', [4], follows],
    ['gemini-2.5-flash-lite', 'gemini-flash-lite', [2, 5], follows],
    ['llama-3.1-70b-instruct', 'llama-70b-instruct', [3, 1], follows],
    ['opus', 'claude-opus', [], follows],
    ['sonnet[1m]', 'claude-sonnet[1m]', [], follows],
  ])('is read: %s', (name, family, version, date) => {
    expect(parseModel(name)).toMatchObject({ family, version, date });
  });

  it.each([
    'gpt-4-0613', // a month and a day, or a number?
    'gpt-4-1106-preview',
    'mistral-large-2411',
    'gemini-1.5-pro-002',
    'gemini-2.5-pro-preview-05-06',
    'claude-3-5-sonnet-v2@20241022',
    'claude-opus-4-20259999',
    'claude-opus-4-20250231',
    'claude-opus-4-1-99990101',
    'claude-opus-4-1-2-3',
    'Claude-Opus-4-1',
    'claude-opus-４-1',
    'claude-opus--4-1',
    'claude-opus-4-1 ',
    'evil/claude-opus-99',
    'arn:aws:bedrock:eu-west-1::foundation-model/x',
    '4-1',
    '-',
    '',
    '__proto__',
  ])('is not guessed at: %j', (name) => {
    expect(parseModel(name)).toBeUndefined();
  });

  it.each([
    ['claude-opus-4-1', 'claude-opus-4-20250514'],
    ['claude-opus-4-1-20250805', 'claude-opus-4-20260101'],
    ['claude-opus-4-10', 'claude-opus-4-9'],
    ['claude-sonnet-4-5-20250929', 'claude-3-7-sonnet-latest'],
    ['claude-sonnet-4-5-20251001', 'claude-sonnet-4-5-20250929'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
    ['claude-opus-4', 'opus'],
    ['gpt-5.1', 'gpt-5-2025-12-31'],
    ['gpt-4o', 'gpt-4o-2024-11-20'],
  ])('%s is newer than %s', (newer, older) => {
    expect(compare(newer, older)).toEqual([true, false]);
  });

  it('is no newer than the same one in another spelling', () => {
    expect(compare('claude-opus-4', 'claude-opus-4-0')).toEqual([false, false]);
    expect(compare('claude-opus-4-1', 'anthropic/claude-opus-4.1')).toEqual([false, false]);
  });

  it.each([
    ['gpt-5-mini', 'gpt-5'],
    ['gpt-4o', 'gpt-4.1'],
    ['claude-sonnet-4-5[1m]', 'claude-sonnet-4-5'],
    ['claude-haiku-4-5', 'claude-opus-4-5'],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', 'claude-opus-4-1'],
  ])('%s is not of the family of %s', (one, other) => {
    expect([ofFamily(one, other), ofFamily(other, one)]).toEqual([false, false]);
  });

  it('of a family alone is of every provider', () => {
    expect(ofFamily('us.anthropic.claude-opus-4-1-20250805-v1:0', 'opus')).toBe(true);
  });

  it('orders versions and dates as numbers, whatever they are', () => {
    const version = fc.tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }));
    const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(version, day, version, day, (oneVersion, oneDay, otherVersion, otherDay) => {
        const one = [...oneVersion, stamp(oneDay)];
        const other = [...otherVersion, stamp(otherDay)];
        const expected = compareNumbers(one, other);
        const names = [
          `claude-opus-${one.join('-')}`,
          `claude-${other[0]}-${other[1]}-opus-${other[2]}`,
        ] as const;
        expect(compare(...names)).toEqual([expected > 0, expected < 0]);
      }),
    );
  });

  it('never throws, and what it reads it reads the same way again', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 256, unit: 'binary' }), (name) => {
        expect(parseModel(name)).toEqual(parseModel(name));
      }),
    );
  });
});

function compare(one: string, other: string): [boolean, boolean] {
  const [a, b] = [parsed(one), parsed(other)];
  return [isNewer(a, b), isNewer(b, a)];
}

function ofFamily(candidate: string, wanted: string): boolean {
  return isOfFamily(parsed(candidate), parsed(wanted));
}

function parsed(name: string) {
  const model = parseModel(name);
  if (!model) throw new Error(`${name} cannot be read`);
  return model;
}

function stamp(day: Date): number {
  return Number(day.toISOString().slice(0, 10).replaceAll('-', ''));
}

function compareNumbers(one: number[], other: number[]): number {
  return one.reduce((found, number, at) => found || number - (other[at] ?? 0), 0);
}
