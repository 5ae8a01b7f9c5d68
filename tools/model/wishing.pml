/* Wishing: each machine that wants the pen gets it.
 *
 * The pen and the wishes for it of a namespace that several machines share through etcd, and what each machine knows of
 * them. A machine fetches a pen that nobody has. It asks for a pen that another one has, by its own key `want`, and counts
 * on that key from then on. The holder hands the pen to one that has asked, with an entry that it appends or without one.
 * If it knows of none that has asked, its entry may free the pen: then each machine appends, or fetches the pen. A wish that
 * the holder did not know of stays then, and is answered later, when its machine may not need the pen. A machine knows of other machines' transactions by its watch, later, and of its own by their
 * answers, later too.
 *
 * NEEDS: how often a worker of machine m needs the pen. GIFTS: how often the pen goes with an entry. FREES: how often an
 * entry frees it.
 *
 * Checked: when no process can take a step any more, each worker has had the pen as often as it needed it.
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
#ifndef FREES
#define FREES 0
#endif

/* The most transactions that change something. */
#define REVISIONS 30
#define BIT(m) (1 << (m))
#define FREE 9

/* etcd: the machine that has the pen, plus one, or FREE; the revision that gave it to it; and of each `want` its revision. */
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

byte needs[MACHINES];            /* how often its worker still needs the pen */
bool isWaiting[MACHINES];
byte gifts, frees;

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
        heard[me] < revision ->
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
#define MAY_HAND(m) (HAS_PEN(m) && !isWaiting[m])
#define WISHER(m) (WISHES(m, 0) -> 0 : (WISHES(m, 1) -> 1 : (WISHES(m, 2) -> 2 : MACHINES)))

/* Fetches the pen, asks for it and hands it over. */
proctype Driver(byte me)
{
    byte other, at, pens, since, wish;
    bool held;
end:
    do
    :: atomic { /* nobody has it */
        isWaiting[me] && (knownPen[me] == 0 || knownPen[me] == FREE) ->
        held = (penRevision == knownPenRevision[me]);
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
        isWaiting[me] && knownPen[me] != 0 && knownPen[me] != FREE && !HAS_PEN(me) && known[me].key[me] == 0 ->
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
    :: atomic { /* it is here, and another one wants it */
        MAY_HAND(me) && (WISHES(me, 0) || WISHES(me, 1) || WISHES(me, 2)) ->
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
        :: atomic {
            HAS_PEN(me) || knownPen[me] == FREE ->
            other = me;
            held = (penRevision == knownPenRevision[me]);
            if
            :: held && HAS_PEN(me) && gifts < GIFTS && WISHER(me) != MACHINES ->
                /* To one that has asked, as far as is known: it may have got the pen since, and asked again. */
                gifts++;
                other = WISHER(me);
                revision++;
                givePen(other + 1);
#ifndef WEAK_GIFT
                deleteWant(other)
#endif
            :: held && HAS_PEN(me) && frees < FREES && WISHER(me) == MACHINES ->
                frees++;
                revision++;
                givePen(FREE)
            :: true
            fi;
            at = revision; pens = pen; since = penRevision
        };
            atomic {
                learnPen(me, pens, since, at);
                if
                :: held && other != me -> learnWant(me, other, 0, at)
                :: else
                fi;
                at = 0; pens = 0; since = 0;
                other = 0;
                if
                :: held -> held = false; break
                :: else
                fi
            }
        od;
        atomic { isWaiting[me] = false; needs[me]-- }
    :: else -> break
    od
}

proctype Check()
{
    timeout ->
    assert(needs[0] == 0 && needs[1] == 0);
#if MACHINES > 2
    assert(needs[2] == 0);
#endif
    skip
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
        run Check()
    }
}
