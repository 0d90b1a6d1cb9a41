import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Becomes the server. First it writes down who it is and then looks whether its owner's claim still stands; whoever
 * takes the folder removes a dead owner's claim first and then looks for such notes. So of the two at least one
 * sees the other, and a start whose owner was killed half way never becomes a second server.
 * $1 note, $2 claim, then the command.
 */
const becomeServer = `
note=$1 claim=$2; shift 2
{ echo $$; cat /proc/$$/stat 2>/dev/null || ps -o lstart= -p $$; } >"$note.new" && mv "$note.new" "$note" || exit 74
[ -e "$claim" ] || exit 75
exec "$@"`;

/**
 * Stands between us and the server: ends it when our end of the pipe closes, which it does however we end. Where the
 * system can signal a parent's death the server does not outlive the guard either. The server gets the same input, for
 * a container's client passes its end on.
 * $1 becomeServer, then its arguments.
 */
const guardServer = `
umask 077
exec 3<&0 </dev/null
tied=
if setpriv --pdeathsig TERM true 2>/dev/null; then tied='setpriv --pdeathsig TERM'; fi
$tied sh -c "$@" <&3 3<&- &
server=$!
finish() {
  kill -TERM "$server" 2>/dev/null
  left=100
  while [ $left -gt 0 ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; left=$((left - 1)); done
  kill -KILL "$server" 2>/dev/null
}
(read -r _ <&3; finish) &
reader=$!
trap 'kill -TERM "$server" 2>/dev/null' TERM INT HUP
while :; do
  wait "$server"; code=$?
  kill -0 "$server" 2>/dev/null || break
done
kill -KILL "$reader" 2>/dev/null
exit $code`;

/** Only watches a server that somebody else started: $1 its number. */
const watchServer = 'read -r _; kill -TERM "$1" 2>/dev/null';

/** What to start, and what to write down of it. */
export interface GuardedStart {
  command: readonly string[];
  /** Where the server's process writes down who it is. */
  note: string;
  /** The claim under which it is started. */
  claim: string;
}

// A child sees nothing of our environment: no secret, and no setting of ours that means something to a Redis.
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Starts a server in a process group of its own, with its guard; closing the guard's input ends both. */
export function startGuarded({ command, note, claim }: GuardedStart): ChildProcess {
  const inner = [becomeServer, 'placet-redis', note, claim, ...command];
  return guard(['-c', guardServer, 'placet-guard', ...inner]);
}

/** Ends with us a server that runs already. */
export function guardRunning(pid: number): ChildProcess {
  return guard(['-c', watchServer, 'placet-guard', String(pid)]);
}

function guard(shellArguments: string[]): ChildProcess {
  const child = spawn('/bin/sh', shellArguments, {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
    env: environment,
  });
  child.stdin?.on('error', () => undefined); // the guard has ended: there is nothing to tell it any more
  child.on('error', () => undefined); // said by whoever waits for the server's answer
  return child;
}
