/* Owning, across machines: a namespace with a living owner or a persistent one is never deleted, any other is in the end.
 *
 * Owners of a namespace that several machines share through etcd. `id` names the namespace's incarnation. A machine has
 * the key `owners/<member>`, on its lease, while a process there owns the namespace. Processes open or create the
 * namespace, make it persistent, and leave; the request that deletes the machine's key may arrive late. Any machine
 * deletes the namespace. A commit is one step on the rows: appending.pml shows that it compares the head.
 *
 * Faults: DEATHS (a machine ends, and then its lease).
 *
 * Checked: an owner finds its incarnation and its data from the moment it has opened the namespace until it leaves. No
 * persistent incarnation is deleted. When no process can take a step any more, the namespace has an owner, is persistent or
 * is gone.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
#ifndef ROUNDS
#define ROUNDS 2                 /* processes of a machine, one after the other */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif

#define INCARNATIONS (MACHINES * ROUNDS + 1)
#define BIT(m) (1 << (m))

/* etcd. */
byte id;                         /* the incarnation; 0: none */
byte made;
byte owners[INCARNATIONS];       /* the machines that have a key */
byte revision[MACHINES];         /* of the machine's key */
byte immortal;                   /* the machines whose key hangs on no lease */
byte head[INCARNATIONS];
bool isPersistent[INCARNATIONS];
bool hasData[INCARNATIONS];
byte creator[INCARNATIONS];

/* The machines. */
byte owned[MACHINES];            /* the incarnation that a process there owns; 0: none */
bool isDown[MACHINES];
byte leaving[MACHINES];          /* the incarnation of a request that deletes the machine's key; 0: none */
byte leavingRevision[MACHINES];
byte deaths;

inline owns() {
    revision[me]++;
    owned[me] = i;
    owners[i] = owners[i] | BIT(me);
    assert(id == i)
}

#ifdef WEAK_OPEN
#define IS_SAME true
#else
#define IS_SAME (id == i)
#endif

proctype Machine(byte me) provided (!isDown[me])
{
    byte i, rounds;
    do
    :: rounds < ROUNDS ->
        i = id;
        if
        :: atomic {
            i == 0 ->
            if
            :: id == 0 ->
                made++;
                i = made;
                id = i;
                hasData[i] = true;
                creator[i] = me;
                owns()
            :: else
            fi
        }
        :: atomic {
            i != 0 ->
            if
            :: IS_SAME -> owns()
            :: else
            fi
        }
        fi;
        if
        :: owned[me] != 0 ->
            assert(id == i && hasData[i]);
            if
            :: atomic { !isPersistent[i] -> isPersistent[i] = true; head[i]++ }
            :: true
#ifdef WEAK_LEASE
            /* A second process there opens it too: the key is put again. */
            :: atomic { immortal = immortal | BIT(me); revision[me]++ }
#endif
            fi;
            assert(id == i && hasData[i]);
            atomic {
                leaving[me] == 0 ->
                owned[me] = 0;
                leaving[me] = i;
                leavingRevision[me] = revision[me];
                rounds++
            }
        :: else
        fi
    :: else -> break
    od
}

/* A request that deletes the machine's key arrives. */
proctype Way(byte me)
{
    do
    :: atomic {
        leaving[me] != 0 ->
        if
#ifndef WEAK_LATE
        :: revision[me] != leavingRevision[me] -> skip
#endif
        :: else -> owners[leaving[me]] = owners[leaving[me]] & ~BIT(me)
        fi;
        leaving[me] = 0
    }
    od
}

#ifdef WEAK_EMPTY
#define IS_EMPTY true
#else
#define IS_EMPTY (owners[i] == 0)
#endif
#ifdef WEAK_HEAD
#define IS_SAME_HEAD true
#else
#define IS_SAME_HEAD (head[i] == n)
#endif

proctype Deleter()
{
    byte i, n, other;
    do
    :: atomic {
        id != 0 && owners[id] == 0 && !isPersistent[id] ->
        /* Read at one revision. */
        i = id;
        n = head[i]
    };
        atomic {
            if
            :: id == i && IS_EMPTY && IS_SAME_HEAD ->
                assert(!isPersistent[i]);
                do
                :: other < MACHINES -> assert(owned[other] != i); other++
                :: else -> other = 0; break
                od;
                id = 0
            :: else
            fi;
            i = 0;
            n = 0
        }
    od
}

proctype Fate(byte me)
{
    byte i;
    atomic { deaths < DEATHS -> deaths++; isDown[me] = true; owned[me] = 0 };
    atomic {
        do
        :: i < INCARNATIONS ->
            if
            :: !(immortal & BIT(me)) -> owners[i] = owners[i] & ~BIT(me)
            :: else
            fi;
#ifdef WEAK_DATA
            if
            :: creator[i] == me -> hasData[i] = false
            :: else
            fi;
#endif
            i++
        :: else -> break
        od;
        leaving[me] = 0
    }
}

init {
    byte i;
    atomic {
        do
        :: i < MACHINES -> run Machine(i); run Way(i); i++
        :: else -> break
        od;
        run Deleter();
        if :: DEATHS > 0 -> run Fate(0) :: else fi
    };
    timeout;
    assert(id == 0 || owners[id] != 0 && immortal == 0 || isPersistent[id])
}
