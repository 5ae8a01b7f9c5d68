/* Barriers, latches, rate limits, counters; a semaphore's number; a leader. */
#include "check.h"

#include <unistd.h>

int main(void) {
    sharedspace_ns *builds = open_namespace("builds");
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    int64_t number;

    /* A latch opens for good when it was counted down twice. */
    how.permits = 2;
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_LATCH, "ready", &how, &error)) == 0);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_DOWN, "ready", 1, &how, &number, &error)) == 1 && number == 1);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_DOWN, "ready", 0, &how, &number, &error)) == 1 && number == 1);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_DOWN, "ready", 1, &how, &number, &error)) == 1 && number == 0);
    how.timeout_ms = SHAREDSPACE_FOREVER;
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_LATCH, "ready", &how, &error)) == 1);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_REMOVE, "ready", SHAREDSPACE_LATCH, NULL, NULL, &error)) == 1);

    /* A barrier for one, and one for more than come. */
    how.permits = 1;
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_BARRIER, "noon", &how, &error)) == 1);
    how.permits = 3;
    how.timeout_ms = 10;
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_BARRIER, "midnight", &how, &error)) == 0);

    /* Two in an hour. */
    how.permits = 2;
    how.interval_ms = 3600 * 1000;
    how.timeout_ms = 0;
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_RATE, "calls", &how, &error)) == 1);
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_RATE, "calls", &how, &error)) == 1);
    CHECK(DONE(sharedspace_pass(builds, SHAREDSPACE_RATE, "calls", &how, &error)) == 0);
    FAILS(sharedspace_pass(builds, SHAREDSPACE_LOCK, "calls", &how, &error), "invalidArgument");

    how = sharedspace_defaults();
    how.count = 5;
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_COUNT, "builds", 0, &how, &number, &error)) == 1 && number == 5);
    how.count = 0;
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_COUNT, "builds", 0, &how, &number, &error)) == 1 && number == 5);
    FAILS(sharedspace_rule(builds, SHAREDSPACE_RULE_COUNT, "calls", 0, &how, &number, &error), "typeMismatch");

    /* From now on two permits, whatever the users say. */
    const char *downloads = "downloads";
    DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_PERMITS, downloads, 2, NULL, NULL, &error));
    how = sharedspace_defaults();
    how.permits = 9;
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &result, &error)) == 1);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &result, &error)) == 1);
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_SEMAPHORE, &downloads, 1, &how, &result, &error)) == 0);

    /* Who leads, and what it says of itself. */
    const char *scheduler = "scheduler";
    how = json(0);
    CHECK(DONE(sharedspace_leader(builds, scheduler, &how, &result, &error)) == 0);
    how.value = sharedspace_text("\"starting\"");
    CHECK(DONE(sharedspace_hold(builds, SHAREDSPACE_ELECTION, &scheduler, 1, &how, &result, &error)) == 1);
    uint64_t term = result.number;
    DONE(sharedspace_proclaim(builds, scheduler, term, sharedspace_text("{\"port\": 7000}"), &how, &error));
    CHECK(DONE(sharedspace_leader(builds, scheduler, &how, &result, &error)) == 1);
    CHECK(is(&result, "{\"port\":7000}") && result.pid == getpid() && result.number == term);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_DEPOSE, scheduler, term, NULL, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_rule(builds, SHAREDSPACE_RULE_DEPOSE, scheduler, 0, NULL, NULL, &error)) == 0);
    FAILS(sharedspace_proclaim(builds, scheduler, term, sharedspace_text("1"), &how, &error), "holdLost");
    sharedspace_result_free(&result);
    return 0;
}
