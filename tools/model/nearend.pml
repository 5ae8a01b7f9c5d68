/* The near end: tuples in a ring in front of LMDB are neither lost nor seen nor taken twice.
 *
 * The ring of recent tuples is in the control file (SpaceEngine/NearEnd), and is flushed to LMDB.
 *
 * Writers put tuples into the ring, and flush it to LMDB when it is full; takers look without the gate, then take under it,
 * wherever the tuple is by then; a reader looks without the gate. Up to KILLS of them die, each between any two stores. A
 * tuple's id is its position in the ring. LMDB has its own two steps: what is committed, and what readers see of it.
 *
 * Checked: a look without the gate that counts as consistent has no torn record, no tuple twice, none that was taken before
 * it began, and each that was there from its beginning to its end. No tuple is taken twice, no id is used twice. In the
 * end, each tuple whose write was acknowledged was taken, or is there.
 *
 * Memory is sequentially consistent here: the code has a fence at each place where two steps must not be exchanged.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef WRITES
#define WRITES 2                 /* of each writer */
#endif
#ifndef TAKERS
#define TAKERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2                 /* of each taker */
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef RING
#define RING 2
#endif

#define IDS (WRITERS * WRITES + KILLS)
#define PROCESSES (WRITERS + TAKERS + READERS)
#define BIT(i) (1 << (i))
#define MORTAL(p) provided (!dead[p])

#define FREE 0
#define PRESENT 1
#define TAKEN 2

/* LMDB: the rows of the last commit and all ids below which are in LMDB or gone; and both as readers see them. */
short stored, shown;
byte floor_, shownFloor;

/* The control file. */
byte gate;                       /* 0: free; else its holder, plus one */
bool needsRecovery;
byte word_;
byte head, tail;
byte recordID[RING];
byte recordState[RING];
#ifdef WEAK_NEXT
byte next;
#endif

/* What happened, for the checks. */
short begun;                     /* ids that a committing store has made visible */
short acknowledged;
short taken;
short ended;                     /* takes that were acknowledged */
bool dead[PROCESSES + 1];          /* and the visitor at the end */
byte kills;

#define SLOT(id) ((id) % RING)

inline acquire() {
    atomic {
        gate == 0 || dead[gate - 1];
        if
        :: gate != 0 -> needsRecovery = true
        :: else
        fi;
        gate = me + 1
    };
#ifndef WEAK_UNRECOVERED
    if
    :: needsRecovery -> recover()
    :: else
    fi
#endif
}

inline release() { gate = 0 }

/* A write transaction begins with what was committed last, also if no reader sees it yet. */
inline begin() { atomic { shown = stored; shownFloor = floor_ } }

inline recover() {
#ifndef WEAK_BEGIN
    begin();
#endif
    if
    :: word_ % 2 == 0 -> word_++
    :: else
    fi;
    if
    :: head < shownFloor -> head = shownFloor
    :: else
    fi;
    if
    :: tail < shownFloor -> tail = shownFloor
    :: else
    fi;
#ifdef WEAK_BACK
    word_ = 0;
#else
    word_++;
#endif
    needsRecovery = false
}

/* Moves all records to LMDB. */
inline flush() {
    begin();
    index = head;
    set = stored;
    do
    :: index < tail ->
        if
        :: recordState[SLOT(index)] == PRESENT -> set = set | BIT(index)
        :: else
        fi;
        index++
    :: else -> index = 0; break
    od;
#ifdef WEAK_HEAD
    word_++;
    head = tail;
    word_++;
#endif
    atomic { stored = set; floor_ = tail; set = 0 };
    atomic { shown = stored; shownFloor = floor_ };
#ifndef WEAK_FLUSH_WORD
    word_++;
#endif
    head = tail;
#ifndef WEAK_FLUSH_WORD
    word_++
#endif
}

inline write() {
    acquire();
    if
    :: tail - head == RING -> flush()
    :: else
    fi;
#ifdef WEAK_NEXT
    id = next;
#else
    id = tail;
#endif
    word_++;
    recordID[SLOT(id)] = id;
    recordState[SLOT(id)] = PRESENT;
    atomic {
        /* The store that commits. */
        tail = id + 1;
        assert(!(begun & BIT(id)));
        begun = begun | BIT(id)
    };
#ifdef WEAK_NEXT
    next = id + 1;
#endif
    word_++;
    release();
    acknowledged = acknowledged | BIT(id);
    id = 0
}

/* A look without the gate: `found` is what it has seen, if `isConsistent`. */
inline look() {
    found = 0;
    isConsistent = false;
    word1 = word_;
    /* The word may be odd: each store of a change leaves a state that may be seen. */
    atomic { set = shown; id = shownFloor };
#ifdef WEAK_FLOOR
    id = 0;
#endif
    if
    :: id < head -> id = head
    :: else
    fi;
    end = tail;
    isTorn = false;
    do
    :: id < end ->
        atomic {
            if
            :: recordID[SLOT(id)] != id -> isTorn = true
            :: recordState[SLOT(id)] == PRESENT && recordID[SLOT(id)] == id ->
                isTorn = isTorn || (set & BIT(id));
                found = found | BIT(id)
            :: else
            fi
        };
        id++
    :: else -> break
    od;
    id = 0;
    end = 0;
    if
    :: word_ == word1 ->
        isConsistent = true;
        /* No record was torn, and none is in LMDB as well. */
        assert(!isTorn);
        found = found | set
    :: else
    fi;
    isTorn = false;
    set = 0;
    word1 = 0
}

inline check() {
    if
    :: isConsistent ->
        assert((found & takenBefore) == 0);
        atomic { assert((acknowledgedBefore & ~taken & ~found) == 0) }
    :: else
    fi
}

proctype Writer(byte me) MORTAL(me) {
    byte id, index, written;
    short set;
    do
    :: written < WRITES -> write(); written++
    :: else -> break
    od
}

proctype Taker(byte me) MORTAL(me) {
    byte id, index, word1, end, rounds;
    short set, found, acknowledgedBefore, takenBefore;
    bool isConsistent, isTorn;
    do
    :: rounds < ROUNDS ->
        rounds++;
        atomic { acknowledgedBefore = acknowledged; takenBefore = ended };
        look();
        check();
        if
        :: isConsistent && found != 0 ->
            /* The first that was found. */
            id = 0;
            do
            :: found & BIT(id) -> break
            :: else -> id++
            od;
            found = 0;
            acquire();
            if
#ifdef WEAK_PLACE
            :: recordID[SLOT(id)] == id && recordState[SLOT(id)] == PRESENT ->
#else
            :: id >= head && id < tail && recordState[SLOT(id)] == PRESENT ->
#endif
                word_++;
                atomic {
                    recordState[SLOT(id)] = TAKEN;
                    assert(!(taken & BIT(id)));
                    taken = taken | BIT(id)
                };
                word_++
            :: else ->
                begin();
                if
                :: id < head && (stored & BIT(id)) ->
                    atomic {
                        stored = stored & ~BIT(id);
                        assert(!(taken & BIT(id)));
                        taken = taken | BIT(id)
                    };
                    atomic { shown = stored; shownFloor = floor_ }
                :: else
                fi
            fi;
            release();
            atomic { ended = ended | (taken & BIT(id)); id = 0 }
        :: else
        fi;
        atomic { found = 0; acknowledgedBefore = 0; takenBefore = 0; isConsistent = false }
    :: else -> break
    od
}

proctype Reader(byte me) MORTAL(me) {
    byte id, word1, end;
    short set, found, acknowledgedBefore, takenBefore;
    bool isConsistent, isTorn;
    atomic { acknowledgedBefore = acknowledged; takenBefore = ended };
    look();
    check()
}

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS ->
        select (victim : 0 .. PROCESSES - 1);
        atomic { dead[victim] = true; kills++ }
    :: break
    od
}

init {
    byte p, me, index;
    short set;
    atomic {
        tail = 0;
        p = 0;
        do
        :: p < WRITERS -> run Writer(p); p++
        :: p >= WRITERS && p < WRITERS + TAKERS -> run Taker(p); p++
        :: p >= WRITERS + TAKERS && p < PROCESSES -> run Reader(p); p++
        :: p == PROCESSES -> break
        od;
        run Killer()
    }
    timeout;
    /* The next process that comes sees each acknowledged tuple that was not taken, and no taken one. */
    me = PROCESSES;
    acquire();
    flush();
    release();
    assert((acknowledged & ~taken & ~stored) == 0);
    assert((taken & stored) == 0)
}
