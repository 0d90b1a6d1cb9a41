import { PlacetError } from '@placet/protocol';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createExecutor, type Executor } from './executor.ts';
import { createGate, type Gate, type Verdict } from './gate.ts';
import type { ToolCall } from './tool-call.ts';

let isPlanning = true;
const gate = createGate({ sessionId: 's', isPlanning: () => isPlanning });
const write: ToolCall = { source: 'builtin', tool: 'Write' };
const read: ToolCall = { source: 'builtin', tool: 'Read', manifest: { readOnlyHint: true } };

describe('an executor', () => {
  it('[PM-21] runs what its gate allows, and nothing else', async () => {
    isPlanning = true;
    const ran: string[] = [];
    const executor = createExecutor({ gate, run: ({ tool }, input: string) => ran.push(`${tool} ${input}`) });

    expect(await executor.execute(read, 'a')).toEqual({ kind: 'done', output: 1 });
    expect(await executor.execute(write, 'b')).toMatchObject({ kind: 'refused', refusal: { tool: 'Write' } });
    isPlanning = false;
    expect(await executor.execute(write, 'c')).toEqual({ kind: 'done', output: 2 });
    expect(ran).toEqual(['Read a', 'Write c']);
  });

  it('[PM-21] runs a call in the step that judges it, so that the mode cannot change in between', () => {
    isPlanning = false;
    const ran: string[] = [];
    const executor = createExecutor({ gate, run: ({ tool }) => ran.push(tool) });
    const executed = executor.execute(write, undefined);
    isPlanning = true;

    expect(ran).toEqual(['Write']);
    return executed;
  });

  it('[PM-21] runs the call that was judged, not one that has become another', async () => {
    isPlanning = true;
    let reads = 0;
    const turning: ToolCall = {
      source: 'builtin',
      get tool() {
        reads += 1;
        return reads === 1 ? 'Read' : 'Write';
      },
      manifest: { readOnlyHint: true },
    };
    const executor = createExecutor({ gate, run: (call) => call });
    const executed = await executor.execute(turning, undefined);

    expect(executed).toEqual({ kind: 'done', output: read });
    expect(executed.kind === 'done' && Object.isFrozen(executed.output)).toBe(true);
  });

  it('[PM-24] hands its gate to what it runs, for calls of its own', async () => {
    isPlanning = false;
    const executor = createExecutor({ gate, run: (_call, _input: undefined, handed) => handed });

    expect(await executor.execute(write, undefined)).toEqual({ kind: 'done', output: gate });
  });

  it('[PM-21] runs nothing that cannot be read, in any mode', async () => {
    const ran: string[] = [];
    const executor = createExecutor({ gate, run: ({ tool }) => ran.push(tool) });
    const unreadable: ToolCall = {
      source: 'builtin',
      get tool(): string {
        throw new Error('of the host');
      },
    };
    isPlanning = true;
    expect(await executor.execute(unreadable, undefined)).toMatchObject({ kind: 'refused' });
    isPlanning = false;
    await expect(executor.execute(unreadable, undefined)).rejects.toThrow(PlacetError);
    expect(ran).toEqual([]);
  });

  it('throws on what its tool throws', async () => {
    isPlanning = false;
    const executor = createExecutor({ gate, run: () => Promise.reject(new Error('disk full')) });

    await expect(executor.execute(write, undefined)).rejects.toThrow('disk full');
  });

  // What this file claims of types is checked by the compiler: an expected error that is none is an error.
  it('[PM-21] cannot be made without a gate, nor a gate without its maker', () => {
    const run = () => undefined;
    const anybody = (): Verdict => ({ kind: 'allowed' });

    // @ts-expect-error there is no gate
    expect(() => createExecutor({ run })).toThrow(PlacetError);
    // @ts-expect-error undefined is no gate
    expect(() => createExecutor({ gate: undefined, run })).toThrow(PlacetError);
    // @ts-expect-error a function that answers like a gate is none
    expect(() => createExecutor({ gate: anybody, run })).toThrow(PlacetError);
    // @ts-expect-error nor is an object with all that can be named of one
    expect(() => createExecutor({ gate: Object.assign(anybody, { wouldAllow: () => true }), run })).toThrow();
    // @ts-expect-error an object that executes is no executor: it has no gate
    const forged: Executor<string, string> = { execute: () => Promise.resolve({ kind: 'done', output: '' }) };

    expect(forged).toBeDefined();
    expectTypeOf<() => Verdict>().not.toExtend<Gate>();
    expectTypeOf(createExecutor({ gate, run: () => 1 })).toExtend<Executor<unknown, number>>();
  });
});
