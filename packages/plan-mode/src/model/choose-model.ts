import type { ModelName, ModelReason, PermissionMode, PlanModelEvent, UsagePhase } from '@placet/protocol';
import type { z } from 'zod';
import { isNewer, isOfFamily, type ParsedModel, parseModel } from './parse-model.ts';

/** What a model is chosen by (PM-80). */
export interface ModelWishes {
  mode: PermissionMode;
  /** The model to plan with; the resting one unless set. */
  planModel?: ModelName | undefined;
  /** The model of every other mode: the runtime's own where the session names none. */
  restingModel: ModelName;
  /** The models that the operator permits, by exact name; an alias there permits what it stands for. All unless set. */
  permitted?: readonly ModelName[] | undefined;
}

/** The model in force, which is what is reported, and why it is not the requested one where it is not. */
export interface ChosenModel {
  kind: 'chosen';
  phase: UsagePhase;
  requested: ModelName;
  effective: ModelName;
  reason: ModelReason;
}

/** There is no model that may be used: the turn cannot begin. `detail` says which were tried, for people. */
export interface NoModel {
  kind: 'refused';
  reason: 'model_not_permitted';
  phase: UsagePhase;
  requested: ModelName;
  detail: string;
}

/** What `plan:model` says beside its number and time. */
export type ModelFacts = Omit<z.infer<typeof PlanModelEvent>, 'seq' | 'at'>;

/** Names that stand for one model while planning and for another after it. */
const phaseAliases = new Map<string, Record<UsagePhase, string>>([
  ['opusplan', { planning: 'opus', implementing: 'sonnet' }],
]);

/**
 * The model that is in force in a mode (PM-80): in plan mode the planning one, else the resting one. A planning model
 * that is not permitted gives way to the newest permitted one of its family, else to the resting one. A resting model
 * gives way to none. Pure: ask again at each change of the mode or of what is permitted.
 */
export function chooseModel(wishes: ModelWishes): ChosenModel | NoModel {
  const { mode, planModel, restingModel } = wishes;
  const phase = phaseOf(mode);
  const permitted = wishes.permitted?.flatMap(expand);
  const requested = phase === 'planning' ? (planModel ?? restingModel) : restingModel;
  const choose = (effective: ModelName, reason: ModelReason): ChosenModel => ({
    kind: 'chosen',
    phase,
    requested,
    effective,
    reason,
  });

  const own = asNamed(requested, phase, permitted);
  if (own) return choose(own, own === requested ? 'as_named' : 'alias');
  if (phase === 'planning') {
    const relative =
      planModel === undefined ? undefined : newestOfFamily(resolve(planModel, phase), permitted);
    if (relative !== undefined) return choose(relative, 'newest_of_family');
    // It rests while planning: what an alias stands for then is what it stands for outside plan mode.
    const resting = asNamed(restingModel, 'implementing', permitted);
    if (resting !== undefined) return choose(resting, 'resting_model');
  }
  return {
    kind: 'refused',
    reason: 'model_not_permitted',
    phase,
    requested,
    detail: detailOf(wishes, phase),
  };
}

/**
 * What to tell of a choice, in a session's `plan:model` event; undefined where what was told last still holds.
 */
export function modelFacts(choice: ChosenModel, told?: ModelFacts): ModelFacts | undefined {
  const { phase, requested, effective, reason } = choice;
  const isTold = told?.effective === effective && told.requested === requested;
  return isTold && told.reason === reason
    ? undefined
    : { type: 'plan:model', phase, requested, effective, reason };
}

/** Which phase a mode is in, for models and for usage. */
export function phaseOf(mode: PermissionMode): UsagePhase {
  return mode === 'plan' ? 'planning' : 'implementing';
}

function resolve(name: ModelName, phase: UsagePhase): ModelName {
  return phaseAliases.get(name)?.[phase] ?? name;
}

function expand(name: ModelName): ModelName[] {
  const alias = phaseAliases.get(name);
  return alias ? [alias.planning, alias.implementing] : [name];
}

/** What a name stands for, if that is permitted: the name itself, or what its alias says. */
function asNamed(
  name: ModelName,
  phase: UsagePhase,
  permitted: readonly ModelName[] | undefined,
): ModelName | undefined {
  const resolved = resolve(name, phase);
  if (permitted === undefined || permitted.includes(resolved)) return resolved;
  return parseModel(resolved)?.isFamilyAlias ? newestOfFamily(resolved, permitted) : undefined;
}

/** Of two that are equally new, the one that the operator names first. */
function newestOfFamily(name: ModelName, permitted: readonly ModelName[] = []): ModelName | undefined {
  const wanted = parseModel(name);
  if (!wanted) return undefined;
  let newest: { name: ModelName; parsed: ParsedModel } | undefined;
  for (const candidate of permitted) {
    const parsed = parseModel(candidate);
    if (!parsed || !isOfFamily(parsed, wanted)) continue;
    if (!newest || isNewer(parsed, newest.parsed)) newest = { name: candidate, parsed };
  }
  return newest?.name;
}

function detailOf({ planModel, restingModel }: ModelWishes, phase: UsagePhase): string {
  const tried =
    phase === 'planning' && planModel !== undefined && planModel !== restingModel
      ? `neither the planning model ${planModel}, one of its family, nor the resting model ${restingModel} is`
      : `the resting model ${restingModel} is not`;
  return `${tried} permitted; permit one of them, or name another`;
}
