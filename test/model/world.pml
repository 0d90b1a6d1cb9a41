/*
 * What surrounds the workers of work.pml: leads, relays, the reconciler, time
 * and the adversary. Included there; not a model of its own.
 */

/* Deciding (decision.pml): outcome and outbox entry in one step. */
proctype Leads() {
end:
  do
  :: atomic {
       latest != 0 && state[latest] == PENDING ->
       if
       :: state[latest] = APPROVED; signature[latest] = latest; signedFor[latest] = true
       :: rejections > 0 -> rejections--; state[latest] = REJECTED
       :: state[latest] = TIMED_OUT
       fi;
       wakeUp()
     }
  od
}

#define OUTBOX (outbox[1] || outbox[2] || outbox[3] || outbox[4] || outbox[5] || outbox[6] || outbox[7] || outbox[8] || outbox[9])
#define RELAY_DIES atomic { relayCrashes > 0 -> relayCrashes--; goto idle }
#define ENQUEUE if :: job[ID(e)] == NONE -> job[ID(e)] = WAITING :: else fi

proctype Relay() {
  byte e;
idle:
  e = 1;
end:
  atomic { OUTBOX -> do :: !outbox[e] -> e++ :: else -> break od };
#ifdef BUG_RELAY_ACKS_FIRST
  if :: RELAY_DIES :: outbox[e] = false fi;
  if :: RELAY_DIES :: atomic { ENQUEUE } fi;
#else
  if :: RELAY_DIES :: atomic { ENQUEUE } fi;
  if :: RELAY_DIES :: outbox[e] = false fi;
#endif
  goto idle
}

/* Where relays are not what is looked at, one that never fails. */
proctype SureRelay() {
  byte e = 1;
end:
  do
  :: atomic {
       OUTBOX -> do :: !outbox[e] -> e++ :: else -> break od;
       ENQUEUE; outbox[e] = false; e = 1
     }
  od
}

#define LIVE(w) (outbox[w] || (job[w] != NONE && job[w] != FAILED))
#define BUSTLE (LIVE(0) || LIVE(1) || LIVE(2) || LIVE(3) || LIVE(4) || LIVE(5) || LIVE(6) || LIVE(7) || LIVE(8) || LIVE(9))
#ifdef BUG_RECONCILE_APPROVED_ONLY
#define OWED (state[latest] == APPROVED && work[latest] != SETTLED)
#else
#define OWED (!ENDED && state[latest] != PENDING)
#endif

/* After a forgery a session may be owed a step for ever; wakes are kept for the leads. */
#define ROOM (wake < WAKES - 1 && (!forged || wake < WAKES - 4))

/* Wakes again whatever is owed a step; early (a pause) or when all is quiet. */
proctype Reconciler() {
end:
  do
  :: atomic { OWED && !leased && !BUSTLE && ROOM -> wakeUp() }
  :: atomic { OWED && !leased && BUSTLE && pauses > 0 && ROOM -> pauses--; wakeUp() }
  od
}

/* What lapses: the lease of a dead holder always, of a paused one at times. */
proctype Time() {
end:
  do
  :: atomic { leased && leaseBy == GONE -> leased = false; leaseBy = 0 }
  :: atomic { leased && leaseBy != GONE && pauses > 0 -> pauses--; leased = false; leaseBy = 0 }
  :: atomic { locked[0] && pauses > 0 -> pauses--; locked[0] = false; job[at[0]] = WAITING }
  :: atomic { locked[1] && pauses > 0 -> pauses--; locked[1] = false; job[at[1]] = WAITING }
  od
}

/* Writes straight to the store; cannot sign. */
proctype Adversary() {
end:
  do
  :: atomic {
       forgeries > 0 && latest != 0 -> forgeries--; forged = true;
       if
       :: state[latest] = APPROVED
       :: state[latest] = APPROVED; signature[latest] = latest - 1 /* another's */
       :: work[latest] = NONE; claimedBy[latest] = 0               /* once more */
       :: job[wake] == NONE -> job[wake] = WAITING
       :: job[0] == NONE -> job[0] = WAITING
       fi
     }
  od
}
