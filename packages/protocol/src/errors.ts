import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from './error-catalogue.ts';

/** One fault of an input: where it is and what is wrong with it. */
export const Issue = z.object({ path: z.string(), message: z.string() });
export type Issue = z.infer<typeof Issue>;

/** An error as HTTP answers it: RFC 9457 with Placet's `code`, `issues` and `current` (2.4). */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.string(),
  detail: z.string(),
  issues: z.array(Issue).optional(),
  current: z.looseObject({}).optional(),
});
export type Problem = z.infer<typeof Problem>;

/** What an error can carry beside its code and sentence. */
export interface ErrorExtras {
  issues?: Issue[];
  /** What stands instead, for conflicts. */
  current?: Record<string, unknown>;
  /** How long to wait before trying again. */
  retryAfterMs?: number;
  cause?: unknown;
}

/** The one error class of Placet: branch on `code`, never on the text. Its message holds no secret and no plan. */
export class PlacetError extends Error {
  override readonly name = 'PlacetError';
  readonly code: ErrorCode;
  readonly issues: Issue[] | undefined;
  readonly current: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, detail: string, extras: ErrorExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.issues = extras.issues;
    this.current = extras.current;
    this.retryAfterMs = extras.retryAfterMs;
  }

  /** The HTTP status that carries it. */
  get status(): number {
    return errorCatalogue[this.code].status;
  }

  /** The exit code of a command that ends with it (WR-40). */
  get exitCode(): number {
    return errorCatalogue[this.code].exitCode;
  }

  /** Whether the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return errorCatalogue[this.code].retryable;
  }

  /** The error as the body of an `application/problem+json` answer. */
  toProblem(): Problem {
    return {
      type: `urn:placet:error:${this.code}`,
      title: errorCatalogue[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(this.issues && { issues: this.issues }),
      ...(this.current && { current: this.current }),
    };
  }
}

/** Whether something thrown is a {@link PlacetError} of one of these codes (of any, where none is named). */
export function isPlacetError(thrown: unknown, ...codes: ErrorCode[]): thrown is PlacetError {
  return thrown instanceof PlacetError && (codes.length === 0 || codes.includes(thrown.code));
}

/** Turns zod's list of faults into ours. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({
    path: issue.path.map(String).join('.') || '(root)',
    message: issue.message,
  }));
}

/** @throws PlacetError `validation_failed` with each fault when `value` is not of the schema. */
export function parseOrThrow<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  const first = issues[0];
  const where = first ? `: ${first.path}: ${first.message}` : '';
  throw new PlacetError('validation_failed', `${what} is not valid${where}`, { issues });
}
