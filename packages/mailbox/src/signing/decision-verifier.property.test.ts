import { Decision, digestOfText, RequestRecord } from '@placet/protocol';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type DecisionCase, decidedCase, makeKey, type TestKey } from './decision-case.test.fixture.ts';
import { DecisionVerifier } from './decision-verifier.ts';

let lead: TestKey;
let cases: DecisionCase[];

beforeAll(async () => {
  lead = await makeKey();
  const scope = { write: ['src/**'], run: ['npm test'], tools: [] };
  cases = [
    await decidedCase(lead.signer, { scope }),
    await decidedCase(lead.signer, { outcome: 'rejected' }),
    await decidedCase(lead.signer, { approvedPlan: Buffer.from('# Edited\n') }),
  ];
});

const anyCase = () => fc.constantFrom(0, 1, 2);
const caseOf = (index: number): DecisionCase => {
  const found = cases[index];
  if (!found) throw new RangeError('no such case');
  return found;
};

const verdictOn = async ({ input }: DecisionCase, record: unknown) => {
  const parsed = RequestRecord.safeParse(record);
  // What is not a record at all does not get as far as the verifier.
  if (!parsed.success) return 'invalid';
  return (await new DecisionVerifier({ keys: lead.keys }).verify({ ...input, record: parsed.data })).kind;
};

const characters = fc.constantFrom(...'ABCYZabcyz019-_.=+/ \n"{}'.split(''));
const anotherValue = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(
    'approved',
    'rejected',
    'teleport',
    'keep',
    'clear',
    'default',
    'bypassPermissions',
    'plan',
    '',
  ),
  fc.constantFrom('2026-01-02T03:04:05.679Z', digestOfText('another'), 'local:eve'),
  fc.boolean(),
  fc.integer({ min: 1, max: 9 }),
  fc.array(fc.string({ maxLength: 5 }), { maxLength: 2 }),
  fc.string(),
);
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

describe('[IN-2] whatever is changed in a true decision, it is not believed', () => {
  it('[IN-3] a character of the signature, replaced, put in or left out', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyCase(),
        fc.nat(),
        characters,
        fc.constantFrom(0, 1),
        async (index, at, character, removed) => {
          const changed = caseOf(index);
          const { signature } = changed.record.decision;
          const place = at % signature.length;
          const other = signature.slice(0, place) + character + signature.slice(place + removed);
          fc.pre(other !== signature);
          const decision = { ...changed.record.decision, signature: other };
          expect(await verdictOn(changed, { ...changed.record, decision })).toBe('invalid');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('[IN-3] a field of the decision', async () => {
    const fields = Object.keys(Decision.shape);
    await fc.assert(
      fc.asyncProperty(anyCase(), fc.constantFrom(...fields), anotherValue, async (index, field, value) => {
        const changed = caseOf(index);
        const before = new Map(Object.entries(changed.record.decision)).get(field);
        fc.pre(!isSame(before, value));
        const decision = { ...changed.record.decision, [field]: value };
        expect(await verdictOn(changed, { ...changed.record, decision })).toBe('invalid');
      }),
      { numRuns: 500 },
    );
  });

  it('[IN-3] a field that names the request', async () => {
    const fields = [
      'requestId',
      'team',
      'teammate',
      'sessionId',
      'revision',
      'state',
      'workspace',
      'plan',
      'decision',
    ];
    await fc.assert(
      fc.asyncProperty(anyCase(), fc.constantFrom(...fields), anotherValue, async (index, field, value) => {
        const changed = caseOf(index);
        const before = new Map(Object.entries(changed.record)).get(field);
        fc.pre(!isSame(before, value));
        expect(await verdictOn(changed, { ...changed.record, [field]: value })).toBe('invalid');
      }),
      { numRuns: 500 },
    );
  });

  it('[IN-3] a byte of the plan', async () => {
    await fc.assert(
      fc.asyncProperty(anyCase(), fc.nat(), fc.integer({ min: 1, max: 255 }), async (index, at, bits) => {
        const { input, plan } = caseOf(index);
        const other = Uint8Array.from(plan);
        other[at % plan.length] = (other[at % plan.length] ?? 0) ^ bits;
        const verified = await new DecisionVerifier({ keys: lead.keys }).verify({
          ...input,
          approvedPlan: other,
        });
        expect(verified.kind).toBe('invalid');
      }),
      { numRuns: 200 },
    );
  });
});
