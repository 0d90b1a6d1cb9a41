import { invalidField } from './invalid-field.ts';

/**
 * The inbox number that a page ended with, in digits, as its `nextCursor` said it (WR-33); undefined for the first page.
 * @throws PlacetError `validation_failed` for a cursor that no page of `what` gave
 */
export function readCursor(cursor: string | undefined, what: 'requests' | 'questions'): string | undefined {
  if (cursor === undefined || /^\d{1,15}$/.test(cursor)) return cursor;
  throw invalidField('cursor', `is not one that a page of ${what} gave`);
}
