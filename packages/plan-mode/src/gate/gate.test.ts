import { type Log, silentLog } from '@placet/protocol';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createGate, type GateOptions, isGate } from './gate.ts';
import type { Refusal } from './refusal.ts';
import type { ToolCall } from './tool-call.ts';

const write: ToolCall = { source: 'builtin', tool: 'Write' };
const read: ToolCall = { source: 'builtin', tool: 'Read', manifest: { readOnlyHint: true } };

function planning(changes: Partial<GateOptions> = {}) {
  return createGate({ sessionId: 'session-1', isPlanning: () => true, ...changes });
}

function throwing(): never {
  throw new Error('of the host');
}

/** A call in JavaScript's sense: whatever a host without types may hand over. */
function untyped(call: unknown): ToolCall {
  return call as ToolCall; // that it is none is what is tested
}

/** Answers `first` when read for the first time, `then` from then on. */
function changing(name: string, first: unknown, then: unknown): object {
  let reads = 0;
  return Object.defineProperty({}, name, {
    enumerable: true,
    get: () => {
      reads += 1;
      return reads === 1 ? first : then;
    },
  });
}

describe('a gate', () => {
  it('[PM-28] refuses in one shape', () => {
    expect(planning()(write)).toEqual({
      kind: 'refused',
      refusal: {
        error_code: 'plan_mode_blocked',
        tool: 'Write',
        session_id: 'session-1',
        reason: 'not_plan_safe',
        fixable_by_llm: false,
        hint: expect.stringContaining('planning'),
      },
    });
  });

  it('[PM-21, PM-24] asks for the mode at each call, so one who holds it already is held too', () => {
    let isPlanning = false;
    const gate = planning({ isPlanning: () => isPlanning });

    expect(gate(write).kind).toBe('allowed');
    isPlanning = true;
    expect(gate(write).kind).toBe('refused');
    isPlanning = false;
    expect(gate(write).kind).toBe('allowed');
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing],
    ['answers nothing', () => undefined],
    ['answers with a promise', () => Promise.resolve(false)],
  ])('[PM-21] is closed where the mode %s', (_what, isPlanning) => {
    const gate = planning({ isPlanning: untypedPredicate(isPlanning) });

    expect(gate(write).kind).toBe('refused');
    expect(gate(read).kind).toBe('allowed');
  });

  it.each<[string, () => unknown, string]>([
    ['throws', throwing, 'check_failed'],
    ['answers with a promise of yes', () => Promise.resolve(true), 'not_the_plan_file'],
    ['answers with a text', () => 'yes', 'not_the_plan_file'],
    ['answers nothing', () => undefined, 'not_the_plan_file'],
  ])('[PM-26] refuses where the question for the plan file %s', (_what, isPlanFile, reason) => {
    const gate = planning({ isPlanFile: untypedPredicate(isPlanFile) });

    expect(gate({ ...write, writesFile: '/plans/mine.md' })).toMatchObject({ refusal: { reason } });
  });

  it('[PM-26] knows no plan file where it was told of none', () => {
    expect(planning()({ ...write, writesFile: '/plans/mine.md' }).kind).toBe('refused');
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'Read'],
    ['no name', { source: 'builtin', manifest: { readOnlyHint: true } }],
    ['an empty name', { ...read, tool: '' }],
    ['a name that is no text', { ...read, tool: ['Read'] }],
    ['no source', { tool: 'Read', manifest: { readOnlyHint: true } }],
    ['an unknown source', { ...read, source: 'BUILTIN' }],
    ['a source of the prototype', { ...read, source: 'constructor' }],
    ['a server that is a name', { ...read, server: 'placet' }],
    ['several files', { ...write, writesFile: ['/plans/mine.md', '/etc/passwd'] }],
    ['a file that is null', { ...read, writesFile: null }],
    ['a server name that is no text', { ...read, serverName: { toString: () => 'docs' } }],
    ['a getter that throws', Object.defineProperty({ ...read }, 'manifest', { get: throwing })],
    ['a name that throws', Object.defineProperty({ ...read }, 'tool', { get: throwing })],
    ['a proxy that throws', new Proxy(read, { get: throwing })],
    ['a manifest that throws', { ...read, manifest: new Proxy({}, { getOwnPropertyDescriptor: throwing }) }],
    ['a revoked proxy', revoked()],
  ])('[PM-21] refuses what is no call and never throws: %s', (_what, call) => {
    expect(planning({ isPlanFile: () => true })(untyped(call))).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'malformed_call' },
    });
  });

  it.each<[string, unknown]>([
    ['a hint that is a text', { ...write, manifest: { readOnlyHint: 'true' } }],
    ['a hint that is a number', { ...write, manifest: { readOnlyHint: 1 } }],
    ['a tier in an object', { ...write, manifest: { safetyTier: { toString: () => 'safe' } } }],
    ['a tier in a list', { ...write, manifest: { safetyTier: ['safe'] } }],
    ['a manifest that is a text', { ...write, manifest: 'safe' }],
    ['a hint that is inherited', { ...write, manifest: Object.create({ readOnlyHint: true }) }],
    [
      'a manifest that is inherited',
      Object.assign(Object.create({ manifest: { readOnlyHint: true } }), write),
    ],
  ])('[PM-22] takes %s for no declaration', (_what, call) => {
    expect(planning()(untyped(call))).toMatchObject({ refusal: { reason: 'not_plan_safe' } });
  });

  it('[PM-27] takes nothing but true for a proof', () => {
    for (const shellIsReadOnly of ['true', 1, {}, Promise.resolve(true), null])
      expect(planning()(untyped({ source: 'shell', tool: 'Bash', shellIsReadOnly })).kind).toBe('refused');
  });

  it('[PM-21] reads each property once, so that a call is not one thing now and another later', () => {
    const reads = new Map<PropertyKey, number>();
    const counted = (target: object): object =>
      new Proxy(target, {
        get: (from, name) => {
          reads.set(name, (reads.get(name) ?? 0) + 1);
          const value: unknown = Reflect.get(from, name);
          return name === 'manifest' && typeof value === 'object' && value ? counted(value) : value;
        },
      });
    const full: ToolCall = {
      ...read,
      manifest: { readOnlyHint: false, safetyTier: 'confirm' },
      surface: 'ui',
      server: {},
      serverName: 'a',
      serverTool: 'b',
      writesFile: 'c',
      shellIsReadOnly: true,
    };
    planning()(untyped(counted(full)));

    expect(new Set(reads.keys())).toEqual(new Set([...Object.keys(full), 'readOnlyHint', 'safetyTier']));
    expect([...reads.values()].every((count) => count === 1)).toBe(true);
  });

  it.each<[string, object, object]>([
    ['a name', changing('tool', 'mcp__x__y', 'Read'), read],
    ['a source', changing('source', 'agent-spawn', 'builtin'), read],
    ['a server', changing('server', {}, undefined), read],
    ['a file', changing('writesFile', '/etc/passwd', undefined), read],
    ['a declaration', changing('manifest', undefined, { readOnlyHint: true }), write],
  ])('[PM-21] goes by the first answer of %s', (_what, getter, rest) => {
    const name = Object.keys(getter)[0] ?? '';
    const call = Object.defineProperty({ ...rest }, name, {
      get: () => Reflect.get(getter, name),
    });

    expect(planning()(untyped(call)).kind).toBe('refused');
  });

  it('[PM-21] neither throws nor allows, whatever names and manifests it is given', () => {
    const gate = planning();
    const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true });
    const call = fc.record(
      {
        source: fc.oneof(fc.constantFrom('builtin', 'mcp', 'daemon', 'shell', 'agent-spawn'), anything),
        tool: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('__proto__', 'mcp__placet__plan_submit'),
        ),
        manifest: fc.oneof(
          anything.filter((value) => !isDeclaration(value)),
          fc.record({ readOnlyHint: fc.oneof(fc.string(), fc.constant(1)), safetyTier: fc.constant('SAFE') }),
        ),
        server: anything,
        serverName: fc.oneof(fc.string(), fc.constantFrom('placet', '__proto__')),
        serverTool: fc.oneof(fc.string(), fc.constantFrom('plan_submit', 'constructor')),
        writesFile: anything,
        shellIsReadOnly: anything.filter((value) => value !== true),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(call, anything), (value) => {
        const verdict = gate(untyped(value));
        expect(verdict.kind).toBe('refused');
        expect(() => JSON.stringify(verdict)).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });

  it('[PM-28] counts each refusal and shows it to nobody as anything else', () => {
    const blocked: Refusal[] = [];
    const gate = planning({ onBlocked: (refusal) => blocked.push(refusal) });
    gate(write);
    gate(read);
    gate(write);

    expect(blocked.map(({ tool, reason }) => [tool, reason])).toEqual([
      ['Write', 'not_plan_safe'],
      ['Write', 'not_plan_safe'],
    ]);
  });

  it('[PM-28] stands by its refusal when what counts or logs it fails', () => {
    const failing: Log = { debug: throwing, info: throwing, warn: throwing, error: throwing };

    expect(planning({ onBlocked: throwing, log: failing })(write).kind).toBe('refused');
  });

  it('[PM-28] says that counting failed', () => {
    const error = vi.fn();
    planning({ onBlocked: throwing, log: { ...silentLog, error } })(write);

    expect(error).toHaveBeenCalledOnce();
  });

  it('[PM-29] cannot be opened by changing a verdict', () => {
    const gate = planning();
    const refused = gate(write);
    const allowed = gate(read);

    expect(() => Object.assign(refused, { kind: 'allowed' })).toThrow(TypeError);
    expect(() => Object.assign(allowed, { kind: 'refused' })).toThrow(TypeError);
    expect(refused.kind === 'refused' && Object.isFrozen(refused.refusal)).toBe(true);
  });

  it('[PM-20] is asked without a trace whether it would allow a call', () => {
    const onBlocked = vi.fn();
    const gate = planning({ onBlocked });

    expect(gate.wouldAllow(write)).toBe(false);
    expect(gate.wouldAllow(read)).toBe(true);
    expect(gate.wouldAllow(untyped(null))).toBe(false);
    expect(onBlocked).not.toHaveBeenCalled();
    expect(planning({ isPlanning: () => false }).wouldAllow(write)).toBe(true);
  });

  it('[PM-21] is told from any other function', () => {
    expect(isGate(planning())).toBe(true);
    expect(isGate(() => ({ kind: 'allowed' }))).toBe(false);
    expect(isGate({ wouldAllow: () => true })).toBe(false);
    expect(isGate(undefined)).toBe(false);
  });
});

function untypedPredicate(predicate: () => unknown): () => boolean {
  return predicate as () => boolean; // that it is none is what is tested
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function isDeclaration(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Reflect.get(value, 'readOnlyHint') === true || Reflect.get(value, 'safetyTier') === 'safe';
}
