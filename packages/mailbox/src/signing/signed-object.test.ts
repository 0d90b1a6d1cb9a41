import { CompactSign } from 'jose';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeKey } from './decision-case.test.fixture.ts';
import { fixedKeys } from './key-source.ts';
import { readSigned } from './signed-object.ts';

const schema = z.strictObject({ n: z.number() });
const typ = 'test+jwt';

describe('what was signed', () => {
  it('is believed again and again, and no more once its key is revoked', async () => {
    const key = await makeKey();
    const jws = await key.signer.sign(typ, { n: 1 });
    const known = new Map([[key.kid, key.publicKey]]);
    const keys = fixedKeys(known);

    expect(await readSigned(jws, { typ, schema, keys })).toEqual({
      kind: 'valid',
      claims: { n: 1 },
      kid: key.kid,
    });
    expect((await readSigned(jws, { typ, schema, keys })).kind).toBe('valid');
    known.delete(key.kid);
    expect(await readSigned(jws, { typ, schema, keys })).toMatchObject({ reason: 'key_unknown' });
  });

  it('by one key is not believed of another key that took its name', async () => {
    const [key, other] = [await makeKey(), await makeKey()];
    const jws = await key.signer.sign(typ, { n: 1 });
    await readSigned(jws, { typ, schema, keys: key.keys });

    expect(
      await readSigned(jws, { typ, schema, keys: fixedKeys(new Map([[key.kid, other.publicKey]])) }),
    ).toMatchObject({
      reason: 'signature',
    });
  });

  it('as one type is not believed as another, also when it was believed before', async () => {
    const key = await makeKey();
    const jws = await key.signer.sign(typ, { n: 1 });
    await readSigned(jws, { typ, schema, keys: key.keys });

    expect(await readSigned(jws, { typ: 'other+jwt', schema, keys: key.keys })).toMatchObject({
      reason: 'header',
    });
  });

  it.each<[string, Uint8Array]>([
    ['no JSON', Buffer.from('n')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['JSON of another shape', Buffer.from('[]')],
  ])('with a payload that is %s says nothing', async (_what, payload) => {
    const key = await makeKey();
    const jws = await new CompactSign(payload)
      .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ })
      .sign(key.privateKey);

    expect(await readSigned(jws, { typ, schema, keys: key.keys })).toMatchObject({ reason: 'claims' });
  });

  it('is not looked at beyond 2 MiB', async () => {
    const key = await makeKey();
    const jws = await key.signer.sign(typ, { n: 1, pad: 'x'.repeat(2 * 1024 * 1024) });

    expect(await readSigned(jws, { typ, schema, keys: key.keys })).toMatchObject({ reason: 'malformed' });
  });
});
