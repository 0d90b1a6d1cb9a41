import { expect, test } from 'vitest';
import { isTerminal, RequestState, requestTransitions, workTransitions } from './request-machine.ts';

test('[WR-20] [I2] every state but pending is reached from pending and from nowhere else', () => {
  for (const state of RequestState.options) {
    if (state === 'pending') expect(isTerminal(state)).toBe(false);
    else expect(requestTransitions[state].from).toBe('pending');
  }
  expect(Object.keys(requestTransitions).sort()).toEqual(RequestState.options.filter(isTerminal).sort());
});

test('[IN-1] exactly what a lead decides is signed', () => {
  for (const transition of Object.values(requestTransitions))
    expect(transition.signed).toBe(transition.actor === 'lead');
});

test('[WR-40] a wait ends with the exit code of the outcome', () => {
  expect(
    Object.fromEntries(Object.entries(requestTransitions).map(([state, { exitCode }]) => [state, exitCode])),
  ).toEqual({
    approved: 0,
    rejected: 3,
    timeout: 4,
    teleport: 5,
    withdrawn: 6,
    superseded: 6,
  });
});

test('[TM-16] work that is over is never claimed again', () => {
  expect(workTransitions.claimed.from).not.toContain('done');
  expect(workTransitions.claimed.from).not.toContain('failed');
  expect(workTransitions.applied.from).toEqual(['claimed']);
});
