/* The clock of a replicated namespace: never back, never fast, and never slower than one delivery.
 *
 * The clock of a namespace that several machines share, with real time in ticks. An entry bears the time of the machine
 * that made it. An append takes up to a tick, and the other machines apply an entry up to a tick after that. A
 * machine's clock goes on with its BOOTTIME, and an entry that it applies may only set it forward. Machine 1 joins: its
 * last entry is old, and its wall clock is fast. It makes no entry before it has applied one that is new.
 *
 * Checked: no entry bears an earlier time than the one before, nor a time that has not come, nor one that is longer ago
 * than LAG ticks. No machine sees a deadline pass more than LAG ticks too early.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef MACHINES
#define MACHINES 2
#endif
#ifndef ENTRIES
#define ENTRIES 5
#endif
#ifndef TICKS
#define TICKS 8
#endif
#ifndef LAG
#define LAG 2
#endif
#ifndef WRONG
#define WRONG 3                  /* ticks that machine 1's wall clock is fast */
#endif
#ifndef AGE
#define AGE 4                    /* ticks that machine 1's last entry is old */
#endif
#define START 10
#define DURATION 5               /* of the deadline that each entry sets */

byte now = START;
byte head;
byte headTime = START;           /* of the last entry */
byte landed = START;             /* when it was appended */
byte pending;                    /* the machine whose append is under way, plus one */
byte stamp, sent;
byte applied[MACHINES];
byte base[MACHINES] = START;     /* the clock's time as of `since` */
byte since[MACHINES] = START;
bool isLive[MACHINES];           /* has applied an entry when it was new */
byte deadline, begun;            /* of the last entry's, and when that was made */

#define CLOCK(m) (base[m] + now - since[m])

inline setClock(m) {
#if defined(WEAK_MAXIMUM)
    base[m] = headTime;
    since[m] = now
#else
    base[m] = (CLOCK(m) > headTime -> CLOCK(m) : headTime);
    since[m] = now
#endif
}

#ifdef WEAK_LIVE
#define MAY_STAMP(m) true
#else
#define MAY_STAMP(m) isLive[m]
#endif

proctype Machine(byte me)
{
    do
    :: atomic {
        pending == 0 && applied[me] == head && head < ENTRIES && MAY_STAMP(me) ->
        pending = me + 1;
        sent = now;
#if defined(WEAK_WALL)
        stamp = now + (me == 1 -> WRONG : 0);
#elif defined(WEAK_OWN)
        stamp = (me == 1 -> now - WRONG : now);
#else
        stamp = CLOCK(me);
#endif
        assert(stamp >= headTime);
        assert(stamp <= now);
        assert(now - stamp <= LAG)
    }
    :: atomic {
        pending == me + 1 ->
        pending = 0;
        head++;
        headTime = stamp;
        landed = now;
        applied[me] = head;
        setClock(me);
        deadline = stamp + DURATION;
        begun = sent
    }
    :: atomic { applied[me] < head -> applied[me] = head; isLive[me] = true; setClock(me) }
    :: atomic {
        deadline != 0 && applied[me] == head && CLOCK(me) >= deadline ->
        assert(now + LAG >= begun + DURATION);
        deadline = 0
    }
    od
}

#define IS_LATE(m) (applied[m] < head && landed < now)

proctype Time()
{
    do
    :: atomic {
        now < START + TICKS && !(pending != 0 && sent < now) && !IS_LATE(0) && !IS_LATE(1) -> now++
    }
    od
}

init {
    atomic {
        isLive[0] = true;
        base[1] = START - AGE;
        headTime = START - AGE;
        run Machine(0);
        run Machine(1);
        run Time()
    }
}
