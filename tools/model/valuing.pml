/* A value with a version: a counter, a latch, a cell (SpaceRecipes/Values/ObjectState.swift, TupleSpace/Cells).
 *
 * Each change is one transaction: it compares, if it was asked to, stores the value with the next version, and raises the
 * words of those that are registered for the object. A process that waits for a bound registers, looks, and sleeps until
 * its word is raised; an observer does so for any version that is later than the last one it has seen. A process that
 * modifies a value reads it with its version, and stores what it made of it only if the version is the same; if not, it
 * begins again. Removal is a change too; the value then begins with 0, but no version comes again.
 *
 * Checked when no process can take a step: (1) nobody waits for a bound that the value has, and each observer has
 * seen the last version; (2) the value is the sum of what was added since it was removed: no addition is lost.
 *
 * That a raised word wakes its sleeper, also after a kill, is the subject of waiting.pml.
 */
#ifndef ADDERS
#define ADDERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef WAITERS
#define WAITERS 1               /* for the bound */
#endif
#ifndef OBSERVERS
#define OBSERVERS 0
#endif
#ifndef REMOVALS
#define REMOVALS 0
#endif
#define ALL (WAITERS + OBSERVERS)

byte value;
byte version;
byte latest;                    /* the namespace's number of changes, from which versions come */
byte sum;
bool registered[ALL + 1];
bool word_[ALL + 1];
byte seen[ALL + 1];             /* the version that an observer has seen */

#define BOUND (ADDERS * ROUNDS)

/* ObjectState.change: the only function that stores a value. */
inline store(new) {
    value = new;
    latest++;
    version = latest;
#ifdef WEAK_VERSION
    if
    :: new == 0 -> version = 0
    :: else
    fi;
#endif
#ifndef WEAK_NOTE
    k = 0;
    do
    :: k < ALL -> word_[k] = registered[k]; k++
    :: else -> break
    od;
    k = 0
#endif
}

/* Reads, computes, and stores if nothing has changed. */
proctype Adder() {
    byte k, rounds, was, known;
    do
    :: rounds < ROUNDS ->
        atomic { was = value; known = version };
        if
#ifdef WEAK_COMPARE
        :: atomic { true -> store(was + 1); sum++; rounds++ }
#elif defined(WEAK_VALUE)
        /* Compares the value, and not its version. */
        :: atomic { value == was -> assert(version == known); store(was + 1); sum++; rounds++ }
        :: atomic { value != was -> skip }
#else
        :: atomic { version == known -> store(was + 1); sum++; rounds++ }
        :: atomic { version != known -> skip }
#endif
        fi;
        was = 0;
        known = 0
    :: else -> break
    od
}

proctype Remover() {
    byte k, removals;
    do
    :: removals < REMOVALS ->
        atomic {
            if
            :: version != 0 -> store(0); sum = 0
            :: else
            fi;
            skip
        };
        removals++
    :: else -> break
    od
}

/* Waits for the bound, or for any later version. */
#define IS_THERE(w) (w < WAITERS && value >= BOUND || w >= WAITERS && version > seen[w])

proctype Waiter(byte me) {
    do
    :: true ->
#ifdef WEAK_ORDER
        if
        :: IS_THERE(me)
        :: else ->
            atomic { registered[me] = true; word_[me] = false };
            word_[me]
        fi;
#else
        atomic { registered[me] = true; word_[me] = false };
        do
        :: IS_THERE(me) -> break
        :: else ->
            atomic { word_[me] -> word_[me] = false }           /* looks again */
        od;
#endif
        registered[me] = false;
        if
        :: me < WAITERS -> break
        :: me >= WAITERS -> seen[me] = version
        fi
    od
}

init {
    byte p;
    atomic {
        p = 0;
        do
        :: p < ADDERS -> run Adder(); p++
        :: else -> break
        od;
        p = 0;
        do
        :: p < ALL -> run Waiter(p); p++
        :: else -> break
        od;
        run Remover();
        p = 0
    };
    timeout;
    assert(value == sum);
    do
    :: p < WAITERS -> assert(!(registered[p] && IS_THERE(p))); p++
    :: p >= WAITERS && p < ALL -> assert(seen[p] == latest); p++
    :: else -> break
    od
}
