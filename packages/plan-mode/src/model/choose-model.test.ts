import { SessionEvent } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { chooseModel, type ModelWishes, modelFacts } from './choose-model.ts';

const opus = 'claude-opus-4-5-20251101';
const sonnet = 'claude-sonnet-4-5';
const wishes: ModelWishes = { mode: 'plan', planModel: opus, restingModel: sonnet };

describe('the model of a session', () => {
  it('[PM-80] is the planning one in plan mode and the resting one in every other', () => {
    expect(chooseModel(wishes)).toMatchObject({ effective: opus, reason: 'as_named', phase: 'planning' });
    for (const mode of ['default', 'acceptEdits', 'auto', 'bypassPermissions', 'dontAsk'] as const)
      expect(chooseModel({ ...wishes, mode })).toMatchObject({
        requested: sonnet,
        effective: sonnet,
        reason: 'as_named',
        phase: 'implementing',
      });
  });

  it('[PM-80] is the resting one where no planning model is named', () => {
    expect(chooseModel({ mode: 'plan', restingModel: sonnet })).toMatchObject({
      requested: sonnet,
      effective: sonnet,
      reason: 'as_named',
    });
  });

  it('[PM-80] gives way to the newest permitted one of its family, by version before date', () => {
    const permitted = [
      sonnet,
      'claude-opus-4-20250514',
      'claude-opus-4-1-20250805',
      'claude-3-opus-20240229',
      'claude-opus-4-20260101',
      'gpt-99',
    ];
    expect(chooseModel({ ...wishes, permitted })).toEqual({
      kind: 'chosen',
      phase: 'planning',
      requested: opus,
      effective: 'claude-opus-4-1-20250805',
      reason: 'newest_of_family',
    });
  });

  it.each([
    ['has no permitted relative', opus, [sonnet, 'gpt-5.1', 'claude-haiku-4-5']],
    ['cannot be read', 'gpt-4-0613', [sonnet, 'gpt-4', 'gpt-5.1', 'gpt-4-1106-preview']],
    ['is spelt for another provider', opus, [sonnet, 'us.anthropic.claude-opus-4-1-20250805-v1:0']],
    ['is unknown', 'my-own-finetune', [sonnet, opus]],
    ['only resembles a permitted one', 'claude-opus-4-5-2025110１', [sonnet, opus]],
  ])('[PM-80] gives way to the resting one where it %s', (_, planModel, permitted) => {
    expect(chooseModel({ ...wishes, planModel, permitted })).toMatchObject({
      requested: planModel,
      effective: sonnet,
      reason: 'resting_model',
    });
  });

  it('[PM-80] is none where neither is permitted, and that is said', () => {
    const refused = { kind: 'refused', reason: 'model_not_permitted' };
    expect(chooseModel({ ...wishes, permitted: ['gpt-5.1'] })).toMatchObject({
      ...refused,
      requested: opus,
      detail: expect.stringContaining(sonnet),
    });
    expect(chooseModel({ ...wishes, permitted: [] })).toMatchObject(refused);
    // A resting model has no substitute, be it ever so near.
    const near = ['claude-sonnet-4-5-20250929', 'claude-opus-4-5'];
    expect(chooseModel({ ...wishes, mode: 'default', permitted: near })).toMatchObject({
      ...refused,
      requested: sonnet,
    });
    expect(chooseModel({ mode: 'plan', restingModel: sonnet, permitted: near })).toMatchObject(refused);
  });

  it('[PM-80] of an alias is what it stands for, told by its own name', () => {
    const permitted = ['claude-opus-4-1', opus, 'claude-sonnet-4-5-20250929'];
    const session: ModelWishes = { mode: 'plan', restingModel: 'opusplan', permitted };

    expect(chooseModel(session)).toMatchObject({ requested: 'opusplan', effective: opus, reason: 'alias' });
    expect(chooseModel({ ...session, mode: 'default' })).toMatchObject({
      effective: 'claude-sonnet-4-5-20250929',
      reason: 'alias',
    });
    expect(chooseModel({ ...session, permitted: [sonnet] })).toMatchObject({
      requested: 'opusplan',
      effective: sonnet,
      reason: 'resting_model',
    });
    expect(chooseModel({ ...session, permitted: ['opusplan'] })).toMatchObject({ effective: 'opus' });
    expect(chooseModel({ mode: 'plan', restingModel: 'opusplan' })).toMatchObject({ effective: 'opus' });
    expect(chooseModel({ ...session, permitted: ['gpt-5.1'] })).toMatchObject({ kind: 'refused' });
  });

  it('[PM-80] is told in an event once for each change, the effective one and not the requested', () => {
    const fallback = chooseModel({ ...wishes, permitted: [sonnet] });
    const plain = chooseModel({ ...wishes, mode: 'default' });
    if (fallback.kind === 'refused' || plain.kind === 'refused') throw new Error('both are permitted');

    const told = modelFacts(fallback);
    expect(told).toEqual({
      type: 'plan:model',
      phase: 'planning',
      requested: opus,
      effective: sonnet,
      reason: 'resting_model',
    });
    expect(SessionEvent.parse({ ...told, seq: 1, at: '2026-01-01T00:00:00.000Z' })).toMatchObject({
      effective: sonnet,
    });
    expect(modelFacts(fallback, told)).toBeUndefined();
    expect(modelFacts(plain, told)).toMatchObject({ effective: sonnet, reason: 'as_named' });
  });
});
