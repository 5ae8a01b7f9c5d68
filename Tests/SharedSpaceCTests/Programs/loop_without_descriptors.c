/* A process that has no descriptor left is told so when it opens a loop, or by a wait, and lives on. */
#include "../Examples/check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

/* Lets this process have only `more` descriptors beside those that are open, which have no gaps then. */
static void allow(int more) {
    static struct rlimit usual;
    if (usual.rlim_cur == 0) CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
    if (more < 0) return;
    int next = open("/dev/null", O_RDONLY);
    CHECK(next >= 0);
    struct rlimit few = {(rlim_t)(next + more), usual.rlim_max};
    CHECK(close(next) == 0 && setrlimit(RLIMIT_NOFILE, &few) == 0);
}

int main(void) {
    alarm(60);
    sharedspace_ns *ns = open_namespace("n");
    sharedspace_loop *loop = NULL;
    for (int more = 0; more < 5; more++) {
        allow(more);
        sharedspace_error *failure = NULL;
        CHECK(sharedspace_loop_open(&loop, &failure) < 0 && loop == NULL);
        CHECK(strstr(sharedspace_error_message(failure), "event loop") != NULL);
        sharedspace_error_free(failure);
    }
    allow(-1);
    DONE(sharedspace_loop_open(&loop, &error));
    /* What the waits run on is there now. */
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(50);
    sharedspace_bytes job = sharedspace_text("[\"job\"]");
    for (int more = 0; more < 5; more++) {
        allow(more);
        uint64_t token = 0;
        int outcome = 1, status;
        sharedspace_error *failure = NULL;
        if (sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &failure) > 0) {
            struct pollfd readable = {DONE(sharedspace_loop_descriptor(loop, &error)), POLLIN, 0};
            CHECK(poll(&readable, 1, 30000) == 1);
            status = sharedspace_loop_next(loop, &token, &outcome, &result, &failure);
            CHECK(status == 1 && token == 1 && outcome <= 0);
            CHECK(sharedspace_loop_next(loop, &token, &outcome, &result, &failure) == 0);
        }
        sharedspace_error_free(failure);
    }
    allow(-1);
    sharedspace_loop_close(loop);
    sharedspace_result_free(&result);
    DONE(sharedspace_ns_close(ns, &error));
    return 0;
}
