import { connect } from 'node:net';
import { newRequestId, Problem } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { type LeadWorld, plan, submission, useLead } from './lead-world.ts';

let world: LeadWorld;
let lead: string;
let teammate: string;

useLead({}, async (opened) => {
  world = opened;
  lead = await world.token();
  teammate = await world.teammateToken();
});

describe('what may not be sent', () => {
  it('[WR-31] what is no HTTP is refused without falling over', async () => {
    const answered = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1', () =>
        socket.write('NONSENSE\r\n\r\n'),
      );
      socket.once('data', (data) => resolve(data.toString())).once('error', reject);
    });
    expect(answered).toContain('400');
    expect(answered).toContain('validation_failed');
    expect((await world.call('/healthz')).status).toBe(200);
  });

  it('[WR-31] a refused submission leaves nothing behind', async () => {
    const before = await world.call(`${world.path()}?limit=200`, { token: lead });
    const requestId = newRequestId('worker', world.team);
    const bodies = [
      JSON.stringify({ ...submission(world.team, { requestId }), labels: { a: '\0' } }),
      JSON.stringify({ ...submission(world.team, { requestId }), extra: { deep: ['\ud800'] } }),
      JSON.stringify(submission(world.team, { requestId })).replace('{', '{"__proto__":{"x":1},'),
      JSON.stringify(submission(world.team, { requestId })).replace('{', '{"planContent":"first",'),
      JSON.stringify({
        ...submission(world.team, { requestId }),
        deep: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`),
      }),
    ];
    for (const body of bodies) {
      const answer = await world.call(world.path(), { token: teammate, body });
      expect([answer.status, Problem.parse(answer.json).issues?.length]).toEqual([400, 1]);
    }
    expect((await world.call(world.path(requestId), { token: teammate })).status).toBe(404);
    const after = await world.call(`${world.path()}?limit=200`, { token: lead });
    expect(after.json.requests.length).toBe(before.json.requests.length);
  });

  it('[IN-24] no token, plan or feedback is in what the service logged', async () => {
    await world.decide(lead, await world.submit(teammate, { planContent: `${plan} very-secret-plan` }), {
      outcome: 'rejected',
      feedback: 'very-secret-feedback',
    });
    expect(world.logged.some((line) => line.includes('a request was decided'))).toBe(true);
    expect(world.logged.filter((line) => /very-secret|plt_\w|PRIVATE|"d":/.test(line))).toEqual([]);
  });
});
