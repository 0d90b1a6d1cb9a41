import { digestOfText, newRequestId } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { packDigest, packRequestId, unpackDigest, unpackRequestId } from './packed-names.ts';

describe('packed names', () => {
  it.each([
    newRequestId('worker', 'acme'),
    newRequestId('other', 'acme'),
    newRequestId('worker', 'other'),
    'foreign-1',
    '~',
    '=x',
    '~01a22e73-6f4a-7281-8d4d-c6299ae39e04',
    '01a22e73-6f4a-7281-8d4d-c6299ae39e04',
  ])('[ST-3] give back the ID %s', (requestId) => {
    const packed = packRequestId('acme', 'worker', requestId);
    expect(unpackRequestId('acme', 'worker', packed)).toBe(requestId);
  });

  it('[ST-3] keep a native ID within 64 bytes, however long the names', () => {
    const [teammate, team] = ['w'.repeat(64), 't'.repeat(64)];
    expect(packRequestId(team, teammate, newRequestId(teammate, team))).toHaveLength(37);
  });

  it('[WR-4] give back digests', () => {
    const digest = digestOfText('plan');
    expect(packDigest(digest)).toHaveLength(43);
    expect(unpackDigest(packDigest(digest))).toBe(digest);
  });
});
