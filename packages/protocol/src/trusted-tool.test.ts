import { describe, expect, it } from 'vitest';
import { environmentLayer, resolveConfig } from './config.ts';

const page = { server: 'docs', tool: 'read_page' };
const list = { server: 'docs', tool: 'list' };

function trusted(...values: unknown[]) {
  const layers = values.map((trustedReadOnlyTools, at) => ({
    source: `layer ${at}`,
    values: { trustedReadOnlyTools },
  }));
  return resolveConfig(layers).config.trustedReadOnlyTools;
}

describe('the tools that the operator trusts', () => {
  it('[PM-23] are none unless they are listed', () => {
    expect(resolveConfig([]).config.trustedReadOnlyTools).toEqual([]);
  });

  it('[PM-23] are exact pairs of a server and a tool', () => {
    expect(trusted([page, list])).toEqual([page, list]);
    expect(trusted([{ server: '__proto__', tool: 'constructor' }])).toHaveLength(1);
  });

  it('[PM-23] can be set in the environment', () => {
    const layer = environmentLayer({ PLACET_TRUSTED_READ_ONLY_TOOLS: JSON.stringify([page]) });

    expect(resolveConfig([layer]).config.trustedReadOnlyTools).toEqual([page]);
  });

  it('[PM-23] are those that every layer lists which lists any', () => {
    expect(trusted([page, list], [list])).toEqual([list]);
    expect(trusted([page], [list])).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a text',
      'docs/read_page',
      /layer 0: the setting "trustedReadOnlyTools" is not valid: must be a list such as/,
    ],
    ['a pair alone', page, /must be a list such as/],
    ['JSON of something else', '{"server":"docs"}', /must be a list such as/],
    ['names', ['mcp__docs__read_page'], /"trustedReadOnlyTools\.0" is not valid/],
    ['no tool', [page, { server: 'docs' }], /"trustedReadOnlyTools\.1\.tool" is not valid: must be a text/],
    [
      'an empty server',
      [{ ...page, server: '' }],
      /"trustedReadOnlyTools\.0\.server" is not valid: must not be empty/,
    ],
    ['a wildcard', [{ ...page, tool: '*' }], /no wildcards/],
    ['a pattern', [{ ...page, tool: 'read_*' }], /no wildcards/],
    ['a trailing blank', [{ ...page, tool: 'read_page ' }], /must not begin or end with a blank/],
    ['a hidden character', [{ ...page, server: 'do\u200bcs' }], /characters that nobody sees/],
    ['a further field', [{ ...page, readOnlyHint: true }], /readOnlyHint/],
    ['a name without end', [{ ...page, tool: 'x'.repeat(257) }], /at most 256/],
  ])('[PM-23] are refused with what is wrong: %s', (_what, value, message) => {
    expect(() => trusted(value)).toThrow(message);
  });
});
