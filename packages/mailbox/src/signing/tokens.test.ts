import { type TokenClaims, tokenType } from '@placet/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeKey, nowMs, type TestKey } from './decision-case.test.fixture.ts';
import { createOwnerProof, verifyOwnerProof } from './owner-proof.ts';
import { createToken, type RevocationCheck, type TokenSpec, verifyToken } from './tokens.ts';

let lead: TestKey;
beforeAll(async () => {
  lead = await makeKey();
});

const dayMs = 24 * 60 * 60 * 1000;
const nothingRevoked: RevocationCheck = { isRevoked: async () => false };
const spec: TokenSpec = { principal: 'local:ada', role: 'lead', teams: ['main'], nowMs };
const teammateSpec: TokenSpec = {
  principal: 'teammate:worker',
  role: 'teammate',
  teams: ['main'],
  teammate: 'worker',
  owner: 'local:ada',
  nowMs,
};

const read = (token: string, atMs = nowMs, revoked = nothingRevoked) =>
  verifyToken(token, lead.keys, { revoked, nowMs: atMs });

const sign = async (claims: object, typ = tokenType) => `plt_${await lead.signer.sign(typ, claims)}`;

const claims = {
  v: 1,
  iss: 'placet',
  sub: 'local:ada',
  jti: 'x',
  role: 'lead',
  teams: ['main'],
  kind: 'person',
  iat: Math.floor(nowMs / 1000),
  exp: Math.floor(nowMs / 1000) + 3600,
};

describe('a token', () => {
  it('[WR-32] says who may do what, where and until when', async () => {
    const { id, token, expiresAt } = await createToken(lead.signer, {
      ...spec,
      kind: 'agent',
      expiresInMs: 3_600_000,
    });
    const result = await read(token);

    expect(token).toMatch(/^plt_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(result).toMatchObject({
      kind: 'valid',
      claims: { sub: 'local:ada', jti: id, role: 'lead', teams: ['main'], kind: 'agent' },
    });
    expect(Date.parse(expiresAt) - nowMs).toBeGreaterThanOrEqual(3_600_000);
    expect(Date.parse(expiresAt) - nowMs).toBeLessThan(3_601_001);
  });

  it('[WR-32] lives for 90 days unless it says less, and for no more', async () => {
    const { token, expiresAt } = await createToken(lead.signer, spec);

    expect(Math.round((Date.parse(expiresAt) - nowMs) / dayMs)).toBe(90);
    expect((await read(token)).kind).toBe('valid');
    await expect(createToken(lead.signer, { ...spec, expiresInMs: 90 * dayMs + 1 })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(createToken(lead.signer, { ...spec, expiresInMs: 0 })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    await expect(createToken(lead.signer, { ...spec, expiresInMs: Number.NaN })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });

  it('[WR-32] of a longer life is refused, even where the lead signed it', async () => {
    expect(await read(await sign({ ...claims, exp: claims.iat + 91 * 86_400 }))).toMatchObject({
      reason: 'lifetime',
    });
  });

  it('[WR-32] is refused from the moment it expires', async () => {
    const token = await sign(claims);

    expect((await read(token, claims.exp * 1000 - 1)).kind).toBe('valid');
    expect(await read(token, claims.exp * 1000)).toMatchObject({ reason: 'expired' });
  });

  it('[WR-32] from the future is refused beyond a minute', async () => {
    const token = await sign({ ...claims, iat: claims.iat + 61, exp: claims.exp + 61 });

    expect(await read(token, claims.iat * 1000)).toMatchObject({ reason: 'not_yet_valid' });
    expect((await read(token, claims.iat * 1000 + 1000)).kind).toBe('valid');
  });

  it('[WR-32] that was revoked is refused', async () => {
    const { id, token } = await createToken(lead.signer, spec);
    const revoked = { isRevoked: async (jti: string) => jti === id };

    expect(await read(token, nowMs, revoked)).toEqual({ kind: 'invalid', reason: 'revoked' });
  });

  it.each<[string, object, string | undefined]>([
    ['a decision', claims, 'placet-decision+jwt'],
    ['an owner proof', claims, 'placet-owner+jwt'],
    ['of no type of ours', claims, 'JWT'],
  ])('[WR-32] that is %s is none', async (_what, body, typ) => {
    expect(await read(await sign(body, typ))).toMatchObject({ reason: 'header' });
  });

  it.each<[string, object]>([
    ['an unknown claim', { ...claims, admin: true }],
    ['an unknown role', { ...claims, role: 'root' }],
    ['no team', { ...claims, teams: [] }],
    ['another issuer', { ...claims, iss: 'someone' }],
    ['a teammate without its name and owner', { ...claims, role: 'teammate' }],
    ['no expiry', { ...claims, exp: undefined }],
  ])('[WR-32] with %s is refused', async (_what, body) => {
    expect(await read(await sign(body))).toMatchObject({ reason: 'claims' });
  });

  it('[WR-32] of another key is refused, and so is what is no token', async () => {
    const { token } = await createToken((await makeKey()).signer, spec);

    expect(await read(token)).toMatchObject({ reason: 'key_unknown' });
    expect(await read(token.slice(4))).toMatchObject({ reason: 'not_a_token' });
    expect(await read('plt_')).toMatchObject({ reason: 'malformed' });
    expect(await read(`${token} `)).toMatchObject({ reason: 'malformed' });
  });

  it('[WR-32] for a teammate names it and its owner, with a proof that stands alone', async () => {
    const { token } = await createToken(lead.signer, teammateSpec);
    const result = await read(token);
    // narrowed by the expectation below
    const found = result.kind === 'valid' ? result.claims : ({} as TokenClaims);

    expect(found).toMatchObject({ teammate: 'worker', owner: 'local:ada' });
    expect(
      await verifyOwnerProof(found.ownerProof ?? '', { team: 'main', teammate: 'worker' }, lead.keys),
    ).toMatchObject({
      kind: 'valid',
      claims: { owner: 'local:ada' },
    });
  });

  it.each<[string, Partial<TokenSpec>]>([
    ['without its owner', { owner: undefined }],
    ['without its name', { teammate: undefined }],
    ['of two teams', { teams: ['main', 'other'] }],
    ["of the lead's own name", { teammate: 'team-lead' }],
    ['of another role, with an owner', { role: 'lead' }],
    ['with a principal that is no line', { principal: 'a b' }],
  ])('[WR-32] for a teammate is not made %s', async (_what, changes) => {
    await expect(createToken(lead.signer, { ...teammateSpec, ...changes })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});

describe('an owner proof', () => {
  it('[IN-6] of another teammate, team or key, or of another type, proves nothing', async () => {
    const ownership = { team: 'main', teammate: 'worker', owner: 'local:ada' };
    const proof = await createOwnerProof(lead.signer, ownership, nowMs);
    const { token } = await createToken(lead.signer, teammateSpec);
    const foreign = await createOwnerProof((await makeKey()).signer, ownership, nowMs);
    const about = (team: string, teammate: string, text = proof) =>
      verifyOwnerProof(text, { team, teammate }, lead.keys);

    expect((await about('main', 'worker')).kind).toBe('valid');
    expect(await about('main', 'other')).toMatchObject({ reason: 'other_teammate' });
    expect(await about('other', 'worker')).toMatchObject({ reason: 'other_teammate' });
    expect(await about('main', 'worker', foreign)).toMatchObject({ reason: 'key_unknown' });
    expect(await about('main', 'worker', token.slice(4))).toMatchObject({ reason: 'header' });
    expect(await about('main', 'worker', '')).toMatchObject({ reason: 'malformed' });
  });
});
