/* sharedspace.h: the processes of one Linux machine coordinate through tuples, cells, locks and queues, without a server.
 *
 *     sharedspace_open(NULL, NULL, &space, NULL);
 *     sharedspace_ns_open(space, "jobs", NULL, &jobs, NULL);
 *     how.flags = SHAREDSPACE_JSON;
 *     tuple = sharedspace_text("[\"resize\", 42, \"cat.png\"]");
 *     sharedspace_write(jobs, &tuple, 1, &how, NULL, NULL);
 *
 * Link with `cc program.c $(pkg-config --cflags --libs shared-space)`. The article "C" has more.
 *
 * RESULTS. A call that returns an int returns 1 if it has done its work, 0 if there was nothing to work on or the time has
 * passed, and -1 with an error. If a call returns 0 or -1, nothing was changed, unless its description says otherwise.
 *
 * HANDLES (sharedspace, sharedspace_ns, sharedspace_list, sharedspace_watch, sharedspace_responder, sharedspace_loop) belong
 * to the caller, who closes them. A handle looks like a pointer, but is a number: the library never dereferences it. So
 * NULL, a closed handle and an invalid one are errors (invalidArgument, closed), and never a crash. Handles that are not
 * closed end with the process.
 *
 * BYTES. A call borrows the bytes that it is given until it returns. A result belongs to the caller, who may use it again
 * for the next call. Strings are UTF-8 and end with NUL.
 *
 * TUPLES are bytes of FoundationDB's tuple layer: each field is an element, one after the other. An object is 40, then for
 * each name, sorted by its bytes, the name as a string and its value, then 00. Integers have 64 bits, doubles too; other
 * numbers are refused. A *record*, whose fields have names, is one object, with SHAREDSPACE_RECORD in the flags: the bytes
 * alone don't tell it from a tuple of one field. A value (of a cell, an item, a notification) is one element.
 * TEMPLATES are the same bytes, with formals in the place of any element:
 *     41 TT       anything of a type: TT is 00 any, 01 bytes, 02 string, 05 array, 14 integer, 21 double, 26 bool,
 *                 30 UUID, 40 object
 *     42 L U C    a range: lower and upper bound, elements or 00 for none; C is 26 if the upper one does not belong to it,
 *                 27 if it does
 *     43 S        strings in which the regular expression S, a string, is found
 *     44          the rest: any fields or elements, as the last of a list
 *     45          alone: any tuple
 * With SHAREDSPACE_JSON in a call's flags all bytes that it takes and gives are the JSON of the commands instead:
 * ["resize", 42], a template ["resize", "?int", "?1...9", "?/^cat/", "?..."] or "?". A NUL follows the bytes that a call
 * gives; count does not include it. Results of sharedspace_transact and sharedspace_watch_next that would be nested deeper
 * than the 64 levels of the tuple layer come as JSON, with SHAREDSPACE_JSON in the result's flags.
 *
 * ERRORS. The last argument of a call receives an error, which sharedspace_error_free frees; NULL if it is not wanted. It
 * is written only if the call returns -1, and by sharedspace_loop_next also for a wait that has failed.
 *
 * THREADS. All calls may be made from any thread. Several threads may use a handle at once, and one may close it while
 * others use it: their waits end with `closed` if the process has no other handle on the namespace. A result, a list and a
 * watch are for one thread at a time.
 *
 * SIGNALS. A signal does not end a wait. `interrupted` in the options is a function of the caller. It is called after each
 * signal that the waiting thread has handled, at the latest after 250 ms. If it returns nonzero, the wait ends with
 * `cancelled`, and nothing was taken. If it returns 0, the wait keeps its place in line: don't cut a wait into short ones.
 *
 * FORK. A process that has opened a namespace may fork, but the child can't use the library until it calls exec: its calls
 * fail with `forked`, and closing does nothing in it. Fork before the first namespace or loop is opened, or call exec.
 *
 * ENDS. What a process holds (claims, locks, items, its ownership of namespaces) ends with it, however it ends.
 */
#ifndef SHAREDSPACE_H
#define SHAREDSPACE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this interface. It rises if programs that were compiled before no longer work. New functions, new flags, and
 * new fields at the end of the structures do not raise it. */
#define SHAREDSPACE_ABI 0

/* A space: a root folder with namespaces in it. Processes with the same root see the same namespaces. */
typedef struct sharedspace sharedspace;
/* A namespace that this process uses, and what was obtained through this handle and has not ended. */
typedef struct sharedspace_ns sharedspace_ns;
/* Several results. */
typedef struct sharedspace_list sharedspace_list;
/* The changes of a namespace, one after the other. */
typedef struct sharedspace_watch sharedspace_watch;
/* A responder, which answers the requests of a name. */
typedef struct sharedspace_responder sharedspace_responder;
/* The waits of an event loop, behind one descriptor. */
typedef struct sharedspace_loop sharedspace_loop;
/* Why a call has failed. */
typedef struct sharedspace_error sharedspace_error;

/* Bytes that a call borrows; NULL and 0 for none. */
typedef struct {
    const uint8_t *bytes;
    size_t count;
} sharedspace_bytes;

/* What a call gives. Begin with sharedspace_no_result() and end with sharedspace_result_free(). */
typedef struct {
    uint32_t size;        /* sizeof(sharedspace_result) */
    uint32_t flags;       /* SHAREDSPACE_RECORD, if the bytes are a record's */
    uint8_t *bytes;       /* a tuple, a value, a text; grown with realloc(3) */
    size_t count;         /* how many bytes */
    size_t capacity;      /* how many there is room for */
    uint64_t id;          /* of the tuple, of the queue's item */
    uint64_t number;      /* of the claim, the hold or the taken item, to end it by: a fencing number, greater than that of
                             every earlier holder; of a cell its version; of a request the number to answer it by */
    uint64_t sequence;    /* of the change */
    int64_t time_ms;      /* of the change, in milliseconds since 1970 */
    uint32_t kind;        /* SHAREDSPACE_CHANGE_…; of an item its state */
    uint32_t deliveries;  /* how often the tuple or item had come back */
    int32_t pid;          /* who made the change; the holder of what was not free; who asks, and who has answered */
    int32_t reserved;
} sharedspace_result;

/* Called after signals during a wait, on the waiting thread; nonzero ends the wait. It may call the library, and must
 * return. */
typedef int (*sharedspace_interrupted)(void *context);

/* The options of a call; NULL for none. Begin with sharedspace_defaults(). Zero is the default of every field; a
 * call ignores the fields that its description does not name. */
typedef struct {
    uint32_t size;          /* sizeof(sharedspace_how) */
    uint32_t flags;         /* SHAREDSPACE_…; a flag that the call does not name is refused */
    int64_t timeout_ms;     /* how long to wait: 0 looks once, SHAREDSPACE_FOREVER has no limit */
    int64_t deadline_ms;    /* how long a claim or a taken item lasts at most; 0: until it is ended */
    int64_t expires_ms;     /* the time after which a tuple or a cell ends by itself; 0: never */
    int64_t delay_ms;       /* the time for which no process finds what is released or put */
    uint64_t max;           /* at most so many; 0: all */
    uint64_t limit_bytes;   /* the size limit of a new namespace, 16 MiB to 64 GiB; 0: half of the file system */
    int64_t priority;       /* of an item; higher ones are taken first */
    int64_t permits;        /* how many permits a semaphore has, how many pass a rate limit in an interval, how many come to
                               a barrier, how many counts open a latch; 0: 1 */
    int64_t count;          /* how many permits are wanted; 0: 1 */
    int64_t deliveries;     /* after how many an item is buried; 0: as the queue was made, or never; SHAREDSPACE_FOREVER:
                               never */
    int64_t bound;          /* how many items a queue takes; 0: as it was made, or any number; SHAREDSPACE_FOREVER: any */
    const char *mode;       /* of a new namespace: "fast", "guarded", "durable" */
    const char *group;      /* of an item: one item of a group is worked on at a time */
    const char *unique;     /* of an item: one item with this key is in the queue at a time; of a responder its key */
    const char *reason;     /* why an item is buried, or a request fails */
    const char *subscription; /* of a watch: its position is kept under this name */
    sharedspace_bytes value;  /* the value to compare (SHAREDSPACE_IF_EQUAL); what others see of a leader */
    sharedspace_interrupted interrupted; /* see SIGNALS above */
    void *context;          /* passed to it */
    int64_t interval_ms;    /* of a rate limit */
    uint64_t id;            /* of the one item that is wanted, of the one tuple that is put back */
    uint64_t version;       /* the version that a cell must have (SHAREDSPACE_IF_VERSION) */
} sharedspace_how;

/* A time-out without limit. */
#define SHAREDSPACE_FOREVER ((int64_t)-1)

/* Flags. */
enum {
    SHAREDSPACE_RECORD = 1,        /* the tuples, or the template, are records */
    SHAREDSPACE_JSON = 2,          /* bytes are JSON */
    SHAREDSPACE_NEWEST = 4,        /* the newest match instead of the oldest */
    SHAREDSPACE_EXACT = 8,         /* records and objects with names that the template lacks don't match */
    SHAREDSPACE_OBSERVER = 16,     /* the namespace must exist, and is not kept alive */
    SHAREDSPACE_PERSISTENT = 32,   /* a new namespace stays without an owner */
    SHAREDSPACE_OWN_LIFETIME = 64, /* the tuple or cell ends with this process */
    SHAREDSPACE_IF_ABSENT = 128,   /* only a cell that is not set is set */
    SHAREDSPACE_IF_EQUAL = 256,    /* only a cell that has `value` is set */
    SHAREDSPACE_SHARED = 512,      /* the lock is shared with others that also share it */
    SHAREDSPACE_KEEP = 1024,       /* a claim is completed, and its tuple goes back as if it had never been claimed */
    SHAREDSPACE_VALUE = 2048,      /* the bytes are one value, and no tuple */
    SHAREDSPACE_IF_VERSION = 4096, /* only a cell that has `version` is set; version 0: only one that is not set */
    SHAREDSPACE_REPLACE = 8192,    /* an item replaces the waiting one with its unique key */
    SHAREDSPACE_AGAIN = 16384,     /* if an item with its unique key is worked on, this one comes behind it */
    SHAREDSPACE_FORCE = 32768,     /* a queue is removed even if workers have items of it */
    SHAREDSPACE_GONE = 65536,      /* until there is no namespace */
    SHAREDSPACE_NOW = 131072,      /* only if there is a responder now */
    SHAREDSPACE_BASE = 262144      /* a responder that answers only while there is no other */
};

/* What to look for, in sharedspace_find and sharedspace_find_all; the last two only in sharedspace_find_all. */
enum {
    SHAREDSPACE_READ = 1,
    SHAREDSPACE_TAKE = 2,
    SHAREDSPACE_CLAIM = 3,
    SHAREDSPACE_LOOK_CLAIMED = 4, /* claimed tuples, and by which process; they stay claimed */
    SHAREDSPACE_LOOK_BURIED = 5   /* buried tuples; they stay buried */
};
/* The settings of a namespace, in sharedspace_ns_set. */
enum {
    SHAREDSPACE_NS_OWNER = 1,      /* the process `number` owns it until it ends */
    SHAREDSPACE_NS_NO_OWNER = 2,   /* the process `number` no longer owns it; returns 0 if it did not */
    SHAREDSPACE_NS_PERSISTENT = 3, /* 1: it stays without an owner; 0: it does not, and is deleted at once if it has none */
    SHAREDSPACE_NS_DELIVERIES = 4, /* a tuple is buried when it comes back from delivery `number`; 0: never */
    SHAREDSPACE_NS_HISTORY = 5     /* `number` changes are kept even without a watcher, in how->limit_bytes; 0: none */
};
/* The kinds of shared things: to hold, in sharedspace_hold (the first three); to pass, in sharedspace_pass; to remove, in
 * sharedspace_rule. */
enum {
    SHAREDSPACE_LOCK = 1,
    SHAREDSPACE_SEMAPHORE = 2,
    SHAREDSPACE_ELECTION = 3,
    SHAREDSPACE_BARRIER = 4,
    SHAREDSPACE_LATCH = 5,
    SHAREDSPACE_RATE = 6,
    SHAREDSPACE_COUNTER = 7,
    SHAREDSPACE_QUEUE = 8,
    SHAREDSPACE_ORDERED = 9,
    SHAREDSPACE_RESPONDER = 10
};
/* The changes of a shared thing, in sharedspace_rule. */
enum {
    SHAREDSPACE_RULE_REMOVE = 1,   /* `number`: its kind; it starts from the beginning when it is used again. For a
                                      semaphore, the number that was set is taken back; a queue is removed with its items
                                      (SHAREDSPACE_FORCE: even taken ones), and outcome receives how many; the responder
                                      removed is the one with how->unique */
    SHAREDSPACE_RULE_COUNT = 2,    /* how->count is added to a counter; outcome receives the sum. 0 only reads it */
    SHAREDSPACE_RULE_DOWN = 3,     /* a latch of how->permits counts is counted down by `number`; outcome receives how many
                                      are left. 0 only reads it */
    SHAREDSPACE_RULE_PERMITS = 4,  /* a semaphore has `number` permits, whatever its users say */
    SHAREDSPACE_RULE_DEPOSE = 5,   /* a leader's term `number` ends, or with 0 the present one; returns 0 if it had ended */
    SHAREDSPACE_RULE_PAUSE = 6,    /* a queue hands out nothing for how->delay_ms, or with 0 until RESUME */
    SHAREDSPACE_RULE_RESUME = 7,
    SHAREDSPACE_RULE_KICK = 8,     /* the buried item `number` is put back, and outcome receives its new number; with 0 all,
                                      how->max at most, and outcome receives how many */
    SHAREDSPACE_RULE_DROP = 9,     /* the item `number` is removed, if no worker has it */
    SHAREDSPACE_RULE_CANCEL = 10,  /* the item `number` is removed, whatever its state; outcome receives the state */
    SHAREDSPACE_RULE_EXTEND = 11,  /* the worker that has the item `number` has it until how->deadline_ms from now, if that is
                                      later than before */
    SHAREDSPACE_RULE_DRAIN = 12,   /* all items of a queue that are ready or delayed are removed; outcome receives how many */
    SHAREDSPACE_RULE_QUEUE = 13,   /* how->deliveries and how->bound count from now on, whatever a queue's users say */
    SHAREDSPACE_RULE_ITEMS = 14    /* outcome receives how many items of a queue have the state `number`, one of
                                      SHAREDSPACE_ITEM_… */
};
/* The edits of an ordered set, in sharedspace_ordered. */
enum {
    SHAREDSPACE_APPEND = 1,     /* the values that are not there are added at the end; outcome receives how many */
    SHAREDSPACE_INSERT = 2,     /* the same, at an index */
    SHAREDSPACE_WITHOUT = 3,    /* the values are removed; outcome receives how many were there */
    SHAREDSPACE_MOVE = 4,       /* the value is moved to an index */
    SHAREDSPACE_EXCHANGE = 5,   /* the first value is replaced by the second, in its place */
    SHAREDSPACE_SORT = 6,       /* the values are put in the order of JSON values */
    SHAREDSPACE_INDEX = 7       /* outcome receives the index of the value */
};
/* What to wait for, in sharedspace_loop_begin. */
enum {
    SHAREDSPACE_WAIT_READ = 1,
    SHAREDSPACE_WAIT_TAKE = 2,
    SHAREDSPACE_WAIT_CLAIM = 3,
    SHAREDSPACE_WAIT_CELL = 4,
    SHAREDSPACE_WAIT_LOCK = 5,
    SHAREDSPACE_WAIT_SEMAPHORE = 6,
    SHAREDSPACE_WAIT_ELECTION = 7,
    SHAREDSPACE_WAIT_BARRIER = 8,
    SHAREDSPACE_WAIT_LATCH = 9,
    SHAREDSPACE_WAIT_RATE = 10,
    SHAREDSPACE_WAIT_ITEM = 11,
    SHAREDSPACE_WAIT_REPLY = 12
};
/* What becomes of a claim or a taken item, in sharedspace_end. */
enum {
    SHAREDSPACE_COMPLETE = 1,
    SHAREDSPACE_RELEASE = 2,
    SHAREDSPACE_BURY = 3,
    SHAREDSPACE_EXTEND = 4,
    SHAREDSPACE_DROP = 5
};
/* The state of an item, in sharedspace_items. */
enum {
    SHAREDSPACE_ITEM_ANY = 0,
    SHAREDSPACE_ITEM_READY = 1,
    SHAREDSPACE_ITEM_DELAYED = 2,
    SHAREDSPACE_ITEM_TAKEN = 3,
    SHAREDSPACE_ITEM_BLOCKED = 4,
    SHAREDSPACE_ITEM_BURIED = 5
};
/* What has happened, in sharedspace_watch_next. There may be more in later versions. */
enum {
    SHAREDSPACE_CHANGE_WRITE = 1,
    SHAREDSPACE_CHANGE_TAKE = 2,
    SHAREDSPACE_CHANGE_EXPIRE = 3,
    SHAREDSPACE_CHANGE_CLAIM = 4,
    SHAREDSPACE_CHANGE_COMPLETE = 5,
    SHAREDSPACE_CHANGE_RETURN = 6,
    SHAREDSPACE_CHANGE_BURY = 7,
    SHAREDSPACE_CHANGE_SET = 8,
    SHAREDSPACE_CHANGE_UNSET = 9,
    SHAREDSPACE_CHANGE_POST = 10,
    SHAREDSPACE_CHANGE_GAP = 11,  /* changes were dropped before they were read */
    SHAREDSPACE_CHANGE_GONE = 12, /* the namespace was deleted: the last change */
    SHAREDSPACE_CHANGE_INSERT = 20,
    SHAREDSPACE_CHANGE_REMOVE = 21,
    SHAREDSPACE_CHANGE_REPLACE = 22,
    SHAREDSPACE_CHANGE_MOVE = 23,
    SHAREDSPACE_CHANGE_EXCHANGE = 24,
    SHAREDSPACE_CHANGE_SORT = 25,
    SHAREDSPACE_CHANGE_RESET = 26,
    SHAREDSPACE_CHANGE_DISCARD = 27,
    SHAREDSPACE_CHANGE_RESPOND = 40,
    SHAREDSPACE_CHANGE_HOLD = 41,
    SHAREDSPACE_CHANGE_RELEASE = 42,
    SHAREDSPACE_CHANGE_PROCLAIM = 43,
    SHAREDSPACE_CHANGE_COUNT = 44,
    SHAREDSPACE_CHANGE_DEADLOCK = 45
};

/* Options without any set. */
static inline sharedspace_how sharedspace_defaults(void) {
    sharedspace_how how;
    memset(&how, 0, sizeof how);
    how.size = (uint32_t)sizeof how;
    return how;
}

/* A result to begin with. */
static inline sharedspace_result sharedspace_no_result(void) {
    sharedspace_result result;
    memset(&result, 0, sizeof result);
    result.size = (uint32_t)sizeof result;
    return result;
}

/* The bytes of a string without its NUL, for calls with SHAREDSPACE_JSON. */
static inline sharedspace_bytes sharedspace_text(const char *text) {
    sharedspace_bytes bytes;
    bytes.bytes = (const uint8_t *)text;
    bytes.count = text == NULL ? 0 : strlen(text);
    return bytes;
}

/* --- The library --------------------------------------------------------------------------------------------------- */

/* The library's version, "0.9.0". The text stays. */
const char *sharedspace_version(void);

/* The number of the interface that the library has: SHAREDSPACE_ABI of its header. */
uint32_t sharedspace_abi(void);

/* --- Spaces and namespaces ------------------------------------------------------------------------------------------ */

/* Opens the space in a folder, and makes the folder if it does not exist.
 *   root      its path; NULL for $SHARED_SPACE_ROOT, else /dev/shm/shared-space-UID
 *   how       timeout_ms: how long calls wait for a lock of a namespace that another process holds for a moment, before
 *             they fail with holderStopped or holderBusy; 0: 5 seconds
 *   space     receives the handle, to be closed with sharedspace_close
 * Errors: permissionDenied, invalidArgument. Holds nothing open, and works before fork. */
int sharedspace_open(const char *root, const sharedspace_how *how, sharedspace **space, sharedspace_error **error);

/* Closes a space; its namespaces stay open. For NULL and a closed one it does nothing. */
void sharedspace_close(sharedspace *space);

/* The names of the namespaces, sorted by their bytes. The call also deletes those without an owner.
 *   list      receives them: the bytes of each result are a name. To be freed with sharedspace_list_free */
int sharedspace_names(sharedspace *space, sharedspace_list **list, sharedspace_error **error);

/* Deletes a namespace even if it has owners; their calls fail with namespaceDeleted from then on.
 * Returns 0 if there is none with this name. Errors: incompatible, if its folder has other files; holderStopped,
 * holderBusy, permissionDenied. */
int sharedspace_delete(sharedspace *space, const char *name, sharedspace_error **error);

/* Deletes the namespaces that have no owner, as other calls also do.
 *   list      receives their names, as sharedspace_names does; NULL if they are not wanted */
int sharedspace_reap(sharedspace *space, sharedspace_list **list, sharedspace_error **error);

/* Waits until a namespace exists, and neither creates nor owns it. Returns 0 when the time has passed.
 *   how       SHAREDSPACE_GONE: until there is none; timeout_ms, interrupted
 * Errors: cancelled, invalidName. */
int sharedspace_await(sharedspace *space, const char *name, const sharedspace_how *how, sharedspace_error **error);

/* Opens a namespace, and creates it if it does not exist. This process owns it until the last of its handles on it is
 * closed; a namespace whose last owner has ended is deleted, unless it is persistent.
 *   name      1 to 200 bytes without '/'
 *   how       SHAREDSPACE_OBSERVER, SHAREDSPACE_PERSISTENT; mode, limit_bytes, which an existing namespace must have if
 *             they are given
 *   ns        receives the handle, to be closed with sharedspace_ns_close
 * Errors: invalidName, incompatible, permissionDenied, storageFull, damaged, holderStopped, holderBusy, forked;
 * namespaceNotFound for an observer. */
int sharedspace_ns_open(
    sharedspace *space, const char *name, const sharedspace_how *how, sharedspace_ns **ns, sharedspace_error **error);

/* Closes a namespace. What was obtained through this handle and has not ended is released: claims, holds, items. After an
 * error (holderStopped, holderBusy) it is closed too, and the rest is released when the process ends. */
int sharedspace_ns_close(sharedspace_ns *ns, sharedspace_error **error);

/* The contents of a namespace, its owners, who holds what and who waits for whom: the object of `space show --json`.
 *   result    receives the object's text */
int sharedspace_ns_show(sharedspace_ns *ns, sharedspace_result *result, sharedspace_error **error);

/* Changes a setting of a namespace.
 *   what      SHAREDSPACE_NS_…
 *   number    as the setting says
 *   how       limit_bytes, of a history; 0: 16 MiB
 * Errors: noSuchProcess, invalidArgument, and those of sharedspace_write. */
int sharedspace_ns_set(
    sharedspace_ns *ns, int what, int64_t number, const sharedspace_how *how, sharedspace_error **error);

/* --- Tuples ---------------------------------------------------------------------------------------------------------- */

/* Writes tuples in one transaction: all or none.
 *   tuples    count of them; up to 64 MiB each
 *   how       SHAREDSPACE_RECORD (all are records), SHAREDSPACE_JSON, SHAREDSPACE_OWN_LIFETIME; expires_ms
 *   ids       receives their ids, in order; NULL if they are not wanted
 * Errors: badData for bytes that are no tuple, tooLarge, storageFull, limitReached, transactionTooLarge, holderStopped,
 * holderBusy, namespaceDeleted. */
int sharedspace_write(
    sharedspace_ns *ns, const sharedspace_bytes *tuples, size_t count, const sharedspace_how *how, uint64_t *ids,
    sharedspace_error **error);

/* Finds the oldest tuple that one of several templates matches, and waits for it if the options say so. Processes that
 * wait are served in the order in which they came.
 *   what      SHAREDSPACE_READ: it stays. SHAREDSPACE_TAKE: it is removed. SHAREDSPACE_CLAIM: no other process sees it
 *             until sharedspace_end, and it returns if this process ends
 *   templates count of them, from 1
 *   how       SHAREDSPACE_RECORD, _JSON, _NEWEST, _EXACT; timeout_ms, interrupted; for a claim deadline_ms
 *   result    receives the tuple, its id, deliveries, and of a claim its number
 * Errors: badData for bytes that are no template, cancelled, namespaceDeleted, closed, holderStopped, holderBusy; with any
 * of them nothing was taken. */
int sharedspace_find(
    sharedspace_ns *ns, int what, const sharedspace_bytes *templates, size_t count, const sharedspace_how *how,
    sharedspace_result *result, sharedspace_error **error);

/* Finds all tuples that one of several templates matches, of one moment; takes or claims them in one transaction.
 *   what      as for sharedspace_find; or SHAREDSPACE_LOOK_CLAIMED, with the claims' numbers and their processes (pid), and
 *             their deadlines (time_ms, in milliseconds since 1970; 0: none); or SHAREDSPACE_LOOK_BURIED
 *   how       SHAREDSPACE_RECORD, _JSON, _NEWEST, _EXACT; max; for claims deadline_ms
 *   list      receives them, in order; to be freed with sharedspace_list_free. If there are none the call returns 0, and
 *             there is no list
 * Errors: those of sharedspace_find, transactionTooLarge. */
int sharedspace_find_all(
    sharedspace_ns *ns, int what, const sharedspace_bytes *templates, size_t count, const sharedspace_how *how,
    sharedspace_list **list, sharedspace_error **error);

/* How many tuples one of several templates matches; -1 with an error.
 *   how       SHAREDSPACE_RECORD, _JSON, _EXACT */
int64_t sharedspace_count(
    sharedspace_ns *ns, const sharedspace_bytes *templates, size_t count, const sharedspace_how *how,
    sharedspace_error **error);

/* Buries the visible tuples that one of several templates matches: no process finds them until they are put back. Returns how
 * many, and -1 with an error.
 *   how       SHAREDSPACE_RECORD, _JSON, _EXACT; max */
int64_t sharedspace_bury(
    sharedspace_ns *ns, const sharedspace_bytes *templates, size_t count, const sharedspace_how *how,
    sharedspace_error **error);

/* Puts buried tuples that one of several templates matches back in their places; their deliveries count from 0 again.
 * Returns how many, and -1 with an error.
 *   how       SHAREDSPACE_RECORD, _JSON, _EXACT; max; id: only the tuple with it, and then there are no templates */
int64_t sharedspace_kick(
    sharedspace_ns *ns, const sharedspace_bytes *templates, size_t count, const sharedspace_how *how,
    sharedspace_error **error);

/* Sets when a cell, or a visible tuple, ends by itself. Returns 0 if it does not exist.
 *   key       the cell's; NULL for the tuple with an id
 *   id        the tuple's
 *   how       expires_ms, from now on; 0: never, even if it would have ended with a process */
int sharedspace_expire(
    sharedspace_ns *ns, const char *key, uint64_t id, const sharedspace_how *how, sharedspace_error **error);

/* The time that a cell, or a visible tuple, still has. Returns 0 if it does not exist.
 *   key, id   as for sharedspace_expire
 *   left_ms   receives milliseconds, or SHAREDSPACE_FOREVER */
int sharedspace_ttl(sharedspace_ns *ns, const char *key, uint64_t id, int64_t *left_ms, sharedspace_error **error);

/* Runs a program, and writes the tuple that it prints in JSON form: Linda's eval. Nothing is written if the program does not
 * succeed; it is killed, with all that it has started, when this thread ends, or the time has passed, and then the call
 * returns 0.
 *   words     count of them: the program, which is looked up in $PATH, and its arguments
 *   how       timeout_ms (0 counts as SHAREDSPACE_FOREVER), interrupted
 *   id        receives the tuple's; NULL if it is not wanted
 * Errors: evaluationFailed, with the program's status; cancelled, and those of sharedspace_write. */
int sharedspace_evaluate(
    sharedspace_ns *ns, const char *const *words, size_t count, const sharedspace_how *how, uint64_t *id,
    sharedspace_error **error);

/* Ends or extends a claim, or an item of a queue that this handle took.
 *   number    its number. A claim may also be one that another process made with `space claim --hold`
 *   end       SHAREDSPACE_COMPLETE: it is removed, or with SHAREDSPACE_KEEP back in its place as if it had never
 *             been claimed or taken. SHAREDSPACE_RELEASE: it is back in its place after delay_ms, and one more delivery
 *             counts; returns 0 if a claim had returned before. SHAREDSPACE_BURY: it is not handed out any more; an item
 *             with `reason`. SHAREDSPACE_EXTEND: it lasts deadline_ms from now, if that is longer than before.
 *             SHAREDSPACE_DROP: as SHAREDSPACE_RELEASE without a delay, of a hold as sharedspace_let_go; but a process that is in
 *             the way does not make it fail: it is done before this process's next write or within a tick after that process has
 *             gone on. For what nobody will ask for again, such as an object that a garbage collector has found
 *   how       SHAREDSPACE_KEEP; delay_ms, deadline_ms, reason, as above; of an item that is released `priority`, unless 0
 * Errors: claimLost, holdLost if it had returned before; holderStopped, holderBusy, and then it is still held. */
int sharedspace_end(
    sharedspace_ns *ns, uint64_t number, int end, const sharedspace_how *how, sharedspace_error **error);

/* --- Cells ------------------------------------------------------------------------------------------------------------ */

/* The value of a cell; waits for it if the options say so. Returns 0 if the cell is not set.
 *   key       1 to 480 bytes
 *   how       SHAREDSPACE_JSON; timeout_ms, interrupted
 *   result    receives it, and its version (number): another one each time that the cell is set */
int sharedspace_get(
    sharedspace_ns *ns, const char *key, const sharedspace_how *how, sharedspace_result *result,
    sharedspace_error **error);

/* Sets a cell. Returns 0 if the cell was not as the flags want it.
 *   value     up to 64 MiB
 *   how       SHAREDSPACE_JSON, SHAREDSPACE_OWN_LIFETIME; expires_ms; one of the conditions SHAREDSPACE_IF_ABSENT,
 *             SHAREDSPACE_IF_EQUAL with how->value, SHAREDSPACE_IF_VERSION with how->version
 *   old       receives the value that the cell had, with a count of 0 if it was not set; with a condition nothing. NULL if
 *             it is not wanted */
int sharedspace_set(
    sharedspace_ns *ns, const char *key, sharedspace_bytes value, const sharedspace_how *how, sharedspace_result *old,
    sharedspace_error **error);

/* Unsets a cell. Returns 0 if it was not set.
 *   how       SHAREDSPACE_JSON
 *   old       receives the value that it had; NULL if it is not wanted */
int sharedspace_unset(
    sharedspace_ns *ns, const char *key, const sharedspace_how *how, sharedspace_result *old, sharedspace_error **error);

/* Adds to the integer in a cell; a cell that is not set counts as 0.
 *   sum       receives the sum; NULL if it is not wanted
 * Errors: badData if the cell holds something else, or the sum has more than 64 bits. */
int sharedspace_add(sharedspace_ns *ns, const char *key, int64_t amount, int64_t *sum, sharedspace_error **error);

/* The cells of one moment, by key. If there are none the call returns 0, and there is no list.
 *   pattern   which: '*' stands for any text, '?' for a character, '\' makes the next one stand for itself; NULL: all
 *   how       SHAREDSPACE_JSON
 *   list      receives tuples of two fields, key and value; to be freed with sharedspace_list_free */
int sharedspace_cells(
    sharedspace_ns *ns, const char *pattern, const sharedspace_how *how, sharedspace_list **list,
    sharedspace_error **error);

/* --- Several changes at once ------------------------------------------------------------------------------------------ */

/* Does several things in one transaction: all or nothing. Others see nothing until all are done.
 *   steps     the operations of `space txn`, in order: a tuple whose fields are the steps, or with SHAREDSPACE_JSON
 *             [["take", ["token"]], ["write", ["done", 7]], ["incr", "count"], ["complete", 12]]. Templates in them have
 *             the JSON form even in bytes: "?int". See `space help txn`
 *   how       SHAREDSPACE_JSON
 *   result    receives the results: a tuple with one field for each step, or JSON. If the call returns 0, because a step has
 *             found nothing or a cell was not as expected, a text that says which step
 * Errors: badData for something that is no step, claimLost, transactionTooLarge, and those of sharedspace_write. */
int sharedspace_transact(
    sharedspace_ns *ns, sharedspace_bytes steps, const sharedspace_how *how, sharedspace_result *result,
    sharedspace_error **error);

/* --- Watching --------------------------------------------------------------------------------------------------------- */

/* Posts a notification to all present watchers; it is kept in the journal only.
 *   name      1 to 480 bytes
 *   value     NULL and 0: null
 *   how       SHAREDSPACE_JSON */
int sharedspace_post(
    sharedspace_ns *ns, const char *name, sharedspace_bytes value, const sharedspace_how *how,
    sharedspace_error **error);

/* Begins to watch: every change after this call comes once, in order, or a gap says which were dropped.
 *   filter    what is wanted, a JSON object with the options of `space watch`: {"tuples": TEMPLATE, "key": "user.name",
 *             "keys": PATTERN, "all_keys": true, "post": NAME, "posts": PATTERN, "pid": PID, "collection": NAME,
 *             "responder": NAME, "object": NAME, "events": ["write", "take"]}; NULL and 0: everything
 *   from      where it begins: NULL now; "initial" with the tuples and cells that are there; "N" or "N@LIFE" with change N,
 *             as sharedspace_watch_point gives it
 *   how       subscription: it begins where the subscription of this name last acknowledged, and `from` is NULL
 *   watch     receives the handle, to be closed with sharedspace_watch_close. It may outlast `ns`, and does not keep the
 *             namespace alive
 * Errors: badData for something that is no filter, invalidArgument, storageFull, namespaceDeleted. */
int sharedspace_watch_open(
    sharedspace_ns *ns, sharedspace_bytes filter, const char *from, const sharedspace_how *how,
    sharedspace_watch **watch, sharedspace_error **error);

/* The next change. Returns 0 when the time has passed.
 *   how       SHAREDSPACE_JSON; timeout_ms, interrupted
 *   result    receives its sequence, time_ms, kind and pid, and all of it as an object, as `space watch` prints it: a
 *             record, or JSON
 * Errors: cancelled; namespaceDeleted after SHAREDSPACE_CHANGE_GONE, which is the last change; subscriptionEnded. */
int sharedspace_watch_next(
    sharedspace_watch *watch, const sharedspace_how *how, sharedspace_result *result, sharedspace_error **error);

/* The place at which a later watch can go on after the last change that came: a text for `from`, "N@LIFE". */
int sharedspace_watch_point(sharedspace_watch *watch, sharedspace_result *result, sharedspace_error **error);

/* Acknowledges all changes up to a number, for a subscription: they don't come again. */
int sharedspace_watch_acknowledge(sharedspace_watch *watch, uint64_t sequence, sharedspace_error **error);

/* Ends watching; a subscription stays. For NULL and a closed watch it does nothing. */
void sharedspace_watch_close(sharedspace_watch *watch);

/* Ends a subscription, which no longer holds the journal; a watch that goes on under its name ends with subscriptionEnded.
 * Returns 0 if there is none. */
int sharedspace_unsubscribe(sharedspace_ns *ns, const char *name, sharedspace_error **error);

/* --- Locks, semaphores, elections --------------------------------------------------------------------------------------- */

/* Waits in line for a lock, several locks, permits of a semaphore or leadership, and holds it until sharedspace_let_go, or
 * until this process ends. A hold belongs to the process, and any of its threads may release it; a lock is not reentrant.
 *   what      SHAREDSPACE_LOCK, with SHAREDSPACE_SHARED together with others; SHAREDSPACE_SEMAPHORE with permits and count;
 *             SHAREDSPACE_ELECTION, whose leader others see with how->value
 *   names     count of them. Several only of locks, which are acquired in the order of their names, all or none
 *   how       SHAREDSPACE_SHARED, SHAREDSPACE_JSON (for value and result); timeout_ms, interrupted, permits, count, value
 *   result    receives the number to release it by, and the fencing numbers in the order of the names as a tuple. When the
 *             call returns 0 because the time has passed, pid is a holder's
 * Errors: wouldDeadlock, typeMismatch if the name is of another kind, cancelled, holderStopped, holderBusy. */
int sharedspace_hold(
    sharedspace_ns *ns, int what, const char *const *names, size_t count, const sharedspace_how *how,
    sharedspace_result *result, sharedspace_error **error);

/* Releases what this handle holds. Errors: holdLost if it had been taken away; invalidArgument if there is no such hold;
 * holderStopped, holderBusy, and then it is still held. */
int sharedspace_let_go(sharedspace_ns *ns, uint64_t number, sharedspace_error **error);

/* Whether this handle still has the hold: 0 if it was taken away or released. */
int sharedspace_holds(sharedspace_ns *ns, uint64_t number, sharedspace_error **error);

/* Waits at a barrier, for a latch or a rate limit. Returns 0 when the time has passed; for a rate limit at once, if it would
 * take longer.
 *   what      SHAREDSPACE_BARRIER: until `permits` processes or waits have come to it. SHAREDSPACE_LATCH: until it was
 *             counted down `permits` times. SHAREDSPACE_RATE: for `count` of the `permits` that it has in any interval_ms
 *   how       permits, count, interval_ms; timeout_ms, interrupted
 * Errors: typeMismatch if the name is of another kind, or was made with other numbers; cancelled. */
int sharedspace_pass(
    sharedspace_ns *ns, int what, const char *name, const sharedspace_how *how, sharedspace_error **error);

/* Changes a shared thing. Returns 0 if there is no such thing, item or term.
 *   verb      SHAREDSPACE_RULE_…
 *   name      of the queue, the counter, the semaphore, …
 *   number    as the verb says
 *   how       what the verb names
 *   outcome   receives what the verb says; NULL if it is not wanted
 * Errors: typeMismatch if the name is of another kind; invalidArgument, also for a queue that is to be removed while workers
 * have items of it; and those of sharedspace_write. */
int sharedspace_rule(
    sharedspace_ns *ns, int verb, const char *name, uint64_t number, const sharedspace_how *how, int64_t *outcome,
    sharedspace_error **error);

/* The leader of an election. Returns 0 if there is none.
 *   how       SHAREDSPACE_JSON
 *   result    receives its value, its process (pid), and the number of its term */
int sharedspace_leader(
    sharedspace_ns *ns, const char *name, const sharedspace_how *how, sharedspace_result *result,
    sharedspace_error **error);

/* Replaces what others see of a leader, while its term lasts.
 *   term      its number: that of the hold
 *   how       SHAREDSPACE_JSON
 * Errors: holdLost if the term is over. */
int sharedspace_proclaim(
    sharedspace_ns *ns, const char *name, uint64_t term, sharedspace_bytes value, const sharedspace_how *how,
    sharedspace_error **error);

/* --- Queues of work ----------------------------------------------------------------------------------------------------- */

/* Puts items into a queue in one transaction: all or none.
 *   queue     its name, 1 to 240 bytes
 *   items     count values
 *   how       SHAREDSPACE_JSON; priority, delay_ms, group, deliveries, bound. For one item also unique: then the call
 *             returns 0 if an item with the key is in the queue. SHAREDSPACE_REPLACE replaces a waiting item with the key,
 *             and SHAREDSPACE_AGAIN puts this one behind the item that is worked on. timeout_ms, interrupted: how long to
 *             wait for room
 *   numbers   receives the items' numbers, in order; for an item that was not put, the number of the item in its way, or 0
 *             if there was no room in time. NULL if they are not wanted
 * Errors: limitReached if the queue is full, typeMismatch, and those of sharedspace_write. */
int sharedspace_put(
    sharedspace_ns *ns, const char *queue, const sharedspace_bytes *items, size_t count, const sharedspace_how *how,
    uint64_t *numbers, sharedspace_error **error);

/* Takes the next item of a queue, and waits for it if the options say so; takers are served in the order in which they
 * came. The item returns if this process ends before sharedspace_end.
 *   how       SHAREDSPACE_JSON; timeout_ms, interrupted, deadline_ms; id: only the item with this id, without regard to
 *             priorities, delays and other takers; then the call does not wait
 *   result    receives its value, its id, deliveries, and the number that ends it */
int sharedspace_item(
    sharedspace_ns *ns, const char *queue, const sharedspace_how *how, sharedspace_result *result,
    sharedspace_error **error);

/* The items of a queue, in the order in which they come next. If there are none the call returns 0, and there is no list.
 *   state     SHAREDSPACE_ITEM_…
 *   how       SHAREDSPACE_JSON; max
 *   list      receives their values, ids, deliveries and states (kind); to be freed with sharedspace_list_free */
int sharedspace_items(
    sharedspace_ns *ns, const char *queue, int state, const sharedspace_how *how, sharedspace_list **list,
    sharedspace_error **error);

/* --- Ordered sets ------------------------------------------------------------------------------------------------------- */

/* Edits an ordered set, in one step, or looks for an element in it. Returns 0 if nothing was done: there is no such set or
 * element, or all are there already. SHAREDSPACE_APPEND and SHAREDSPACE_INSERT make the set if it does not exist.
 *   verb      SHAREDSPACE_APPEND and those after it
 *   index     from 0; of SHAREDSPACE_INSERT and SHAREDSPACE_MOVE
 *   values    count of them, as the verb needs them
 *   how       SHAREDSPACE_JSON
 *   outcome   receives what the verb says; NULL if it is not wanted
 * Errors: badData for an element of another type, invalidArgument for an index beyond the end, typeMismatch, and those of
 * sharedspace_write. */
int sharedspace_ordered(
    sharedspace_ns *ns, const char *name, int verb, int64_t index, const sharedspace_bytes *values, size_t count,
    const sharedspace_how *how, int64_t *outcome, sharedspace_error **error);

/* The elements of an ordered set, in order. If there are none the call returns 0, and there is no list. (A dictionary's
 * entries are cells, NAME/KEY: sharedspace_cells.)
 *   first     the index of the first one that is wanted
 *   how       SHAREDSPACE_JSON; max
 *   list      receives them; to be freed with sharedspace_list_free */
int sharedspace_elements(
    sharedspace_ns *ns, const char *name, int64_t first, const sharedspace_how *how, sharedspace_list **list,
    sharedspace_error **error);

/* --- Requests and responders -------------------------------------------------------------------------------------------- */

/* Asks the responder of a name, and waits for the reply. Returns 0 if no responder has answered in time; then pid is the
 * process that was asked, or 0.
 *   argument  NULL and 0: null
 *   how       SHAREDSPACE_JSON; SHAREDSPACE_NOW; timeout_ms, for a responder and its reply (0: 5 seconds), interrupted
 *   result    receives the reply, and the process that gave it (pid)
 * Errors: responderFailed, with its reason; cancelled, and those of sharedspace_write. */
int sharedspace_request(
    sharedspace_ns *ns, const char *name, sharedspace_bytes argument, const sharedspace_how *how,
    sharedspace_result *result, sharedspace_error **error);

/* Registers a responder to a name. The newest one is asked first; if it ends before it has answered, the next one is asked.
 *   how       SHAREDSPACE_BASE; unique: its key; a responder of any process with the same key is replaced
 *   responder receives the handle, to be closed with sharedspace_responder_close. It may outlast `ns`, and does not keep the
 *             namespace alive */
int sharedspace_responder_open(
    sharedspace_ns *ns, const char *name, const sharedspace_how *how, sharedspace_responder **responder,
    sharedspace_error **error);

/* The next request. Several may be in hand (received and not answered) at a time. Returns 0 when the time has passed.
 *   how       SHAREDSPACE_JSON; timeout_ms, interrupted
 *   result    receives its argument, the number to answer it by, and the process that asks (pid)
 * Errors: holdLost if the responder was replaced or removed; cancelled. */
int sharedspace_responder_next(
    sharedspace_responder *responder, const sharedspace_how *how, sharedspace_result *result,
    sharedspace_error **error);

/* Answers a request. Returns 0 if the reply was no longer wanted.
 *   value     NULL and 0: null
 *   how       SHAREDSPACE_JSON; reason: the request fails with this reason; then there is no value */
int sharedspace_responder_reply(
    sharedspace_responder *responder, uint64_t number, sharedspace_bytes value, const sharedspace_how *how,
    sharedspace_error **error);

/* Gives back a request that is in hand: it comes next, even to a call that already waits for one.
 * Errors: invalidArgument if it is not in hand. */
int sharedspace_responder_give_back(sharedspace_responder *responder, uint64_t number, sharedspace_error **error);

/* Asks the responder below, within a request that is in hand, as long as that request has time. Returns 0 if there is none
 * below, or none has answered in time.
 *   argument  NULL and 0: that of the request
 *   how       SHAREDSPACE_JSON; timeout_ms (0: as long as the request has), interrupted
 *   result    receives the reply */
int sharedspace_responder_pass(
    sharedspace_responder *responder, uint64_t number, sharedspace_bytes argument, const sharedspace_how *how,
    sharedspace_result *result, sharedspace_error **error);

/* Ends a responder; the requests that it has not answered go to the next one. For NULL and a closed one it does nothing. */
void sharedspace_responder_close(sharedspace_responder *responder);

/* --- Event loops ------------------------------------------------------------------------------------------------------ */

/* Opens a loop: any number of waits, of any namespaces, behind one descriptor for poll(2), epoll(7) and the event loops
 * of languages. A wait blocks no thread and needs none of its own. The first loop starts a few threads for all waits: it needs
 * five free descriptors, which stay in use, and while the process can have no thread (RLIMIT_NPROC, pids.max) the call
 * does not return.
 *   loop      receives the handle, to be closed with sharedspace_loop_close
 * Errors: descriptorsExhausted, forked. */
int sharedspace_loop_open(sharedspace_loop **loop, sharedspace_error **error);

/* Cancels all waits, and returns when none is under way any more: what they had obtained, and was not handed out, was put
 * back. Closes the descriptor. For NULL and a closed loop it does nothing. */
void sharedspace_loop_close(sharedspace_loop *loop);

/* The descriptor, which poll(2) and others report as readable from the end of a wait until sharedspace_loop_next has
 * returned 0. It belongs to the loop: don't read from it, and don't close it. It is closed on exec. */
int sharedspace_loop_descriptor(sharedspace_loop *loop, sharedspace_error **error);

/* Begins a wait, and returns without waiting. The wait looks at once, and has its place in line when the call returns; it
 * keeps the place until it ends. (When many tuples come at once, the takes that are woken for them may change places.)
 * sharedspace_loop_next hands out its outcome, even if the wait ends at once. What the wait obtains belongs to the program
 * from then on; if the wait is cancelled before, it is put back. May be called from any thread, while another is in
 * sharedspace_loop_next.
 *   token     any number by which the program identifies the wait; no other wait of the loop may have it
 *   what      SHAREDSPACE_WAIT_…: as the call that waits by itself, with its options and result, except `interrupted`:
 *             _READ, _TAKE, _CLAIM   sharedspace_find: a tuple that one of count templates matches; names is NULL. A take
 *                                    is done when it is handed out; until then the tuple is invisible
 *             _CELL                  sharedspace_get, with names[0]
 *             _LOCK, _SEMAPHORE, _ELECTION   sharedspace_hold, with count names; never wouldDeadlock
 *             _ITEM                  sharedspace_item, with the queue names[0]
 *             _REPLY                 sharedspace_request, with names[0] and the argument how->value
 *             _BARRIER, _LATCH, _RATE   sharedspace_pass, with names[0]; there is no result
 *   templates, names   count of them, borrowed until the call returns; NULL for the other one
 *   how       timeout_ms (0: it ends at once), and what the calls named above take
 * Errors: invalidArgument for a token that is in use, closed, forked, and what is wrong with the arguments. */
int sharedspace_loop_begin(
    sharedspace_loop *loop, uint64_t token, sharedspace_ns *ns, int what, const sharedspace_bytes *templates,
    const char *const *names, size_t count, const sharedspace_how *how, sharedspace_error **error);

/* Begins a wait for the next change of a watch: as sharedspace_watch_next does. There is one wait for a watch at a time;
 * while it lasts, sharedspace_watch_next and sharedspace_watch_point are refused. A change that a cancelled wait had obtained
 * comes next.
 *   how       SHAREDSPACE_JSON; timeout_ms
 * Errors: those of sharedspace_loop_begin. Cancel the wait before the watch is closed. */
int sharedspace_loop_watch(
    sharedspace_loop *loop, uint64_t token, sharedspace_watch *watch, const sharedspace_how *how,
    sharedspace_error **error);

/* Begins a wait for the next request of a responder: as sharedspace_responder_next does. A request that a cancelled wait had
 * obtained comes next.
 *   how       SHAREDSPACE_JSON; timeout_ms
 * Errors: those of sharedspace_loop_begin. */
int sharedspace_loop_responder(
    sharedspace_loop *loop, uint64_t token, sharedspace_responder *responder, const sharedspace_how *how,
    sharedspace_error **error);

/* Cancels a wait: its outcome does not come any more, its place in line is given up, and what it has obtained is put back,
 * as if it had never been delivered. A barrier or a rate limit that it had passed stays passed. The token may be used again.
 * Returns 0 if there is no such wait: its outcome was handed out. May be called from any thread. Putting back may take a
 * moment longer than the call. */
int sharedspace_loop_cancel(sharedspace_loop *loop, uint64_t token, sharedspace_error **error);

/* Hands out the outcome of a wait, in the order in which the waits have ended. Returns 0 if none has ended; never waits.
 * Call it until it returns 0: the descriptor is readable until then.
 *   token     receives the wait's token, which may be used again
 *   outcome   receives what the call that waits by itself would return: 1; 0 if the time has passed; -1 if the wait has
 *             failed, and then `error` receives the reason. A take that fails here has taken nothing
 *   result    as that call fills it. What it obtained through a namespace's handle ends with that handle, and is closed
 *             (outcome -1, `closed`) if the handle was
 * Errors: those of the call itself, which returns -1 then and hands out nothing. */
int sharedspace_loop_next(
    sharedspace_loop *loop, uint64_t *token, int *outcome, sharedspace_result *result, sharedspace_error **error);

/* --- Lists and results -------------------------------------------------------------------------------------------------- */

/* The next of several results; 0 after the last.
 *   result    receives a copy, which outlives the list */
int sharedspace_list_next(sharedspace_list *list, sharedspace_result *result, sharedspace_error **error);

/* How many results a list has in all; 0 for NULL and a freed list. */
size_t sharedspace_list_count(sharedspace_list *list);

/* Frees a list. For NULL and a freed list it does nothing. */
void sharedspace_list_free(sharedspace_list *list);

/* Makes a tuple's bytes of JSON; with SHAREDSPACE_VALUE those of one value. An object becomes a record.
 * Errors: badData, with line and column. */
int sharedspace_pack(sharedspace_bytes json, uint32_t flags, sharedspace_result *result, sharedspace_error **error);

/* Makes JSON of a tuple's bytes: SHAREDSPACE_RECORD for a record; with SHAREDSPACE_VALUE of one value.
 * Errors: badData, with the place of the byte. */
int sharedspace_unpack(sharedspace_bytes tuple, uint32_t flags, sharedspace_result *result, sharedspace_error **error);

/* Frees a result's bytes, and makes the result an empty one. */
void sharedspace_result_free(sharedspace_result *result);

/* --- Errors ------------------------------------------------------------------------------------------------------------- */

/* The kind of failure, for programs: "storageFull", "holderBusy", … The texts are stable; there may be more in later
 * versions. "" for NULL. Texts last until the error is freed. */
const char *sharedspace_error_code(const sharedspace_error *error);

/* One line for people: what was attempted, on what, why it failed, what to do. "" for NULL. */
const char *sharedspace_error_message(const sharedspace_error *error);

/* What was attempted, "write". "" for NULL. */
const char *sharedspace_error_operation(const sharedspace_error *error);

/* The namespace's name; NULL if the error is not about one. */
const char *sharedspace_error_namespace(const sharedspace_error *error);

/* What to do; NULL if nothing can be done. */
const char *sharedspace_error_advice(const sharedspace_error *error);

/* The process in the way; 0 if there is none. */
int32_t sharedspace_error_holder(const sharedspace_error *error);

/* Frees an error, once. For NULL it does nothing. */
void sharedspace_error_free(sharedspace_error *error);

#ifdef __cplusplus
}
#endif
#endif
