import { ImageRef, maxFeedbackChars, unsafeText } from '@placet/protocol';
import { type Refused, refuse } from '../posture/refused.ts';

/** A rejection carries at most this many images (PM-76). */
export const maxFeedbackImages = 10;
/** The largest image of a rejection (PM-76). */
export const maxFeedbackImageBytes = 5 * 1024 * 1024;

/** An image that a reviewer attached, with the type that it is said to have. */
export interface FeedbackImage {
  mediaType: string;
  bytes: Uint8Array;
}

/** Why a plan is rejected: text, images, or both (PM-76). */
export interface Rejection {
  feedback?: string;
  images?: readonly FeedbackImage[];
}

/** A rejection without text or image says nothing to revise by, and is refused; so is one that could not be passed on (PM-76). */
export function faultOfRejection({ feedback, images = [] }: Rejection): Refused | undefined {
  if (images.length > maxFeedbackImages)
    return refuse('payload_too_large', `${images.length} images; ${maxFeedbackImages} are allowed`);
  if (!feedback?.trim() && images.length === 0)
    return refuse('feedback_required', 'a rejection needs feedback text or an image');
  for (const [at, image] of images.entries()) {
    const fault = faultOfImage(image);
    if (fault) return refuse(fault.code, `image ${at + 1} ${fault.detail}`);
  }
  return faultOfFeedback(feedback);
}

/** Holds what a reviewer wrote to what a wire carries (WR-31). */
export function faultOfFeedback(feedback: string | undefined): Refused | undefined {
  if (feedback === undefined) return undefined;
  if (feedback.length > maxFeedbackChars)
    return refuse('payload_too_large', `the feedback has over ${maxFeedbackChars} characters`);
  const unsafe = unsafeText(feedback);
  return unsafe ? refuse('validation_failed', `the feedback ${unsafe}`) : undefined;
}

function faultOfImage({ mediaType, bytes }: FeedbackImage): Refused | undefined {
  const known = ImageRef.shape.mediaType.safeParse(mediaType);
  if (!known.success) return refuse('validation_failed', 'is no PNG, JPEG, GIF or WebP');
  if (bytes.length > maxFeedbackImageBytes) return refuse('payload_too_large', 'has over 5 MiB');
  if (!beginsAs[known.data](Buffer.from(bytes.subarray(0, 16)).toString('latin1')))
    return refuse('validation_failed', `does not begin as ${known.data} does`);
  return undefined;
}

const beginsAs: Record<ImageRef['mediaType'], (start: string) => boolean> = {
  'image/png': (start) => start.startsWith('\x89PNG\r\n\x1a\n'),
  'image/jpeg': (start) => start.startsWith('\xff\xd8\xff'),
  'image/gif': (start) => /^GIF8[79]a/.test(start),
  'image/webp': (start) => start.startsWith('RIFF') && start.startsWith('WEBP', 8),
};
