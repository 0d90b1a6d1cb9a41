import type { Log } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { refusalOf } from './refusal.ts';
import { maxWarnedTools, RefusalLog } from './refusal-log.ts';

function recording() {
  const lines: { level: string; fields: object }[] = [];
  const at = (level: string) => (fields: object) => void lines.push({ level, fields });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const levels = () => lines.map(({ level }) => level);
  return { log, lines, levels };
}

const refused = (tool: string) => refusalOf({ tool, sessionId: 'session-1', reason: 'not_plan_safe' });

describe('the log of refusals', () => {
  it('[PM-28] warns once of each tool, and goes on at debug', () => {
    const { log, levels } = recording();
    const refusals = new RefusalLog(log);
    for (const tool of ['Write', 'Edit', 'Write', 'Write', 'Edit'])
      refusals.write(refused(tool), { source: 'builtin' });

    expect(levels()).toEqual(['warn', 'warn', 'debug', 'debug', 'debug']);
  });

  it('[PM-28] warns of the same tool again in another session', () => {
    const { log, levels } = recording();
    for (const refusals of [new RefusalLog(log), new RefusalLog(log)])
      refusals.write(refused('Write'), undefined);

    expect(levels()).toEqual(['warn', 'warn']);
  });

  it('[PM-28] says who, what and why', () => {
    const { log, lines } = recording();
    new RefusalLog(log).write(refused('Write'), { source: 'builtin', surface: 'realtime' });

    expect(lines[0]?.fields).toEqual({
      sessionId: 'session-1',
      tool: 'Write',
      reason: 'not_plan_safe',
      source: 'builtin',
      surface: 'realtime',
    });
  });

  it('[PM-28] does not warn for ever of names that a model invents', () => {
    const { log, levels } = recording();
    const refusals = new RefusalLog(log);
    for (let n = 0; n < maxWarnedTools * 3; n += 1) refusals.write(refused(`tool_${n}`), undefined);

    expect(levels().filter((level) => level === 'warn')).toHaveLength(maxWarnedTools + 1);
    expect(levels()).toHaveLength(maxWarnedTools * 3);
  });
});
