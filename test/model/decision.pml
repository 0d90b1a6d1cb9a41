/*
 * One request, from pending to its one outcome: reserve, sign, commit against
 * a rival lead, the deadline, a superseding or withdrawing teammate, crashes,
 * late and repeated messages. Rules: WR-20, WR-21, WR-24, I2, I4.
 *
 * What is checked
 *  A1 at most one outcome is ever written; its inbox entry, outbox entry and
 *     audit number are written with it, once.
 *  A2 who commits under a live reservation is never refused: nobody else ends
 *     the request meanwhile. So what a lead signs in time is what is decided.
 *  A3 an outcome by decision was reserved before the deadline (decidedAt) and
 *     is in the store before deadline + HOLD.
 *  A4 no lead is answered an outcome that is not the record's.
 *  A5 every run ends decided. The clock is finite and every budget is spent,
 *     so the graph has no cycle (checked apart, -DNP) and A5 is liveness.
 *  A6 only with -DTIMELY, where a commit sent within BOUND arrives within
 *     HOLD - BOUND: no signature that left its lead is refused, so no
 *     signed decision other than the one that stands exists outside a process.
 *     Without TIMELY that is not so; see docs/adr/0001.
 *
 * -DCAPTURE adds an adversary who reads refused commits off the wire and
 * writes their signature over the record (a limit, not a fault of the design).
 * -DBUG_… break the design; each must be noticed.
 */
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef REPEATS
#define REPEATS 1 /* commits that the client library sends twice (TM-45) */
#endif
/* Time in ticks; what counts is their order, BOUND < HOLD <= DEADLINE - 1, so
   that a second reservation can follow a lapsed one before the deadline. */
#define BOUND    1 /* a lead sends its commit at this age at most: 2 s */
#define HOLD     2 /* a reservation lives this long: 5 s */
#define DEADLINE 3
#define END      4 /* the clock stops here: every reservation has lapsed */

#define NONE 0
#define PENDING 1
#define APPROVED 2
#define REJECTED 3
#define TIMED_OUT 4
#define WITHDRAWN 5 /* or superseded: ended by the teammate, unsigned */
#define TOLD_LATE 6 /* a lead's answer: too late, nothing of mine stands */

byte now = 0;
byte state = PENDING;
byte token = 0, heldUntil = 0, tokens = 0; /* the reservation */
byte reservedAt = 0;
byte outcomes = 0, inbox = 0, outbox = 0, audit = 0;
byte committedBy = 0; /* the token that decided; 0: no decision */
byte shown = NONE;    /* the signed outcome that a reader of the record finds */
byte refused = 0;     /* an outcome whose signature left its lead in vain */
byte crashes, repeats;

/* one commit on its way per lead; a crash of its sender does not recall it */
byte sentToken[2], sentOutcome[2], sentAt[2], answer[2];
byte until[2]; /* when the reservation of that commit lapses */

#ifdef BUG_NO_LAPSE
#define HELD (token != 0)
#else
#define HELD (token != 0 && now < heldUntil)
#endif

inline finish(outcome) {
  state = outcome;
  outcomes++; outbox++;
  token = 0; heldUntil = 0; reservedAt = 0;
  assert(outcomes == 1);                                  /* A1 */
}

/* The commit script. */
inline commit(i) {
#ifdef BUG_COMMIT_NO_TOKEN
  if
  :: state == PENDING ->
#else
  if
  :: state == PENDING && sentToken[i] == token && HELD ->
#endif
     assert(reservedAt < DEADLINE && now < DEADLINE + HOLD); /* A3 */
     committedBy = sentToken[i];
     finish(sentOutcome[i]);
     inbox++; audit++;
     shown = sentOutcome[i];
     answer[i] = state
  :: else ->
     if
     :: sentToken[i] == committedBy -> answer[i] = state  /* a repeat */
     :: else ->
        refused = sentOutcome[i];
        answer[i] = TOLD_LATE;
#ifdef TIMELY
        assert(false)                                       /* A6 */
#else
        assert(now >= until[i])  /* A2: it had lapsed before it came */
#endif
     fi
  fi
}

#define SEND sentToken[me] = mine; sentOutcome[me] = wish; sentAt[me] = now; until[me] = mineUntil; \
  mine = 0; mineUntil = 0; since = 0; answer[me] = NONE

proctype Lead(byte me; byte wish) {
  byte mine, mineUntil, since;
again:
  atomic { answer[me] = NONE; since = now }
  /* The reserve script. A live reservation makes a rival wait. */
  atomic {
    if
    :: state == PENDING && now < DEADLINE && !HELD ->
       tokens++; mine = tokens; token = mine;
       reservedAt = now; heldUntil = now + HOLD; mineUntil = heldUntil
    :: state != PENDING || (now >= DEADLINE && !HELD) -> goto told
    fi
  };
#ifdef BUG_AGE_FROM_REPLY
  since = now;
#endif
  /* Signing happens here, in the process: until the send it can only die. */
  if
  :: atomic { crashes > 0 -> crashes--; goto again }
  :: now > since + BOUND -> goto again
#ifndef TIMELY
  :: now <= since + BOUND ->
     /* any pause may fall between the look at the clock and the write */
     atomic { sentToken[me] == 0 -> SEND }
#else
  :: atomic {
       now <= since + BOUND && sentToken[me] == 0 ->
       SEND
     }
#endif
  fi;
  if
  :: atomic { crashes > 0 -> crashes--; goto again }
  :: atomic { answer[me] != NONE ->
       assert(answer[me] == TOLD_LATE || answer[me] == state) /* A4 */
     }
  fi;
told: /* what is left is cleared only to keep the state space small */
  atomic { mine = 0; mineUntil = 0; since = 0; answer[me] = NONE }
}

#define GONE(i) sentToken[i] = 0; sentOutcome[i] = 0; sentAt[i] = 0; until[i] = 0

/* Carries commits: late, repeated, never lost (a loss is a crash of the lead). */
proctype Wire() {
end:
  do
  :: atomic { sentToken[0] != 0 -> commit(0);
       if :: repeats > 0 -> repeats-- :: GONE(0) fi }
  :: atomic { sentToken[1] != 0 -> commit(1);
       if :: repeats > 0 -> repeats-- :: GONE(1) fi }
  od
}

#define MAY_WAIT(i) (sentToken[i] == 0 || now + 1 < sentAt[i] + HOLD - BOUND)

proctype Clock() {
  do
#ifdef TIMELY
  :: atomic { now < END && MAY_WAIT(0) && MAY_WAIT(1) -> now++ }
#else
  :: now < END -> now++
#endif
  :: now == END -> break
  od
}

/* The deadline: the sweep, or anyone who reads late. */
proctype Expire() {
  atomic {
#ifdef BUG_EXPIRE_IGNORES_HOLD
    now >= DEADLINE ->
#else
    now >= DEADLINE && !HELD ->
#endif
    if :: state == PENDING -> finish(TIMED_OUT) :: else fi
  }
}

/* The teammate may submit a successor or withdraw, at any time or never. */
proctype Teammate() {
  if
  :: atomic {
#ifdef BUG_SUPERSEDE_IGNORES_HOLD
       true ->
#else
       !HELD ->
#endif
       if :: state == PENDING -> finish(WITHDRAWN) :: else fi
     }
  :: skip
  fi
}

#ifdef CAPTURE
proctype Adversary() {
end:
  atomic { refused == APPROVED -> shown = APPROVED; assert(state == APPROVED) }
}
#endif

init {
  atomic {
    select(crashes : 0 .. CRASHES);
    select(repeats : 0 .. REPEATS);
    run Lead(0, APPROVED); run Lead(1, REJECTED);
    run Wire(); run Clock(); run Expire(); run Teammate();
#ifdef CAPTURE
    run Adversary();
#endif
  };
  timeout -> /* nothing can move any more */
#ifdef REACH /* a run ends so: the assertion must fail */
  assert(state != REACH);
#endif
  assert(now == END && state != PENDING);                         /* A5 */
  assert(outcomes == 1 && outbox == 1);                           /* A1 */
  assert(inbox == (state == APPROVED || state == REJECTED));
  assert(audit == inbox && (committedBy != 0) == (inbox == 1))
}
