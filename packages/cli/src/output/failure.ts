import { errorCatalogue, type PlacetError as Failure, PlacetError } from '@placet/protocol';
import { CommanderError } from 'commander';
import { exitCodeOfError, exitCodes } from '../exit-codes.ts';
import type { Output } from './output.ts';

/** Thrown to end a command that a signal or a closed pipe ended: nothing is printed. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('stopped');
    this.exitCode = exitCode;
  }
}

/** Prints what ended a command, as a person or a program reads it, and answers the exit code (WR-40). */
export function reportFailure(thrown: unknown, output: Output): number {
  if (thrown instanceof Stopped) return thrown.exitCode;
  const error = toPlacetError(thrown);
  if (!error) return exitCodes.done;
  const exitCode = exitCodeOfError(error);
  const { title, doc } = errorCatalogue[error.code];
  if (output.json) {
    const { code, message: detail, issues, current } = error;
    output.errorValue({
      error: {
        code,
        title,
        detail,
        hint: doc,
        exitCode,
        ...(issues && { issues }),
        ...(current && { current }),
      },
    });
    return exitCode;
  }
  output.note({ text: 'placet: ', style: 'red' }, error.message);
  for (const { path, message } of error.issues ?? []) output.note(`  ${path}: ${message}`);
  for (const [name, value] of Object.entries(shownOf(error))) output.note(`  ${name}: ${value}`);
  output.note({ text: `  ${title} (${error.code}). ${doc}`, style: 'dim' });
  if (error.code === 'internal' && thrown instanceof Error && thrown.stack)
    for (const line of thrown.stack.split('\n').slice(1, 6)) output.note({ text: line, style: 'dim' });
  return exitCode;
}

/** What stands instead, where an error tells: who decided what, and when. */
function shownOf({ current }: Failure): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of ['outcome', 'permissionMode', 'decidedBy', 'decidedAt', 'supersededBy', 'feedback']) {
    const value = current?.[name];
    if (typeof value === 'string') shown[name] = value;
  }
  return shown;
}

/** Undefined for what is no failure: `--help` and `--version` end the parser the same way. */
function toPlacetError(thrown: unknown): PlacetError | undefined {
  if (thrown instanceof PlacetError) return thrown;
  if (thrown instanceof CommanderError) return usageFault(thrown);
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  const system = systemFault(thrown);
  return system ?? new PlacetError('internal', detail, { cause: thrown });
}

function usageFault({ exitCode, code, message }: CommanderError): PlacetError | undefined {
  if (exitCode === 0) return undefined;
  if (code === 'commander.help') return new PlacetError('usage', 'say which command; they are listed above');
  return new PlacetError('usage', message.replace(/^error: /, '').replaceAll('\n', ' '));
}

/** Faults of the person's files and folders are theirs to mend, and no fault of ours. */
function systemFault(thrown: unknown): PlacetError | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return undefined;
  const texts: Record<string, string> = {
    ENOENT: 'there is no such file',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EISDIR: 'it is a folder, not a file',
    EEXIST: 'it is there already, and is no folder',
    ENOTDIR: 'a part of the path is no folder',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
  };
  const text = texts[thrown.code];
  const path = 'path' in thrown && typeof thrown.path === 'string' ? thrown.path : undefined;
  // To read a folder is an error that does not say which.
  if (thrown.code === 'EISDIR' && !path) return new PlacetError('usage', 'what was to be read is a folder');
  return text && path ? new PlacetError('usage', `${path}: ${text}`) : undefined;
}
