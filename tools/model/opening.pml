/* Opening against reaping: a namespace with a living owner is never deleted, one without is deleted in the end.
 *
 * The model follows the steps of Sources/TupleSpace/Lifecycle for one name. Openers create the namespace or join an
 * existing one, own it, and leave; the last opener looks first and owns later. Reapers look from outside. Up to KILLS
 * processes die, each between any two steps. Every folder that is ever made has a number of its own, as inodes do while
 * they are held open.
 *
 * Checked: a living owner finds its namespace alive, in its place, from the moment it has opened the namespace until it
 * leaves. And when no process can take a step any more, one last visitor (the next opener, lister or reaper) finds a living
 * owner, or leaves nothing: neither a namespace nor a removed folder.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef OPENERS
#define OPENERS 2
#endif
#ifndef REAPERS
#define REAPERS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define PROCESSES (OPENERS + REAPERS + 1)
#define VISITOR (OPENERS + REAPERS)
/* A reaped namespace is made anew at most once by each opener. */
#define FOLDERS (OPENERS + 1)
#define BIT(p) (1 << (p))

byte place;                      /* the folder at the name; 0: none */
byte made;                       /* folders ever made */
bool buried[FOLDERS + 1];        /* in the graveyard */
byte door[FOLDERS + 1];          /* its holder, plus one; 0: free */
bool marked[FOLDERS + 1];        /* `dead` in the control file */
byte sessions[FOLDERS + 1];      /* the processes that have a session file */
byte owning[FOLDERS + 1];        /* those of them that own */

byte opened[OPENERS];            /* the folder that an opener believes to own; 0: none */
bool dead[PROCESSES];
byte kills;

#define MORTAL(p) provided (!dead[p])

/* The mutex is robust: a dead holder's mutex can be acquired at once. The kernel drops a dead process's session lock, not
 * its file. */
inline acquire(folder, me) {
    atomic { door[folder] == 0 || dead[door[folder] - 1] -> door[folder] = me + 1 }
}

inline release(folder) { door[folder] = 0 }

/* Looks at one session after the other; `owned` is set at the first that lives and owns. */
inline lookForOwners(folder) {
    owned = false;
    index = 0;
    do
    :: index < OPENERS && !owned ->
        owned = (owning[folder] & BIT(index)) && !dead[index];
        index++
    :: else -> index = 0; break
    od
}

inline nobodyOwns(folder) {
    index = 0;
    do
    :: index < OPENERS -> assert(opened[index] != folder || dead[index]); index++
    :: else -> index = 0; break
    od
}

/* Under the door. The gate, which is acquired in between, is left out: it is never held for long, and decides nothing
 * here. */
inline bury(folder) {
    atomic {
        marked[folder] = true;
        nobodyOwns(folder)
    };
    /* Two changes in one system call: the name loses its folder, and the folder is in the graveyard. */
    atomic {
        /* By name: any folder that has it. */
        if
        :: place != 0 -> nobodyOwns(place); buried[place] = true
        :: else
        fi;
        place = 0
    };
    release(folder);
    buried[folder] = false
}

inline reap(me) {
    folder = place;
    if
    :: folder != 0 ->
        lookForOwners(folder);
        if
        :: owned && !marked[folder] -> skip
        :: else ->
            acquire(folder, me);
            if
#ifndef WEAK_PLACE
            :: place != folder -> release(folder)
#endif
            :: else ->
#ifndef WEAK_SECOND_LOOK
                lookForOwners(folder);
#endif
                if
                :: marked[folder] || !owned -> bury(folder)
                :: else -> release(folder)
                fi
            fi
        fi
    :: else
    fi
}

proctype Reaper(byte me) MORTAL(me)
{
    byte folder, index;
    bool owned;
    reap(me)
}

inline owns(me) {
    atomic {
        owning[folder] = owning[folder] | BIT(me);
        opened[me] = folder;
        assert(place == folder && !marked[folder])
    }
}

proctype Opener(byte me; bool looksFirst) MORTAL(me)
{
    byte folder, index;
    bool owned;
again:
    folder = place;
    if
    :: folder == 0 ->
        /* Made in the nursery, where no process looks, with its session in it; the rename fails if the name is taken. */
        atomic {
            if
            :: place == 0 ->
                made++;
                folder = made;
                sessions[folder] = BIT(me);
                owning[folder] = BIT(me);
                opened[me] = folder;
                place = folder;
                goto use
            :: else -> goto again
            fi
        }
    :: else
    fi;
    acquire(folder, me);
#ifndef WEAK_PLACE
    if
    :: place != folder -> release(folder); goto again
    :: else
    fi;
#endif
    lookForOwners(folder);
    if
    :: marked[folder] || !owned ->
        bury(folder);
        goto again
    :: else
    fi;
#ifdef WEAK_DOOR
    release(folder);
#endif
    sessions[folder] = sessions[folder] | BIT(me);
    if
    :: looksFirst -> skip
    :: else -> owns(me)
    fi;
#ifndef WEAK_DOOR
    release(folder);
#endif
    if
    :: looksFirst ->
        /* A second handle, owning: its session becomes an owner under the door, if the namespace is still there. */
#ifndef WEAK_DOOR
        acquire(folder, me);
#endif
        if
#ifndef WEAK_MARK
        :: marked[folder] -> release(folder); goto gone
#endif
        :: place != folder -> release(folder); goto gone
        :: else
        fi;
        owns(me);
#ifndef WEAK_DOOR
        release(folder)
#endif
    :: else
    fi;
use:
    skip;
    opened[me] = 0;
    acquire(folder, me);
    if
    :: marked[folder] || place != folder -> release(folder)
    :: else ->
        atomic { sessions[folder] = sessions[folder] & ~BIT(me); owning[folder] = owning[folder] & ~BIT(me) };
        lookForOwners(folder);
        if
        :: !owned -> bury(folder)
        :: else -> release(folder)
        fi
    fi;
gone:
    skip
}

proctype Killer()
{
    byte victim;
    do
    :: kills < KILLS ->
        select(victim : 0 .. PROCESSES - 2);
        atomic { dead[victim] = true; kills++ }
    :: break
    od
}

proctype Judge()
{
    byte folder, index;
    bool owned;
    timeout;
    reap(VISITOR);
#ifndef WEAK_TIDY
    /* The visitor empties the graveyard. */
    index = 1;
    do
    :: index <= FOLDERS -> buried[index] = false; index++
    :: else -> break
    od;
#endif
    if
    :: place != 0 -> lookForOwners(place); assert(owned)
    :: else
    fi;
    index = 1;
    do
    :: index <= FOLDERS -> assert(!buried[index]); index++
    :: else -> break
    od
}

init {
    byte i;
    atomic {
        do
        :: i < OPENERS -> run Opener(i, i + 1 == OPENERS && OPENERS > 1); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < REAPERS -> run Reaper(OPENERS + i); i++
        :: else -> break
        od;
        run Killer();
        run Judge()
    }
}
