/* A loop in a child made by fork: its calls fail with `forked`, closing does nothing, and the parent's loop goes on. */
#include "../Examples/check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    sharedspace_loop *loop, *other;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"job\", \"?int\"]");
    uint64_t token;
    int outcome, status;
    char text[64];
    alarm(120);
    sharedspace_ns *ns = open_namespace("n");
    DONE(sharedspace_loop_open(&loop, &error));
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    CHECK(fcntl(ready.fd, F_GETFD) == FD_CLOEXEC);

    for (int i = 0; i < 20; i++) {
        /* One wait that has ended, and one that is under way. */
        for (uint64_t j = 0; j < 2; j++)
            DONE(sharedspace_loop_begin(loop, j, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
        snprintf(text, sizeof text, "[\"job\", %d]", i);
        write_json(ns, text);
        CHECK(poll(&ready, 1, -1) == 1);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            FAILS(sharedspace_loop_next(loop, &token, &outcome, &result, &error), "forked");
            FAILS(sharedspace_loop_cancel(loop, 0, &error), "forked");
            FAILS(sharedspace_loop_descriptor(loop, &error), "forked");
            FAILS(sharedspace_loop_begin(loop, 7, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error), "forked");
            sharedspace_loop_close(loop);
            FAILS(sharedspace_loop_next(loop, &token, &outcome, &result, &error), "forked");
            FAILS(sharedspace_loop_open(&other, &error), "forked");
            exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(poll(&ready, 1, 0) == 1);
        CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1 && outcome == 1 && token < 2);
        snprintf(text, sizeof text, "[\"job\",%d]", i);
        CHECK(is(&result, text));
        CHECK(DONE(sharedspace_loop_cancel(loop, 1 - token, &error)) == 1);
        CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0);
    }
    sharedspace_loop_close(loop);
    sharedspace_result_free(&result);
    DONE(sharedspace_ns_close(ns, &error));
    return 0;
}
