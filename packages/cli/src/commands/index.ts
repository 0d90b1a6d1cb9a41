import type { CommandSpec } from '../command.ts';
import { approveCommand } from './approve.ts';
import { doctorCommand } from './doctor.ts';
import { inboxCommand } from './inbox.ts';
import { keysListCommand, keysRotateCommand } from './keys.ts';
import { leadCommand } from './lead.ts';
import { rejectCommand } from './reject.ts';
import { runCommand } from './run.ts';
import { showCommand } from './show.ts';
import { submitCommand } from './submit.ts';
import { teammateCommand } from './teammate.ts';
import { teleportCommand } from './teleport.ts';
import { tokenCreateCommand, tokenListCommand, tokenRevokeCommand } from './token.ts';
import { upCommand } from './up.ts';
import { waitCommand } from './wait.ts';
import { watchCommand } from './watch.ts';
import { withdrawCommand } from './withdraw.ts';

/** Every command, in the order that the help lists them. */
export const commands: readonly CommandSpec[] = [
  upCommand,
  leadCommand,
  teammateCommand,
  runCommand,
  submitCommand,
  inboxCommand,
  showCommand,
  approveCommand,
  rejectCommand,
  teleportCommand,
  withdrawCommand,
  waitCommand,
  watchCommand,
  tokenCreateCommand,
  tokenListCommand,
  tokenRevokeCommand,
  keysRotateCommand,
  keysListCommand,
  doctorCommand,
];
