/*
 * One session from planning to published work: decisions, outbox, relays,
 * queue, session lease, claim, settle, publish; workers that die or pause.
 * Rules: TM-4, TM-5, TM-7, TM-8, TM-16, TM-17, WR-23, WR-25, I1, I4, I6.
 * Deciding is one step here; decision.pml shows that it is one.
 *
 * What is checked
 *  B1 implementing begins only for the session's latest request, committed as
 *     approved, with a signature that a lead made for exactly that request.
 *  B2 a request is settled at most once, by the epoch that claimed it last,
 *     and only that epoch's worktree is published.
 *  B3 no two workers implement in one epoch; none begins to implement while
 *     another plans under the live lease, and the current holder never begins
 *     to plan while another implements.
 *  B4 the current holder of the lease plans only what is asked for: nothing
 *     while a request is pending or approved, and no request is made while the
 *     work of its predecessor is being done.
 *  B5 every run ends with the task published or failed by its deadline.
 *     Budgets are finite and drawn at the start (none at all is one draw), so
 *     the graph has no cycle (checked apart, -DNP) and B5 is liveness.
 *
 * Budgets: CRASHES kill -9 of a worker, PAUSES a lease or job lock lost by a
 * worker that lives on, RELAY_CRASHES, FORGERIES writes by an adversary into
 * the store (B5 is then void, the rest is not). A paused worker that takes one
 * more step and dies is also a message that arrives after its sender's death.
 * -DBUG_… break the design; each must be noticed.
 */
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef PAUSES
#define PAUSES 0
#endif
#ifndef RELAYS
#define RELAYS 0
#endif
#ifndef RELAY_CRASHES
#define RELAY_CRASHES 0
#endif
#ifndef FORGERIES
#define FORGERIES 0
#endif
#ifndef SPARES
#define SPARES 0 /* a plan file lost, or an agent that submits once more */
#endif
#define REJECTIONS 1
#define REQUESTS 5 /* ids 1.. that can come up; 0 is none */
#define WAKES 10   /* wake 0 is the planning job of the new task */

#include "store.pml"

#ifdef BUG_JOB_ID_WITHOUT_WAKE
#define ID(w) 0
#else
#define ID(w) (w)
#endif
#ifdef BUG_SUBMIT_NO_FENCE
#define MINE true
#else
#define MINE (epoch == mine)
#endif
#ifdef BUG_CLAIM_NO_LEASE
#define HOLDS true
#else
#define HOLDS (leased && epoch == mine)
#endif
#ifdef BUG_GATE_NO_SIGNATURE
#define VERIFIES true
#else
#define VERIFIES (signature[r] == r && signedFor[r])
#endif
#ifdef BUG_JTI_VOID_ONCE_APPLIED
#define REPLAYED (journal[r] != 0)
#elif defined(BUG_VOID_BY_UNSENT_INTENT)
#define REPLAYED (intent != r)
#elif defined(BUG_NO_JOURNAL)
#define REPLAYED false
#else
#define REPLAYED (journal[r] > claimedBy[r]) /* the store was rolled back */
#endif

#ifdef BUG_PUBLISH_BY_RECORD
#define WON true
#else
#define WON (claimedBy[r] == journal[r])
#endif

inline release() {
  if :: leased && epoch == mine -> leased = false; leaseBy = 0 :: else fi
}

inline complete() { /* the queue refuses it to who has lost the lock */
  if :: locked[me] -> job[at[me]] = NONE; locked[me] = false :: else fi
}

/* kill -9 between two steps; the agent dies with its worker */
#define DIES atomic { crashes > 0 -> crashes--; goto dead }

/* The order of jobs is immaterial, as none says more than "look": the first. */
#define READY(w) (job[w] == WAITING || (job[w] == BUSY && !leased))
#define ANY (READY(0) || READY(1) || READY(2) || READY(3) || READY(4) || READY(5) || READY(6) || READY(7) || READY(8) || READY(9))

proctype Worker(byte me) {
  byte mine, r; bool again;
idle:
  atomic { mine = 0; r = 0; again = false; planning[me] = 0; doing[me] = 0; at[me] = 0 }
end:
  atomic {
    ANY -> do :: !READY(at[me]) -> at[me]++ :: else -> break od;
    job[at[me]] = ACTIVE; locked[me] = true
  };
  /* A job says only: look at this session. First the lease, then the look. */
  if
  :: DIES
  :: atomic {
       if
#ifdef BUG_CLAIM_NO_LEASE
       :: leased && latest != 0 && state[latest] == APPROVED -> epoch++; mine = epoch
       :: leased && !(latest != 0 && state[latest] == APPROVED) -> goto busy
#else
       :: leased -> goto busy
#endif
       :: !leased -> epoch++; mine = epoch; leased = true; leaseBy = me + 1
       fi
     }
  fi;
  if
  :: DIES
  :: atomic {
       r = latest;
       if
       :: ENDED -> release(); complete(); goto idle /* left over: harmless */
#ifdef BUG_JOB_COMMANDS
       :: !ENDED && at[me] == 0 -> goto plan
#endif
       :: else ->
          if
          :: state[r] == NONE || state[r] == REJECTED -> goto plan
          :: state[r] == TIMED_OUT -> goto fail
          :: state[r] == APPROVED && work[r] == SETTLED -> goto publish
          :: state[r] == APPROVED && work[r] != SETTLED && VERIFIES && !REPLAYED -> goto claim
          :: else -> goto leave /* pending: wait; or an alarm: nothing is opened */
          fi
       fi
     }
  fi;

plan:
  atomic {
    assert(latest == 0 || state[latest] == REJECTED || epoch != mine || forged);/* B4 */
    assert(doing[OTHER] == 0 || epoch != mine);                                 /* B3 */
    planning[me] = mine
  };
persist: /* the intent, in the session, before anything is sent */
  if
  :: DIES
  :: atomic {
       if
       :: !MINE -> goto leave
       :: MINE && intent != 0 && state[intent] == NONE -> r = intent
       :: MINE && intent != 0 && state[intent] == NONE && spares > 0 -> /* plan file lost */
          spares--; ids++; intent = ids; r = ids
       :: MINE && (intent == 0 || state[intent] != NONE) -> ids++; intent = ids; r = ids
       fi;
       assert(ids < REQUESTS)
     }
  fi;
  if
  :: DIES
  :: atomic { /* the submit script */
       if
       :: state[r] != NONE -> skip /* its replay */
       :: state[r] == NONE && !MINE -> skip /* refused: lease lost */
       :: state[r] == NONE && MINE && again && state[latest] == APPROVED -> skip /* stands */
       :: state[r] == NONE && MINE ->
          assert(doing[OTHER] == 0 || doing[OTHER] != claimedBy[latest] || !leased); /* B4, I1 */
          if :: state[latest] == PENDING -> state[latest] = SUPERSEDED :: else fi;
          state[r] = PENDING; latest = r
       fi
     }
  fi;
  if
  :: DIES
  :: atomic { spares > 0 -> spares--; again = true; goto persist } /* agents resubmit */
  :: goto leave
  fi;

claim:
  if
  :: DIES
  :: atomic {
       if
       :: HOLDS && latest == r && state[r] == APPROVED && work[r] != SETTLED && claimedBy[r] < mine ->
          work[r] = CLAIMED; claimedBy[r] = mine; discarded = mine - 1
       :: else -> goto leave
       fi
     }
  fi;
  if
  :: DIES
  :: atomic { /* journal, then apply; then the gate is open */
       if
       :: work[r] == CLAIMED && claimedBy[r] == mine ->
          journal[r] = mine; work[r] = APPLIED; doing[me] = mine;
          assert(signedFor[r] && latest == r);                                  /* B1 */
          assert(doing[OTHER] != mine);                                         /* B3 */
          assert(planning[OTHER] == 0 || !leased || leaseBy != OTHER + 1)       /* B3 */
       :: else -> goto leave
       fi
     }
  fi;
  if
  :: DIES
  :: atomic { /* settle */
       doing[me] = 0;
       if
#ifdef BUG_SETTLE_NO_EPOCH
       :: work[r] == CLAIMED || work[r] == APPLIED ->
#else
       :: work[r] == APPLIED && claimedBy[r] == mine ->
#endif
          assert(settledBy[r] == 0 && mine > discarded);                        /* B2 */
          work[r] = SETTLED; settledBy[r] = mine
       :: else -> goto leave
       fi
     }
  fi;
publish: /* a pointer to what the record says has won; anyone may repeat it */
#ifdef BUG_PUBLISH_ONCE
  if :: settledBy[r] != mine -> goto leave :: else fi;
#endif
  if
  :: DIES
  :: atomic {
       if
       :: WON ->
          assert(claimedBy[r] == settledBy[r] && settledBy[r] > discarded);     /* B2 */
          published = true
       :: else /* the record and the own disk disagree: an alarm */
       fi;
       goto leave
     }
  fi;

fail:
  if :: DIES :: atomic { if :: MINE -> failed = true :: else fi } fi;

leave:
  if
  :: DIES
  :: atomic { planning[me] = 0; release() }
  fi;
  if
  :: DIES
  :: atomic { complete(); goto idle }
  fi;
busy:
  atomic { if :: locked[me] -> job[at[me]] = BUSY; locked[me] = false :: else fi; goto idle };
dead:
  atomic {
    if
    :: locked[me] -> job[at[me]] = WAITING
    :: locked[me] -> job[at[me]] = FAILED
    :: else
    fi;
    locked[me] = false;
    if :: leased && leaseBy == me + 1 -> leaseBy = GONE :: else fi;
    goto idle
  }
}

#include "world.pml"

init {
  atomic {
    select(crashes : 0 .. CRASHES);
    select(pauses : 0 .. PAUSES);
    select(relayCrashes : 0 .. RELAY_CRASHES);
    forgeries = FORGERIES; rejections = REJECTIONS; spares = SPARES;
    job[0] = WAITING;
    run Worker(0); run Worker(1); run Leads(); run Time();
#if RELAYS > 0
    run Relay(); run Relay();
#else
    run SureRelay();
#endif
#ifndef NO_RECONCILER
    run Reconciler();
#endif
#if FORGERIES > 0
    run Adversary();
#endif
  };
  timeout -> /* nothing can move any more */
#ifdef REACH /* a run gets there: the assertion must fail */
  assert(!REACH);
#endif
  assert(forged || published || failed);                                        /* B5 */
  assert(!leased && (!published || settledBy[latest] != 0 || forged))
}
