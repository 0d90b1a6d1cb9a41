export type { CommandSpec } from './command.ts';
export { commands } from './commands/index.ts';
export { exitCodes } from './exit-codes.ts';
export { flagName } from './settings/load-settings.ts';
