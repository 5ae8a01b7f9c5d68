/* Ending, across machines: a replica is removed only if a process has deleted its namespace, and then always.
 *
 * `id` names the namespace's incarnation in etcd, and a machine that joins makes a replica of it. The transaction that
 * deletes the namespace deletes `id` and puts `gone/<incarnation>`. A machine whose replica is of another incarnation than
 * `id` removes it if that key is there, and else sets it aside: etcd was emptied or set back, and the replica may be the
 * last copy.
 *
 * Faults: RESTORES (etcd is set back to what was saved at some moment, or to nothing).
 *
 * Checked: only a replica of an incarnation that was deleted is removed. If etcd was never set back, none is set aside. When
 * no process can take a step any more, each machine has a replica of the present incarnation and of no other.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
#ifndef INCARNATIONS
#define INCARNATIONS 2
#endif
#ifndef RESTORES
#define RESTORES 0
#endif

#define BIT(i) (1 << (i))

/* etcd. */
byte id;                         /* the incarnation; 0: none */
byte gone;                       /* the incarnations whose deletion it knows of */
byte savedId, savedGone;

byte made;
byte deleted;                    /* the incarnations that a process has deleted */
byte restores;
byte replica[MACHINES];          /* the incarnation that a machine has; 0: none */
byte aside[MACHINES];            /* those that it has set aside */

/* A process makes the namespace, and deletes it, again and again. */
proctype Process()
{
    do
    :: atomic { id == 0 && made < INCARNATIONS -> made++; id = made }
    :: atomic {
        id != 0 ->
        deleted = deleted | BIT(id);
#ifdef WEAK_NOTE
        id = 0
#else
#ifdef WEAK_APART
        id = 0
    };
    atomic {
        /* Another transaction; the process may be killed before it. */
        if
        :: gone = deleted
        :: true
        fi
#else
        gone = gone | BIT(id);
        id = 0
#endif
#endif
    }
    :: break
    od
}

proctype Machine(byte me)
{
    byte other;
    do
    :: atomic { replica[me] != id && replica[me] == 0 -> replica[me] = id }
    :: atomic { replica[me] != id && replica[me] != 0 -> other = replica[me] };
        /* A later moment. */
        atomic {
            if
#ifdef WEAK_GONE
            :: true ->
#else
            :: gone & BIT(other) ->
#endif
                assert(deleted & BIT(other))
#ifndef WEAK_GONE
            :: else ->
                assert(restores > 0);
                aside[me] = aside[me] | BIT(other)
#endif
            fi;
            replica[me] = 0;
            other = 0
        }
    od
}

proctype Operator()
{
    do
    :: atomic { savedId = id; savedGone = gone };
        atomic { restores < RESTORES -> restores++; id = savedId; gone = savedGone }
    :: atomic { restores < RESTORES -> restores++; id = 0; gone = 0 }
    :: break
    od
}

init {
    byte i;
    atomic {
        run Process();
        do
        :: i < MACHINES -> run Machine(i); i++
        :: else -> i = 0; break
        od;
        if :: RESTORES > 0 -> run Operator() :: else fi
    };
    timeout;
    do
    :: i < MACHINES -> assert(replica[i] == id); i++
    :: else -> break
    od
}
