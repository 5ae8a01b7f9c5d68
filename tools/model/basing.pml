/* Basing: each replica applies every entry once and in order, also if it was away while the log was trimmed.
 *
 * Bases, trimming and joining of a namespace that several machines share through etcd. One process appends. Publishers
 * hold the `basing` lock, clean up after earlier ones, put a snapshot in two chunks and then its manifest, and trim the
 * log up to it. Replicas join, apply what their watch delivers, lose the connection, and join again. etcd compacts its
 * history.
 *
 * Faults, each up to a number: LOSSES (a publisher is stopped for longer than its lease holds the lock, and goes on; a
 * killed one is one that never goes on), AWAYS (a replica is away), CUTS (a watch is silent), RESTORES (etcd is set
 * back to an earlier state), NEWER (the number of an entry whose format replica 0 does not know).
 *
 * Checked: a replica's content is that of the log's entries up to its n. A trimmed log has a whole base. When no process
 * can take a step any more, each replica that was not stopped by a format has the whole log.
 *
 * Each WEAK_… leaves one rule out, and the checker must find an error then.
 */

#ifndef ENTRIES
#define ENTRIES 3
#endif
#ifndef PUBLISHERS
#define PUBLISHERS 2
#endif
#ifndef REPLICAS
#define REPLICAS 1
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef AWAYS
#define AWAYS 0
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef RESTORES
#define RESTORES 0
#endif
#ifndef NEWER
#define NEWER 0
#endif

#define BIT(n) (1 << (n))
/* The entries from 1 to n. */
#define ALL(n) (BIT((n) + 1) - 2)

/* etcd. */
byte head;
byte trimmed;                    /* the entries up to this one are deleted */
byte compacted;                  /* a watch can't deliver the entries up to this one any more */
int second;                      /* the entries that were appended after a restore */
byte basing;                     /* the publisher that has the lock, plus one; 0: none */
byte baseEntry, basePublisher;   /* the manifest; 0: none */
#ifdef WEAK_PUBLISHER
#define CHUNK(n, p, c) chunk[(n) * 2 + c]
byte chunk[(ENTRIES + 1) * 2];
#else
#define CHUNK(n, p, c) chunk[((n) * PUBLISHERS + p) * 2 + c]
byte chunk[(ENTRIES + 1) * PUBLISHERS * 2];  /* its publisher, plus one */
#endif

/* The replicas. */
byte applied[REPLICAS];
int content[REPLICAS];
int contentSecond[REPLICAS];
bool isStopped[REPLICAS];
bool isConnected[REPLICAS];

byte losses, aways, cuts, restores;

#define BASE_IS_WHOLE (CHUNK(baseEntry, basePublisher, 0) == basePublisher + 1 && \
    CHUNK(baseEntry, basePublisher, 1) == basePublisher + 1)

inline checkBase() {
    assert(baseEntry >= trimmed);
    assert(baseEntry == 0 || BASE_IS_WHOLE)
}

#ifdef WEAK_BASING
#define HAS_LOCK true
#else
#define HAS_LOCK (basing == me + 1)
#endif
#ifdef WEAK_CLEAN
#define MAY_CLEAN true
#else
#define MAY_CLEAN (basing == me + 1)
#endif

inline putManifest() {
    atomic {
        if
        :: HAS_LOCK -> baseEntry = n; basePublisher = me; checkBase()
        :: else -> goto end
        fi
    }
}

inline trim() {
    atomic {
        trimmed = (trimmed < n -> n : trimmed);
        checkBase()
    }
}

proctype Publisher(byte me)
{
    byte n, i, j;
    atomic { basing == 0 && head > baseEntry -> basing = me + 1; n = head };
    atomic {
        /* Chunks that no manifest names. */
        if
        :: MAY_CLEAN ->
            i = 0;
            do
            :: i <= ENTRIES && i != baseEntry ->
                j = 0;
                do
                :: j < PUBLISHERS -> CHUNK(i, j, 0) = 0; CHUNK(i, j, 1) = 0; j++
                :: else -> j = 0; break
                od;
                i++
            :: i <= ENTRIES && i == baseEntry -> i++
            :: else -> i = 0; break
            od
        :: else -> goto end
        fi
    };
#ifdef WEAK_MANIFEST
    putManifest();
#endif
#ifdef WEAK_TRIM
    trim();
#endif
    CHUNK(n, me, 0) = me + 1;
    CHUNK(n, me, 1) = me + 1;
#ifndef WEAK_MANIFEST
    putManifest();
#endif
#ifndef WEAK_TRIM
    trim();
#endif
    atomic {
        if
        :: basing == me + 1 -> basing = 0
        :: else
        fi
    };
end:
    atomic { checkBase(); n = 0 }
}

proctype Lease()
{
    do
    :: atomic { basing != 0 && losses < LOSSES -> losses++; basing = 0 }
    od
}

proctype Appender()
{
    do
    :: atomic { head < ENTRIES -> head++; second = (restores > 0 -> second | BIT(head) : second) }
    :: atomic { compacted < head -> compacted = head }
    :: atomic {
        restores < RESTORES && head > baseEntry ->
        restores++;
        head--;
        compacted = head;
        /* Its clients see another cluster's number: they connect again, and end what they had begun. */
#ifndef WEAK_RESTORED
        basing = 0;
#endif
        isConnected[0] = false
    }
    od
}

inline check() {
    assert(content[me] == ALL(applied[me]));
    assert(contentSecond[me] == (second & ALL(applied[me])))
}

#ifdef WEAK_AHEAD
#define IS_ANOTHER (applied[me] <= head && IS_OTHER_ENTRY)
#elif defined(WEAK_SAME)
#define IS_ANOTHER (applied[me] > head)
#else
#define IS_ANOTHER (applied[me] > head || IS_OTHER_ENTRY)
#endif
/* The log's entry, or the manifest, has another commit's ID than the replica's last. */
#define IS_OTHER_ENTRY (applied[me] >= trimmed && (contentSecond[me] & BIT(applied[me])) != (second & BIT(applied[me])))

inline setAside() {
    applied[me] = 0;
    content[me] = 0;
    contentSecond[me] = 0
}

inline readBase() {
    if
    :: applied[me] < trimmed ->
        assert(BASE_IS_WHOLE);
        applied[me] = baseEntry;
        content[me] = ALL(baseEntry);
        contentSecond[me] = second & ALL(baseEntry)
    :: else
    fi
}

#if NEWER > 0
#define IS_NEWER (me == 0 && applied[me] < NEWER && head >= NEWER && trimmed < NEWER)
#else
#define IS_NEWER false
#endif

inline readLog() {
    if
    :: head > applied[me] && !IS_NEWER ->
        content[me] = content[me] | (ALL(head) & ~ALL(trimmed) & ~ALL(applied[me]));
        contentSecond[me] = contentSecond[me] | (second & ALL(head) & ~ALL(trimmed) & ~ALL(applied[me]));
        applied[me] = head
    :: IS_NEWER ->
#ifdef WEAK_SKIP
        content[me] = content[me] | ((ALL(head) & ~ALL(trimmed) & ~ALL(applied[me])) & ~BIT(NEWER));
        applied[me] = head
#else
        isStopped[me] = true
#endif
    :: else
    fi
}

#ifdef WEAK_REVISION
#define NEXT_REVISION }; atomic {
#else
#define NEXT_REVISION ;
#endif
#ifdef WEAK_WATCH
#define NEXT_WATCH }; atomic { next = head + 1;
#else
#define NEXT_WATCH ;
#endif

proctype Replica(byte me)
{
    byte next;                   /* the entry that the watch delivers next */
    bool isSilent;
    do
    /* Joins: everything at one revision, and a watch from the next. */
    :: atomic {
        !isConnected[me] && !isStopped[me] ->
        isSilent = false;
        if
        :: applied[me] > 0 && IS_ANOTHER -> setAside()
        :: else
        fi;
        readBase()
        NEXT_REVISION
        readLog();
        next = head + 1
        NEXT_WATCH
        isConnected[me] = true;
        check()
    }
    /* What the watch delivers. */
    :: atomic {
        isConnected[me] && !isStopped[me] && !isSilent && next <= head && next > compacted ->
        if
        :: NEWER == 0 || me != 0 || next != NEWER ->
            assert(applied[me] + 1 == next);
            content[me] = content[me] | BIT(next);
            contentSecond[me] = contentSecond[me] | (second & BIT(next));
            applied[me] = next;
            next++;
            check()
        :: NEWER > 0 && me == 0 && next == NEWER ->
#ifdef WEAK_SKIP
            applied[me] = next;
            next++;
            check()
#else
            isStopped[me] = true
#endif
        fi
    }
    /* Its history is gone. */
    :: atomic {
        isConnected[me] && !isStopped[me] && !isSilent && next <= head && next <= compacted ->
#ifdef WEAK_COMPACTED
        next = compacted + 1
#else
        isConnected[me] = false
#endif
    }
#ifndef WEAK_SILENT
    /* The head is read now and then. */
    :: atomic { isConnected[me] && !isStopped[me] && isSilent && head > applied[me] -> isConnected[me] = false }
#endif
    :: atomic { isConnected[me] && aways < AWAYS -> aways++; isConnected[me] = false }
    :: atomic { isConnected[me] && !isSilent && cuts < CUTS -> cuts++; isSilent = true }
    od
}

init {
    byte i;
    atomic {
        do
        :: i < PUBLISHERS -> run Publisher(i); i++
        :: else -> i = 0; break
        od;
        do
        :: i < REPLICAS -> run Replica(i); i++
        :: else -> i = 0; break
        od;
        run Appender();
        run Lease()
    };
    timeout;
    do
    :: i < REPLICAS -> assert(isStopped[i] || applied[i] == head && content[i] == ALL(head)); i++
    :: else -> break
    od
}
