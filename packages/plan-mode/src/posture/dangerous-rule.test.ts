import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDangerousRule } from './dangerous-rule.ts';

describe('a rule that auto semantics must strip', () => {
  it.each([
    // a wildcard where the program would be
    'Bash',
    'bash',
    'Bash()',
    'Bash(*)',
    'Bash(:*)',
    'Bash( * )',
    'Bash(g*)',
    'Bash(FOO=1 *)',
    'Bash($SHELL -c x)',
    'Bash(~/bin/x)',
    'PowerShell(*)',
    'Bash(',
    // an interpreter, or what starts another program
    'Bash(python:*)',
    'Bash(python3.11 -m build)',
    'Bash(/usr/bin/env FOO=1 node x.js)',
    'Bash(PYTHON.EXE:*)',
    'Bash("bash" -c x)',
    'Bash(ba\\sh -c x)',
    'Bash(FOO=1 BAR=2 perl -e x)',
    'Bash(sudo:*)',
    'Bash(xargs rm)',
    'Bash(find . -exec x)',
    'Bash(ssh host:*)',
    'Bash(npx:*)',
    'Bash(npm:*)',
    'Bash(npm run *)',
    'Bash(npm --prefix x run y)',
    'Bash(yarn dlx x)',
    'Bash(make:*)',
    // hidden behind something else
    'Bash(ls; python x)',
    'Bash(ls && *)',
    'Bash(ls | sh)',
    'Bash(echo `node x`)',
    'Bash(echo $(node x))',
    'Bash(diff <(node x) y)',
    'Bash(ls\nnode x)',
    // agents, and every tool
    'Agent',
    'Agent(reviewer)',
    'Task',
    'TASK(*)',
    'spawn_subagent',
    '*',
    'B*',
    '',
  ])('[PM-5] is %j', (rule) => {
    expect(isDangerousRule(rule)).toBe(true);
  });

  it.each([
    'Edit',
    'Read(src/**)',
    'WebFetch(domain:example.org)',
    'Bash(git status)',
    'Bash(git log:*)',
    'Bash(npm install)',
    'Bash(npm ci)',
    'Bash(ls -la)',
    'Bash(pytester-report)',
    'mcp__files__*',
    'mcp__files__read',
    'TodoWrite',
  ])('[PM-5] is not %j', (rule) => {
    expect(isDangerousRule(rule)).toBe(false);
  });

  it('[PM-5] is told of any text, in time that grows with its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(typeof isDangerousRule(text)).toBe('boolean');
        expect(isDangerousRule(`Bash(python ${text})`)).toBe(true);
        expect(isDangerousRule(`Agent(${text})`)).toBe(true);
      }),
    );
    expect(isDangerousRule(`Bash(${'a'.repeat(100_000)}${'1.'.repeat(100_000)}x)`)).toBe(false);
  });
});
