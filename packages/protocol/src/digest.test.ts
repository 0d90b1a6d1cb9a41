import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Digest, digestOfBytes, digestOfText } from './digest.ts';

test('[WR-4] [PM-44] a digest is sha256 over the UTF-8 bytes, without normalisation', async () => {
  const byPlatform = async (text: string) => {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
    return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  };
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
      expect(digestOfText(text)).toBe(await byPlatform(text));
    }),
  );
  expect(digestOfText('é')).not.toBe(digestOfText('e\u0301'));
});

test('[IN-5] a byte-order mark counts, for the digest is over the raw bytes', () => {
  const plain = new TextEncoder().encode('# Plan');
  expect(digestOfBytes(new Uint8Array([0xef, 0xbb, 0xbf, ...plain]))).not.toBe(digestOfBytes(plain));
});

test.each([
  'sha256:abc',
  `sha256:${'A'.repeat(64)}`,
  `sha512:${'a'.repeat(64)}`,
  'a'.repeat(64),
  `sha256:${'a'.repeat(65)}`,
])('[WR-4] %s is no digest', (text) => {
  expect(Digest.safeParse(text).success).toBe(false);
});
