/* The ticker's seat and the deputy's: while a living process waits, a living process ticks, and another one that waits or
 * has waited looks whether the ticker is stopped.
 *
 * The model follows the steps of Sources/TupleSpace/Waiting/Upkeep+Ticking.swift. Processes begin waits, look at the
 * seat, take it or follow its holder, end waits, give up the seat, and leave the namespace. Up to KILLS processes die, each
 * between any two steps. A process that follows another hears its end; that is the kernel's part (a pidfd). Up to STOPS
 * processes stop for ever, and no process hears that: the deputy finds a stopped ticker, and the ticker a stopped deputy.
 * The other looks by the clock, which find every fault in the end, are left out: what is shown here holds without them.
 * Only those looks find that the ticker and the deputy are both stopped, so at most one process stops, and not in the
 * instant between giving up a seat and the nudge, nor between taking the ticker's seat and giving up the deputy's.
 *
 * Checked: when no process can take a step any more and a process that is neither dead nor stopped waits, such a process
 * that has the namespace open has the seat; if it is another one than the waiter, the same holds for the deputy's seat.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef WAITS
#define WAITS 2
#endif
/* How many of the processes may end their waits. */
#ifndef SHORT
#define SHORT PROCESSES
#endif

byte seat;                       /* the process that ticks, plus one; 0: none */
byte deputy;                     /* the process that looks whether that one is stopped, plus one; 0: none */
byte inUse;                      /* how many processes wait */
bool waits[PROCESSES];
bool stays[PROCESSES];           /* the present wait does not end */
bool left[PROCESSES];
bool dead[PROCESSES];
bool stopped[PROCESSES];
bool busy[PROCESSES];            /* has changed a seat, and not nudged yet */
byte follows[PROCESSES];         /* the ticker whose end it hears, plus one */
byte followsDeputy[PROCESSES];   /* the deputy whose end it hears, plus one */
bool isFollowing[PROCESSES];     /* what the event loop has noted */
bool mustLook[PROCESSES];
bool nudged[PROCESSES];
byte kills;
byte stops;

#define MORTAL(p) provided (!dead[p] && !stopped[p])

inline take(old) {
    atomic {
        if
        :: seat == old -> seat = me + 1; mustLook[me] = false; busy[me] = (deputy == me + 1)
        :: else        -> mustLook[me] = true          /* another was quicker: looks again at the next tick */
        fi
    }
}

inline takeDeputy(old) {
    atomic {
        if
        :: deputy == old -> deputy = me + 1
        :: else          -> mustLook[me] = true
        fi
    }
}

#define HAS_NEW_TICKER(p) (seat != follows[p] || deputy == 0 || deputy != p + 1 && deputy != followsDeputy[p])

/* A process that follows looks at the deputy's seat. */
inline lookAtDeputy() {
    other = deputy;
    if
    :: other == me + 1 -> skip
    :: other == 0 || other != me + 1 && (left[other - 1] || dead[other - 1]) -> takeDeputy(other)
    :: else ->
        followsDeputy[me] = other;
        if
        :: dead[other - 1] -> takeDeputy(other)
        :: else
        fi
    fi;
    other = 0
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
        isFollowing[me] = (seat != me + 1);
        if
        :: isFollowing[me] -> lookAtDeputy()
        :: else
        fi;
#ifndef WEAK_NOTE
        if
        :: seat != me + 1 && HAS_NEW_TICKER(me) -> mustLook[me] = true
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
    :: seen < PROCESSES -> atomic { if :: waits[seen] -> nudged[seen] = true :: else fi; seen++ }
    :: else -> break
    od;
    atomic { seen = 0; busy[me] = false }
}

/* The event loop of a process, and its waits. */
proctype Loop(byte me) MORTAL(me) {
    byte seen, begun, other;
    do
    :: !waits[me] && !left[me] && begun < WAITS ->
        atomic {
            begun++;
            if
            :: stays[me] = true
            :: me < SHORT -> stays[me] = false
            fi;
            waits[me] = true;
            inUse++;
            mustLook[me] = true
        }
    :: waits[me] && mustLook[me] -> look()
#ifndef WEAK_STOPPED_TICKER
    :: deputy == me + 1 && !left[me] && inUse > 0 && seat != 0 && seat != me + 1 && stopped[seat - 1] ->
        /* The ticks have not been counted on. */
        atomic { if :: seat != 0 && stopped[seat - 1] -> seat = me + 1; busy[me] = true :: else fi }
#endif
#ifndef WEAK_STOPPED_DEPUTY
    :: seat == me + 1 && !left[me] && deputy != 0 && stopped[deputy - 1] ->
        /* The looks have not been counted on. */
        atomic { if :: deputy != 0 && stopped[deputy - 1] -> deputy = 0; busy[me] = true :: else fi };
#ifndef WEAK_RELIEF
        nudge()
#endif
#endif
#ifndef WEAK_BOTH
    :: seat == me + 1 && deputy == me + 1 && !left[me] ->
        /* The deputy has become the ticker. */
        atomic { deputy = 0; busy[me] = true };
        nudge()
#endif
    :: waits[me] && !stays[me] -> atomic { waits[me] = false; inUse--; mustLook[me] = false }
    :: (seat == me + 1 || deputy == me + 1) && !waits[me] && !left[me] && inUse == 0 ->
        /* Gives up the seats, because no process waits. */
        atomic { if :: seat == me + 1 -> seat = 0; busy[me] = true :: else fi };
        atomic { if :: deputy == me + 1 -> deputy = 0; busy[me] = true :: else fi };
#ifndef WEAK_RESIGN
        nudge()
#endif
    :: !waits[me] && !left[me] && begun == WAITS ->
        /* Leaves, in this order: the seats, a nudge for all, the session. */
        atomic {
            if
            :: seat == me + 1 -> seat = 0; seen = 1; busy[me] = true
            :: else           -> seen = 0
            fi
        };
        atomic { if :: deputy == me + 1 -> deputy = 0; seen = 1; busy[me] = true :: else fi };
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
    :: atomic {
        nudged[me] ->
        nudged[me] = false;
        if
#ifdef WEAK_EMPTY
        :: isFollowing[me] && (seat == 0 || deputy == 0) -> mustLook[me] = true
#else
        :: isFollowing[me] && HAS_NEW_TICKER(me) -> mustLook[me] = true
#endif
        :: else
        fi
    }
    od
}

proctype Killer() {
    byte victim, other;
    do
    :: kills < KILLS ->
        atomic {
            select (victim : 0 .. PROCESSES - 1);
            if
            :: !dead[victim] ->
                dead[victim] = true;
                kills++;
                if :: waits[victim] -> inUse-- :: else fi;   /* its slot is swept at a tick */
                other = 0;
                do
                :: other < PROCESSES ->
                    if
                    :: follows[other] == victim + 1 -> mustLook[other] = true
#ifndef WEAK_DEPUTY_UNHEARD
                    :: followsDeputy[other] == victim + 1 -> mustLook[other] = true
#endif
                    :: else
                    fi;
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

proctype Stopper() {
    byte victim;
    do
    :: stops < STOPS ->
        atomic {
            select (victim : 0 .. PROCESSES - 1);
            if
            :: !busy[victim] && !dead[victim] -> stopped[victim] = true; stops++
            :: else
            fi
        }
    :: break
    od
}

#define WORKS(p) (!dead[p] && !stopped[p] && !left[p])

init {
    byte p;
    atomic {
        do
        :: p < PROCESSES -> run Loop(p); run Waiter(p); p++
        :: else -> break
        od;
        if :: KILLS > 0 -> run Killer() :: else fi;
        if :: STOPS > 0 -> run Stopper() :: else fi
    }
    timeout;
    p = 0;
    do
    :: p < PROCESSES ->
        if
        :: waits[p] && WORKS(p) ->
            assert(seat != 0 && WORKS(seat - 1));
            assert(seat == p + 1 || deputy != 0 && deputy != seat && WORKS(deputy - 1))
        :: else
        fi;
        p++
    :: else -> break
    od
}
