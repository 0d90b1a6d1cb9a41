import { dirname, join } from 'node:path';
import { replaceFile, type ToolCall } from '@placet/plan-mode';
import type { AgentProfile, SessionId } from '@placet/protocol';
import { PermissionMode } from '@placet/protocol';
import type { AgentRuntime, AgentSession, GrantedWork, PhaseOutcome } from '../agent-port.ts';
import type { Profiles } from '../profiles.ts';
import { agentVariables } from './agent-environment.ts';
import type { Confinements } from './detect-confinements.ts';
import { type GuardedProcess, startGuarded } from './guarded-process.ts';
import { OutputLog } from './output-log.ts';

/** What the runtime is made of. */
export interface CommandRuntimeOptions {
  profiles: Profiles;
  confinements: Confinements;
  /** What every agent gets of the environment, beside its profile's and PLACET_*. */
  environment: Readonly<Record<string, string>>;
}

interface Phase {
  session: AgentSession;
  profile: AgentProfile;
  work: GrantedWork | undefined;
}

/**
 * The `command` runtime (TM-22): one process for each phase, which is told what to do by its environment. It cannot be
 * resumed: a plan that was interrupted is made again.
 */
export class CommandRuntime implements AgentRuntime {
  readonly #options: CommandRuntimeOptions;
  readonly #running = new Map<SessionId, GuardedProcess>();

  constructor(options: CommandRuntimeOptions) {
    this.#options = options;
  }

  plan(session: AgentSession): Promise<PhaseOutcome> {
    return this.#run(session, undefined);
  }

  implement(session: AgentSession, work: GrantedWork): Promise<PhaseOutcome> {
    return this.#run(session, work);
  }

  resume(session: AgentSession): Promise<PhaseOutcome> {
    return this.plan(session);
  }

  async interrupt(sessionId: SessionId): Promise<void> {
    const running = this.#running.get(sessionId);
    running?.kill();
    await running?.ended;
  }

  async #run(session: AgentSession, work: GrantedWork | undefined): Promise<PhaseOutcome> {
    const profile = this.#options.profiles.find(session.job.agent);
    if (!profile) return failed(`there is no agent profile "${session.job.agent}"`);
    const verdict = session.gate(callOf(profile, work));
    if (verdict.kind === 'refused') return failed(`the gate refused the agent: ${verdict.refusal.reason}`);
    if (session.signal.aborted) return { kind: 'interrupted' };
    const phase: Phase = { session, profile, work };
    const output = new OutputLog(session.outputFile);
    let agent: GuardedProcess | undefined;
    try {
      agent = await this.#start(phase);
      this.#running.set(session.sessionId, agent);
      return await this.#follow(phase, agent, output);
    } catch (err) {
      if (agent) throw err;
      // What was found to work when this process began and fails now is a doubt, and in doubt nothing runs (I6).
      session.log.error(
        { err, sessionId: session.sessionId },
        'the agent cannot be started in its confinement',
      );
      return failed('it cannot be started in its confinement');
    } finally {
      agent?.kill();
      this.#running.delete(session.sessionId);
      await output.close();
    }
  }

  async #start({ session, profile, work }: Phase): Promise<GuardedProcess> {
    const confinement = this.#options.confinements[work ? 'implement' : 'plan'];
    const options = {
      command: profile.command,
      cwd: session.cwd,
      environment: { ...this.#options.environment, ...profile.env, ...(await variablesOf(session, work)) },
      readOnly: work ? [] : session.protectedFolders,
      writable: work ? [] : [dirname(session.planFilePath), session.scratchFolder],
    };
    return startGuarded({ ...options, confinement });
  }

  async #follow(
    { session, profile, work }: Phase,
    agent: GuardedProcess,
    output: OutputLog,
  ): Promise<PhaseOutcome> {
    for (const stream of agent.output) output.take(stream);
    await session.onRunning({ pid: agent.pid });
    if (work && !(await isConfirmed(agent, work)))
      return {
        kind: 'failed',
        reason: 'mode_mismatch',
        detail: `the agent is in mode ${agent.mode || 'none'}`,
      };
    if (session.signal.aborted) return { kind: 'interrupted' };
    const timeout = AbortSignal.timeout(profile.timeoutMs);
    const kill = () => agent.kill();
    session.signal.addEventListener('abort', kill, { once: true });
    timeout.addEventListener('abort', kill, { once: true });
    agent.go();
    const code = await agent.ended;
    session.signal.removeEventListener('abort', kill);
    timeout.removeEventListener('abort', kill);
    if (session.signal.aborted) return { kind: 'interrupted' };
    if (code === 0) return { kind: 'finished' };
    const detail = timeout.aborted ? `no end within ${profile.timeoutMs} ms` : `exit code ${code}`;
    session.log.warn(
      { sessionId: session.sessionId, output: session.outputFile, lastLines: output.tail() },
      `the agent failed: ${detail}`,
    );
    return failed(detail);
  }
}

/**
 * The one call that this runtime makes. While planning it declares itself safe, for the tree is protected and compared
 * afterwards; while implementing it declares nothing, so that only an open gate lets it through.
 */
function callOf(profile: AgentProfile, work: GrantedWork | undefined): ToolCall {
  return {
    tool: `command:${profile.command[0] ?? ''}`,
    source: 'builtin',
    ...(!work && { manifest: { safetyTier: 'safe' } }),
  };
}

async function isConfirmed(agent: GuardedProcess, work: GrantedWork): Promise<boolean> {
  const effective = PermissionMode.safeParse(agent.mode);
  return effective.success && (await work.confirmMode(effective.data));
}

async function variablesOf(
  session: AgentSession,
  work: GrantedWork | undefined,
): Promise<Record<string, string>> {
  const taskFilePath = join(session.scratchFolder, 'task.txt');
  // Replaced, not written into: an agent had the folder before.
  await replaceFile(taskFilePath, session.job.task);
  const feedbackFilePath = session.feedback && join(session.scratchFolder, 'feedback.md');
  if (session.feedback && feedbackFilePath) await replaceFile(feedbackFilePath, session.feedback.text);
  return agentVariables({
    phase: work ? 'implement' : 'plan',
    planFilePath: session.planFilePath,
    task: session.job.task,
    taskFilePath,
    feedbackFilePath,
    permissionMode: work?.permissionMode ?? 'plan',
    sessionId: session.sessionId,
    revision: session.revision,
    notices: work?.notices ?? [],
  });
}

function failed(detail: string): PhaseOutcome {
  return { kind: 'failed', reason: 'agent_failed', detail };
}
