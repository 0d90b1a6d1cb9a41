import { maxFeedbackChars } from '@placet/protocol';
import { describe, expect, it } from 'vitest';
import { faultOfRejection, maxFeedbackImageBytes } from './rejection.ts';

const starts = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff, 0xe0],
  'image/gif': [...Buffer.from('GIF89a')],
  'image/webp': [...Buffer.from('RIFF\0\0\0\0WEBP')],
};

function imageOf(mediaType: string, start: number[], size = 100) {
  const bytes = new Uint8Array(size);
  bytes.set(start);
  return { mediaType, bytes };
}

const png = imageOf('image/png', starts['image/png']);

describe('a rejection', () => {
  it.each([{}, { feedback: '' }, { feedback: ' \n' }, { images: [] }])('[PM-76] with %j is none', (given) => {
    expect(faultOfRejection(given)).toMatchObject({ code: 'feedback_required' });
  });

  it.each(Object.entries(starts))('[PM-76] may be an image alone: %s', (mediaType, start) => {
    expect(faultOfRejection({ images: [imageOf(mediaType, start)] })).toBeUndefined();
  });

  it.each(['image/svg+xml', 'image/PNG', 'image/bmp', 'text/html', '', 'image/png; charset=x', '__proto__'])(
    '[PM-76] has no image of type %j',
    (mediaType) => {
      expect(faultOfRejection({ images: [imageOf(mediaType, starts['image/png'])] })).toMatchObject({
        code: 'validation_failed',
      });
    },
  );

  it.each([
    ['image/png', [...Buffer.from('<svg xmlns=')]],
    ['image/jpeg', starts['image/png']],
    ['image/webp', [...Buffer.from('RIFF\0\0\0\0WAVE')]],
    ['image/gif', [...Buffer.from('GIF90a')]],
  ])('[PM-76] has no image that is not what it says: %s', (mediaType, start) => {
    expect(faultOfRejection({ images: [imageOf(mediaType, start)] })).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining('image 1'),
    });
  });

  it('[PM-76] has no empty image', () => {
    expect(faultOfRejection({ images: [{ mediaType: 'image/png', bytes: new Uint8Array() }] })).toMatchObject(
      {
        code: 'validation_failed',
      },
    );
  });

  it('[PM-76] has images of at most 5 MiB, and at most ten', () => {
    const largest = imageOf('image/png', starts['image/png'], maxFeedbackImageBytes);
    const over = imageOf('image/png', starts['image/png'], maxFeedbackImageBytes + 1);

    expect(maxFeedbackImageBytes).toBe(5 * 1024 * 1024);
    expect(faultOfRejection({ images: [largest] })).toBeUndefined();
    expect(faultOfRejection({ images: [png, over] })).toMatchObject({
      code: 'payload_too_large',
      detail: expect.stringContaining('image 2'),
    });
    expect(faultOfRejection({ images: Array.from({ length: 10 }, () => png) })).toBeUndefined();
    expect(faultOfRejection({ images: Array.from({ length: 11 }, () => png) })).toMatchObject({
      code: 'payload_too_large',
    });
  });

  it.each([
    ['x'.repeat(maxFeedbackChars + 1), 'payload_too_large'],
    ['a\0b', 'validation_failed'],
    ['a\ud800b', 'validation_failed'],
  ])('[PM-76] has no text that could not be sent', (feedback, code) => {
    expect(faultOfRejection({ feedback })).toMatchObject({ code });
  });
});
