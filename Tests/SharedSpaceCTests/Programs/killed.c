/* A process that has claimed a tuple, taken an item and holds a lock is killed: another one has all of it. The fork comes
 * before either process has opened a namespace, so both may use the library. */
#include "../Examples/check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int go[2], ready[2];
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    const char *lock = "deploy";
    char byte = 0;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes text = sharedspace_text("[\"job\"]");

    pid_t child = fork();
    if (child == 0) {
        CHECK(read(go[0], &byte, 1) == 1);
        sharedspace_ns *jobs = open_namespace("jobs");
        write_json(jobs, "[\"job\"]");
        how.timeout_ms = 0;
        DONE(sharedspace_put(jobs, "mail", &text, 1, &how, NULL, &error));
        CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"job\"]", 0, &result)) == 1);
        CHECK(DONE(sharedspace_item(jobs, "mail", &how, &result, &error)) == 1);
        CHECK(DONE(sharedspace_hold(jobs, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 1);
        how.flags |= SHAREDSPACE_OWN_LIFETIME;
        DONE(sharedspace_set(jobs, "member", sharedspace_text("1"), &how, NULL, &error));
        CHECK(write(ready[1], &byte, 1) == 1);
        for (;;) pause();
    }

    sharedspace_ns *jobs = open_namespace("jobs");
    CHECK(write(go[1], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "[\"job\"]", 0, &result)) == 0);
    how = json(0);
    CHECK(DONE(sharedspace_hold(jobs, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 0 && result.pid == child);
    CHECK(DONE(sharedspace_get(jobs, "member", &how, &result, &error)) == 1);

    CHECK(kill(child, SIGKILL) == 0);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"job\"]", SHAREDSPACE_FOREVER, &result)) == 1);
    CHECK(result.deliveries == 1);
    how = json(SHAREDSPACE_FOREVER);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &result, &error)) == 1 && result.deliveries == 1);
    CHECK(DONE(sharedspace_hold(jobs, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
    how = json(0);
    CHECK(DONE(sharedspace_get(jobs, "member", &how, &result, &error)) == 0);
    sharedspace_result_free(&result);
    return 0;
}
