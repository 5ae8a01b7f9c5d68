/* Operations that processes send to their daemon, which executes together what has come together.
 *
 * Each client sends one operation over its connection, and waits. It may give up, or be killed, at any time; both close the
 * connection. The daemon takes the gate, executes all operations that have come, and appends them as one entry. The last
 * client's operation may fail when half of it is done. The append may be answered; or its answer does not come in time,
 * and then the entry may land, or not, and no other append begins before that is known.
 *
 * Checked: an operation is executed once at most, and whole. Nothing is executed for a process that has given up or died
 * before the daemon has begun. A process is told "done" only if its operation is in the log, and "nothing was changed"
 * only if it is not and never will be. The failure of one operation is not the failure of another.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef UNKNOWN
#define UNKNOWN 1                /* appends whose answer does not come */
#endif

mtype = { waiting, done, nothing, unknown, failed };

bool sent[CLIENTS], closed[CLIENTS], answered[CLIENTS];
mtype told[CLIENTS] = waiting, answer[CLIENTS] = waiting;
byte times[CLIENTS];             /* how often the operation is in the log */
bool half;                       /* a half of the failing operation is in the log */
byte inBatch;                    /* the operations of the transaction, a bit each */
byte inFlight;                   /* those of an append whose answer has not come */
bool isInFlight;
bool halfInBatch, halfInFlight;
byte unknowns;
byte ended;

#define HAS(set, c) ((set >> c & 1) == 1)
#define WITH(set, c) (set | 1 << c)

#ifdef FAILS
#define FAILING(c) (c == CLIENTS - 1)
#else
#define FAILING(c) false
#endif

proctype Client(byte me)
{
    sent[me] = true;
    do
    :: atomic { answered[me] && told[me] == waiting -> told[me] = answer[me]; break }
    :: atomic {                  /* gives up */
        !answered[me] ->
        closed[me] = true;
#ifdef WEAK_TOLD
        told[me] = nothing;
#else
        told[me] = unknown;
#endif
        break
       }
    :: atomic { !answered[me] -> closed[me] = true; break }  /* is killed */
    od;
    ended++
}

inline execute(c) {
    if
    :: atomic { FAILING(c) -> isFailed = true; halfInBatch = true }
    :: atomic { else -> assert(!HAS(inBatch, c)); inBatch = WITH(inBatch, c) }
    fi
}

inline tell(c, what) {
    answer[c] = what;
    answered[c] = true
}

/* What the entry says is in the log. */
inline land(batch, isHalf) {
    for (j : 0 .. CLIENTS - 1) {
        if
        :: HAS(batch, j) -> times[j]++; assert(times[j] == 1)
        :: else
        fi
    }
    half = half || isHalf;
    assert(!half)
}

/* Appends the transaction; `outcome` is what is known of it. */
inline append() {
    !isInFlight;                 /* the outcome of an earlier one is known */
    atomic {
        if
        :: land(inBatch, halfInBatch); outcome = done
        :: unknowns < UNKNOWN ->
            unknowns++;
            inFlight = inBatch;
            halfInFlight = halfInBatch;
            isInFlight = true;
            outcome = unknown
        :: outcome = nothing     /* refused, or not sent */
        fi
    }
}

/* Runs the operations of one list, as one transaction. */
inline commit(list) {
    isFailed = false;
    inBatch = 0;
    halfInBatch = false;
    for (c : 0 .. CLIENTS - 1) {
        if
        :: HAS(list, c) && !isFailed -> execute(c)
        :: else
        fi
    }
    if
#ifndef WEAK_HALF
    :: isFailed -> outcome = failed
    :: !isFailed ->
#else
    :: true ->
#endif
        append()
    fi
}

proctype Daemon()
{
    byte c, j, k;
    bool isFailed;
    mtype outcome;
    byte all;

    do
    :: all = 0;                  /* it has the gate: what has come by now is the queue */
       for (c : 0 .. CLIENTS - 1) {
           atomic {
               if
               :: !sent[c] || answered[c] -> skip
#ifndef WEAK_UNASKED
               :: sent[c] && !answered[c] && closed[c] -> tell(c, nothing)
               :: sent[c] && !answered[c] && !closed[c] ->
#else
               :: sent[c] && !answered[c] -> assert(!closed[c]);
#endif
                   all = WITH(all, c)
               fi
           }
       }
       if
       :: all == 0 ->
           if
           :: ended == CLIENTS && !isInFlight -> break
           :: else
           fi
       :: else ->
           commit(all);
           if
#if defined(WEAK_AGAIN)
           :: outcome == failed || outcome == unknown ->
#elif defined(WEAK_ALONE)
           :: false ->
#else
           :: outcome == failed ->
#endif
               /* each one alone */
               for (k : 0 .. CLIENTS - 1) {
                   if
                   :: HAS(all, k) ->
                       commit((1 << k));
                       tell(k, outcome)
                   :: else
                   fi
               }
           :: else ->
               for (c : 0 .. CLIENTS - 1) {
                   if
                   :: HAS(all, c) -> tell(c, outcome)
                   :: else
                   fi
               }
           fi
       fi
    od;
    for (c : 0 .. CLIENTS - 1) {
        assert(told[c] != done || times[c] == 1);
        assert(told[c] != nothing || times[c] == 0);
        assert(told[c] != failed || FAILING(c) && times[c] == 0)
    }
}

/* An entry that was sent and not answered lands late, or never. */
proctype Network()
{
    byte j;

    do
    :: atomic { isInFlight -> land(inFlight, halfInFlight); isInFlight = false }
    :: atomic { isInFlight -> isInFlight = false }
    :: ended == CLIENTS && !isInFlight && unknowns == UNKNOWN -> break
    od
}

init {
    atomic {
        byte i;
        for (i : 0 .. CLIENTS - 1) { run Client(i) }
        run Daemon();
        run Network()
    }
}
