/* A child of a process that has opened a namespace: its calls fail with `forked`, and it ends.
 * Two hundred children, since a lock of the runtime must be held by a thread of the parent at the fork to do harm. */
#include "../Examples/check.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    sharedspace *space;
    sharedspace_ns *ns, *other;
    sharedspace_watch *watch;
    sharedspace_list *list;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_bytes text = sharedspace_text("[1]");
    const char *lock = "lock";
    sharedspace_how how = json(0);
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    DONE(sharedspace_ns_open(space, "n", NULL, &ns, &error));
    DONE(sharedspace_watch_open(ns, (sharedspace_bytes){NULL, 0}, NULL, NULL, &watch, &error));
    CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &lock, 1, NULL, &result, &error)) == 1);
    uint64_t number = result.number;

    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            CHECK(sharedspace_write(ns, &text, 1, &how, NULL, &error) < 0);
            CHECK(strcmp(sharedspace_error_code(error), "forked") == 0);
            CHECK(strstr(sharedspace_error_message(error), "posix_spawn") != NULL);
            CHECK(strstr(sharedspace_error_message(error), "swift") == NULL);
            FAILS(sharedspace_find(ns, SHAREDSPACE_TAKE, &text, 1, &how, &result, &error), "forked");
            FAILS(sharedspace_set(ns, "x", text, &how, NULL, &error), "forked");
            FAILS(sharedspace_let_go(ns, number, &error), "forked");
            FAILS(sharedspace_watch_next(watch, NULL, &result, &error), "forked");
            FAILS(sharedspace_ns_open(space, "n", NULL, &other, &error), "forked");
            FAILS(sharedspace_ns_open(space, "m", NULL, &other, &error), "forked");
            sharedspace_watch_close(watch);
            DONE(sharedspace_ns_close(ns, &error));
            FAILS(sharedspace_write(ns, &text, 1, &how, NULL, &error), "forked");
            sharedspace_close(space);
            exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }

    /* The parent has what it had. */
    CHECK(DONE(sharedspace_holds(ns, number, &error)) == 1);
    DONE(sharedspace_write(ns, &text, 1, &how, NULL, &error));
    how.timeout_ms = SHAREDSPACE_FOREVER;
    while (DONE(sharedspace_watch_next(watch, &how, &result, &error)) == 1 && result.kind != SHAREDSPACE_CHANGE_WRITE) {}
    DONE(sharedspace_names(space, &list, &error));
    CHECK(sharedspace_list_count(list) == 1);
    return 0;
}
