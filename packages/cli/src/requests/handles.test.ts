import { newRequestId } from '@placet/protocol';
import { expect, test } from 'vitest';
import { handleOf, isHandle } from './handles.ts';

const id = (tail: string) => `plan_approval-01890a5d-ac96-774b-bcce-${tail}@worker@main`;

test('a handle is the end of the random part, as long as it takes to be the only one', () => {
  const ids = [id('b302099a8057'), id('a402099a8057'), id('000000000001')];
  expect(ids.map((one) => handleOf(one, ids))).toEqual(['302099a8057', '402099a8057', '000001']);
});

test('a handle is one, and a foreign ID is its own', () => {
  const native = newRequestId('worker', 'main');
  expect(isHandle(handleOf(native, [native]))).toBe(true);
  expect(handleOf('plan-7', ['plan-7'])).toBe('plan-7');
  expect(isHandle('plan-7')).toBe(false);
});
