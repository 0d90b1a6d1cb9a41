/* What the store, the queue and the world remember in work.pml. Included there. */

#define NONE 0
#define PENDING 1
#define APPROVED 2
#define REJECTED 3
#define TIMED_OUT 4
#define SUPERSEDED 5

#define CLAIMED 1 /* work states, after NONE */
#define APPLIED 2
#define SETTLED 3

#define WAITING 1 /* job states, after NONE: BullMQ removes what completed */
#define ACTIVE 2
#define BUSY 3    /* delayed: session_busy */
#define FAILED 4  /* kept: stalled more often than allowed */

/* the session */
byte epoch, latest, intent, wake;
bool leased, failed, published;
byte leaseBy; /* 1 + worker; GONE: a dead one, 0: nobody */
#define GONE 3
/* its requests */
byte state[REQUESTS], work[REQUESTS], claimedBy[REQUESTS];
byte signature[REQUESTS]; /* the request for which the record's signature was made */
byte ids;
/* outbox and queue, by wake number */
bool outbox[WAKES];
byte job[WAKES];
/* what a teammate keeps on its own disk: the epoch in which it last applied */
byte journal[REQUESTS];
/* what is true, whatever the store says */
bool signedFor[REQUESTS];  /* a lead signed an approval of exactly this one */
byte settledBy[REQUESTS];
byte discarded;            /* worktrees of epochs up to here are thrown away */
byte planning[2], doing[2]; /* the epoch in which a worker plans, implements */
byte at[2]; bool locked[2]; /* the job that it holds */
bool forged;
/* what may still go wrong */
byte crashes, pauses, relayCrashes, forgeries, rejections, spares;

#define ENDED (failed || published)
#define OTHER (1 - me)

inline wakeUp() { wake++; assert(wake < WAKES); outbox[wake] = true }
