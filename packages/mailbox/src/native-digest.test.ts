import { digestOfBytes } from '@placet/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nativeDigestOf } from './native-digest.ts';

test('[PM-44] the platform and the protocol make the same digest of any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(nativeDigestOf(bytes)).toBe(digestOfBytes(bytes));
    }),
  );
});
