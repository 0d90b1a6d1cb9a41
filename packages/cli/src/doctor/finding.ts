import { isPlacetError } from '@placet/protocol';

/** What a check found. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'fault' | 'unreachable';
  detail: string;
  /** How to mend it; only where there is something to mend. */
  mend?: string;
}

/** A finding without fault. */
export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

/** A finding that says what is wrong and how to mend it. */
export function wrong(
  status: Exclude<Finding['status'], 'ok'>,
  check: string,
  detail: string,
  mend: string,
): Finding {
  return { check, status, detail, mend };
}

/** Runs a check; one that throws is a finding too. */
export async function examine(
  check: string,
  mend: string,
  run: () => Promise<Finding[]>,
): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const away = isPlacetError(error, 'store_unavailable', 'service_unreachable');
    return [wrong(away ? 'unreachable' : 'fault', check, detail, mend)];
  }
}
