/* A process is killed that has, through a loop, a claim that was handed out, a take that was not, an item and a lock, and
 * waits for more: all of it comes back, and its places in line hold up no other process. */
#include "../Examples/check.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int go[2], ready[2];
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    char byte = 0;
    const char *lock = "deploy", *mail = "mail";
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes claimed = sharedspace_text("[\"claimed\"]"), taken = sharedspace_text("[\"taken\"]");
    sharedspace_bytes more = sharedspace_text("[\"more\"]");
    sharedspace_loop *loop;
    uint64_t token;
    int outcome;

    alarm(120);
    pid_t child = fork();
    if (child == 0) {
        CHECK(read(go[0], &byte, 1) == 1);
        sharedspace_ns *jobs = open_namespace("jobs");
        DONE(sharedspace_loop_open(&loop, &error));
        struct pollfd news = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
        DONE(sharedspace_loop_begin(loop, 1, jobs, SHAREDSPACE_WAIT_CLAIM, &claimed, NULL, 1, &how, &error));
        DONE(sharedspace_loop_begin(loop, 2, jobs, SHAREDSPACE_WAIT_ITEM, NULL, &mail, 1, &how, &error));
        DONE(sharedspace_loop_begin(loop, 3, jobs, SHAREDSPACE_WAIT_LOCK, NULL, &lock, 1, &how, &error));
        for (int i = 0; i < 3; i++) {
            while (DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0) CHECK(poll(&news, 1, -1) == 1);
            CHECK(outcome == 1);
        }
        CHECK(sharedspace_loop_next(loop, &token, &outcome, &result, &error) == 0);
        DONE(sharedspace_loop_begin(loop, 4, jobs, SHAREDSPACE_WAIT_TAKE, &taken, NULL, 1, &how, &error));
        CHECK(poll(&news, 1, -1) == 1);
        DONE(sharedspace_loop_begin(loop, 5, jobs, SHAREDSPACE_WAIT_TAKE, &more, NULL, 1, &how, &error));
        CHECK(write(ready[1], &byte, 1) == 1);
        for (;;) pause();
    }

    sharedspace_ns *jobs = open_namespace("jobs");
    write_json(jobs, "[\"claimed\"]");
    write_json(jobs, "[\"taken\"]");
    how.timeout_ms = 0;
    DONE(sharedspace_put(jobs, "mail", &more, 1, &how, NULL, &error));
    CHECK(write(go[1], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"claimed\"]", 0, &result)) == 0);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"taken\"]", 0, &result)) == 0);

    /* This process waits in the same ways, behind the other one. */
    how.timeout_ms = SHAREDSPACE_FOREVER;
    DONE(sharedspace_loop_open(&loop, &error));
    struct pollfd news = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    DONE(sharedspace_loop_begin(loop, 1, jobs, SHAREDSPACE_WAIT_CLAIM, &claimed, NULL, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 2, jobs, SHAREDSPACE_WAIT_ITEM, NULL, &mail, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 3, jobs, SHAREDSPACE_WAIT_LOCK, NULL, &lock, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 4, jobs, SHAREDSPACE_WAIT_TAKE, &taken, NULL, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 5, jobs, SHAREDSPACE_WAIT_TAKE, &more, NULL, 1, &how, &error));
    CHECK(sharedspace_loop_next(loop, &token, &outcome, &result, &error) == 0);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    write_json(jobs, "[\"more\"]");
    int came[6] = {0};
    for (int i = 0; i < 5; i++) {
        while (DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0) CHECK(poll(&news, 1, -1) == 1);
        CHECK(outcome == 1 && token >= 1 && token <= 5 && came[token]++ == 0);
        if (token <= 2) {
            CHECK(result.deliveries == 1);
            DONE(sharedspace_end(jobs, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
        }
        if (token == 3) DONE(sharedspace_let_go(jobs, result.number, &error));
    }
    sharedspace_loop_close(loop);
    sharedspace_result_free(&result);
    DONE(sharedspace_ns_close(jobs, &error));
    return 0;
}
