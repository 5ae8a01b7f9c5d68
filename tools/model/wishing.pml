/* Wishing: each machine that wants the pen gets it.
 *
 * The pen and the wishes for it of a namespace that several machines share through etcd, and what each machine knows of
 * them. A machine fetches a pen that nobody has. It asks for a pen that another one has, by its own key `want`, and counts
 * on that key from then on. The holder hands the pen to one that has asked. It may also give it with an entry that it
 * appends, to a machine that it knows to have a taker. A machine knows of other machines' transactions by its watch, later,
 * and of its own by their answers, later too.
 *
 * NEEDS: how often a worker of machine m needs the pen. GIFTS: how often the pen goes with an entry. STOPS: a machine is
 * stopped that neither has the pen nor has asked for it.
 *
 * Checked: when no process can take a step any more, each worker of a machine that runs has had the pen as often as it
 * needed it.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
#ifndef NEEDS
#define NEEDS 2
#endif
#ifndef GIFTS
#define GIFTS 0
#endif
#ifndef STOPS
#define STOPS 0
#endif

/* The most transactions that change something. */
#define REVISIONS 30
#define BIT(m) (1 << (m))

/* etcd: the machine that has the pen, plus one; the revision that gave it to it; and of each `want` its revision. */
byte revision;
byte pen, penRevision;
byte want[MACHINES];

/* What each revision has changed: the pen, and the wishes that were put or deleted. */
bool isOfPen[REVISIONS];
byte penThen[REVISIONS], put[REVISIONS], deleted[REVISIONS];

/* What a machine knows, and of which revision it is. */
byte heard[MACHINES];
byte knownPen[MACHINES], knownPenRevision[MACHINES], penAsOf[MACHINES];
typedef Wishes { byte key[MACHINES]; byte asOf[MACHINES] };
Wishes known[MACHINES];
/* The revision by which it has given the pen with an entry. */
byte given[MACHINES];

byte needs[MACHINES];            /* how often its worker still needs the pen */
bool isWaiting[MACHINES];
bool isStopped[MACHINES];
byte gifts, stops;

#ifdef WEAK_OLD
#define IS_NEWER(at, than) true
#else
#define IS_NEWER(at, than) (at > than)
#endif

inline learnPen(mine, holder, made, now) {
    if
    :: IS_NEWER(now, penAsOf[mine]) ->
        knownPen[mine] = holder;
        knownPenRevision[mine] = made;
        penAsOf[mine] = now
    :: else
    fi
}

inline learnWant(mine, whose, row, now) {
    if
    :: IS_NEWER(now, known[mine].asOf[whose]) ->
        known[mine].key[whose] = row;
        known[mine].asOf[whose] = now
    :: else
    fi
}

inline givePen(to) {
    pen = to;
    penRevision = revision;
    isOfPen[revision] = true;
    penThen[revision] = to
}

inline deleteWant(whose) {
    deleted[revision] = deleted[revision] | (want[whose] != 0 -> BIT(whose) : 0);
    want[whose] = 0
}

/* The watch of a machine: etcd sends the changes in order. */
proctype Watch(byte me)
{
    byte at, other;
end:
    do
    :: atomic {
        heard[me] < revision && !isStopped[me] ->
        heard[me]++;
        at = heard[me];
        if
        :: isOfPen[at] -> learnPen(me, penThen[at], at, at)
        :: else
        fi;
        other = 0;
        do
        :: other < MACHINES ->
            if
            :: put[at] & BIT(other) -> learnWant(me, other, at, at)
            :: deleted[at] & BIT(other) -> learnWant(me, other, 0, at)
            :: else
            fi;
            other++
        :: else -> break
        od;
        at = 0;
        other = 0
    }
    od
}

#define HAS_PEN(m) (knownPen[m] == m + 1)
/* Machine x, which does not have the pen, wants it, as far as machine m knows: maybe m itself. */
#define WISHES(m, x) (x < MACHINES && knownPen[m] != x + 1 && known[m].key[x % MACHINES] != 0)
/* It has the pen and does not use it, or has given it to one that had not asked and may be stopped. */
#ifdef WEAK_RETURN
#define MAY_HAND(m) (HAS_PEN(m) && !isWaiting[m])
#else
#define MAY_HAND(m) (HAS_PEN(m) && !isWaiting[m] || given[m] != 0 && knownPenRevision[m] == given[m])
#endif

/* Fetches the pen, asks for it and hands it over. */
proctype Driver(byte me)
{
    byte other, at, pens, since, wish;
    bool held;
end:
    do
    :: atomic { /* nobody has it */
        !isStopped[me] && isWaiting[me] && knownPen[me] == 0 ->
        held = (pen == 0);
        if
        :: held ->
            revision++;
            givePen(me + 1);
            deleteWant(me)
        :: else
        fi;
        at = revision; pens = pen; since = penRevision; wish = want[me]
    };
        atomic {
            learnPen(me, pens, since, at);
            if
            :: held -> learnWant(me, me, 0, at)
            :: else
            fi;
            held = false; at = 0; pens = 0; since = 0; wish = 0
        }
    :: atomic { /* another one has it, and does not know yet */
        !isStopped[me] && isWaiting[me] && knownPen[me] != 0 && !HAS_PEN(me) && known[me].key[me] == 0 ->
        held = (penRevision == knownPenRevision[me]);
        if
        :: held ->
            revision++;
            want[me] = revision;
            put[revision] = put[revision] | BIT(me)
        :: else
        fi;
        at = revision; pens = pen; since = penRevision; wish = want[me]
    };
        atomic {
            learnPen(me, pens, since, at);
            if
            :: held -> learnWant(me, me, wish, at)
            :: else
            fi;
            held = false; at = 0; pens = 0; since = 0; wish = 0
        }
    :: atomic { /* it is here, or was given away without being asked for, and another one wants it */
        !isStopped[me] && MAY_HAND(me) && (WISHES(me, 0) || WISHES(me, 1) || WISHES(me, 2)) ->
        if
        :: WISHES(me, 0) -> other = 0
        :: WISHES(me, 1) -> other = 1
        :: WISHES(me, 2) -> other = 2
        fi;
        held = (penRevision == knownPenRevision[me] && want[other] == known[me].key[other]);
        if
        :: held ->
            revision++;
            givePen(other + 1);
#ifndef WEAK_HAND
            deleteWant(other)
#endif
        :: else
        fi;
        at = revision; pens = pen; since = penRevision;
#ifdef WEAK_HAND
        wish = (held -> 0 : want[other])
#else
        wish = want[other]
#endif
    };
        atomic {
            learnPen(me, pens, since, at);
            learnWant(me, other, wish, at);
            held = false; at = 0; pens = 0; since = 0; wish = 0; other = 0
        }
    od
}

/* A worker that needs the pen now and then, and appends an entry with it. */
proctype Worker(byte me)
{
    byte other, at, pens, since;
    bool held;
    do
    :: needs[me] > 0 ->
        isWaiting[me] = true;
        do
        :: atomic { isStopped[me] -> goto stopped }
        :: atomic {
            !isStopped[me] && HAS_PEN(me) ->
            other = me;
            held = (penRevision == knownPenRevision[me]);
            if
            :: held && gifts < GIFTS ->
                /* To a machine with a taker, whatever is known of its wish. */
                gifts++;
                if
                :: me != 0 -> other = 0
                :: me != 1 -> other = 1
#if MACHINES > 2
                :: me != 2 -> other = 2
#endif
                fi;
                revision++;
                givePen(other + 1);
#ifndef WEAK_GIFT
                deleteWant(other)
#endif
            :: true
            fi;
            at = revision; pens = pen; since = penRevision
        };
            atomic {
                learnPen(me, pens, since, at);
                if
                :: held && other != me ->
                    learnWant(me, other, 0, at);
                    given[me] = at
                :: else
                fi;
                at = 0; pens = 0; since = 0;
                if
                :: held -> held = false; other = 0; break
                :: else -> other = 0
                fi
            }
        od;
        atomic { isWaiting[me] = false; needs[me]-- }
    :: else -> break
    od;
stopped:
    skip
}

/* Stops a machine that has nothing that others wait for. */
proctype Stopper()
{
    byte who;
end:
    do
    :: atomic {
        stops < STOPS ->
        stops++;
        who = MACHINES - 1;
        if
        :: pen != who + 1 && want[who] == 0 && !isWaiting[who] -> isStopped[who] = true
        :: else
        fi
    }
    od
}

#define HAS_ALL(m) (needs[m] == 0 || isStopped[m])

proctype Check()
{
    timeout ->
    assert(HAS_ALL(0) && HAS_ALL(1));
#if MACHINES > 2
    assert(HAS_ALL(2));
#endif
}

init {
    byte machine = 0;
    atomic {
        do
        :: machine < MACHINES ->
            needs[machine] = NEEDS;
            run Watch(machine);
            run Driver(machine);
            run Worker(machine);
            machine++
        :: else -> break
        od;
        if
        :: STOPS > 0 -> run Stopper()
        :: else
        fi;
        run Check()
    }
}
