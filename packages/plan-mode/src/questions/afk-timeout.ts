import type { Config } from '@placet/protocol';

/** The setting `askUserQuestionTimeout`: how long a person may be silent before a question goes on without them (PM-65). */
export type AskUserQuestionTimeout = Config['askUserQuestionTimeout'];

/** What there is around a question while it is open, as the host knows it. */
export interface AfkConditions {
  timeout: AskUserQuestionTimeout;
  /** A person is at the session: it is not headless. */
  interactive: boolean;
  /** The session is the one that is shown. */
  foreground: boolean;
  /** A screen reader is on: reading takes its time. */
  screenReader: boolean;
  /** Somebody else is asked the same question, such as a lead, or another window. */
  otherRacer: boolean;
}

const timeoutsMs = { '60s': 60_000, '5m': 300_000, '10m': 600_000 } as const;

/** After how many milliseconds of silence the person counts as away; undefined where they never do (PM-65). */
export function afkTimeoutMs(conditions: AfkConditions): number | undefined {
  const { timeout, interactive, foreground, screenReader, otherRacer } = conditions;
  if (timeout === 'never' || !interactive || !foreground || screenReader || otherRacer) return undefined;
  return timeoutsMs[timeout];
}
