import { type PermissionMode, WorkingMode } from '@placet/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { RuleChange } from './auto-rules.ts';
import { approvals, decisions, rejections, submits } from './decision-commands.test.fixture.ts';
import { PlanSession } from './plan-session.ts';
import {
  actor,
  type Command,
  command,
  dangerous,
  enter,
  harmless,
  leave,
  refusalOf,
  settle,
  sources,
} from './session-model.test.fixture.ts';

const allowRule = fc.record({
  source: fc.constantFrom(...sources),
  rule: fc.constantFrom(...dangerous, ...harmless),
});

const enters = fc.constant(
  command('enter', (model, { session }) => {
    session.enter('api');
    enter(model);
  }),
);

const exits = actor.map((who) =>
  command(`exit by ${who}`, (model, { session }) => {
    const refused = refusalOf(model, who) ?? (model.mode === 'plan' ? undefined : 'not_planning');
    const outcome = session.exit(who);
    expect('code' in outcome ? outcome.code : undefined).toBe(refused);
    if (refused) return;
    leave(model, 'restore');
    model.waiting = undefined;
  }),
);

const cycles = actor.map((who) =>
  command(`cycle by ${who}`, (model, { session }) => {
    const refused = refusalOf(model, who);
    const outcome = session.cycle(who);
    expect('code' in outcome ? outcome.code : undefined).toBe(refused);
    if (refused) return;
    const order: PermissionMode[] = ['default', 'acceptEdits', 'plan', 'bypassPermissions', 'auto'];
    const offered = (mode: string) =>
      mode === 'auto' ? model.gate : mode !== 'bypassPermissions' || model.setup.bypass;
    const next = order.slice(order.indexOf(model.mode) + 1).find(offered) ?? 'default';
    if (next === 'plan') return enter(model);
    if (model.mode === 'plan') model.waiting = undefined;
    leave(model, next);
  }),
);

const gateTurns = fc.record({ open: fc.boolean(), told: fc.boolean() }).map(({ open, told }) =>
  command(`gate ${open ? 'open' : 'closed'}${told ? '' : ', untold'}`, (model, { session, gate }) => {
    gate.open = open;
    model.gate = open;
    if (!told) return;
    session.autoGateChanged();
    settle(model);
  }),
);

const ruleChanges = fc
  .oneof(
    fc.record({ kind: fc.constantFrom('add' as const, 'remove' as const), rule: allowRule }),
    fc.record({
      kind: fc.constant('replace' as const),
      source: fc.constantFrom(...sources),
      rules: fc.array(fc.constantFrom(...dangerous, ...harmless), { maxLength: 4 }),
    }),
  )
  .map((change: RuleChange) =>
    command(`rules ${JSON.stringify(change)}`, (model, { session }) => {
      session.changeRules(change);
      const same = change.kind === 'replace' ? undefined : change.rule;
      const others = model.rules.filter(({ source, rule }) => source !== same?.source || rule !== same.rule);
      if (change.kind === 'remove') model.rules = others;
      if (change.kind === 'add' && others.length === model.rules.length) model.rules.push(change.rule);
      if (change.kind === 'replace') {
        const { source } = change;
        model.rules = model.rules.filter((rule) => rule.source !== source);
        model.rules.push(...change.rules.map((rule) => ({ source, rule })));
      }
      settle(model);
    }),
  );

const writes = fc.boolean().map((empty) =>
  command(empty ? 'the plan is emptied' : 'the plan is written', (_model, real) => {
    real.wrote += 1;
    real.plan.text = empty ? '' : `# plan ${real.wrote}\n`;
  }),
);

const ends = fc.constant(
  command('the request times out', (model, { session }) => {
    session.closed('timeout');
    if (model.mode === 'plan') model.waiting = undefined;
  }),
);

const confirms = fc.constantFrom(...WorkingMode.options).map((mode) =>
  command(`the runtime is in ${mode}`, (model, { session }) => {
    const ranks = { default: 0, dontAsk: 1, acceptEdits: 1, auto: 2, bypassPermissions: 3 };
    const outcome = session.confirm(mode);
    if (model.mode === 'plan') {
      expect(outcome).toMatchObject({ code: 'approval_required' });
      return;
    }
    if (mode === model.mode || ranks[mode] < ranks[model.mode]) {
      expect(outcome.kind).toBe('confirmed');
      if (mode !== model.mode) leave(model, mode);
      return;
    }
    expect(outcome).toMatchObject({ code: 'mode_mismatch' });
    model.mode = 'plan';
    model.pre = 'default';
    model.waiting = undefined;
    settle(model);
  }),
);

const restarts = fc
  .record({ record: fc.constantFrom('kept', 'kept', 'kept', 'missing', 'broken'), stripped: fc.boolean() })
  .map(({ record, stripped }) =>
    command(`restart, record ${record}${stripped ? ', host without stripped rules' : ''}`, (model, real) => {
      const { session, options } = real;
      const stored: unknown = JSON.parse(JSON.stringify(session.snapshot()));
      const lone = model.setup.kind === 'main';
      const known = record === 'kept' && !lone;
      // A host that keeps the stripped rules out of its own can give them back only by the record.
      const allowRules = stripped && known ? session.allowRules : model.rules;
      const next = { ...options, allowRules };
      if (lone) {
        // A session outside a team is in memory (PM-9).
        const { mode: _started, ...fresh } = next;
        real.session = new PlanSession(fresh);
        model.mode = 'default';
        model.pre = undefined;
        model.waiting = undefined;
      } else {
        real.session = PlanSession.restore(
          next,
          known ? stored : record === 'missing' ? undefined : { context: 1 },
        );
        if (!known || (model.setup.required && model.mode !== 'plan')) {
          model.mode = 'plan';
          model.pre = 'default';
          if (!known) model.waiting = undefined;
        }
      }
      settle(model);
    }),
  );

/** Everything that can happen to a session, by both actors; what the rest depends on is tried more often. */
export const sessionCommands: fc.Arbitrary<Command>[] = [
  enters,
  enters,
  submits,
  submits,
  decisions,
  decisions,
  exits,
  cycles,
  gateTurns,
  ruleChanges,
  writes,
  submits,
  approvals,
  rejections,
  decisions,
  ends,
  confirms,
  restarts,
];
