import { PlacetError } from '@placet/protocol';

/** `validation_failed` for one field: where it is, and what is wrong with it. */
export function invalidField(path: string, message: string): PlacetError {
  return new PlacetError('validation_failed', `${path} ${message}`, { issues: [{ path, message }] });
}
