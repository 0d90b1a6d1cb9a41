import { AgentProfile } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { Profiles } from './profiles.ts';

const profile = (...command: string[]) => AgentProfile.parse({ command });

describe('agent profiles', () => {
  it('[TM-2] are those of the configuration and no others', () => {
    const profiles = new Profiles({ codemod: profile('codemod') }, '/config');

    expect(profiles.find('codemod')?.command).toEqual(['codemod']);
    for (const name of ['other', '__proto__', 'constructor', 'toString', ''])
      expect(profiles.find(name)).toBeUndefined();
  });

  it.each([
    [
      ['node', 'agents/a.mjs'],
      ['node', 'agents/a.mjs'],
    ],
    [
      ['./agents/a.mjs', '-x'],
      ['/config/agents/a.mjs', '-x'],
    ],
    [['agents/a.mjs'], ['/config/agents/a.mjs']],
    [['/usr/bin/a'], ['/usr/bin/a']],
  ])('[TM-22] start %j as %j', (command, expected) => {
    expect(new Profiles({ a: profile(...command) }, '/config').find('a')?.command).toEqual(expected);
  });
});
