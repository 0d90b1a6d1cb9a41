import { fromTimestamp, PostureReport, recordVersion, toTimestamp } from '@placet/protocol';
import { z } from 'zod';

/** A report as the store has it: what every one says as a short line, and the rest as JSON; '' where there is none. */
export interface PackedReport {
  line: string;
  rest: string;
}

/** Longer values would make Redis keep the session's hash as a table (ST-3). */
const maxLineChars = 64;

const Rest = z.object({ v: z.number().int(), r: z.looseObject({}) });

/**
 * Packs a report so that an ordinary one costs its session some fifty bytes: each parked plan has one (TM-42). Read
 * back by {@link unpackReport}.
 */
export function packReport(report: PostureReport): PackedReport {
  const { mode, prePlanMode, cause, entry, since, planModeRequired, attachment, ...rest } = report;
  const isPlain = attachment === undefined || Object.keys(attachment).length === 2;
  const line = [
    mode,
    prePlanMode ?? '',
    cause ?? '',
    entry ?? '',
    since === undefined ? '' : fromTimestamp(since).toString(36),
    planModeRequired === undefined ? '' : Number(planModeRequired),
    attachment ? `${attachment.reminderType}:${attachment.turn}` : '',
  ].join(',');
  if (!isPlain || line.length > maxLineChars) return { line: '-', rest: restOf(report) };
  return { line, rest: Object.values(rest).every((value) => value === undefined) ? '' : restOf(rest) };
}

/** The report that was packed. @throws ZodError, SyntaxError where it is none */
export function unpackReport({ line, rest }: PackedReport): PostureReport {
  const said = rest === '' ? {} : Rest.parse(JSON.parse(rest)).r;
  return PostureReport.parse(line === '-' ? said : { ...said, ...fieldsOf(line) });
}

function fieldsOf(line: string): Record<string, unknown> {
  const [mode, prePlanMode, cause, entry, since, required, attachment] = line.split(',');
  const [reminderType, turn] = attachment?.split(':') ?? [];
  return {
    mode,
    ...(prePlanMode && { prePlanMode }),
    ...(cause && { cause }),
    ...(entry && { entry }),
    ...(since && { since: toTimestamp(Number.parseInt(since, 36)) }),
    ...(required && { planModeRequired: required === '1' }),
    ...(attachment && { attachment: { reminderType, turn: Number(turn) } }),
  };
}

function restOf(fields: Record<string, unknown>): string {
  return JSON.stringify({ v: recordVersion, r: fields });
}
