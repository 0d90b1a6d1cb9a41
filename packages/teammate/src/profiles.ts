import { isAbsolute, resolve } from 'node:path';
import type { AgentProfile } from '@placet/protocol';

/** The agent profiles of this teammate's own configuration, by name: the only programs that a job can name (TM-2). */
export class Profiles {
  readonly #profiles: ReadonlyMap<string, AgentProfile>;

  /** `baseFolder` is the folder of the configuration file: relative programs are found from there. */
  constructor(agents: Readonly<Record<string, AgentProfile>>, baseFolder: string) {
    this.#profiles = new Map(
      Object.entries(agents).map(([name, profile]) => [
        name,
        { ...profile, command: located(profile.command, baseFolder) },
      ]),
    );
  }

  /** The profile; undefined where the configuration has none of that name. */
  find(name: string): AgentProfile | undefined {
    return this.#profiles.get(name);
  }
}

/** A program with a slash is a path; one without is looked for on PATH. Arguments are left alone. */
function located(command: readonly string[], baseFolder: string): string[] {
  const [program = '', ...rest] = command;
  return [program.includes('/') && !isAbsolute(program) ? resolve(baseFolder, program) : program, ...rest];
}
