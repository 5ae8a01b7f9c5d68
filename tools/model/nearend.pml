/* The near end: no tuple and no claim in the ring in front of LMDB is lost, seen twice or given twice.
 *
 * The ring of recent tuples is in the control file (SpaceEngine/NearEnd), and is flushed to LMDB. A tuple's id is its
 * position in the ring.
 *
 * Writers put tuples into the ring, and flush it to LMDB when it is full. Takers look without the gate, then take under
 * the gate, wherever the tuple is by then. Claimers look in the same way, then claim, and then complete or release the
 * claim, perhaps twice. Lookers look for the claims of the dead, and return their tuples. Readers look without the gate.
 * Recallers look at the ring alone, after a look that found no tuple in LMDB. A waiter sleeps until a tuple is visible.
 * Up to KILLS of these processes die, each between any two stores. LMDB has its own two steps: what is committed, and
 * what readers see of it.
 *
 * Checked: A look without the gate that counts as consistent has no torn record. It has no tuple twice, and none that is
 * visible and claimed. Each tuple and each claim that did not change during the look is in the look as it was. Only a
 * visible tuple is taken or claimed. No id and no claim's number is used twice. A claim ends once, and only by its own
 * number; a process is told that a claim has ended before only if it has. In the end, everything that was written and
 * not taken is there, no claim is left of a dead process, and the waiter does not sleep beside a tuple.
 *
 * Memory is sequentially consistent here: the code has a fence at each place where two steps must not be exchanged. The
 * gate's holder reads in one step what only holders of the gate change.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef WRITERS
#define WRITERS 0
#endif
#ifndef WRITES
#define WRITES 2                 /* of each writer */
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
#ifndef RECALLERS
#define RECALLERS 0
#endif
#ifndef WAITERS
#define WAITERS 0                /* or 1 */
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef RING
#define RING 2
#endif
/* LARGE: each writer also writes tuples that have no place in the ring.
 * BODIES: each taker also takes in a transaction that takes the ring over. */
/* Tuples that are in LMDB and in the ring at the beginning. */
#ifndef OLD
#define OLD 0
#endif
#ifndef RECENT
#define RECENT 0
#endif

#define PROCESSES (WRITERS + TAKERS + CLAIMERS + LOOKERS + READERS + RECALLERS + WAITERS)
#define NUMBERS (CLAIMERS * ROUNDS + 1)  /* of claims, from 1 on */
#define MORTAL(p) provided (!dead[p])

#define FREE 0
#define PRESENT 1
#define TAKEN 2
#define CLAIMED 3
#define SLOT(id) ((id) % RING)
#define IN_RING(id) (id >= head && id < tail)

/* Sets of visible tuples, of claims by their numbers, and of tuples that are visible or claimed. */
#define VISIBLE(id) (1 << (id))
#define CLAIM(number) (1 << (8 + (number)))
#define HERE(id) (1 << (16 + (id)))
#define ANY_VISIBLE 255
#define ROWS 65535             /* what LMDB has rows for */
#define NONE 255

/* LMDB: the rows of the last commit and all ids below which are in LMDB or gone; and both as readers see them. */
int stored, shown;
byte floor_, shownFloor;
byte rowNextClaim = 1;
#if RECALLERS > 0
byte commits, shownCommits;      /* the number of the last commit */
#endif

/* The control file. */
byte gate;                       /* 0: free; else its holder, plus one */
bool needsRecovery;
byte word_;
byte head, tail;
byte nextClaim = 1;
byte recordID[RING];
byte recordState[RING];
byte recordHolder[RING];
byte recordNumber[RING];
#if WAITERS > 0
bool isPublished, isWoken;       /* the waiter's slot */
#endif
#ifdef WEAK_NEXT
byte next;
#endif

/* What a claim's row says, and the ring's record must say; a number has no tuple before it is given. */
byte tupleOf[NUMBERS + 1] = NONE;
byte holderOf[NUMBERS + 1];

/* What happened, for the checks. */
int begun;                       /* ids that a committing store has made visible */
int truth;                       /* what is visible, claimed and here, by the committing stores */
int unseen;                      /* what the last commit changed, if no reader sees it yet */
int moved[PROCESSES + 1] = -1;   /* what changed during each look */
bool dead[PROCESSES + 1];        /* and the visitor at the end */
byte kills;
hidden byte other;

/* What a process remembers: as of a commit, LMDB had no tuple, and all ids below knownFloor were in LMDB or gone. */
#if RECALLERS > 0
#define ABSENCE , knowsAbsence; byte knownCommit, knownFloor
#else
#define ABSENCE
#endif

#define LOCALS \
    byte id, index, number, nextNumber, word1, end, inserted; \
    int set, found, before; \
    bool isConsistent, isTorn, keeps ABSENCE

/* A part of the step that makes a change. */
inline happens(change) {
    truth = truth ^ (change);
    other = 0;
    do
    :: other <= PROCESSES -> moved[other] = moved[other] | (change); other++
    :: else -> break
    od;
    other = 0
}

inline beginsClaim() {
    assert(tupleOf[number] == NONE);
    assert(truth & VISIBLE(id));
    tupleOf[number] = id;
    holderOf[number] = me;
    happens(VISIBLE(id) | CLAIM(number))
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
#ifndef WEAK_UNRECOVERED
    if
    :: needsRecovery -> recover()
    :: else
    fi
#endif
}

inline release() { gate = 0 }

/* After a change that makes a tuple visible, still under the gate. */
inline scan() {
    if
    :: isPublished -> isWoken = true
    :: else
    fi
}

inline recover() {
#ifndef WEAK_BEGIN
    begin();
#endif
    if
    :: word_ % 2 == 0 -> word_++
    :: else
    fi;
#ifndef WEAK_TAIL
    if
    :: tail < shownFloor -> tail = shownFloor
    :: else
    fi;
#endif
    if
    :: head < shownFloor -> head = shownFloor
    :: else
    fi;
#ifndef WEAK_RAISE
    if
    :: nextClaim < rowNextClaim -> nextClaim = rowNextClaim
    :: else
    fi;
#endif
#ifdef WEAK_BACK
    word_ = 0;
#else
    word_++;
#endif
#if WAITERS > 0 && !defined(WEAK_WAKE)
    isWoken = true;
#endif
    needsRecovery = false
}

/* A write transaction begins with what was committed last, also if no reader sees it yet. */
inline begin() {
    d_step {
        shown = stored;
        shownFloor = floor_;
#if RECALLERS > 0
        shownCommits = commits;
#endif
        unseen = 0
    }
}

/* What a transaction has at its beginning, and which number its claim has. */
inline copyRows() {
    set = stored;
    nextNumber = rowNextClaim;
#ifndef WEAK_ROW
    if
    :: nextNumber < nextClaim -> nextNumber = nextClaim
    :: else
    fi
#endif
}

/* Moves all records to the transaction's rows. */
inline takeOver() {
    keeps = false;
    copyRows();
    index = floor_;
    if
    :: index < head -> index = head
    :: else
    fi;
    do
    :: index < tail ->
        if
        :: recordState[SLOT(index)] == PRESENT -> set = set | VISIBLE(index)
#ifndef WEAK_LEFT
        :: recordState[SLOT(index)] == CLAIMED ->
            assert(tupleOf[recordNumber[SLOT(index)]] == index);
            assert(holderOf[recordNumber[SLOT(index)]] == recordHolder[SLOT(index)]);
            set = set | CLAIM(recordNumber[SLOT(index)])
#endif
        :: else
        fi;
        index++
    :: else -> break
    od;
    index = 0
}

/* A part of the step that commits. */
inline store(change) {
    stored = set ^ ((change) & ROWS);
    if
    :: keeps
    :: else -> floor_ = tail + inserted
    fi;
    rowNextClaim = nextNumber;
#if RECALLERS > 0
    commits++;
#endif
    unseen = change;
    happens(change);
    set = 0;
    nextNumber = 0
}

/* What is left to do after a commit. */
inline finish() {
    begin();
#if CLAIMERS > 0 && !defined(WEAK_STORED)
    if
    :: nextClaim != rowNextClaim -> nextClaim = rowNextClaim
    :: else
    fi;
#endif
    if
    :: !keeps && head != floor_ ->
#ifndef WEAK_FLUSH_WORD
        word_++;
#endif
        if
        :: tail != floor_ -> tail = floor_
        :: else
        fi;
        head = floor_;
#ifndef WEAK_FLUSH_WORD
        word_++
#endif
    :: else
    fi;
    keeps = false;
    inserted = 0
}

inline flush() {
    begin();
    d_step { takeOver() };
#ifdef WEAK_HEAD
    word_++;
    head = tail;
    word_++;
#endif
    d_step { store(0) };
    finish()
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
#if WAITERS > 0 && defined(WEAK_SCAN)
    scan();
#endif
    word_++;
    recordID[SLOT(id)] = id;
    recordState[SLOT(id)] = PRESENT;
    d_step {
        /* The store that commits. */
        tail = id + 1;
        assert(!(begun & VISIBLE(id)));
        begun = begun | VISIBLE(id);
        happens(VISIBLE(id) | HERE(id))
    };
#ifdef WEAK_NEXT
    next = id + 1;
#endif
    word_++;
#if WAITERS > 0 && !defined(WEAK_SCAN)
    scan();
#endif
    release();
    id = 0
}

/* Writes a large tuple, which has no place in the ring. */
inline insert() {
    acquire();
    begin();
    id = tail;
    d_step {
        takeOver();
        inserted = 1
    };
    d_step {
        assert(!(begun & VISIBLE(id)));
        begun = begun | VISIBLE(id);
        store(VISIBLE(id) | HERE(id))
    };
    finish();
#if WAITERS > 0
    scan();
#endif
    release();
    id = 0
}

/* After a record was taken: the head moves to the next one that is present or claimed. */
inline moveHead() {
    if
    :: head == id ->
        d_step {
            index = head;
            do
#ifdef WEAK_OVER
            :: index < tail && recordState[SLOT(index)] != PRESENT -> index++
#else
            :: index < tail && recordState[SLOT(index)] == TAKEN -> index++
#endif
            :: else -> break
            od;
            head = index;
            index = 0
        }
    :: else
    fi
}

/* Takes a tuple by its id; it may be gone. */
inline take() {
    acquire();
    if
#ifdef WEAK_PLACE
    :: recordID[SLOT(id)] == id && recordState[SLOT(id)] == PRESENT ->
#else
    :: IN_RING(id) && recordState[SLOT(id)] == PRESENT ->
#endif
        word_++;
        d_step {
            recordState[SLOT(id)] = TAKEN;
            assert(truth & VISIBLE(id));
            happens(VISIBLE(id) | HERE(id))
        };
        moveHead();
        word_++
    :: else ->
        begin();
        if
        :: stored & VISIBLE(id) ->
            d_step {
                keeps = true;
                copyRows();
                assert(truth & VISIBLE(id));
                store(VISIBLE(id) | HERE(id))
            };
            finish()
        :: else
        fi
    fi;
    release()
}

#ifdef BODIES
/* Takes a tuple in a transaction that takes the ring over. */
inline takeInBody() {
    acquire();
    begin();
    d_step { takeOver() };
    if
    :: set & VISIBLE(id) ->
        d_step {
            assert(truth & VISIBLE(id));
            store(VISIBLE(id) | HERE(id))
        };
        finish()
    :: else -> d_step { set = 0; nextNumber = 0 }
    fi;
    release()
}
#endif

/* Claims a tuple by its id; it may be gone, and then there is no number. */
inline claim() {
    acquire();
    if
    :: IN_RING(id) && recordState[SLOT(id)] == PRESENT ->
        word_++;
        number = nextClaim;
#ifndef WEAK_LATE_RAISE
        nextClaim = number + 1;
#endif
#ifndef WEAK_LATE_HOLDER
        recordHolder[SLOT(id)] = me;
        recordNumber[SLOT(id)] = number;
#endif
        d_step {
            /* The store that commits. */
            recordState[SLOT(id)] = CLAIMED;
            beginsClaim()
        };
#ifdef WEAK_LATE_RAISE
        nextClaim = number + 1;
#endif
#ifdef WEAK_LATE_HOLDER
        recordHolder[SLOT(id)] = me;
        recordNumber[SLOT(id)] = number;
#endif
        word_++
    :: else ->
        begin();
        if
        :: stored & VISIBLE(id) ->
            if
            :: d_step { keeps = true; copyRows() }
            :: d_step { takeOver() }
            fi;
            d_step {
                number = nextNumber;
                nextNumber++;
                assert(tupleOf[number] == NONE);
                tupleOf[number] = id;
                holderOf[number] = me;
                assert(truth & VISIBLE(id));
                store(VISIBLE(id) | CLAIM(number))
            };
            finish()
        :: else
        fi
    fi;
    release()
}

/* Completes a claim: the tuple is gone. */
inline complete() {
    acquire();
    if
#ifdef WEAK_NUMBER
    :: IN_RING(id) && recordState[SLOT(id)] == CLAIMED ->
#else
    :: IN_RING(id) && recordState[SLOT(id)] == CLAIMED && recordNumber[SLOT(id)] == number ->
#endif
        word_++;
        d_step {
            recordState[SLOT(id)] = TAKEN;
            assert(recordNumber[SLOT(id)] == number);
            assert(truth & CLAIM(number));
            happens(CLAIM(number) | HERE(id))
        };
        moveHead();
        word_++
    :: else ->
        begin();
        if
        :: d_step { keeps = true; copyRows() }
        :: d_step { takeOver() }
        fi;
#ifdef WEAK_NUMBER
        d_step {
            index = 1;
            do
            :: index <= NUMBERS && !((set & CLAIM(index)) && tupleOf[index] == id) -> index++
            :: else -> break
            od;
            /* The claim on this tuple is another one. */
            assert(index > NUMBERS || index == number);
            index = 0
        };
#endif
        if
        :: set & CLAIM(number) ->
            d_step {
                assert(truth & CLAIM(number));
                store(CLAIM(number) | HERE(id))
            };
            finish()
        :: else ->
            d_step { assert(!(truth & CLAIM(number))); set = 0; nextNumber = 0; keeps = false }
        fi
    fi;
    release()
}

/* Ends a claim by its number: the tuple is visible again. */
inline giveBack() {
    acquire();
    begin();
    if
    :: d_step { takeOver() }
    :: stored & CLAIM(number) -> d_step { keeps = true; copyRows() }
    fi;
    if
    :: set & CLAIM(number) ->
        d_step {
            assert(truth & CLAIM(number));
            store(CLAIM(number) | VISIBLE(tupleOf[number]))
        };
        finish();
#if WAITERS > 0 && !defined(WEAK_RETURN)
        scan()
#endif
    :: else ->
        d_step { assert(!(truth & CLAIM(number))); set = 0; nextNumber = 0 }
    fi;
    release()
}

/* A look without the gate: `found` is what it has seen, if `isConsistent`. */
inline look() {
    d_step {
        found = 0;
        isConsistent = false;
        before = truth;
        moved[me] = unseen;
        word1 = word_
    };
    /* The word may be odd: each store of a change leaves a state that may be seen. */
    d_step {
        found = shown | ((shown & ANY_VISIBLE) << 16);
        index = 1;
        do
        :: index <= NUMBERS ->
            if
            :: found & CLAIM(index) ->
                isTorn = isTorn || (found & HERE(tupleOf[index]));
                found = found | HERE(tupleOf[index])
            :: else
            fi;
            index++
        :: else -> break
        od;
        index = 0;
        id = shownFloor;
#if RECALLERS > 0
        if
        :: shown & ANY_VISIBLE
        :: else -> knowsAbsence = true; knownCommit = shownCommits; knownFloor = shownFloor
        fi
#endif
    };
#ifdef WEAK_FLOOR
    id = 0;
#endif
    d_step {
        if
        :: id < head -> id = head
        :: else
        fi
    };
    end = tail;
    do
    :: id < end ->
#ifdef WEAK_ORDER
        number = recordNumber[SLOT(id)];
#endif
        d_step {
            if
            :: recordID[SLOT(id)] != id -> isTorn = true
            :: recordID[SLOT(id)] == id && recordState[SLOT(id)] == PRESENT ->
                isTorn = isTorn || (found & HERE(id));
                found = found | VISIBLE(id) | HERE(id)
            :: recordID[SLOT(id)] == id && recordState[SLOT(id)] == CLAIMED ->
#ifndef WEAK_CLAIMS
                isTorn = isTorn || (found & HERE(id));
                index = 1
#endif
            :: else
            fi
        };
        if
        :: index == 1 ->
            d_step {
#ifndef WEAK_ORDER
                number = recordNumber[SLOT(id)];
#endif
                isTorn = isTorn || (recordHolder[SLOT(id)] != holderOf[number]) || (tupleOf[number] != id);
                found = found | CLAIM(number) | HERE(id);
                index = 0
            }
        :: else
        fi;
        d_step { number = 0; id++ }
    :: else -> break
    od;
    end = 0;
    d_step {
        if
        :: word_ == word1 ->
            isConsistent = true;
            /* No record was torn, and none is in LMDB as well. */
            assert(!isTorn);
            assert(((found ^ before) & ~moved[me]) == 0)
        :: else -> found = 0
        fi;
        moved[me] = -1;
        before = 0;
        isTorn = false;
        id = 0;
        word1 = 0
    }
}

#if RECALLERS > 0
/* A look at the ring alone: what the process remembers of LMDB tells the rest. */
inline recall() {
    d_step {
        before = truth;
        moved[me] = unseen;
        word1 = word_
    };
    if
#ifdef WEAK_KNOWN_COMMIT
    :: knowsAbsence ->
#else
    :: knowsAbsence && shownCommits == knownCommit ->
#endif
#ifndef WEAK_KNOWN_FLOOR
        id = knownFloor;
#endif
        d_step {
            if
            :: id < head -> id = head
            :: else
            fi
        };
        end = tail;
        do
        :: id < end ->
            d_step {
                if
                :: recordID[SLOT(id)] != id -> isTorn = true
                :: recordID[SLOT(id)] == id && recordState[SLOT(id)] == PRESENT -> found = found | VISIBLE(id)
                :: else
                fi;
                id++
            }
        :: else -> break
        od;
        end = 0;
        if
        :: word_ == word1 ->
            if
#ifdef WEAK_KNOWN_COMMIT
            :: true ->
#else
            :: shownCommits == knownCommit ->
#endif
                d_step {
                    assert(!isTorn);
                    assert(((found ^ before) & ~moved[me] & ANY_VISIBLE) == 0)
                }
            :: else
            fi
        :: else
        fi
    :: else
    fi;
    id = 0;
    d_step {
        moved[me] = -1;
        before = 0;
        found = 0;
        isTorn = false;
        word1 = 0
    }
}
#endif

/* Any of the visible tuples that were found; there is one. */
inline choose() {
    atomic {
        id = 0;
        do
        :: found & VISIBLE(id) -> break
        :: found & (ANY_VISIBLE & ~(VISIBLE(id + 1) - 1)) -> id++
        od;
        found = 0;
        isConsistent = false
    }
}

/* Returns the claims of the dead that were found. */
inline returnDead() {
    number = 1;
    do
    :: number <= NUMBERS ->
        if
        :: (found & CLAIM(number)) && dead[holderOf[number]] -> giveBack()
        :: else
        fi;
        number++
    :: else -> break
    od;
    number = 0;
    d_step { found = 0; isConsistent = false }
}

proctype Writer(byte me) MORTAL(me) {
    LOCALS;
    byte written;
    do
    :: written < WRITES -> write(); written++
#ifdef LARGE
    :: written < WRITES -> insert(); written++
#endif
    :: else -> break
    od
}

proctype Taker(byte me) MORTAL(me) {
    LOCALS;
    byte rounds;
    do
    :: rounds < ROUNDS ->
        rounds++;
        look();
        if
        :: found & ANY_VISIBLE ->
            choose();
            if
            :: take()
#ifdef BODIES
            :: takeInBody()
#endif
            fi;
            id = 0
        :: else
        fi
    :: else -> break
    od
}

#if CLAIMERS > 0
proctype Claimer(byte me) MORTAL(me) {
    LOCALS;
    byte rounds, endings;
    do
    :: rounds < ROUNDS ->
        rounds++;
        look();
        if
        :: found & ANY_VISIBLE ->
            choose();
            claim();
            do
            :: number != 0 && endings < ENDINGS ->
                endings++;
                if
                :: complete()
                :: giveBack()
                fi
            :: break
            od;
            number = 0;
            d_step { endings = 0; id = 0 }
        :: else
        fi
    :: else -> break
    od
}

proctype Looker(byte me) MORTAL(me) {
    LOCALS;
    look();
    returnDead()
}
#endif

proctype Reader(byte me) MORTAL(me) {
    LOCALS;
    look()
}

#if RECALLERS > 0
/* Its first look tells it about LMDB. */
proctype Recaller(byte me) MORTAL(me) {
    LOCALS;
    look();
    d_step { found = 0; isConsistent = false };
    recall()
}
#endif

#if WAITERS > 0
/* Waits until a tuple is visible. */
proctype Waiter(byte me) MORTAL(me) {
    LOCALS;
#ifndef WEAK_PUBLISH
    isPublished = true;
#endif
    do
    :: true ->
        look();
        if
        :: isConsistent && !(found & ANY_VISIBLE) ->
#ifdef WEAK_PUBLISH
            isPublished = true;
#endif
            isWoken -> isWoken = false
        :: isConsistent && (found & ANY_VISIBLE) -> break
        :: else
        fi;
        d_step { found = 0; isConsistent = false }
    od;
    isPublished = false;
    d_step { found = 0; isConsistent = false }
}
#endif

proctype Killer() {
    byte victim;
    do
    :: kills < KILLS ->
        atomic {
            select (victim : 0 .. PROCESSES - 1);
            dead[victim] = true;
            kills++;
            victim = 0
        }
    :: break
    od
}

init {
    LOCALS;
    byte p, me;
    atomic {
        do
        :: tail < OLD + RECENT ->
            if
            :: tail < OLD -> stored = stored | VISIBLE(tail)
            :: else -> recordID[SLOT(tail)] = tail; recordState[SLOT(tail)] = PRESENT
            fi;
            begun = begun | VISIBLE(tail);
            truth = truth | VISIBLE(tail) | HERE(tail);
            tail++
        :: else -> break
        od;
        head = OLD;
        floor_ = OLD;
        begin();
#ifdef WEAK_NEXT
        next = tail;
#endif
        do
        :: p < WRITERS -> run Writer(p); p++
        :: p >= WRITERS && p < WRITERS + TAKERS -> run Taker(p); p++
#if CLAIMERS > 0
        :: p >= WRITERS + TAKERS && p < WRITERS + TAKERS + CLAIMERS -> run Claimer(p); p++
        :: p >= WRITERS + TAKERS + CLAIMERS && p < PROCESSES - READERS - RECALLERS - WAITERS -> run Looker(p); p++
#endif
        :: p >= PROCESSES - READERS - RECALLERS - WAITERS && p < PROCESSES - RECALLERS - WAITERS -> run Reader(p); p++
#if RECALLERS > 0
        :: p >= PROCESSES - RECALLERS - WAITERS && p < PROCESSES - WAITERS -> run Recaller(p); p++
#endif
#if WAITERS > 0
        :: p >= PROCESSES - WAITERS && p < PROCESSES -> run Waiter(p); p++
#endif
        :: p == PROCESSES -> break
        od;
        p = 0;
        run Killer()
    }
    timeout;
    atomic {
        /* The next process that comes finds the claims of the dead, and everything that was not taken. */
        me = PROCESSES;
        acquire();
        release();
#if WAITERS > 0
        /* If a holder of the gate was killed, the waiter may have slept until this process came. */
        assert(!isPublished || isWoken || !(truth & ANY_VISIBLE) || dead[PROCESSES - 1]);
#endif
        look();
        assert(isConsistent);
        returnDead();
        acquire();
        flush();
        release();
        assert(stored == (truth & ROWS));
        number = 1;
        do
        :: number <= NUMBERS ->
            assert(!(stored & CLAIM(number)) || !dead[holderOf[number]]);
            number++
        :: else -> break
        od
    }
}
