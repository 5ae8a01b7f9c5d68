/* Waiting: no wake-up is lost, and with kills none for longer than a tick.
 *
 * The model follows the steps of Sources/SpaceEngine/Slots and Sources/TupleSpace/Waiting: takers look, publish a slot,
 * look again and sleep; writers commit, then grant the tuple to the oldest active taker that may match; a taker that does
 * not take its grant hands it on. A granted taker first looks for what it was granted, and stays granted meanwhile; one that a
 * tick wakes leaves what another was granted until a later tick. A barging taker comes and goes without a slot. The tuples that a taker
 * matches are chosen freely at the start, so one run covers every combination. With WIDE a writer cannot see them (a slot
 * does not show ranges and types), and assumes that every taker matches; CANCELLED=n names a taker that may be cancelled
 * while it sleeps.
 *
 * A writer finds the oldest taker by a table from ticket to slot, which has TABLE entries: it walks from the start on, below
 * which no active taker has its ticket. If there is no start (0), or more than TABLE tickets were given out since, it scans
 * the slots, and sets the start anew. FIRST is the start of the beginning.
 *
 * Checked whenever no process can take a step any more: no taker sleeps beside a committed tuple that it matches. Without
 * KILLS there are no ticks. With KILLS=n up to n processes die, each between any two steps, and the sleepers tick once
 * after the last death.
 *
 * Memory is sequentially consistent here; exchanging the two steps around a fence shows the order that the fence forbids.
 * Each WEAK_… leaves one rule out, and the checker must find a lost wake-up then.
 */

#ifndef TAKERS
#define TAKERS 3
#endif
#ifndef TUPLES
#define TUPLES 2
#endif
#ifndef BARGERS
#define BARGERS 1
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef TABLE
#define TABLE 4
#endif
#ifndef FIRST
#define FIRST 1
#endif

/* Takers that may be stopped for ever: they neither die nor hold the gate. */
#ifndef STOPS
#define STOPS 0
#endif

/* The taker that may be cancelled; none unless a run says so. */
#ifndef CANCELLED
#define CANCELLED TAKERS
#endif

#define ALL ((1 << TUPLES) - 1)
#define NONE TUPLES
#ifdef WIDE
#define SEEN_AS(mask) ALL
#else
#define SEEN_AS(mask) mask
#endif
#define BIT(t) (1 << (t))

/* A run divides either the writers' scan and walk or the takers' falling asleep into steps; dividing both takes too many
 * states. */
#ifdef FINE_SCAN
#define SCAN
#else
#define SCAN atomic
#endif
#ifdef FINE_SLEEP
#define SLEEP
#else
#define SLEEP atomic
#endif

/* Processes, as the gate names its holder: takers, then bargers, then writers; from 1. */
#define PROCESSES (TAKERS + BARGERS + TUPLES)
#define TAKER(i) (i)
#define BARGER(i) (TAKERS + (i))
#define WRITER(t) (TAKERS + BARGERS + (t))

#define FREE 0
#define ACTIVE 1
#define GRANTED 2

/* The database: the commit that LMDB's meta page names, and the one that readers see (mti_txnid comes later). */
byte committed;
byte visible;
byte commits;

/* The control file. */
byte gate;                       /* 0: free; else its holder, plus one */
bool needsRecovery;
byte inUse;
byte nextTicket = 1;
byte start = FIRST;               /* no active taker that sleeps has a smaller ticket; 0: not known */
byte entryTicket[TABLE];         /* the table from ticket to slot: an entry is one word */
byte entrySlot[TABLE];
byte state[TAKERS];
byte payload[TAKERS];
byte ticket[TAKERS];
bool rung[TAKERS];               /* the bell has moved since the taker's last look */
bool sleeping[TAKERS];           /* the flag without which wakers skip the system call */
bool asleep[TAKERS];             /* in futex(2) */

byte match[TAKERS + BARGERS];    /* tuples that it takes */
byte may[TAKERS];                /* tuples that a writer must take it to match: never fewer */

/* Deaths and ticks. */
bool dead[PROCESSES];             /* or stopped */
bool isStopped[PROCESSES];
byte kills;
byte stops;
bool ticking[TAKERS];
bool ticked;

/* Steps that look like one step to every other process, unless the process dies between them. */
#if KILLS || STOPS
#define MORTAL(p) provided (!dead[p])
#define IS_ABANDONED (gate != 0 && dead[gate - 1] && !isStopped[gate - 1])
#define TOGETHER
#define COUNTED 1
#else
#define MORTAL(p)
#define IS_ABANDONED false
#define TOGETHER atomic
#define COUNTED 0
#endif

/* MARK: The gate */

inline ring(i) {
#ifdef WEAK_SLEEP
    if
    :: sleeping[i] -> rung[i] = true; wakes = wakes | BIT(i)
    :: else -> rung[i] = true
    fi
#else
    rung[i] = true;
    if
    :: sleeping[i] -> wakes = wakes | BIT(i)
    :: else
    fi
#endif
}

inline ringEverybody() {
    index = 0;
    do
    :: index < TAKERS ->
        if
        :: state[index] != FREE -> ring(index)
        :: else
        fi;
        index++
    :: else -> index = 0; break
    od
}

/* The flag is raised in the step that marks the mutex consistent: if that process dies before the recovery is done, the
 * next one finds the flag. */
inline acquire(me) {
    atomic {
        gate == 0 || IS_ABANDONED;
        gained(me)
    };
    recoverIfNeeded()
}

inline gained(me) {
#if KILLS
    if
    :: gate != 0 -> needsRecovery = true
    :: else
    fi;
#endif
    gate = me + 1
}

/* An empty write transaction shows readers the last commit; then all waiters are woken. */
inline recoverIfNeeded() {
#if KILLS
    if
    :: needsRecovery ->
#ifndef WEAK_RECOVERY
        visible = committed;
        ringEverybody();
#endif
        needsRecovery = false
    :: else
    fi
#else
    skip
#endif
}

/* The system calls come after the release. */
inline release() {
    gate = 0;
    wake()
}

inline wake() {
    d_step {
        index = 0;
        do
        :: index < TAKERS ->
            if
            :: wakes & BIT(index) -> asleep[index] = false
            :: else
            fi;
            index++
        :: else -> break
        od;
        wakes = 0;
        index = 0
    }
}

/* MARK: Granting */

#define MAY_BE_GRANTED(i, t, younger) (state[i] == ACTIVE && (may[i] & BIT(t)) && ticket[i] > younger)
#define IS_OLDER(i, j) (j == TAKERS || ticket[i] < ticket[j])

#define PLACE(number) ((number) % TABLE)
#define HAS_ENTRY(number) (entryTicket[PLACE(number)] == (number))
#define SLOT_OF(number) entrySlot[PLACE(number)]
#define IS_ACTIVE(number) (HAS_ENTRY(number) && state[SLOT_OF(number)] == ACTIVE && ticket[SLOT_OF(number)] == (number))

/* Whether an entry that the walk has passed may have been replaced by that of a younger ticket. */
#ifdef WEAK_SPAN
#define IS_LONG false
#else
#define IS_LONG (nextTicket - from > TABLE)
#endif

/* A compare-and-swap until the start is no greater. */
inline lower(number) {
    d_step {
        if
        :: start > number -> start = number
        :: else
        fi
    }
}

/* From the start to the oldest active taker that may match. The start then goes up to the oldest active one, if it is still
 * the same. A taker may have become active meanwhile, and not have seen the new start; so what the start has passed is looked
 * at once more. */
inline walk(t, younger) {
    SCAN {
        index = (younger >= from -> younger + 1 : from);
        do
        :: index < limit && best == TAKERS ->
            d_step {
                if
                :: IS_ACTIVE(index) ->
                    if
                    :: first == 0 -> first = index
                    :: else
                    fi;
                    if
                    :: MAY_BE_GRANTED(SLOT_OF(index), t, younger) -> best = SLOT_OF(index)
                    :: else
                    fi
                :: else
                fi
            };
            index++
        :: else -> break
        od;
        index = 0
    };
    scans = IS_LONG;
    if
    :: !scans && younger == 0 ->
        if
        :: first == 0 -> first = limit
        :: else
        fi;
        if
#ifdef WEAK_BLIND
        :: atomic { first > from -> start = first };
#else
        :: atomic { start == from && first > from -> start = first };
#endif
#ifndef WEAK_VERIFY
            SCAN {
                index = from;
                do
                :: index < first ->
                    if
                    :: IS_ACTIVE(index) -> lower(index)
                    :: else
                    fi;
                    index++
                :: else -> break
                od;
                index = 0
            };
#ifndef WEAK_REPLACED
            if
            :: IS_LONG -> lower(from)
            :: else
            fi
#endif
#endif
#ifdef WEAK_BLIND
        :: first <= from
#else
        :: atomic { !(start == from && first > from) -> skip }
#endif
        fi
    :: else
    fi
}

/* The start is set first and lowered to what the scan finds: a taker that becomes active after the scan has passed its slot
 * sees the start. */
inline scan(t, younger) {
#ifndef WEAK_SCAN_START
    atomic {
        if
        :: younger == 0 -> start = limit
        :: else
        fi
    };
#endif
    SCAN {
        best = TAKERS; index = 0;
        do
        :: index < TAKERS ->
            d_step {
                if
                :: MAY_BE_GRANTED(index, t, younger) && IS_OLDER(index, best) -> best = index
                :: else
                fi;
                if
                :: state[index] == ACTIVE && (first == 0 || ticket[index] < first) -> first = ticket[index]
                :: else
                fi
            };
            index++
        :: else -> break
        od;
        index = 0
    };
    if
    :: younger == 0 ->
#ifdef WEAK_SCAN_START
        start = limit;
#endif
        if
        :: first != 0 -> lower(first)
        :: else
        fi
    :: else
    fi
}

inline grant(t, younger) {
    do
    ::
        d_step { best = TAKERS; first = 0; from = start; limit = nextTicket; scans = (from == 0 || nextTicket - from > TABLE) };
        if
        :: !scans -> walk(t, younger)
        :: else
        fi;
        if
        :: scans -> d_step { first = 0; limit = nextTicket }; scan(t, younger)
        :: else
        fi;
        d_step { first = 0; from = 0; limit = 0; scans = false };
        if
        :: best == TAKERS -> best = 0; break
        :: else ->
#ifdef WEAK_GRANT
            /* A taker that is only woken stays the oldest for the next writer too. */
            ring(best); best = 0; break
#else
            if
            :: atomic { state[best] == ACTIVE -> state[best] = GRANTED; payload[best] = t }; ring(best); best = 0; break
            :: atomic { state[best] != ACTIVE -> skip }
            fi
#endif
        fi
    od
}

/* Under the gate, if it can be had in time; otherwise all waiters are woken, which needs no gate. */
inline offer(me, t, younger) {
    if
    :: acquire(me);
        if
        :: committed & BIT(t) -> grant(t, younger)
        :: else
        fi;
        release()
    :: true ->
#ifndef WEAK_OFFER_TIMEOUT
        ringEverybody();
        wake()
#else
        skip
#endif
    fi
}

/* MARK: Looking and taking */

/* LMDB's meta page first, then the word that readers take their transaction from. */
inline commit(tuples) {
    d_step { committed = tuples; commits = commits + COUNTED };
    visible = committed
}

/* The oldest match of a snapshot. A snapshot that is behind the meta page is not used: the look starts over, at last under
 * the gate, where the state that a killed writer left is recovered. Without that a sleeper would have seen the last
 * transaction's number and not its tuple, and no tick would tell it to look again. */
inline look(me) {
#if (KILLS || STOPS) && !defined(WEAK_RENEW)
    do
    :: visible == committed -> break
    :: visible != committed -> acquire(me); assert(visible == committed); release()
    od;
    /* spin lets nothing jump into a d_step. */
    skip;
#endif
    d_step {
        found = 0;
        do
        :: found < TUPLES && !(visible & match[me] & BIT(found)) -> found++
        :: else -> break
        od
    }
}

/* A look for a tuple that was granted: an old snapshot will do, since another look follows if it finds nothing. */
inline lookFor(me, tuple) {
    atomic {
        if
        :: visible & match[me] & BIT(tuple) -> found = tuple
        :: else -> found = NONE
        fi
    }
}

inline remove(me) {
    TOGETHER {
        acquire(me);
        done = (committed & BIT(found)) != 0;
        if
        :: done -> commit(committed & ~BIT(found))
        :: else
        fi;
        release()
    }
}

/* A look after a wait's first passes over what an older taker was granted, who has not begun to look. Where takers are killed or
 * stopped, it does so once, for the time until the next tick. Where none is, it always does: whoever was granted a tuple looks
 * for it, and hands it on. */
#if KILLS || STOPS
#define MAY_LEAVE(tuple) (!(left & BIT(tuple)))
#else
#define MAY_LEAVE(tuple) true
#endif

inline leaveToOlder(me) {
    d_step {
        index = 0;
        do
        :: found != NONE && heeds && index < TAKERS ->
            if
            :: MAY_LEAVE(found) && state[index] == GRANTED && payload[index] == found && ticket[index] < ticket[me] ->
#if (KILLS || STOPS) && !defined(WEAK_LEFT)
                leaving = leaving | BIT(found);
                ticked = false;
#endif
                found++;
                do
                :: found < TUPLES && !(visible & match[me] & BIT(found)) -> found++
                :: else -> break
                od;
                index = 0
            :: else -> index++
            fi
        :: else -> break
        od;
        left = leaving;
        leaving = 0;
        index = 0
    }
}

inline take(me) {
    do
    :: look(me);
        leaveToOlder(me);
        if
        :: found == NONE -> break
        :: else ->
            remove(me);
            if
            :: done -> done = false; break
            :: else
            fi
        fi
    od
}

/* MARK: Processes */

proctype Barger(byte me) MORTAL(me)
{
    byte found, index, wakes, left, leaving;
    bool done, heeds;
    take(me)
}

proctype Writer(byte me; byte tuple) MORTAL(me)
{
    byte index, wakes, best, first, from, limit;
    bool scans;
    acquire(me);
#ifdef WEAK_WRITER_FENCE
    grant(tuple, 0);
#endif
    TOGETHER { commit(committed | BIT(tuple)) };
#ifndef WEAK_WRITER_FENCE
    if
    :: inUse > 0 -> grant(tuple, 0)
    :: else
    fi;
#endif
    release()
}

/* An entry of a younger ticket is never replaced by that of an older one. */
inline enter(i) {
    d_step {
        if
#ifdef WEAK_OLDER
        :: true ->
#else
        :: entryTicket[PLACE(ticket[i])] < ticket[i] ->
#endif
            entryTicket[PLACE(ticket[i])] = ticket[i];
            entrySlot[PLACE(ticket[i])] = i
        :: else
        fi
    }
}

proctype Taker(byte me) MORTAL(me)
{
    byte found, index, wakes, best, other, first, from, limit;
    bool done, scans;
    byte pending = NONE, granted = NONE, left, leaving, seen;
    bool heeds;
    take(me);
    if
    :: found != NONE -> goto gone
    :: else
    fi;
#ifndef WEAK_COUNT
    inUse++;
#endif
#ifdef WEAK_WAITER_FENCE
    take(me);
    if
    :: found != NONE -> goto gone
    :: else
    fi;
#endif
    d_step { ticket[me] = nextTicket; nextTicket++ };
#ifndef WEAK_ENTRY
    enter(me);
#endif
    state[me] = ACTIVE;
#ifdef WEAK_WAITER_FENCE
    goto sleep;
#endif
    goto renew;
again:
    heeds = true;
renew:
    rung[me] = false;
    seen = commits;
    if
    :: atomic { state[me] == GRANTED -> granted = payload[me] };
        lookFor(me, granted);
        granted = NONE;
        if
        :: found != NONE ->
            remove(me);
            if
            :: done -> done = false; goto leave
            :: else -> found = NONE
            fi
        :: else
        fi
    :: atomic { state[me] != GRANTED -> skip }
    fi;
#ifndef WEAK_REARM
    atomic {
        if
        :: state[me] == GRANTED -> state[me] = ACTIVE; pending = payload[me]
        :: else
        fi
    }
#endif
#if !defined(WEAK_LOWER) && !defined(WEAK_LATE)
    /* The start passes a taker that is not active yet, or is granted. So when it is active, and before it looks, it lowers the
     * start if that has passed it. After the look is too late: another taker may have lowered the start meanwhile, and then
     * this one does not notice that a writer has missed it. */
    lower(ticket[me]);
#endif
    take(me);
#ifdef WEAK_REARM
    atomic {
        if
        :: state[me] == GRANTED -> state[me] = ACTIVE; pending = payload[me]
        :: else
        fi
    }
#endif
#ifdef WEAK_COUNT
    if
    :: found == NONE && ticket[me] != 0 -> inUse = inUse + 1
    :: else
    fi;
#endif
    if
    :: found != NONE -> goto leave
    :: else
    fi;
#ifndef WEAK_OFFER
    if
    :: pending != NONE -> offer(me, pending, ticket[me])
    :: else
    fi;
#endif
    pending = NONE;
#ifdef WEAK_LATE
    if
    :: start > ticket[me] -> lower(ticket[me]); goto again
    :: else
    fi;
#endif
#ifdef WEAK_ENTRY
    enter(me);
#endif
sleep:
    if
    :: rung[me] -> goto again
    :: CANCELLED == me -> goto leave
    :: else
    fi;
    SLEEP {
        sleeping[me] = true;
        atomic {
            if
            :: !rung[me] -> asleep[me] = true
            :: else
            fi
        }
    };
    if
    :: !asleep[me]
    :: CANCELLED == me -> asleep[me] = false
    fi;
    sleeping[me] = false;
#if KILLS || STOPS
    if
    :: ticking[me] ->
        ticking[me] = false;
        /* An abandoned gate is taken over; the tick does not wait for a gate that a living process holds. */
        if
        :: atomic { gate == 0 || IS_ABANDONED -> gained(me) };
            recoverIfNeeded();
            release()
        :: atomic { gate != 0 && !IS_ABANDONED -> skip }
        fi;
        other = 0;
        do
        :: other < TAKERS ->
            atomic {
                granted = NONE;
                if
                :: dead[other] && !isStopped[other] && state[other] != FREE ->
                    if
                    :: state[other] == GRANTED -> granted = payload[other]
                    :: else
                    fi;
                    state[other] = FREE
                :: else
                fi
            };
            if
            :: granted != NONE -> offer(me, granted, 0)
            :: else
            fi;
            other++
        :: else -> break
        od;
#ifndef WEAK_TICK
        if
        :: commits != seen || left != 0 -> goto again
        :: else
        fi
#endif
    :: else
    fi;
#endif
    goto sleep;
leave:
    atomic {
        granted = NONE;
        if
        :: state[me] == GRANTED -> granted = payload[me]
        :: else
        fi;
        state[me] = FREE
    };
    inUse--;
#ifndef WEAK_LEAVE
    if
    :: pending != NONE && pending != found -> offer(me, pending, ticket[me])
    :: else
    fi;
    if
    :: granted != NONE && granted != found -> offer(me, granted, ticket[me])
    :: else
    fi;
#endif
gone:
    skip;
    d_step { found = 0; pending = NONE; granted = NONE; left = 0; heeds = false; seen = 0; best = 0; other = 0 }
}

#if KILLS || STOPS
proctype Killer()
{
    byte victim;
    do
    :: stops < STOPS ->
        select(victim : 0 .. TAKERS - 1);
        if
        :: atomic { gate != victim + 1 -> dead[victim] = true; isStopped[victim] = true; stops++; ticked = false }
        :: true
        fi
    :: kills < KILLS ->
        select(victim : 0 .. PROCESSES - 1);
        atomic { dead[victim] = true; kills++; ticked = false }
    :: break
    od
}
#endif

/* `timeout` is true when no other process can take a step. */
proctype Judge()
{
    byte i;
#if KILLS || STOPS
    do
    :: timeout && !ticked ->
        atomic {
            ticked = true;
            i = 0;
            do
            :: i < TAKERS ->
                if
                :: asleep[i] && !dead[i] -> ticking[i] = true; asleep[i] = false
                :: else
                fi;
                i++
            :: else -> break
            od
        }
    :: timeout && ticked -> break
    od;
#else
    timeout;
#endif
    i = 0;
    do
    :: i < TAKERS ->
        assert(!(asleep[i] && !dead[i] && (committed & match[i])));
        i++
    :: else -> break
    od
}

init {
    byte i, mask;
    atomic {
        do
        :: i < TAKERS + BARGERS ->
            select(mask : 1 .. ALL);
            match[i] = mask;
            if
            :: i < TAKERS -> may[i] = SEEN_AS(mask)
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < TAKERS -> run Taker(TAKER(i)); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < BARGERS -> run Barger(BARGER(i)); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < TUPLES -> run Writer(WRITER(i), i); i++
        :: else -> break
        od;
        run Judge();
#if KILLS || STOPS
        run Killer()
#endif
    }
}
