/* A writer that sleeps at the full ring of the near end, until takers have made half of it free
 * (Engine.waitForPlace, NearRing).
 *
 * Writers write WRITES tuples each. If the ring is full, a writer notes, under the gate, that it is about to sleep, reads
 * the word, releases the gate, and sleeps while the word has that value. Takers take TAKES tuples each; a take lowers the
 * number of used places if it takes the oldest tuple, else its place stays used (STUCK: the oldest tuple is one that no
 * process takes). A process that has freed places looks, still under the gate, whether a writer waits and at most HALF
 * places are used; then it clears the flag and raises the word, and after the release of the gate it wakes all. A flusher
 * takes the ring over, which frees all places. The next holder of the gate after a killed one raises the word and wakes all
 * in any case. Up to KILLS processes die between any two steps.
 *
 * TIMED: a sleep has a time limit, and a writer whose sleep ends so moves the ring to LMDB itself.
 *
 * Checked when no process can take a step: (1) no living writer sleeps although at most HALF places are used; (2) with
 * CHECK_ANY, none sleeps although a place is free; (3) with CHECK_END, none sleeps at all.
 */
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef WRITES
#define WRITES 3
#endif
#ifndef TAKERS
#define TAKERS 1
#endif
#ifndef TAKES
#define TAKES 3
#endif
#ifndef FLUSHERS
#define FLUSHERS 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef RING
#define RING 2
#endif
#ifndef HALF
#define HALF 1
#endif
#define PROCESSES (WRITERS + TAKERS + FLUSHERS)
#define MORTAL(p) provided (!dead[p])

byte gate;
bool needsRecovery;
byte used;                      /* places, as the head and the tail say */
byte inRing;                    /* tuples to take */
byte word_;                     /* the futex */
bool flag;                      /* a writer sleeps, or is about to */
bool asleep[PROCESSES + 1];
bool dead[PROCESSES + 1];
byte kills;

inline acquire() {
    atomic {
        gate == 0 || dead[gate - 1];
        if
        :: gate != 0 -> needsRecovery = true
        :: else
        fi;
        gate = me + 1
    };
    if
    :: needsRecovery ->
        flag = false;
        word_++;
        mustWake = true;
        needsRecovery = false
    :: else
    fi
}

/* Under the gate, after a change that may have freed places. */
inline raise() {
#ifdef WEAK_CROSSING
    if
    :: used == HALF && flag -> flag = false; word_++; mustWake = true
    :: else
    fi
#else
    if
    :: used <= HALF && flag -> flag = false; word_++; mustWake = true
    :: else
    fi
#endif
}

/* Releases the gate, and wakes the sleepers if the word was raised. */
inline release() {
    gate = 0;
    if
    :: mustWake ->
        d_step {
            mustWake = false;
            i = 0;
            do
            :: i < PROCESSES ->
                if
                :: asleep[i] ->
                    asleep[i] = false;
#ifdef WEAK_ONE
                    i = PROCESSES
#endif
                :: else
                fi;
                if
                :: i < PROCESSES -> i++
                :: else
                fi
            :: else -> break
            od;
            i = 0
        }
    :: else
    fi
}

inline sleep() {
    atomic {
        if
        :: word_ == seen -> asleep[me] = true
        :: else
        fi
    };
    if
    :: !asleep[me]
#ifdef TIMED
    :: atomic { asleep[me] -> asleep[me] = false; isLate = true }   /* at any time */
#endif
    fi;
    seen = 0
}

proctype Writer(byte me) MORTAL(me) {
    byte written, seen, i;
    bool isLate, mustWake;
    do
    :: written < WRITES ->
        acquire();
        if
        :: used < RING -> used++; inRing++; written++; isLate = false; release()
        :: used == RING && isLate ->
            /* Moves the ring to LMDB. */
            d_step { used = 0; inRing = 0 };
            raise();
            used++; inRing++; written++; isLate = false;
            release()
        :: used == RING && !isLate ->
#ifdef WEAK_FLAG
            seen = word_;
            release();
            flag = true;
#else
            flag = true;
#ifdef WEAK_READ
            release();
            seen = word_;
#else
            seen = word_;
            release();
#endif
#endif
            sleep()
        fi
    :: else -> break
    od
}

proctype Taker(byte me) MORTAL(me) {
    byte taken, i;
    bool mustWake;
    do
    :: taken < TAKES ->
        inRing > 0;
        acquire();
        if
        :: inRing > 0 ->
#ifdef WEAK_BEFORE
            raise();
#endif
            d_step {
                inRing--;
#ifdef STUCK
                if
                :: used > inRing + 1 -> used = inRing + 1
                :: else
                fi
#else
                used = inRing
#endif
            };
#ifndef WEAK_BEFORE
            raise();
#endif
            taken++
        :: else
        fi;
        release()
    :: else -> break
    od
}

proctype Flusher(byte me) MORTAL(me) {
    byte i;
    bool mustWake;
    acquire();
    d_step { used = 0; inRing = 0 };
#ifndef WEAK_FLUSH
    raise();
#endif
    release()
}

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS ->
        atomic {
            select (victim : 0 .. PROCESSES - 1);
            dead[victim] = true;
            kills++;
            victim = 0
        }
    :: break
    od
}

init {
    byte p;
    atomic {
#ifdef STUCK
        used = 1;
#endif
        do
        :: p < WRITERS -> run Writer(p); p++
        :: p >= WRITERS && p < WRITERS + TAKERS -> run Taker(p); p++
        :: p >= WRITERS + TAKERS && p < PROCESSES -> run Flusher(p); p++
        :: p == PROCESSES -> break
        od;
        run Killer();
        p = 0
    }
    timeout;
    atomic {
        p = 0;
        do
        :: p < WRITERS ->
#ifdef CHECK_END
            assert(!asleep[p] || dead[p]);
#endif
#ifdef CHECK_ANY
            assert(!asleep[p] || dead[p] || used == RING);
#endif
            assert(!asleep[p] || dead[p] || used > HALF);
            p++
        :: else -> break
        od
    }
}
