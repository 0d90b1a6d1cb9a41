import { parseNativeRequestId } from '@placet/protocol';
import { invalidField } from './invalid-field.ts';

/** A native ID says who made it (WR-2). @throws PlacetError `validation_failed` for one of another teammate or team */
export function requireOwnId(requestId: string, sender: { team: string; teammate: string }): void {
  const native = parseNativeRequestId(requestId);
  if (native && (native.team !== sender.team || native.teammate !== sender.teammate))
    throw invalidField('requestId', 'names another teammate or team than the sender');
}
