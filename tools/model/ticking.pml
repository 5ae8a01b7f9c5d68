/* The ticker's seat: while a living process waits, a living process ticks.
 *
 * The model follows the steps of Sources/TupleSpace/Waiting/NamespaceCore+Ticking.swift. Processes begin waits, look at the
 * seat, take it or follow its holder, end waits, give up the seat, and leave the namespace. Up to KILLS processes die, each
 * between any two steps. A process that follows another hears its end; that is the kernel's part (a pidfd). The looks once a
 * second, which find every fault in the end, are left out: what is shown here holds without them. Stopped processes are
 * left out for the same reason: only those looks find them.
 *
 * Checked: when no process can take a step any more and a living process waits, the seat has a living process that has the
 * namespace open.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef WAITS
#define WAITS 2
#endif
/* How many of the processes may end their waits. */
#ifndef SHORT
#define SHORT PROCESSES
#endif

byte seat;                       /* the process that ticks, plus one; 0: none */
byte inUse;                      /* how many processes wait */
bool waits[PROCESSES];
bool stays[PROCESSES];           /* the present wait does not end */
bool left[PROCESSES];
bool dead[PROCESSES];
byte follows[PROCESSES];         /* whose end it hears, plus one */
bool isFollowing[PROCESSES];     /* what the event loop has noted */
bool mustLook[PROCESSES];
bool nudged[PROCESSES];
byte kills;

#define MORTAL(p) provided (!dead[p])

inline take(old) {
    atomic {
        if
        :: seat == old -> seat = me + 1; mustLook[me] = false
        :: else        -> mustLook[me] = true          /* another was quicker: looks again at the next tick */
        fi
    }
}

/* One look of the event loop. */
inline look() {
    mustLook[me] = false;
    seen = seat;
    if
    :: seen == me + 1 -> isFollowing[me] = false
    :: seen == 0 || left[seen - 1] || dead[seen - 1] -> take(seen); isFollowing[me] = (seat != me + 1)
    :: else ->
        follows[me] = seen;
        if
#ifndef WEAK_FOLLOW
        :: dead[seen - 1] -> take(seen)
#endif
        :: else -> skip
        fi;
        isFollowing[me] = true;
#ifndef WEAK_NOTE
        if
        :: seat != seen -> mustLook[me] = true
        :: else
        fi
#endif
    fi;
    seen = 0
}

/* Wakes all that wait. */
inline nudge() {
    seen = 0;
    do
    :: seen < PROCESSES -> atomic { if :: waits[seen] -> nudged[seen] = true :: else fi }; seen++
    :: else -> break
    od;
    seen = 0
}

/* The event loop of a process, and its waits. */
proctype Loop(byte me) MORTAL(me) {
    byte seen, begun;
    do
    :: !waits[me] && !left[me] && begun < WAITS ->
        begun++;
        if
        :: stays[me] = true
        :: me < SHORT -> stays[me] = false
        fi;
        atomic { waits[me] = true; inUse++; mustLook[me] = true }
    :: waits[me] && mustLook[me] -> look()
    :: waits[me] && !stays[me] -> atomic { waits[me] = false; inUse--; mustLook[me] = false }
    :: seat == me + 1 && !waits[me] && !left[me] && inUse == 0 ->
        /* Gives up the seat, because no process waits. */
        atomic { if :: seat == me + 1 -> seat = 0 :: else fi };
#ifndef WEAK_RESIGN
        nudge()
#endif
    :: !waits[me] && !left[me] && begun == WAITS ->
        /* Leaves, in this order: the seat, a nudge for all, the session. */
        atomic {
            if
            :: seat == me + 1 -> seat = 0; seen = 1
            :: else           -> seen = 0
            fi
        };
#ifndef WEAK_NUDGE
        if
        :: seen == 1 -> nudge()
        :: else
        fi;
#endif
        seen = 0;
        left[me] = true
    od
}

/* A thread that waits, and is woken by a nudge. */
proctype Waiter(byte me) MORTAL(me) {
    do
    :: nudged[me] ->
        nudged[me] = false;
        if
#ifdef WEAK_EMPTY
        :: isFollowing[me] && seat == 0 -> mustLook[me] = true
#else
        :: isFollowing[me] && seat != follows[me] -> mustLook[me] = true
#endif
        :: else
        fi
    od
}

proctype Killer() {
    byte victim, other;
    do
    :: kills < KILLS ->
        select (victim : 0 .. PROCESSES - 1);
        atomic {
            if
            :: !dead[victim] ->
                dead[victim] = true;
                kills++;
                if :: waits[victim] -> inUse-- :: else fi;   /* its slot is swept at a tick */
                other = 0;
                do
                :: other < PROCESSES ->
                    if :: follows[other] == victim + 1 -> mustLook[other] = true :: else fi;
                    other++
                :: else -> break
                od;
                other = 0
            :: else
            fi
        }
    :: kills < KILLS -> break
    :: kills == KILLS -> break
    od
}

init {
    byte p;
    atomic {
        do
        :: p < PROCESSES -> run Loop(p); run Waiter(p); p++
        :: else -> break
        od;
        run Killer()
    }
    timeout;
    p = 0;
    do
    :: p < PROCESSES ->
        if
        :: waits[p] && !dead[p] -> assert(seat != 0 && !dead[seat - 1] && !left[seat - 1])
        :: else
        fi;
        p++
    :: else -> break
    od
}
