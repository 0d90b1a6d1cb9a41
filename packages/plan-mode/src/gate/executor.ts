import { PlacetError } from '@placet/protocol';
import { snapshotOf } from './call-snapshot.ts';
import { type Gate, isGate } from './gate.ts';
import type { Refusal } from './refusal.ts';
import type { ToolCall } from './tool-call.ts';

/** What an executor is made of. */
export interface ExecutorOptions<Input, Output> {
  /** The gate of the session whose calls these are; for an agent, its parent's (PM-24). */
  gate: Gate;
  /**
   * Runs a call that was allowed, at once. `call` is the frozen copy that was judged: where it names a file, that very
   * path is the one to write. `gate` is for whatever the call starts that runs calls of its own.
   */
  run(this: void, call: ToolCall, input: Input, gate: Gate): Output | Promise<Output>;
}

/** What came of a call. A refusal goes to the model as a tool error: `toolErrorOf(refusal)` (PM-28). */
export type Execution<Output> =
  | { readonly kind: 'done'; readonly output: Output }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

// Not exported: what has it was made here, around a gate.
const executorMark: unique symbol = Symbol('placet.executor');

/**
 * The only way to run calls (PM-21): ask for this type wherever a surface hands on a call, and none can forget the
 * gate, for only {@link createExecutor} makes one and it asks for a gate.
 */
export interface Executor<Input, Output> {
  /**
   * Judges a call and, where it is allowed, runs it in the same step, so that the mode cannot change in between.
   *
   * @throws PlacetError `validation_failed` for a call that cannot be read, outside plan mode; while planning it is
   * refused. What `run` throws is thrown on.
   */
  execute(call: ToolCall, input: Input): Promise<Execution<Output>>;
  readonly [executorMark]: true;
}

/**
 * Puts a gate before whatever runs calls. One for each session, for all its surfaces; more do no harm.
 *
 * @throws PlacetError `validation_failed` for a gate that `createGate` did not make, where types were not checked.
 */
export function createExecutor<Input, Output>(
  options: ExecutorOptions<Input, Output>,
): Executor<Input, Output> {
  const { gate, run } = options;
  if (!isGate(gate)) throw new PlacetError('validation_failed', 'an executor needs the gate of its session');
  const execute = async (call: ToolCall, input: Input): Promise<Execution<Output>> => {
    const { call: judged } = snapshotOf(call);
    const verdict = gate(judged ?? call);
    if (verdict.kind === 'refused') return verdict;
    if (!judged)
      throw new PlacetError('validation_failed', 'the call cannot be read: it needs a source and a tool');
    return { kind: 'done', output: await run(judged, input, gate) };
  };
  const mark: { readonly [executorMark]: true } = { [executorMark]: true };
  return Object.freeze({ execute, ...mark });
}
