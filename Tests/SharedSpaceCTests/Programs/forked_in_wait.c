/* A thread that waits is interrupted, by a signal or by its own question, and forks there. In the child the wait ends with
 * `forked`; the parent's keeps its place, and gets what it waits for. */
#include "../Examples/check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static sharedspace_ns *ns;
static sharedspace_watch *watch;
static const char *name = "name";
static volatile pid_t child, parent;
static volatile int answer;
static volatile int has_told;
static int forks[2], rests[2];

/* Forks, once in a round, and tells the main thread. */
static void fork_once(void) {
    if (child != 0 || getpid() != parent) return;
    child = fork();
    if (child != 0 && write(forks[1], "", 1) != 1) _exit(2);
}

static void on_signal(int signal) {
    (void)signal;
    fork_once();
}

/* Called by the waiting thread before each sleep. */
static int ask(void *context) {
    (void)context;
    fork_once();
    return getpid() == parent ? 0 : answer;
}

/* Called like `ask`: tells the main thread, once in a round, that the wait has begun. */
static int tell(void *context) {
    (void)context;
    if (!has_told && write(rests[1], "", 1) != 1) _exit(2);
    has_told = 1;
    return 0;
}

enum { TAKE, CLAIM, READ, GET, LOCK, PERMIT, ITEM, BARRIER, WATCH, KINDS };

static int wait_for(int kind, sharedspace_how *how, sharedspace_error **failure) {
    sharedspace_result result = sharedspace_no_result();
    sharedspace_bytes job = sharedspace_text("[\"job\"]");
    int outcome = -2;
    switch (kind) {
    case TAKE: outcome = sharedspace_find(ns, SHAREDSPACE_TAKE, &job, 1, how, &result, failure); break;
    case CLAIM: outcome = sharedspace_find(ns, SHAREDSPACE_CLAIM, &job, 1, how, &result, failure); break;
    case READ: outcome = sharedspace_find(ns, SHAREDSPACE_READ, &job, 1, how, &result, failure); break;
    case GET: outcome = sharedspace_get(ns, name, how, &result, failure); break;
    case LOCK: outcome = sharedspace_hold(ns, SHAREDSPACE_LOCK, &name, 1, how, &result, failure); break;
    case PERMIT:
        how->permits = 1;
        outcome = sharedspace_hold(ns, SHAREDSPACE_SEMAPHORE, &name, 1, how, &result, failure);
        break;
    case ITEM: outcome = sharedspace_item(ns, name, how, &result, failure); break;
    case BARRIER:
        how->flags = 0;
        how->permits = 2;
        outcome = sharedspace_pass(ns, SHAREDSPACE_BARRIER, name, how, failure);
        break;
    case WATCH: outcome = sharedspace_watch_next(watch, how, &result, failure); break;
    }
    sharedspace_result_free(&result);
    return outcome;
}

struct wait {
    int kind;
    int (*interrupted)(void *);
};

static void *waiter(void *context) {
    const struct wait *wait = context;
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_error *failure = NULL;
    how.interrupted = wait->interrupted;
    int outcome = wait_for(wait->kind, &how, &failure);
    if (getpid() != parent) _exit(outcome < 0 && strcmp(sharedspace_error_code(failure), "forked") == 0 ? 0 : 1);
    if (outcome != 1) fprintf(stderr, "kind %d: %s\n", wait->kind, sharedspace_error_message(failure));
    return outcome == 1 ? context : NULL;
}

int main(void) {
    parent = getpid();
    CHECK(pipe(forks) == 0 && pipe(rests) == 0);
    signal(SIGUSR1, on_signal);
    alarm(200);
    ns = open_namespace("n");
    for (int kind = 0; kind < KINDS; kind++) {
        for (int way = 0; way < 3; way++) {
            sharedspace_result held = sharedspace_no_result(), result = sharedspace_no_result();
            sharedspace_how how = json(0);
            sharedspace_bytes job = sharedspace_text("[\"job\"]");
            how.permits = kind == PERMIT;
            int code = kind == PERMIT ? SHAREDSPACE_SEMAPHORE : SHAREDSPACE_LOCK;
            if (kind == LOCK || kind == PERMIT) CHECK(DONE(sharedspace_hold(ns, code, &name, 1, &how, &held, &error)) == 1);
            if (kind == WATCH) DONE(sharedspace_watch_open(ns, sharedspace_text(""), NULL, NULL, &watch, &error));
            struct wait wait = {kind, way > 0 ? ask : kind == WATCH ? tell : NULL};
            pthread_t thread;
            child = has_told = 0;
            answer = way == 2;
            CHECK(pthread_create(&thread, NULL, waiter, &wait) == 0);
            /* Until the thread waits. A watch is no waiter: it tells itself, since a fork before its wait may meet a lock. */
            for (int waits = kind == WATCH; !waits;) {
                DONE(sharedspace_ns_show(ns, &result, &error));
                waits = strstr((char *)result.bytes, "\"waiters\":[]") == NULL;
            }
            char byte;
            if (kind == WATCH && way == 0) CHECK(read(rests[0], &byte, 1) == 1);
            if (way == 0) pthread_kill(thread, SIGUSR1);
            CHECK(read(forks[0], &byte, 1) == 1);
            int status;
            CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
            switch (kind) {
            case TAKE: case CLAIM: case READ: case WATCH: DONE(sharedspace_write(ns, &job, 1, &how, NULL, &error)); break;
            case GET: DONE(sharedspace_set(ns, name, sharedspace_text("1"), &how, NULL, &error)); break;
            case LOCK: case PERMIT: CHECK(DONE(sharedspace_let_go(ns, held.number, &error)) == 1); break;
            case ITEM: DONE(sharedspace_put(ns, name, &job, 1, &how, NULL, &error)); break;
            case BARRIER:
                how.timeout_ms = SHAREDSPACE_FOREVER;
                how.flags = 0;
                how.permits = 2;
                CHECK(DONE(sharedspace_pass(ns, SHAREDSPACE_BARRIER, name, &how, &error)) == 1);
                break;
            }
            void *served;
            CHECK(pthread_join(thread, &served) == 0 && served != NULL);
            if (kind == WATCH) sharedspace_watch_close(watch);
            sharedspace_result_free(&held);
            sharedspace_result_free(&result);
            /* Each round begins with an empty namespace. */
            DONE(sharedspace_ns_close(ns, &error));
            ns = open_namespace("n");
        }
    }
    return 0;
}
