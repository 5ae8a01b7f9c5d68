/* Places in the queue of a name: locks, permits, leadership (SpaceRecipes: PlaceTable, TurnRules, TurnFront, PlaceWait).
 *
 * A process enters with a ticket, and holds at once or waits. A place wants some of the permits; those at the front hold,
 * as many as fit, in the order of their tickets, and none is overtaken. The number of permits may be set while processes
 * hold and wait; a place that wants more than there are is passed over, and its process is woken and gives up. Each
 * transaction that ends a place, or sets the permits, settles the name at its end: it makes holders of those that may hold
 * now, and raises their words. A process waits by registering, looking, and sleeping until its word is raised, or until
 * its time has passed (the first TIMED processes: at any moment). Then it ends its place, unless it was served meanwhile.
 *
 * A holder releases its place, or holds it for good. Up to KILLS processes die between any two steps; their places are
 * ended by another process, at any later time. A setter sets the permits SETS times.
 *
 * Checked when no process can take a step: (1) no living process waits although it holds, may hold, or never can hold; (2) a
 * process that has ended, however, has no place. At each step: (3) what is served fits, beside those that hold;
 * (4) no place is served before an earlier one that can be served.
 *
 * That a raised word wakes its sleeper, also after a kill, is the subject of waiting.pml.
 */
#ifndef USERS
#define USERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef PERMITS
#define PERMITS 1
#endif
#ifndef MOST
#define MOST 1                  /* the most permits that a place wants, and that are set */
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef SETS
#define SETS 0
#endif
#define NOBODY 200

byte permits = PERMITS;
byte next = 1;                  /* the next ticket */
byte ticket[USERS];             /* 0: no place */
byte wants[USERS];
bool holds[USERS];
bool dead[USERS];
bool hasEnded[USERS];
bool registered[USERS];
bool word_[USERS];
byte kills;

#define raise(u) word_[u] = registered[u]

/* The places of the name, in the order of their tickets: those that may hold now do so from now on (`serves`), or are
 * counted in `could`. */
inline walk(serves, could) {
    d_step {
        last = 0;
        sum = 0;
        isClosed = false;
        could = 0;
        do
        :: true ->
            first = NOBODY;
            u = 0;
            do
            :: u < USERS ->
                if
                :: ticket[u] > last && (first == NOBODY || ticket[u] < ticket[first]) -> first = u
                :: else
                fi;
                u++
            :: else -> break
            od;
            u = 0;
            if
            :: first == NOBODY -> break
            :: else
            fi;
            last = ticket[first];
            if
#ifndef WEAK_BEYOND
            :: !holds[first] && wants[first] > permits ->
#ifndef WEAK_TOLD
                if
                :: serves -> raise(first)
                :: else
                fi;
#endif
                skip
#endif
            :: else ->
                isClosed = isClosed || sum + wants[first] > permits;
                if
                :: !isClosed && !holds[first] ->
                    could++;
                    if
                    :: serves -> assert(sum + wants[first] <= permits); holds[first] = true; raise(first)
                    :: else
                    fi
                :: else
                fi;
                sum = sum + wants[first]
            fi
        od;
        first = 0;
        last = 0;
        sum = 0;
        isClosed = false
    }
}

#define WORK byte u, first, last, sum, n; bool isClosed

/* How much those that hold have. */
inline held(result) {
    u = 0;
    result = 0;
    do
    :: u < USERS ->
        if
        :: ticket[u] != 0 && holds[u] -> result = result + wants[u]
        :: else
        fi;
        u++
    :: else -> break
    od;
    u = 0
}

inline end(user) {
    ticket[user] = 0;
    holds[user] = false;
    wants[user] = 0
}

proctype User(byte me) provided (!dead[me]) {
    WORK;
    byte rounds, wish;
    bool isLate;
    do
    :: rounds < ROUNDS ->
        rounds++;
        select (wish : 1 .. MOST);
        atomic {
            if
            :: wish > permits -> wish = 0                       /* refused */
            :: wish <= permits ->
#ifdef WEAK_OVERTAKE
                held(n);
                holds[me] = n + wish <= permits;
                n = 0;
                ticket[me] = next;
                wants[me] = wish;
#else
                ticket[me] = next;
                wants[me] = wish;
                walk(true, n);
                n = 0;
#endif
                next++;
                /* (4) */
                u = 0;
                do
                :: u < USERS ->
                    assert(!(holds[me] && u != me && ticket[u] != 0 && !holds[u] && wants[u] <= permits));
                    u++
                :: else -> break
                od;
                u = 0
            fi
        };
        if
        :: wish == 0
        :: else ->
            wish = 0;
#ifdef WEAK_ORDER
            if
            :: holds[me]
            :: else ->
                atomic { registered[me] = true; word_[me] = false };
                word_[me]
            fi;
#else
            atomic { registered[me] = true; word_[me] = false };
            do
            :: holds[me] || wants[me] > permits -> break
            :: else ->
                if
                :: atomic { word_[me] -> word_[me] = false }    /* looks again */
#ifdef TIMED
                :: me < TIMED -> isLate = true; break
#endif
                fi
            od;
#endif
            atomic { registered[me] = false; word_[me] = false };
            /* Holds it for a while, if it was served; otherwise it gives its place up. */
#ifdef WEAK_STAY
            if
            :: isLate -> break
            :: else
            fi;
#endif
            isLate = false;
            if
            :: atomic { holds[me] ->
                end(me);
#ifndef WEAK_RELEASE
                walk(true, n);
                n = 0;
#endif
                skip }
            :: holds[me] -> false                               /* holds it for good */
            :: atomic { !holds[me] ->
                end(me);
#ifndef WEAK_GIVE_UP
                walk(true, n);
                n = 0;
#endif
                skip }
            fi
        fi
    :: else -> break
    od;
    hasEnded[me] = true
}

inline endDead(user) {
    end(user);
#ifndef WEAK_DEATH
    walk(true, n);
    n = 0;
#endif
    skip
}

/* Any process that notices a death. */
proctype Ender() {
    WORK;
    do
    :: atomic { dead[0] && ticket[0] != 0 -> endDead(0) }
    :: atomic { dead[1] && ticket[1] != 0 -> endDead(1) }
#if USERS > 2
    :: atomic { dead[2] && ticket[2] != 0 -> endDead(2) }
#endif
    od
}

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS -> atomic { select (victim : 0 .. USERS - 1); dead[victim] = true; kills++; victim = 0 }
    :: break
    od
}

proctype Setter() {
    WORK;
    byte sets, number;
    do
    :: sets < SETS ->
        select (number : 1 .. MOST);
        atomic {
            permits = number;
            number = 0;
#ifndef WEAK_PERMITS
            walk(true, n);
            n = 0;
#endif
            sets++
        }
    :: else -> break
    od
}

init {
    WORK;
    byte p;
    atomic {
        do
        :: p < USERS -> run User(p); p++
        :: else -> break
        od;
        run Ender();
        run Killer();
        run Setter();
        p = 0
    };
    timeout;
    walk(false, n);
    assert(n == 0);
    do
    :: p < USERS ->
        assert(!(registered[p] && !dead[p] && (holds[p] || wants[p] > permits)));
        assert(!((hasEnded[p] || dead[p]) && ticket[p] != 0));
        p++
    :: else -> break
    od
}
