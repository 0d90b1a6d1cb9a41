import { describe, expect, it } from 'vitest';
import { agentVariables, minimalEnvironment } from './agent-environment.ts';

const variables = {
  phase: 'plan',
  planFilePath: '/p.md',
  task: 'do it',
  taskFilePath: '/task.txt',
  feedbackFilePath: undefined,
  permissionMode: 'plan',
  sessionId: 's',
  revision: 2,
  notices: [],
} as const;

describe('what an agent is told', () => {
  it('[TM-22] is its phase, plan file, task and mode', () => {
    expect(agentVariables(variables)).toMatchObject({
      PLACET_PHASE: 'plan',
      PLACET_PLAN_FILE: '/p.md',
      PLACET_TASK: 'do it',
      PLACET_PERMISSION_MODE: 'plan',
      PLACET_REVISION: '2',
    });
  });

  it('[TM-22] names a feedback file only where there is feedback', () => {
    expect(agentVariables(variables)).not.toHaveProperty('PLACET_FEEDBACK_FILE');
    expect(agentVariables({ ...variables, feedbackFilePath: '/f.md' })).toMatchObject({
      PLACET_FEEDBACK_FILE: '/f.md',
    });
  });

  it.each(['x'.repeat(100_000), '😀'.repeat(50_000), 'ä'.repeat(100_000)])(
    '[TM-22] is a task that a variable can hold',
    (task) => {
      const { PLACET_TASK = '', PLACET_TASK_FILE } = agentVariables({ ...variables, task });

      expect(Buffer.byteLength(PLACET_TASK)).toBeLessThanOrEqual(100_000);
      expect(task.startsWith(PLACET_TASK)).toBe(true);
      expect(PLACET_TASK.length).toBeGreaterThan(40_000);
      expect(PLACET_TASK_FILE).toBe('/task.txt');
    },
  );
});

describe('what an agent gets of the environment', () => {
  it('[TM-22] is little, and nothing of ours', () => {
    const given = {
      PATH: '/bin',
      HOME: '/home/x',
      LANG: 'C',
      SECRET: 's',
      PLACET_TOKEN: 'plt_x',
      NODE_OPTIONS: '--x',
      TZ: '',
    };

    expect(minimalEnvironment(given)).toEqual({ PATH: '/bin', HOME: '/home/x', LANG: 'C' });
    expect(minimalEnvironment({}).PATH).toContain('/usr/bin');
  });
});
