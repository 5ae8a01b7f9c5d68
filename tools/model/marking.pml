/* Marks: no tuple of LMDB that is taken or claimed by a mark is lost, seen again or given twice.
 *
 * The marks are in the control file, beside the ring (SpaceEngine/NearEnd/NearMarks). The tuples of this model are in LMDB
 * from the beginning.
 *
 * Takers take the oldest tuple that is not marked, by a mark; when all places are used, a commit applies the marks. Claimers
 * claim in the same way, then complete or release the claim, perhaps twice: in the mark, or in LMDB. Lookers look for the
 * claims of the dead, and return their tuples. Readers look without the gate. Up to KILLS of these processes die, each
 * between any two stores. LMDB has its own two steps: what is committed, and what readers see of it.
 *
 * Checked: A look without the gate that counts as consistent has each tuple and each claim that did not change during the
 * look as it was, and no tuple both visible and claimed. Only a visible tuple is taken or claimed. No claim's number is used
 * twice. A claim ends once, and only by its own number; a process is told that a claim has ended before only if it has. In
 * the end each tuple is visible, or was taken, or is claimed by a living process.
 *
 * Memory is sequentially consistent here: the code has a fence at each place where two steps must not be exchanged. The
 * gate's holder reads in one step what only holders of the gate change.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef TUPLES
#define TUPLES 3
#endif
#ifndef TAKERS
#define TAKERS 0
#endif
#ifndef CLAIMERS
#define CLAIMERS 0
#endif
#ifndef ROUNDS
#define ROUNDS 2                 /* of each taker and claimer */
#endif
#ifndef ENDINGS
#define ENDINGS 2                /* how often a claimer tries to end a claim */
#endif
#ifndef LOOKERS
#define LOOKERS 0
#endif
#ifndef READERS
#define READERS 0
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef MARKS
#define MARKS 2
#endif
/* SINGLY: there may be room for applying one mark only, the last. */

#define PROCESSES (TAKERS + CLAIMERS + LOOKERS + READERS)
#define NUMBERS (CLAIMERS * ROUNDS + 1)  /* of claims, from 1 on */
#define MORTAL(p) provided (!dead[p])

#define TAKEN 1
#define CLAIMED 2

/* Sets of tuples, and of claims by their numbers. */
#define TUPLE(id) (1 << (id))
#define CLAIM(number) (1 << (4 + (number)))
#define ALL ((1 << TUPLES) - 1)
#define NONE 255

/* LMDB: the rows of the last commit, and as readers see them. */
int stored = ALL, shown = ALL;
int unshown, unshownGone;        /* what the last commit changes for those who look, once it is shown */
byte rowNextNumber = 1;
/* Of which generation of marks the commit has applied those from a place on, plus one; 0: of none. */
byte rowGeneration, rowRemaining;
byte shownGeneration, shownRemaining;

/* The control file. */
byte gate;                       /* 0: free; else its holder, plus one */
bool needsRecovery;
byte word_;
byte nextNumber = 1;
byte generation, count;          /* one word */
byte markID[MARKS];
byte markState[MARKS];
byte markHolder[MARKS];
byte markNumber[MARKS];

byte tupleOf[NUMBERS + 1] = NONE;
byte holderOf[NUMBERS + 1];

/* What happened, for the checks. */
int truth = ALL;                 /* what is visible and claimed, by the committing stores */
int gone;                        /* what was taken or completed */
int moved[PROCESSES + 1] = -1;   /* what changed during each look */
bool dead[PROCESSES + 1];        /* and the visitor at the end */
byte kills;
hidden byte other;

#define LOCALS byte id, index, number, place, word1, seen, applied; int set, claims, before, ending; bool isThere

inline happens(change) {
    truth = truth ^ (change);
    other = 0;
    do
    :: other <= PROCESSES -> moved[other] = moved[other] | (change); other++
    :: else -> break
    od;
    other = 0
}

/* A write transaction begins with what was committed last, also if no reader sees it yet. */
inline begin() {
    d_step {
        shown = stored;
        shownGeneration = rowGeneration;
        shownRemaining = rowRemaining;
        if
        :: unshown != 0 ->
            happens(unshown);
            gone = gone | unshownGone;
            unshown = 0;
            unshownGone = 0
        :: else
        fi
    }
}

inline acquire() {
    atomic {
        gate == 0 || dead[gate - 1];
        if
        :: gate != 0 -> needsRecovery = true
        :: else
        fi;
        gate = me + 1
    };
    if
    :: needsRecovery -> recover()
    :: else
    fi
}

inline release() { gate = 0 }

/* What the last commit says of the marks counts. */
inline recover() {
#ifndef WEAK_BEGIN
    begin();
#endif
    if
    :: word_ % 2 == 0 -> word_++
#ifdef WEAK_MEND
    :: else
#else
    /* A look may have begun under the killed holder's word, before its commit. */
    :: else -> word_ = word_ + 2
#endif
    fi;
#ifndef WEAK_RECOVER
    d_step {
        if
        :: shownGeneration == generation + 1 ->
            generation++;
            if
            :: shownRemaining < count -> count = shownRemaining
            :: else
            fi
        :: else
        fi
    };
#endif
    if
    :: nextNumber < rowNextNumber -> nextNumber = rowNextNumber
    :: else
    fi;
    word_++;
    needsRecovery = false
}

/* The transaction's rows, with the marks from a place on applied. */
inline apply(from) {
    set = stored;
    index = from;
    do
    :: index < count ->
        set = set & ~TUPLE(markID[index]);
        if
        :: markState[index] == CLAIMED -> set = set | CLAIM(markNumber[index])
        :: else
        fi;
        index++
    :: else -> break
    od;
    index = 0
}

/* Commits the rows; and what becomes of it for those who look. `remaining` marks are left; all: none is applied. */
inline commit(change, remaining) {
    d_step {
        stored = set;
        if
        :: remaining < count ->
            rowGeneration = generation + 1;
            rowRemaining = remaining
        :: else
        fi;
        rowNextNumber = nextNumber;
        unshown = change;
        unshownGone = ending;
        ending = 0;
        set = 0
    };
    begin()
}

inline makeOdd() {
    if
    :: word_ % 2 == 0 -> word_++
    :: else
    fi
}

inline drop(from) {
    makeOdd();
#ifndef WEAK_SAME
    /* A look that began before the commit does not count. */
    word_ = word_ + 2;
#endif
    /* One store: what is left is of the next generation. */
    d_step {
#ifdef WEAK_GENERATION
        if
        :: from == 0 -> generation++
        :: else
        fi;
#else
        generation++;
#endif
        count = from
    };
    word_++
}

inline flush() {
    begin();
#ifdef WEAK_DROP
    makeOdd();
    d_step { apply(0) };
    drop(0);
    commit(0, 0)
#else
#ifdef SINGLY
#ifdef WEAK_SINGLY
    /* The mark is dropped as if all of them were applied. */
    d_step { place = count - 1; apply(place) };
    makeOdd();
    commit(0, 0);
    drop(place);
    place = 0
#else
    d_step { place = count - 1; apply(place) };
    makeOdd();
    commit(0, place);
    drop(place);
    place = 0
#endif
#else
    d_step { apply(0) };
#ifndef WEAK_EVEN
    makeOdd();
#endif
    commit(0, 0);
    drop(0)
#endif
#endif
}

/* The oldest tuple that is not marked, or NONE. */
inline find() {
    d_step {
        id = 0;
        do
        :: id < TUPLES ->
            isThere = (shown & TUPLE(id)) != 0;
            index = 0;
            do
            :: index < count -> isThere = isThere && markID[index] != id; index++
            :: else -> break
            od;
            index = 0;
            if
            :: isThere -> break
            :: else -> id++
            fi
        :: else -> id = NONE; break
        od;
        isThere = false
    }
}

inline takeByMark() {
    acquire();
    if
    :: count == MARKS -> flush()
    :: else
    fi;
    find();
    if
    :: id != NONE ->
        word_++;
#ifdef WEAK_COUNT
        d_step {
            count++;
            assert(truth & TUPLE(id));
            happens(TUPLE(id));
            gone = gone | TUPLE(id)
        };
        markID[count - 1] = id;
        markState[count - 1] = TAKEN;
#else
        markID[count] = id;
        markState[count] = TAKEN;
        d_step {
            /* The store that commits. */
            count++;
            assert(truth & TUPLE(id));
            happens(TUPLE(id));
            gone = gone | TUPLE(id)
        };
#endif
        word_++
    :: else
    fi;
    release();
    id = 0
}

inline claimByMark() {
    acquire();
    if
    :: count == MARKS -> flush()
    :: else
    fi;
    find();
    number = 0;
    if
    :: id != NONE ->
        word_++;
        number = nextNumber;
#ifndef WEAK_NUMBER
        nextNumber = number + 1;
#endif
        markID[count] = id;
        markHolder[count] = me;
        markNumber[count] = number;
        markState[count] = CLAIMED;
        d_step {
            /* The store that commits. */
            count++;
            assert(truth & TUPLE(id));
            assert(tupleOf[number] == NONE);
            tupleOf[number] = id;
            holderOf[number] = me;
            happens(TUPLE(id) | CLAIM(number))
        };
#ifdef WEAK_NUMBER
        nextNumber = number + 1;
#endif
        word_++
    :: else
    fi;
    release()
}

/* Whether a mark has the tuple; without the gate. */
inline lookAtMarks() {
    seen = count;
    isThere = false;
    index = 0;
    do
    :: index < seen && !isThere -> isThere = markID[index] == id; index++
    :: else -> break
    od;
    index = 0;
    seen = 0
}

inline complete() {
    lookAtMarks();
    place = NONE;
    acquire();
    if
    :: isThere ->
        d_step {
            index = 0;
            do
            :: index < count ->
                if
                :: markID[index] == id && markState[index] == CLAIMED && markNumber[index] == number -> place = index
                :: else
                fi;
                index++
            :: else -> break
            od;
            index = 0
        }
    :: else
    fi;
    isThere = false;
    if
    :: place != NONE ->
        word_++;
        d_step {
            /* The store that commits. */
            markState[place] = TAKEN;
            assert(truth & CLAIM(number));
            happens(CLAIM(number));
            gone = gone | TUPLE(id)
        };
        word_++
    :: else ->
        begin();
        if
        :: stored & CLAIM(number) ->
            d_step {
                assert(truth & CLAIM(number));
                ending = TUPLE(id);
                set = stored & ~CLAIM(number)
            };
            commit(CLAIM(number), count)
        :: else -> assert(!(truth & CLAIM(number)))
        fi
    fi;
    release();
    place = 0
}

/* Returns a claim's tuple, in a transaction that applies all marks first. */
inline giveBack() {
    acquire();
    begin();
#ifdef WEAK_APPLY
    set = stored;
#else
    d_step { apply(0) };
#endif
    if
    :: set & CLAIM(number) ->
        d_step { set = (set & ~CLAIM(number)) | TUPLE(id) };
#ifdef WEAK_APPLY
        commit(CLAIM(number) | TUPLE(id), count)
#else
        if
        :: count > 0 ->
#ifndef WEAK_EVEN
            makeOdd();
#endif
            commit(CLAIM(number) | TUPLE(id), 0);
            drop(0)
        :: else -> commit(CLAIM(number) | TUPLE(id), count)
        fi
#endif
    :: else -> d_step { assert(!(truth & CLAIM(number))); set = 0 }
    fi;
    release()
}

/* Looks for the claims of the dead, and returns one. */
inline look() {
    acquire();
    d_step {
        number = 0;
        index = 0;
        do
        :: index < count ->
            if
#ifndef WEAK_LOOK
            :: markState[index] == CLAIMED && dead[markHolder[index]] -> number = markNumber[index]
#endif
            :: else
            fi;
            index++
        :: else -> break
        od;
        index = 1;
        do
        :: index <= NUMBERS ->
            if
            :: (shown & CLAIM(index)) && dead[holderOf[index]] -> number = index
            :: else
            fi;
            index++
        :: else -> break
        od;
        index = 0;
        id = 0
    };
    release();
    if
    :: number != 0 -> id = tupleOf[number]; giveBack()
    :: else
    fi;
    d_step { number = 0; id = 0 }
}

/* Looks without the gate, and compares what it has seen with what did not change meanwhile. */
inline read() {
    d_step { moved[me] = 0; before = truth; word1 = word_ };
    d_step { set = shown; applied = shownGeneration; place = shownRemaining };
    d_step {
        seen = count;
#ifndef WEAK_SNAPSHOT
        /* Marks that the snapshot's commit has applied don't count; with an even word there are none. */
        if
        :: word1 % 2 == 1 && applied == generation + 1 && place < seen -> seen = place
        :: else
        fi
#endif
    };
    index = 0;
    claims = 0;
    do
    :: index < seen ->
        /* The copy of a mark: its fields don't change while the word stays the same. */
        d_step {
            set = set & ~TUPLE(markID[index]);
            if
            :: markState[index] == CLAIMED -> claims = claims | CLAIM(markNumber[index])
            :: else
            fi
        };
        index++
    :: else -> break
    od;
    seen = 0;
    d_step {
        if
#ifdef WEAK_WORD
        :: true ->
#else
        :: word_ == word1 ->
#endif
            set = set | claims;
            assert(((set ^ before) & ~moved[me]) == 0)
        :: else
        fi;
        moved[me] = -1;
        set = 0;
        before = 0;
        applied = 0;
        place = 0;
        claims = 0;
        index = 0;
        seen = 0;
        word1 = 0
    }
}

proctype Taker(byte me; byte rounds) MORTAL(me) {
    LOCALS;
    do
    :: rounds > 0 -> takeByMark(); rounds--
    :: else -> break
    od
}

proctype Claimer(byte me; byte rounds; byte endings) MORTAL(me) {
    LOCALS;
    byte left;
    do
    :: rounds > 0 ->
        claimByMark();
        left = endings;
        do
        :: number != 0 && left > 0 ->
            if
            :: complete()
            :: giveBack()
            fi;
            left--
        :: else -> break
        od;
        left = 0;
        d_step { id = 0; number = 0 };
        rounds--
    :: else -> break
    od
}

proctype Looker(byte me; byte rounds) MORTAL(me) {
    LOCALS;
    do
    :: rounds > 0 -> look(); rounds--
    :: else -> break
    od
}

proctype Reader(byte me; byte rounds) MORTAL(me) {
    LOCALS;
    do
    :: rounds > 0 -> read(); rounds--
    :: else -> break
    od
}

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS ->
        if
        :: victim = 0
        :: PROCESSES > 1 -> victim = 1
        :: PROCESSES > 2 -> victim = 2
        fi;
        d_step {
            if
            :: !dead[victim] -> dead[victim] = true; kills++
            :: else
            fi;
            victim = 0
        }
    :: break
    od
}

init {
    LOCALS;
    byte me;
    atomic {
        do
        :: me < TAKERS -> run Taker(me, ROUNDS); me++
        :: me >= TAKERS && me < TAKERS + CLAIMERS -> run Claimer(me, ROUNDS, ENDINGS); me++
        :: me >= TAKERS + CLAIMERS && me < TAKERS + CLAIMERS + LOOKERS -> run Looker(me, 1); me++
        :: me >= TAKERS + CLAIMERS + LOOKERS && me < PROCESSES -> run Reader(me, 1); me++
        :: else -> break
        od;
        run Killer()
    };
    timeout;
    atomic {
        /* The next process that comes finds the claims of the dead, and everything that was not taken. */
        me = PROCESSES;
        acquire();
        release();
        look();
        look();
        read();
        acquire();
        begin();
        d_step { apply(0) };
        assert(set == truth);
        claims = 0;
        index = 1;
        do
        :: index <= NUMBERS ->
            if
            :: (truth & CLAIM(index)) -> assert(!dead[holderOf[index]]); claims = claims | TUPLE(tupleOf[index])
            :: else
            fi;
            index++
        :: else -> break
        od;
        /* Each tuple is visible, or claimed, or gone. */
        assert(((truth & ALL) | claims | gone) == ALL);
        assert((truth & ALL & (gone | claims)) == 0 && (claims & gone) == 0)
    }
}
