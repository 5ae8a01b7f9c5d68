/* Members: the claims of a dead member return, those of a living one do not, and no tuple is completed twice.
 *
 * Members, sessions and upkeep of a namespace that several machines share through etcd. A transaction is one step on
 * the rows, and fetches the pen: appending.pml shows that an entry stands on the state that it was made from. The
 * members' keys are in etcd and each machine sees them late. Workers open a session, claim a tuple, and complete the
 * claim, perhaps late. Machines do the upkeep: they commit the death of a member whose key is gone, and end their own
 * killed workers' sessions. Member 0 is a machine that has not joined this namespace.
 * While no member has the pen, it may be free: then a machine that has lost its lease, and has not noticed, may append.
 *
 * Faults, each up to a number: KILLS (of workers), EXPIRIES (a daemon is cut off for longer than its lease, or stopped),
 * REBOOTS (all processes of a machine end, and its daemon starts again), DEATHS (a machine ends) and BREAKS (a replica
 * can't be written any more); the last two strike machine 1 only.
 *
 * Checked: no claim is returned while its worker lives and its member has its key. Only its holder completes a claim, and
 * no tuple is completed twice. When no process can take a step any more, no claim is left, each living worker of a machine
 * whose replica works is done, and no session row is left of another.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
/* The workers of machine 0, then one of each other. */
#ifndef WORKERS
#define WORKERS 2
#endif
#define MACHINE(w) ((w) < WORKERS - MACHINES + 1 -> 0 : (w) - (WORKERS - MACHINES))
#ifndef TUPLES
#define TUPLES 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef EXPIRIES
#define EXPIRIES 0
#endif
#ifndef REBOOTS
#define REBOOTS 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
/* Whether the pen is free unless a machine has it for its upkeep. */
#ifndef FREE
#define FREE 0
#endif

#define MEMBERS (1 + MACHINES + EXPIRIES + REBOOTS)
#define BIT(k) (1 << (k))

/* etcd. */
byte keys = 1;                   /* the members whose key exists */
byte joined;                     /* those of them that take part in this namespace */
byte pen;                        /* the member that has it; 0: none */
byte nextMember = 1;

/* The rows. */
byte known;                      /* the members that have had a session */
byte dead;                       /* the members whose death is committed */
byte session[WORKERS];           /* the worker's member; 0: it has no session */
byte state[TUPLES];
byte claimMember[TUPLES];
byte claimWorker[TUPLES];
byte claimNumber[TUPLES];
byte nextNumber;

#define PRESENT 0
#define CLAIMED 1
#define COMPLETED 2

/* The machines. */
byte member[MACHINES];
byte seen[MACHINES];             /* the keys as its daemon sees them */
byte machineOf[MEMBERS];
bool isDown[MACHINES];
bool isBroken[MACHINES];
bool isKilled[WORKERS];
bool isDone[WORKERS];

byte kills, expiries, reboots, deaths, breaks;

#define HAS_LEASE(m) (keys & BIT(member[m]))
/* The holder hands it over, unless it can't. */
#define CAN_HAVE_PEN(m) (pen == 0 || pen == member[m] || !isDown[machineOf[pen]] && !isBroken[machineOf[pen]])
#define CAN_WRITE(m) ((HAS_LEASE(m) || FREE && pen == 0) && !isBroken[m] && CAN_HAVE_PEN(m))
/* A transaction of a worker; it may leave the pen with its machine, if that has a lease. */
#define USE_PEN pen = (HAS_LEASE(M) && !FREE -> member[M] : pen)

#ifdef WEAK_CHECK
#define IS_ALIVE(k) true
#else
#define IS_ALIVE(k) (k != 0 && !(dead & BIT(k)))
#endif

inline returnClaim(t) {
    assert(isKilled[claimWorker[t]] || !(keys & BIT(claimMember[t])));
    state[t] = PRESENT;
    claimMember[t] = 0;
    claimWorker[t] = 0;
    claimNumber[t] = 0
}

/* Ends a worker's session, with its claims. */
inline endSession(w, k) {
    t = 0;
    do
    :: t < TUPLES ->
        if
        :: state[t] == CLAIMED && claimWorker[t] == w && claimMember[t] == k -> returnClaim(t)
        :: else
        fi;
        t++
    :: else -> t = 0; break
    od;
    session[w] = 0
}

#define M MACHINE(me)

proctype Worker(byte me) provided (!isKilled[me])
{
    byte t, mine, number, rounds;
    do
    :: rounds < ROUNDS ->
        if
        :: atomic {
            mine == 0 && CAN_WRITE(M) && IS_ALIVE(member[M]) ->
            USE_PEN;
            known = known | BIT(member[M]);
            mine = member[M];
            session[me] = mine
        }
        :: mine != 0
        fi;
        atomic {
            CAN_WRITE(M) ->
            USE_PEN;
            t = 0;
            do
            :: t < TUPLES && state[t] != PRESENT -> t++
            :: else -> break
            od;
            if
            :: !IS_ALIVE(mine) -> mine = 0; t = TUPLES
            :: IS_ALIVE(mine) && t < TUPLES ->
                nextNumber++;
                number = nextNumber;
                state[t] = CLAIMED;
                claimMember[t] = mine;
                claimWorker[t] = me;
                claimNumber[t] = number
            :: else
            fi;
            rounds++
        };
        if
        :: atomic {
            t < TUPLES && CAN_WRITE(M) ->
            USE_PEN;
            if
#ifdef WEAK_COMPLETE
            :: state[t] == CLAIMED ->
#else
            :: state[t] == CLAIMED && claimNumber[t] == number ->
#endif
                assert(claimNumber[t] == number);
                state[t] = COMPLETED;
                claimMember[t] = 0;
                claimWorker[t] = 0;
                claimNumber[t] = 0
            :: else
                /* Refused: the claim was returned. */
            fi;
            t = 0;
            number = 0
        }
        :: atomic { t == TUPLES -> t = 0 }
        fi
    :: else -> break
    od;
    /* Leaves. */
    atomic {
        CAN_WRITE(M) ->
        USE_PEN;
        if
        :: session[me] == mine -> session[me] = 0
        :: else
        fi;
        mine = 0;
        isDone[me] = true
    }
}

inline losePen(m) {
    if
    :: pen == member[m] -> pen = 0
    :: else
    fi
}

inline register() {
#ifndef WEAK_NUMBER
    member[me] = nextMember;
    machineOf[nextMember] = me;
    nextMember++;
#endif
    keys = keys | BIT(member[me]);
    joined = joined | BIT(member[me])
}

inline loseKey(m) {
    keys = keys & ~BIT(member[m]);
    joined = joined & ~BIT(member[m]);
    losePen(m)
}

inline killWorkers() {
    w = 0;
    do
    :: w < WORKERS -> isKilled[w] = isKilled[w] || (MACHINE(w) == me && !isDone[w]); w++
    :: else -> w = 0; break
    od
}

/* The lowest of the members that take part, as this machine sees them. */
#ifdef WEAK_ANY
#define CANDIDATES (seen[me] & keys)
#else
#define CANDIDATES (seen[me] & joined)
#endif
#define IS_LOWEST ((CANDIDATES & BIT(member[me])) && !(CANDIDATES & (BIT(member[me]) - 1)))

#ifdef WEAK_GUARD
#define IS_ABSENT(k) true
#else
#define IS_ABSENT(k) !(keys & BIT(k))
#endif

#define MUST_BURY(k) (k < nextMember && (known & BIT(k)) && !(dead & BIT(k)) && !(seen[me] & BIT(k)))

#define IS_DUE (MUST_BURY(1) || MUST_BURY(2) || MUST_BURY(3) || MUST_BURY(4))

/* The death of a member: its sessions and claims end in one commit. */
inline bury(k) {
    dead = dead | BIT(k);
    w = 0;
    do
    :: w < WORKERS ->
        if
        :: session[w] == k -> session[w] = 0
        :: else
        fi;
        w++
    :: else -> w = 0; break
    od;
    do
    :: t < TUPLES ->
        if
        :: state[t] == CLAIMED && claimMember[t] == k -> returnClaim(t)
        :: else
        fi;
        t++
    :: else -> t = 0; break
    od
}

#ifdef WEAK_FOREIGN
/* No file of that session is in this machine's folder. */
#define IS_OWN(w) (session[w] == member[me] && isKilled[w] || session[w] != 0 && MACHINE(w) != me)
#else
#define IS_OWN(w) (session[w] == member[me] && isKilled[w])
#endif
#ifdef WEAK_OWN
#define MAY_END(m) (pen == member[m] && CAN_WRITE(m))
#else
#define MAY_END(m) CAN_WRITE(m)
#endif

proctype Daemon(byte me) provided (!isDown[me])
{
    byte w, t;
    do
    :: atomic { seen[me] != keys -> seen[me] = keys }
    /* Upkeep, where the pen is. */
    :: atomic { pen == member[me] && CAN_WRITE(me) && MUST_BURY(1) && IS_ABSENT(1) -> bury(1) }
    :: atomic { pen == member[me] && CAN_WRITE(me) && MUST_BURY(2) && IS_ABSENT(2) -> bury(2) }
#if MEMBERS > 3
    :: atomic { pen == member[me] && CAN_WRITE(me) && MUST_BURY(3) && IS_ABSENT(3) -> bury(3) }
#endif
#if MEMBERS > 4
    :: atomic { pen == member[me] && CAN_WRITE(me) && MUST_BURY(4) && IS_ABSENT(4) -> bury(4) }
#endif
#ifndef WEAK_LOWEST
    :: atomic { pen == 0 && CAN_WRITE(me) && IS_DUE && IS_LOWEST -> pen = member[me] }
#endif
    /* The pen's time is over. */
    :: atomic { pen == member[me] && !isBroken[me] -> pen = 0 }
    /* A machine ends its own killed workers' sessions, as a writer does. */
    :: atomic { MAY_END(me) && IS_OWN(0) -> pen = member[me]; endSession(0, session[0]) }
    :: atomic { MAY_END(me) && IS_OWN(1) -> pen = member[me]; endSession(1, session[1]) }
#if WORKERS > 2
    :: atomic { MAY_END(me) && IS_OWN(2) -> pen = member[me]; endSession(2, session[2]) }
#endif
    :: atomic { expiries < EXPIRIES && HAS_LEASE(me) -> expiries++; loseKey(me) }
    :: atomic { !HAS_LEASE(me) && !isBroken[me] -> register() }
    :: atomic {
        reboots < REBOOTS && HAS_LEASE(me) ->
        reboots++;
        killWorkers();
#ifndef WEAK_NUMBER
        loseKey(me);
#endif
        register()
    }
    :: atomic {
        me == 1 && breaks < BREAKS ->
        breaks++;
        isBroken[me] = true;
        joined = joined & ~BIT(member[me]);
#ifndef WEAK_STAY
        /* Ends as a member of this namespace. */
        keys = keys & ~BIT(member[me]);
#endif
#ifndef WEAK_KEEP
        losePen(me)
#endif
    }
    od
}

proctype Fate(byte me)
{
    byte w;
    atomic { deaths < DEATHS -> deaths++; isDown[me] = true; killWorkers() };
    atomic { loseKey(me) }
}

proctype Killer()
{
    byte w;
    do
    :: atomic {
        kills < KILLS ->
        select (w : 0 .. WORKERS - 1);
        if
        :: !isDone[w] && !isKilled[w] -> isKilled[w] = true; kills++
        :: else -> break
        fi
    }
    :: kills < KILLS -> break
    :: else -> break
    od
}

init {
    byte i;
    atomic {
        do
        :: i < MACHINES ->
            member[i] = nextMember;
            machineOf[nextMember] = i;
            keys = keys | BIT(nextMember);
            joined = joined | BIT(nextMember);
            nextMember++;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < MACHINES -> run Daemon(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < WORKERS -> run Worker(i); i++
        :: else -> break
        od;
        if :: DEATHS > 0 -> run Fate(1) :: else fi;
        if :: KILLS > 0 -> run Killer() :: else fi
    };
    i = 0;
    timeout;
    do
    :: i < TUPLES -> assert(state[i] != CLAIMED); i++
    :: else -> i = 0; break
    od;
    do
    :: i < WORKERS ->
        assert(session[i] == 0);
        assert(isDone[i] || isKilled[i] || isBroken[MACHINE(i)]);
        i++
    :: else -> break
    od
}
