/* Locks, several locks, semaphores, elections. */
#include "check.h"

#include <unistd.h>

int main(void) {
    sharedspace_ns *builds = open_namespace("builds");
    sharedspace_result hold = sharedspace_no_result();
    sharedspace_result other = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    const char *name = "repository";

    how.timeout_ms = SHAREDSPACE_FOREVER;
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &name, 1, &how, &hold, &error)) == 1);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &name, 1, NULL, &other, &error)) == 0);
    CHECK(other.pid == getpid() && other.number == 0);
    CHECK(DONE(sharedspace_holds(builds, hold.number, &error)) == 1);
    DONE(sharedspace_let_go(builds, hold.number, &error));
    CHECK(DONE(sharedspace_holds(builds, hold.number, &error)) == 0);
    FAILS(sharedspace_let_go(builds, hold.number, &error), "invalidArgument");

    how.flags = SHAREDSPACE_SHARED;
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &name, 1, &how, &hold, &error)) == 1);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &name, 1, &how, &other, &error)) == 1);
    DONE(sharedspace_let_go(builds, hold.number, &error));
    DONE(sharedspace_let_go(builds, other.number, &error));

    /* Several locks: all or none. */
    const char *accounts[] = {"account/9", "account/7"};
    how = json(0);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, accounts, 2, &how, &hold, &error)) == 1);
    unsigned long long first, second;
    CHECK(sscanf((char *)hold.bytes, "[%llu,%llu]", &first, &second) == 2 && first == hold.number);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &accounts[1], 1, NULL, &other, &error)) == 0);
    DONE(sharedspace_let_go(builds, hold.number, &error));
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_LOCK, &accounts[1], 1, NULL, &other, &error)) == 1);

    /* Two of three permits, and then one. */
    const char *downloads = "downloads";
    how = sharedspace_defaults();
    how.permits = 3;
    how.count = 2;
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &hold, &error)) == 1);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &other, &error)) == 0);
    how.count = 0;
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &other, &error)) == 1);

    /* A leader, whose value others see. */
    const char *scheduler = "scheduler";
    how = json(0);
    how.value = sharedspace_text("{\"port\": 7000}");
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_ELECTION, &scheduler, 1, &how, &hold, &error)) == 1);
    DONE(sharedspace_ns_show(builds, &other, &error));
    CHECK(strstr((char *)other.bytes, "\"name\":\"builds\"") && strstr((char *)other.bytes, "\"details\":{\"port\":7000}"));

    FAILS(sharedspace_hold(builds, SHAREDSPACE_LOCK, &scheduler, 1, NULL, &hold, &error), "typeMismatch");
    FAILS(sharedspace_hold(builds, SHAREDSPACE_ELECTION, accounts, 2, NULL, &hold, &error), "invalidArgument");
    FAILS(sharedspace_hold(builds, SHAREDSPACE_LOCK, NULL, 0, NULL, &hold, &error), "invalidArgument");
    sharedspace_result_free(&hold);
    sharedspace_result_free(&other);
    return 0;
}
