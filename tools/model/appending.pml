/* Appending: a replicated commit is in the log once, on the state that it was made for, and its outcome is told rightly.
 *
 * One namespace that several machines share through etcd: the pen, the append, an unknown outcome. Each machine has a
 * replica, a gate, a daemon and workers. A worker executes an operation under the gate, on entry n of its replica, and
 * hands the entry to the daemon with n and the pen's revision. The daemon sends it to etcd. etcd compares and appends,
 * at any later time or never; it may do so twice, and its answer may be lost. A worker without an answer releases the
 * gate and looks for the outcome. An operation that is refused runs again (a library's operation) or ends with an error
 * (a user's transaction).
 *
 * Faults, each up to a number: SILENCES (an answer or a request is lost, or the time passes), DUPES (a request arrives
 * twice), EXPIRIES (a daemon loses its lease), RESTARTS (a daemon is killed and starts again), DEATHS (a machine ends),
 * KILLS and STOPS (of a worker that waits for an answer), BREAKS (a replica can't be written any more). TRIMS: how often a
 * base is made and the log up to it deleted. HANDS: how often the pen is handed over while its holder needs it. GIFTS: how
 * often the pen goes to another machine in the transaction that appends an entry. FREES: how often an entry frees the pen:
 * then each machine may append. FREE: the pen is free at the beginning.
 *
 * Checked: an entry stands on the state that it was made from. No operation is in the log twice. An operation that is told
 * as done is in the log, and one that is told as not done never is. A replica shows only what is in the log. A process that
 * looked for an outcome and is told that its operation is done finds it in its replica. A read after sync() sees all that
 * was told as done before. When no process can take a step any more, each living worker of a living machine has an answer,
 * and each replica that works has the whole log; a machine whose gate is held by a stopped worker is left out.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
/* The workers of machine 0, then those of the others. */
#ifndef WORKERS
#define WORKERS 2
#endif
#define MACHINE(w) ((w) < WORKERS - MACHINES + 1 -> 0 : (w) - (WORKERS - MACHINES))
#ifndef RERUNS
#define RERUNS 1
#endif
#ifndef SILENCES
#define SILENCES 1
#endif
#ifndef DUPES
#define DUPES 0
#endif
#ifndef EXPIRIES
#define EXPIRIES 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef TRIMS
#define TRIMS 0
#endif
#ifndef HANDS
#define HANDS 1
#endif
#ifndef GIFTS
#define GIFTS 0
#endif
#ifndef FREES
#define FREES 0
#endif
#ifndef READERS
#define READERS 0
#endif
#ifndef SLOTS
#define SLOTS 3                  /* requests of a worker that are under way at once */
#endif

#define MEMBERS (MACHINES + EXPIRIES + RESTARTS)
#define ENTRIES 12
#define NONE 255

/* etcd. */
byte head;
byte entryOperation[ENTRIES];    /* of entry n: the worker, plus one; 0: an empty entry */
byte entryID[ENTRIES];           /* of entry n: member and counter */
byte trimmed;                    /* the entries up to this one are deleted */
byte last[MEMBERS];              /* the member's last commit's ID */
bool lease[MEMBERS];
#define NOBODY 254
byte pen;                        /* the member that may append, plus one; NOBODY: each may; 0: the key is absent */
byte penRevision, penCreated;
bool penIsLeased;
byte nextMember;
byte changes;                    /* of the pen's key */

/* A request: with the daemon, on the way to etcd, and its answer with the daemon again. */
#define FREE 0
#define WITH_DAEMON 1
#define UNDER_WAY 2
#define ANSWERED 3
typedef Request { byte stage, n, base, operation, id, member, pen, life, outcome };
Request request[WORKERS * SLOTS];

/* The machines. */
byte member[MACHINES];
byte counter[MACHINES];
byte life[MACHINES];             /* of the daemon */
byte applied[MACHINES];          /* the replica's n */
byte gate[MACHINES];             /* the worker that holds it, plus one */
byte unresolved[MACHINES];       /* the worker whose commit's outcome is unknown, plus one; the daemon's memory */
bool isBroken[MACHINES];
bool isDown[MACHINES];

/* The workers. */
#define YES 1
#define NO 2
#define UNKNOWN 3
byte wanting[MACHINES];          /* workers that want the pen, or have it and are not done */
byte awaited[WORKERS];           /* the ID of the commit that it waits for */
byte answer[WORKERS];            /* the daemon's, to that commit */
byte told[WORKERS];              /* the user */
bool isGone[WORKERS];            /* killed or stopped */

byte silences, dupes, expiries, restarts, deaths, kills, stops, breaks, trims, hands, gifts, frees;
byte acknowledged;               /* the highest entry that was told as done */

#ifdef WEAK_CREATED
#define SET_CREATED penCreated = changes
#else
#define SET_CREATED skip
#endif
#define M MACHINE(me)
#define HAS_PEN(m) (pen == member[m] + 1)
#define MAY_APPEND(m) (HAS_PEN(m) || pen == NOBODY)
#define IS_STUCK(m) (gate[m] != 0 && isGone[gate[m] - 1])

inline setPen(holder) {
    changes++;
    pen = holder;
    penRevision = (holder == 0 -> 0 : changes);
    penIsLeased = true
}

inline releaseGate() {
    if
    :: gate[M] == me + 1 -> gate[M] = 0
    :: else
    fi
}

inline isResolved() {
    if
    :: unresolved[M] == me + 1 -> unresolved[M] = 0
    :: else
    fi
}

/* An operation's outcome reaches the user. */
inline tell(outcome) {
    told[me] = outcome;
    i = head;
    do
    :: i > 0 && entryOperation[i] != me + 1 -> i--
    :: else -> break
    od;
    assert(outcome != YES || i > 0);
    assert(outcome != NO || i == 0);
    if
    :: READERS > 0 && outcome == YES && i > acknowledged -> acknowledged = i
    :: else
    fi;
    i = 0
}

inline free(r) {
    request[r].stage = FREE;
    request[r].n = 0;
    request[r].base = 0;
    request[r].operation = 0;
    request[r].id = 0;
    request[r].member = 0;
    request[r].pen = 0;
    request[r].life = 0;
    request[r].outcome = 0
}

#define FREE_SLOT(w) (request[w * SLOTS].stage == FREE -> w * SLOTS : \
    (request[w * SLOTS + 1].stage == FREE -> w * SLOTS + 1 : w * SLOTS + SLOTS - 1))

inline hand(operation_) {
    slot = FREE_SLOT(me);
    counter[M]++;
    request[slot].n = n;
    request[slot].base = base;
    request[slot].operation = operation_;
    request[slot].id = member[M] * 16 + counter[M];
    request[slot].member = member[M];
#ifdef WEAK_CREATED
    request[slot].pen = created;
#else
    request[slot].pen = revision;
#endif
    request[slot].life = life[M];
    request[slot].outcome = 0;
    request[slot].stage = WITH_DAEMON
}

#ifdef WEAK_SHOWN
#define IS_SHOWN true
#else
#define IS_SHOWN (applied[M] > n || isBroken[M])
#endif
#ifdef WEAK_TAKEN
#define PLACE_IS_TAKEN (head > n && n + 1 > trimmed)
#else
#define PLACE_IS_TAKEN (head > n)
#endif
#ifdef WEAK_ONE
#define MAY_BEGIN(m) true
#else
#define MAY_BEGIN(m) (unresolved[m] == 0)
#endif

proctype Worker(byte me) provided (!isDown[MACHINE(me)])
{
    byte n, base = NONE, revision, created, id, number, myLife, slot = NONE, i, reruns;
    byte verdict;                /* 0: none yet */
    bool hasSeenNone;
again:
    if
    :: atomic { isBroken[M] -> tell(NO); goto end }
    :: atomic {
        MAY_APPEND(M) && !isBroken[M] && gate[M] == 0 && MAY_BEGIN(M) && request[FREE_SLOT(me)].stage == FREE ->
        gate[M] = me + 1;
        revision = penRevision;
        created = penCreated
    }
    fi;
    /* The body runs, and its entry goes to the daemon. */
    n = applied[M];
    atomic {
#ifdef WEAK_RERUN
        base = (base == NONE -> n : base);
#else
        base = n;
#endif
#ifdef WEAK_COMMIT
        assert(head > n && entryOperation[n + 1] == me + 1);
#endif
        hand(me + 1);
        id = request[slot].id;
        awaited[me] = id;
        answer[me] = 0;
        number = member[M];
        myLife = life[M]
    };
    if
    :: atomic {
        answer[me] == YES ->
        assert(applied[M] == n && entryOperation[n + 1] == me + 1);
        if
        :: applied[M] = n + 1; tell(YES)
        :: BREAKS > 0 ->
            /* The replica's commit fails. The daemon applies the entry later, or the replica breaks. */
#ifdef WEAK_OUTCOME
            tell(NO)
#else
            tell(YES)
#endif
        fi;
        releaseGate();
        goto end
    }
    :: atomic { answer[me] == NO -> skip }
    :: atomic { answer[me] == 0 && (life[M] != myLife || request[slot].stage == FREE) -> skip }
    :: atomic { answer[me] == 0 && silences < SILENCES -> silences++ }
    :: atomic { kills < KILLS -> kills++; isGone[me] = true; releaseGate(); goto end }
    :: atomic { stops < STOPS -> stops++; isGone[me] = true; goto end }
    fi;
    atomic {
        releaseGate();
        unresolved[M] = me + 1;
#ifdef WEAK_REFUSED
        if
        :: answer[me] == NO -> verdict = NO
        :: else
        fi;
#endif
        answer[me] = 0;
        awaited[me] = 0;
        slot = NONE
    };
    /* The outcome. */
    do
    :: atomic {
        verdict == 0 ->
        /* The log, the head, the member's last commit and the pen are read at one revision. */
        if
#ifdef WEAK_ORDER
        :: !hasSeenNone && head <= n -> hasSeenNone = true
        :: hasSeenNone && penRevision != revision -> verdict = NO
#endif
        :: n + 1 <= head && n + 1 > trimmed -> verdict = (entryID[n + 1] == id -> YES : NO)
#ifdef WEAK_GIFT
        /* Looked at before the log, whose entry may have changed it. */
        :: penRevision != revision -> verdict = NO
#endif
#ifndef WEAK_LAST
        :: (n + 1 > head || n + 1 <= trimmed) && last[number] == id -> verdict = YES
#endif
        :: else ->
            if
#ifdef WEAK_NO
            :: true -> verdict = NO
#endif
            :: penRevision != revision -> verdict = NO
#ifndef WEAK_TAKEN
            /* The entry is deleted, and was another's. */
            :: penRevision == revision && head > n -> verdict = NO
#endif
            :: else ->
#ifndef WEAK_EMPTY
                /* An empty entry takes the place, unless the late request has taken it. */
                if
                :: head <= n && request[FREE_SLOT(me)].stage == FREE -> base = n; hand(0)
                /* Or the pen is put again: no late request finds its revision any more. */
                :: pen == NOBODY && head <= n && lease[member[M]] && !isBroken[M] ->
                    setPen(member[M] + 1);
                    verdict = NO
                :: else
                fi
#endif
            fi
        fi
    };
        atomic {
            /* Looks again when there can be news. */
            verdict != 0 || PLACE_IS_TAKEN || penRevision != revision || hasSeenNone ||
                (slot != NONE && request[slot].stage == FREE);
            slot = NONE
        }
    :: atomic {
        verdict == YES && IS_SHOWN ->
        isResolved();
        assert(applied[M] > n || isBroken[M]);
        tell(YES);
        goto end
    }
    :: atomic {
        verdict == NO ->
        isResolved();
        verdict = 0;
        hasSeenNone = false;
        if
        :: reruns < RERUNS -> reruns++; goto again
        :: tell(NO); goto end
        fi
    }
    :: atomic {
        verdict == 0 ->
        /* The user's time has passed. */
        isResolved();
#ifdef WEAK_TIMEOUT
        tell(NO);
#else
        tell(UNKNOWN);
#endif
        goto end
    }
    od;
end:
    atomic {
        wanting[M]--;
        awaited[me] = 0;
        answer[me] = 0;
        n = 0; base = 0; revision = 0; created = 0; id = 0; number = 0; myLife = 0; slot = 0; reruns = 0; verdict = 0
    }
}

#ifdef WEAK_PLACE
#define HAS_SAME_HEAD (request[me].n == head || pen == NOBODY)
#else
#define HAS_SAME_HEAD (request[me].n == head)
#endif

#if defined(WEAK_PEN)
#define HAS_SAME_PEN true
#elif defined(WEAK_CREATED)
#define HAS_SAME_PEN (pen != 0 && penCreated == request[me].pen)
#else
#define HAS_SAME_PEN (pen != 0 && penRevision == request[me].pen)
#endif

/* The store refuses a transaction with a lease that has ended; the daemon sends it again without the pen then. Whether the
 * other machine wants the pen, or has a replica that works, the giver does not know. */
#define MAY_GIVE(to) (gifts < GIFTS && request[me].member != member[to] && lease[member[to]])

inline give(to) {
    gifts++;
    setPen(member[to] + 1)
}

inline compareAndAppend() {
    if
    :: HAS_SAME_HEAD && HAS_SAME_PEN ->
        assert(request[me].base == head);
        operation = request[me].operation;
        assert(operation == 0 || told[operation - 1] != NO);
        i = head;
        do
        :: i > 0 -> assert(operation == 0 || entryOperation[i] != operation); i--
        :: else -> break
        od;
        head++;
        entryOperation[head] = operation;
        entryID[head] = request[me].id;
        last[request[me].member] = request[me].id;
        operation = 0;
        request[me].outcome = YES;
        if
        :: true
        :: frees < FREES && pen != NOBODY -> frees++; setPen(NOBODY)
        :: pen == NOBODY && lease[request[me].member] -> setPen(request[me].member + 1)
        :: GIFTS > 0 && MAY_GIVE(0) -> give(0)
#if MACHINES > 1
        :: GIFTS > 0 && MAY_GIVE(1) -> give(1)
#endif
#if MACHINES > 2
        :: GIFTS > 0 && MAY_GIVE(2) -> give(2)
#endif
        fi
    :: else -> request[me].outcome = NO
    fi
}

#ifdef WEAK_WAIT
/* The daemon applies another's entry first, under the gate. */
#define MAY_ANSWER(m) (head <= applied[m] || gate[m] == 0 || entryOperation[applied[m] + 1] == gate[m])
#else
#define MAY_ANSWER(m) true
#endif

/* The ways of a request and of its answer. */
proctype Way(byte me)
{
    byte i, operation;
    do
    :: atomic {
        request[me].stage == WITH_DAEMON ->
#ifdef WEAK_HEAD
        request[me].n = head;
#endif
#ifdef WEAK_REVISION
        request[me].pen = penRevision;
#endif
        request[me].stage = UNDER_WAY
    }
    :: atomic {
        request[me].stage == UNDER_WAY ->
        compareAndAppend();
        if
        :: request[me].stage = ANSWERED
        :: dupes < DUPES -> dupes++
        :: silences < SILENCES -> silences++; free(me)
        fi
    }
    :: atomic { request[me].stage == UNDER_WAY && silences < SILENCES -> silences++; free(me) }
    :: atomic {
        request[me].stage == ANSWERED && MAY_ANSWER(MACHINE(me / SLOTS)) ->
        if
        :: request[me].life == life[MACHINE(me / SLOTS)] && request[me].id == awaited[me / SLOTS] ->
            answer[me / SLOTS] = request[me].outcome
        :: else
        fi;
        free(me)
    }
    od
}

inline losePen() {
    if
    :: HAS_PEN(me) && penIsLeased -> setPen(0)
    :: else
    fi
}

inline register() {
#ifdef WEAK_FORGET
    last[member[me]] = 0;
#endif
    member[me] = nextMember;
    counter[me] = 0;
    lease[nextMember] = true;
    nextMember++
}

inline forgetRequests() {
    i = 0;
    do
    :: i < WORKERS * SLOTS ->
        if
        :: MACHINE(i / SLOTS) == me && (request[i].stage == WITH_DAEMON || request[i].stage == ANSWERED) ->
            free(i)
        :: else
        fi;
        i++
    :: else -> i = 0; break
    od
}

#define MAY_HAND_OVER(to) (HAS_PEN(me) && to != me && !isBroken[me] && wanting[to] > 0 && lease[member[to]] && !isBroken[to] && \
    (wanting[me] == 0 || hands < HANDS) && GIVES)
#ifdef WEAK_GIVE
#define GIVES (gate[me] == 0)
#else
#define GIVES true
#endif

/* A put: the key stays, and hangs on the other's lease. */
inline handOver(to) {
    hands = (wanting[me] > 0 -> hands + 1 : hands);
    setPen(member[to] + 1);
#ifdef WEAK_LEASE
    penIsLeased = false
#endif
}

proctype Daemon(byte me) provided (!isDown[me])
{
    byte i;
    do
    :: atomic {
        gate[me] == 0 && applied[me] < head && !isBroken[me] ->
        /* An entry is applied, or a base is taken over. */
        applied[me] = (applied[me] < trimmed -> trimmed : applied[me] + 1)
    }
    :: atomic {
        gate[me] == 0 && applied[me] < head && !isBroken[me] && breaks < BREAKS ->
        breaks++;
        isBroken[me] = true;
#ifndef WEAK_KEEP
        losePen()
#endif
    }
#if GIFTS > 0
    :: atomic { isBroken[me] && HAS_PEN(me) -> losePen() }
#endif
    :: atomic {
        pen == 0 && wanting[me] > 0 && lease[member[me]] && !isBroken[me] ->
        setPen(member[me] + 1);
        SET_CREATED
    }
    :: atomic {
        pen == NOBODY && wanting[me] > 0 && lease[member[me]] && !isBroken[me] -> setPen(member[me] + 1)
    }
    :: atomic { MAY_HAND_OVER(0) -> handOver(0) }
#if MACHINES > 1
    :: atomic { MAY_HAND_OVER(1) -> handOver(1) }
#endif
#if MACHINES > 2
    :: atomic { MAY_HAND_OVER(2) -> handOver(2) }
#endif
    :: atomic {
        /* Cut off for longer than its lease. */
        expiries < EXPIRIES && lease[member[me]] ->
        expiries++;
        lease[member[me]] = false;
        losePen()
    }
    :: atomic { !lease[member[me]] -> register() }
    :: atomic {
        restarts < RESTARTS && lease[member[me]] ->
        restarts++;
        life[me]++;
        forgetRequests();
        unresolved[me] = 0;
#if defined(WEAK_RESTART)
        /* Goes on as the same member, with its lease. */
#elif defined(WEAK_SAME)
        /* Gives up the pen, and goes on as the same member. */
        losePen()
#elif defined(WEAK_NUMBER)
        losePen();
        counter[me] = 0
#else
        losePen();
        lease[member[me]] = false;
        register()
#endif
    }
    od
}

/* Ends of machines, and their leases. */
proctype Fate(byte me)
{
    byte i;
    atomic { deaths < DEATHS -> deaths++; isDown[me] = true; forgetRequests() };
    atomic { lease[member[me]] = false; losePen() }
}

proctype Trimmer()
{
    do
    :: atomic { trims < TRIMS && trimmed < head -> trims++; trimmed = head }
    od
}

proctype Reader(byte me)
{
    byte known, end;
    atomic {
        acknowledged > 0 ->
        known = acknowledged;
#ifdef WEAK_SYNC
        end = applied[me]
#else
        end = head
#endif
    };
    atomic { applied[me] >= end -> assert(applied[me] >= known) }
}

init {
    byte i;
    atomic {
        do
        :: i < MACHINES -> member[i] = i; lease[i] = true; nextMember++; i++
        :: else -> break
        od;
        i = 0;
#ifdef FREE
        setPen(NOBODY);
#endif
        do
        :: i < WORKERS -> wanting[MACHINE(i)]++; run Worker(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < WORKERS * SLOTS -> run Way(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < MACHINES -> run Daemon(i); i++
        :: else -> break
        od;
        if :: DEATHS > 0 -> run Fate(MACHINES - 1) :: else fi;
        if :: TRIMS > 0 -> run Trimmer() :: else fi;
        if :: READERS > 0 -> run Reader(1) :: else fi
    };
    i = 0;
    timeout;
    do
    :: i < WORKERS ->
        assert(told[i] != 0 || isGone[i] || isDown[MACHINE(i)] || IS_STUCK(MACHINE(i)));
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < MACHINES ->
        assert(applied[i] == head || isBroken[i] || isDown[i] || IS_STUCK(i));
        i++
    :: else -> break
    od
}
