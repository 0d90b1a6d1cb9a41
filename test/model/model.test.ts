import { beforeEach, describe, expect, it } from 'vitest';
import { check, missingTools, type Search } from './spin.ts';

const missing = await missingTools();
beforeEach(({ skip }) => skip(missing !== undefined, missing));

const holds =
  (model: string, defines: string[], search: Search = 'assertions') =>
  async () => {
    expect(await check(model, defines, search)).toMatchObject({
      complete: true,
      errors: 0,
      broken: undefined,
    });
  };

/** A seeded fault, or a state that must be reachable: the named assertion fails. */
const breaks = (model: string, defines: string[], assertion: string) => async () => {
  const { errors, broken } = await check(model, defines, 'assertions');

  expect(errors).toBe(1);
  expect(broken).toContain(assertion);
};

/** The assertions of decision.pml, as its head numbers them. */
const a2 = 'now>=until';
const a5 = 'state!=1';
const a6 = 'assertion violated 0';

/** The assertions of work.pml. */
const b1 = 'signedFor[r]';
const b2 = 'settledBy[r]==0';
const b3 = 'planning[(1-me)]==0';
const b4 = 'state[latest]==3';
const b5 = '(forged||published)||failed';

describe.concurrent('a decision', () => {
  it(
    '[WR-20] [WR-24] [I2] two leads, a deadline, a successor and crashes leave one outcome',
    holds('decision', []),
  );
  it(
    '[WR-20] commits that arrive in time are never refused, so no other signed outcome is about',
    holds('decision', ['TIMELY']),
  );
  it(
    '[IN-3] then not even who reads the wire and writes the store can show a losing rival',
    holds('decision', ['TIMELY', 'CAPTURE']),
  );
  it(
    'has a limit: a refused commit that came late has shown its signature to who reads the wire',
    breaks('decision', ['CAPTURE'], 'state==2'),
  );
  it(
    '[I4] comes about in every run: none goes on for ever',
    holds('decision', ['CRASHES=1', 'REPEATS=0'], 'cycles'),
  );

  it('can be an approval', breaks('decision', ['REACH=APPROVED'], 'state!=2'));
  it('can be a rejection', breaks('decision', ['REACH=REJECTED'], 'state!=3'));
  it('can be a timeout', breaks('decision', ['REACH=TIMED_OUT'], 'state!=4'));

  it('the check notices a commit without its token', breaks('decision', ['BUG_COMMIT_NO_TOKEN'], a2));
  it('the check notices a reservation that never lapses', breaks('decision', ['BUG_NO_LAPSE'], a5));
  it('the check notices a deadline that does not wait', breaks('decision', ['BUG_EXPIRE_IGNORES_HOLD'], a2));
  it(
    'the check notices a successor that does not wait',
    breaks('decision', ['BUG_SUPERSEDE_IGNORES_HOLD'], a2),
  );
  it(
    'the check notices a lead that counts its age from the reply',
    breaks('decision', ['TIMELY', 'BUG_AGE_FROM_REPLY'], a6),
  );
});

const relays = ['CRASHES=0', 'RELAYS=2', 'NO_RECONCILER'];

describe.concurrent('the work', () => {
  it(
    '[TM-4] [TM-7] [TM-8] two kills of workers leave one settled, published task',
    holds('work', ['CRASHES=2']),
  );
  it(
    '[TM-16] a worker that lost its lease and lives on changes nothing',
    holds('work', ['CRASHES=0', 'PAUSES=2']),
  );
  it('[TM-16] nor do a kill and a pause together', holds('work', ['CRASHES=1', 'PAUSES=1']));
  it('[WR-23] [WR-25] agents that submit again meet kills', holds('work', ['CRASHES=1', 'SPARES=1']));
  it(
    '[WR-23] a plan file is lost while its worker is paused',
    holds('work', ['CRASHES=0', 'PAUSES=1', 'SPARES=1']),
  );
  it(
    '[TM-5] two relays that crash wake the work without a reconciler',
    holds('work', [...relays, 'RELAY_CRASHES=2']),
  );
  it('[I1] [I6] forgeries in the store and a kill open no gate', holds('work', ['CRASHES=1', 'FORGERIES=1']));
  it('[I1] [TM-17] a replay in the store opens no gate', holds('work', ['CRASHES=0', 'FORGERIES=2']));
  it('[I1] a forgery and a pause open no gate', holds('work', ['CRASHES=0', 'PAUSES=1', 'FORGERIES=1']));

  it('[I4] ends in every run that meets a kill', holds('work', ['CRASHES=1'], 'cycles'));
  it('[I4] ends in every run that meets a pause', holds('work', ['CRASHES=0', 'PAUSES=1'], 'cycles'));
  it(
    '[I4] ends in every run that meets a relay crash',
    holds('work', [...relays, 'RELAY_CRASHES=1'], 'cycles'),
  );

  it('can be published', breaks('work', ['REACH=published'], 'published'));
  it('can fail by its deadline', breaks('work', ['REACH=failed'], 'failed'));

  it(
    'the check notices a relay that acknowledges first',
    breaks('work', [...relays, 'RELAY_CRASHES=1', 'BUG_RELAY_ACKS_FIRST'], b5),
  );
  it('the check notices a claim that ignores the lease', breaks('work', ['BUG_CLAIM_NO_LEASE'], b3));
  it('the check notices a kept failed job of the same id', breaks('work', ['BUG_JOB_ID_WITHOUT_WAKE'], b5));
  it(
    'the check notices a settle under any epoch',
    breaks('work', ['CRASHES=0', 'PAUSES=2', 'BUG_SETTLE_NO_EPOCH'], b2),
  );
  it(
    'the check notices a gate without a signature',
    breaks('work', ['FORGERIES=1', 'BUG_GATE_NO_SIGNATURE'], b1),
  );
  it(
    'the check notices a submission by a worker that lost its lease',
    breaks('work', ['CRASHES=0', 'PAUSES=1', 'SPARES=1', 'BUG_SUBMIT_NO_FENCE'], b1),
  );
  it('the check notices a job that says what to do', breaks('work', ['BUG_JOB_COMMANDS'], b4));
  it('the check notices a branch that only its settler publishes', breaks('work', ['BUG_PUBLISH_ONCE'], b5));
  it(
    'the check notices a reconciler that looks at approvals only',
    breaks('work', ['BUG_RECONCILE_APPROVED_ONLY'], b5),
  );
  it(
    'the check notices a decision that is void once it was applied',
    breaks('work', ['BUG_JTI_VOID_ONCE_APPLIED'], b5),
  );
  it(
    'the check notices an intent that was never sent and voids the request before it',
    breaks('work', ['CRASHES=1', 'SPARES=1', 'BUG_VOID_BY_UNSENT_INTENT'], b5),
  );
  it(
    'the check notices a publication that believes the record alone',
    breaks('work', ['CRASHES=1', 'FORGERIES=1', 'BUG_PUBLISH_BY_RECORD'], 'claimedBy[r]==settledBy[r]'),
  );
  it(
    'the check notices a rolled-back record that no journal voids',
    breaks('work', ['CRASHES=0', 'FORGERIES=2', 'BUG_NO_JOURNAL'], b2),
  );
});
