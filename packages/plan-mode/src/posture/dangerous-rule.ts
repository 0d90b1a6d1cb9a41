// Tools that run a command line, and tools that start agents, as rules name them; compared without regard to case.
const shellTools = new Set(['bash', 'shell', 'powershell', 'pwsh', 'sh', 'zsh', 'cmd', 'exec', 'terminal']);
const agentTools = new Set(['agent', 'task', 'subagent', 'spawn_agent', 'spawn_subagent', 'spawn']);

/** Programs that run what they are given: interpreters and shells, and what starts another program. */
const interpreters = new Set(
  (
    'python pypy ipython node deno bun tsx ts-node ruby irb perl php lua luajit julia rscript r swift groovy scala elixir ' +
    'iex erl ghci runghc java jshell kotlin tclsh expect osascript awk gawk mawk nawk sed gdb lldb vim vi nvim emacs ' +
    'bash sh zsh fish dash ksh csh tcsh ash busybox pwsh powershell cmd wsl ' +
    'eval exec source . command builtin env xargs parallel find fd sudo doas su runuser ssh nohup time timeout nice ionice ' +
    'setsid stdbuf script watch entr strace ltrace chroot unshare nsenter docker podman kubectl tmux screen at batch crontab ' +
    'npx pnpx bunx uvx pipx make just invoke-expression iex start-process'
  ).split(' '),
);

/** Programs of which some subcommands run what a project's files say. */
const packageRunners = new Set(
  'npm pnpm yarn uv poetry pipenv cargo go dotnet gradle mvn rake bundle composer'.split(' '),
);
const runningSubcommands = new Set('run run-script exec dlx x start test tool script'.split(' '));

/**
 * Whether a rule would let something run past the classifier of auto semantics (PM-5): a shell rule whose program is
 * open, an interpreter or starter of programs, an agent spawn, or a wildcard over tools that includes these. What cannot
 * be told is dangerous: stripping loses nothing, for every rule comes back.
 */
export function isDangerousRule(rule: string): boolean {
  const text = rule.trim();
  const bracket = text.indexOf('(');
  const tool = (bracket < 0 ? text : text.slice(0, bracket)).trim().toLowerCase();
  if (tool.includes('*')) return !tool.startsWith('mcp__');
  if (tool === '' || agentTools.has(tool)) return true;
  if (!shellTools.has(tool)) return false;
  if (bracket < 0) return true;
  const command = text.slice(bracket + 1).replace(/\)$/, '');
  return command.split(/[;&|\n`]|\$\(|<\(|>\(/).some(isDangerousCommand);
}

function isDangerousCommand(command: string): boolean {
  const words = command
    .replace(/:\*\s*$/, ' *')
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/["'\\]/g, ''));
  while (words[0] !== undefined && /^\w+=/.test(words[0])) words.shift();
  const [first = '', second] = words;
  if (first === '' || /[*?[{$~(]/.test(first)) return true;
  const program = programOf(first);
  if (interpreters.has(program)) return true;
  return packageRunners.has(program) && (second === undefined ? false : isRunning(second));
}

function isRunning(subcommand: string): boolean {
  return (
    subcommand.includes('*') || subcommand.startsWith('-') || runningSubcommands.has(subcommand.toLowerCase())
  );
}

/** `/usr/bin/python3.11` and `Python.exe` are both `python`. */
function programOf(word: string): string {
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1).toLowerCase();
  return name.replace(/\.(?:exe|cmd|bat|ps1)$/, '').replace(/(?<=[a-z])[\d.]+$/, '');
}
