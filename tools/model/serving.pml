/* A work queue: who waits for an item, for room, or until there is an item, is never left beside what it could have
 * (SpaceRecipes/WorkQueue: QueueTable.settle, noteSooner, Snapshot.nextDue, QueueWait, RoomWait, ItemWait).
 *
 * Each item is absent, ready, delayed until a time, taken until a time (its time to run), or buried. Each transaction
 * changes items, takers or the settings, and settles the queue at its end: it returns what is overdue, makes ready what is
 * due, gives ready items to the waiting takers in the order of their tickets, and raises the words of those that wait for
 * room or look for an item. What becomes available by time alone wakes nobody. So a sleeper reads the next such time
 * before it sleeps, and sleeps no longer; who makes that time earlier wakes it. A wait is a step (which may write), then
 * the registration, a look, and the sleep until the word is raised or the time is over.
 *
 * Takers take ROUNDS items each, and complete, release, delay, extend or bury them, or hold them for good. Up to KILLS
 * takers die between any two steps; what a dead taker had or waited for is ended by another process at any later time (a
 * tick). A roomer puts an item, and waits for room; a looker waits until there is an item. A ruler pauses until a time or
 * for good, ends a pause, raises the bound and kicks a buried item, at most RULINGS times. The clock goes from 0 to LAST.
 *
 * Checked when no process can take a step, which includes that the clock has come to LAST: (1) no living taker sleeps
 * beside an item that is ready, or due, or overdue, unless the queue is paused; (2) no roomer sleeps although there is
 * room, or an overdue item whose return buries it; (3) no looker sleeps although a taker could have an item. At each
 * step: (4) an item is taken by one taker at most, and ends by the one that has it, within its time.
 *
 * That a raised word wakes its sleeper, also after a kill, is the subject of waiting.pml.
 */
#ifndef TAKERS
#define TAKERS 1
#endif
#ifndef ROOMERS
#define ROOMERS 0
#endif
#ifndef LOOKERS
#define LOOKERS 0
#endif
#ifndef ITEMS
#define ITEMS 2                 /* which are put by a putter */
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef RULINGS
#define RULINGS 0
#endif
#ifndef BOUND
#define BOUND 9                 /* of items that are not buried */
#endif
#ifndef DELIVERIES
#define DELIVERIES 9            /* as many returns bury an item */
#endif
#ifndef RUN
#define RUN NEVER               /* a taker's time to run */
#endif
#ifndef LAST
#define LAST 2
#endif
#define NEVER 100
#define ALL (ITEMS + ROOMERS)
#define WAITERS (TAKERS + ROOMERS + LOOKERS)
#define ABSENT 0
#define READY 1
#define DELAYED 2
#define TAKEN 3
#define BURIED 4
#define NOBODY 200

byte now;
byte state[ALL];
byte at[ALL];                   /* when it is ready, or when its time to run is over */
byte returns[ALL];
byte paused;                    /* until then */
byte bound = BOUND;
byte next = 1;                  /* the next ticket */
byte ticket[TAKERS];            /* 0: the taker has no place */
byte has[TAKERS];               /* the item, or NOBODY */
bool unseen[TAKERS];            /* served, and has not looked since */
bool dead[TAKERS + 1];
byte due[WAITERS];              /* until then it sleeps */
bool registered[WAITERS];
bool word_[WAITERS];
byte kills;

#define isPaused (paused > now)

inline raise(w) { word_[w] = registered[w] }

/* Who waits for room or for an item looks itself. */
inline noteObject() {
    k = TAKERS;
    do
    :: k < WAITERS -> raise(k); k++
    :: else -> break
    od;
    k = 0
}

/* All sleepers look again: there may be something sooner than they know. */
inline noteSooner() {
    noteObject();
    k = 0;
    do
    :: k < TAKERS ->
        if
        :: ticket[k] != 0 && has[k] == NOBODY -> raise(k)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* The earliest time among the items of a state. */
inline earliest(wanted, result) {
    k = 0;
    do
    :: k < ALL ->
        if
        :: state[k] == wanted && at[k] < result -> result = at[k]
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* Snapshot.nextDue: when takers can get more by time alone; 0: now. */
inline nextDue(result) {
    result = NEVER;
    if
#ifdef WEAK_PAUSE
    :: isPaused
#else
    :: isPaused -> result = paused
#endif
    :: else ->
        k = 0;
        do
        :: k < ALL ->
            if
            :: state[k] == READY -> result = 0
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0;
        earliest(DELAYED, result);
#ifndef WEAK_RUNNING
        earliest(TAKEN, result);
#endif
    fi
}

/* QueueTable.put: an item gets a state with a time. */
inline put(item, wanted, time) {
    soonest = NEVER;
    earliest(wanted, soonest);
    state[item] = wanted;
    at[item] = time;
#ifndef WEAK_SOONER
    if
    :: time < soonest -> noteSooner()
    :: else
    fi;
#endif
    soonest = 0
}

/* Puts back what was taken: ready from a time on, or buried. */
inline giveBack(item, time, counts) {
    if
    :: counts -> returns[item]++
    :: else
    fi;
    if
    :: returns[item] >= DELIVERIES -> put(item, BURIED, NEVER)
    :: returns[item] < DELIVERIES && time > now -> put(item, DELAYED, time)
    :: returns[item] < DELIVERIES && time <= now -> put(item, READY, NEVER)
    fi
}

/* QueueTable.settle. */
inline settle() {
    d_step {
        noteObject();
        /* What is overdue returns, and its taker's place ends. */
        n = 0;
        do
        :: n < ALL ->
            if
            :: state[n] == TAKEN && at[n] <= now ->
                t = 0;
                do
                :: t < TAKERS ->
                    if
                    :: has[t] == n && ticket[t] != 0 -> ticket[t] = 0; giveBack(n, 0, !unseen[t])
                    :: else
                    fi;
                    t++
                :: else -> break
                od;
                t = 0
            :: else
            fi;
            n++
        :: else -> break
        od;
        n = 0;
        do
        :: !isPaused ->
            /* The waiting taker with the first ticket, and an item that is ready or due. */
            first = NOBODY;
            t = 0;
            do
            :: t < TAKERS ->
                if
                :: ticket[t] != 0 && has[t] == NOBODY && (first == NOBODY || ticket[t] < ticket[first]) -> first = t
                :: else
                fi;
                t++
            :: else -> break
            od;
            t = 0;
            n = 0;
            do
            :: n < ALL && !(state[n] == READY || state[n] == DELAYED && at[n] <= now) -> n++
            :: else -> break
            od;
            if
            :: first != NOBODY && n < ALL ->
                has[first] = n;
                unseen[first] = true;
                put(n, TAKEN, (RUN == NEVER -> NEVER : now + RUN));
                raise(first);
                n = 0
            :: else -> n = 0; break
            fi
        :: else -> break
        od;
        first = 0
    }
}

#define WORK byte n, t, k, first, soonest

/* A sleep: registered, looked, and then until the word is raised or the time is over. */
#define IS_OVER(w) (word_[w] || due[w] <= now)

proctype Taker(byte me) provided (!dead[me]) {
    WORK;
    byte rounds, found, mine;
    do
    :: rounds < ROUNDS ->
        /* Enters the queue. */
        atomic {
            ticket[me] = next;
            next++;
            has[me] = NOBODY;
            settle()
        };
        do
        :: atomic { ticket[me] == 0 -> break }                  /* the item went before it was seen: it enters again */
        :: atomic { ticket[me] != 0 && has[me] != NOBODY -> unseen[me] = false; break }
        :: atomic { ticket[me] != 0 && has[me] == NOBODY ->
            nextDue(found);
            if
            :: found <= now -> settle()
            :: else
            fi };
            if
            :: ticket[me] == 0 || has[me] != NOBODY
            :: else ->
                atomic { nextDue(found); due[me] = found; found = 0 };
#ifdef WEAK_ORDER
                if
                :: ticket[me] != 0 && has[me] == NOBODY ->
                    atomic { registered[me] = true; word_[me] = false };
                    IS_OVER(me)
                :: else
                fi;
#else
                atomic { registered[me] = true; word_[me] = false };
                do
                :: atomic {
                    nextDue(found);
#ifdef WEAK_LOOK
                    found = NEVER;
#endif
                    if
                    :: ticket[me] == 0 || has[me] != NOBODY || found < due[me] -> found = 0; break
                    :: else -> found = 0
                    fi }
                    if
                    :: word_[me] -> word_[me] = false           /* looks again */
                    :: !word_[me] && due[me] <= now -> break
                    fi
                od;
#endif
                atomic { registered[me] = false; word_[me] = false }
            fi
        od;
        if
        :: ticket[me] == 0
        :: else ->
            mine = has[me];
            rounds++;
            if
            :: true -> atomic {                                 /* completes, buries, releases, delays it */
                if
#ifndef WEAK_OVERDUE
                :: ticket[me] != 0 && has[me] == mine && at[mine] > now ->
#else
                :: ticket[me] != 0 && has[me] == mine ->
#endif
                    assert(state[mine] == TAKEN && at[mine] > now);
                    ticket[me] = 0;
                    if
                    :: put(mine, ABSENT, NEVER)
                    :: put(mine, BURIED, NEVER)
                    :: true -> giveBack(mine, 0, true)
                    :: true -> giveBack(mine, now + 1, true)
                    fi;
                    has[me] = NOBODY;
#ifdef WEAK_LEAVE
                    skip
#else
                    settle()
#endif
                :: else -> ticket[me] = 0; has[me] = NOBODY; settle()
                fi }
            :: atomic {                                         /* extends it, and holds it until it is over */
                ticket[me] != 0 && has[me] == mine && at[mine] < NEVER && at[mine] > now ->
                put(mine, TAKEN, at[mine] + 1);
                settle() };
                break
            :: break                                            /* holds it for good */
            fi;
            mine = 0
        fi
    :: else -> break
    od
}

proctype Putter() {
    WORK;
    byte item;
    do
    :: item < ITEMS ->
        atomic {
            if
            :: put(item, READY, NEVER)
            :: put(item, DELAYED, now + 1)
            :: put(item, DELAYED, now + 2)
            fi;
#ifndef WEAK_PUT
            settle();
#endif
            item++
        }
    :: else -> break
    od
}

/* Counts the items that take room. */
inline count(result) {
    k = 0;
    result = 0;
    do
    :: k < ALL ->
        if
        :: state[k] != ABSENT && state[k] != BURIED -> result++
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

proctype Roomer(byte me) {
    WORK;
    byte found;
    do
    :: atomic {
        /* Each attempt is a transaction, which returns what is overdue. */
        settle();
        count(found);
        if
        :: found < bound -> put(ITEMS + me - TAKERS, READY, NEVER); settle(); found = 0; break
        :: else -> found = 0
        fi };
        atomic {
            due[me] = NEVER;
#ifndef WEAK_ROOM
            earliest(TAKEN, due[me])
#endif
        };
        atomic { registered[me] = true; word_[me] = false };
        do
        :: atomic {
            count(found);
            n = NEVER;
#ifndef WEAK_ROOM
            earliest(TAKEN, n);
#endif
            if
            :: found < bound || n < due[me] -> found = 0; n = 0; break
            :: else -> found = 0; n = 0
            fi }
            if
            :: word_[me] -> word_[me] = false
            :: !word_[me] && due[me] <= now -> break
            fi
        od;
        atomic { registered[me] = false; word_[me] = false }
    od
}

proctype Looker(byte me) {
    WORK;
    byte found;
    do
    :: atomic {
        nextDue(found);
        if
        :: found <= now && !isPaused -> settle(); nextDue(found)
        :: else
        fi;
        if
        :: found <= now && !isPaused -> found = 0; break
        :: else -> due[me] = found; found = 0
        fi };
        atomic { registered[me] = true; word_[me] = false };
        do
        :: atomic {
            nextDue(found);
            if
            :: found < due[me] -> found = 0; break
            :: else -> found = 0
            fi }
            if
            :: word_[me] -> word_[me] = false
            :: !word_[me] && due[me] <= now -> break
            fi
        od;
        atomic { registered[me] = false; word_[me] = false }
    od
}

/* Ends the place of a dead taker. */
inline endPlace(d) {
    ticket[d] = 0;
    if
    :: has[d] != NOBODY && state[has[d]] == TAKEN -> giveBack(has[d], 0, !unseen[d])
    :: else
    fi;
    has[d] = NOBODY;
#ifndef WEAK_DEATH
    settle();
#endif
    skip
}

/* Any process that notices a death. */
proctype Ender() {
    WORK;
    do
    :: atomic { dead[0] && ticket[0] != 0 -> endPlace(0) }
#if TAKERS > 1
    :: atomic { dead[1] && ticket[1] != 0 -> endPlace(1) }
#endif
    od
}

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS -> atomic { select (victim : 0 .. TAKERS - 1); dead[victim] = true; kills++; victim = 0 }
    :: break
    od
}

/* After new settings. */
inline ruled() {
    settle();
#ifndef WEAK_RULED
    noteSooner();
#endif
    skip
}

proctype Ruler() {
    WORK;
    byte rulings;
    do
    :: rulings < RULINGS ->
        atomic {
            if
            :: paused = NEVER; ruled()
            :: paused = now + 1; ruled()
            :: paused = 0; ruled()
            :: bound = bound + 1; ruled()
            :: true ->                                          /* kicks a buried item */
                n = 0;
                do
                :: n < ALL && state[n] != BURIED -> n++
                :: else -> break
                od;
                if
                :: n < ALL ->
                    put(n, READY, NEVER);
                    n = 0;
#ifndef WEAK_KICK
                    settle();
#endif
                :: else -> n = 0
                fi
            fi;
            rulings++
        }
    :: else -> break
    od
}

proctype Clock() {
    do
    :: atomic { now < LAST -> now++ }
    :: now == LAST -> break
    od
}

init {
    byte p, i, c;
    bool isThere, mayBury;
    atomic {
        p = 0;
        do
        :: p < TAKERS -> has[p] = NOBODY; run Taker(p); p++
        :: p >= TAKERS && p < TAKERS + ROOMERS -> run Roomer(p); p++
        :: p >= TAKERS + ROOMERS && p < WAITERS -> run Looker(p); p++
        :: else -> break
        od;
        run Putter();
        run Ender();
        run Killer();
        run Ruler();
        run Clock()
    };
    timeout;
    assert(now == LAST);
    d_step {
        i = 0;
        do
        :: i < ALL ->
            if
            :: state[i] == READY || state[i] == DELAYED && at[i] <= now -> isThere = true
            :: state[i] == TAKEN && at[i] <= now -> isThere = true; mayBury = mayBury || returns[i] + 1 >= DELIVERIES
            :: else
            fi;
            if
            :: state[i] != ABSENT && state[i] != BURIED -> c++
            :: else
            fi;
            i++
        :: else -> break
        od;
        p = 0;
        do
        :: p < TAKERS ->
            assert(!(registered[p] && !dead[p] && ticket[p] != 0 && has[p] == NOBODY && isThere && !isPaused));
            assert(!(dead[p] && ticket[p] != 0));
            i = 0;
            do
            :: i < TAKERS -> assert(!(i != p && ticket[i] != 0 && ticket[p] != 0 && has[i] == has[p] && has[i] != NOBODY)); i++
            :: else -> break
            od;
            p++
        :: p >= TAKERS && p < TAKERS + ROOMERS -> assert(!(registered[p] && (c < bound || mayBury))); p++
        :: p >= TAKERS + ROOMERS && p < WAITERS -> assert(!(registered[p] && isThere && !isPaused)); p++
        :: else -> break
        od
    }
}
