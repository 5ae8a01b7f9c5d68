/* Claims: a take that can be undone. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result job = sharedspace_no_result();
    write_json(jobs, "[\"resize\", 42]");

    /* It fails, and is tried again. */
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"resize\", \"?int\"]", SHAREDSPACE_FOREVER, &job)) == 1);
    CHECK(job.deliveries == 0 && job.number > 0);
    uint64_t first = job.number;
    CHECK(DONE(sharedspace_end(jobs, first, SHAREDSPACE_RELEASE, NULL, &error)) == 1);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"resize\", \"?int\"]", 0, &job)) == 1);
    CHECK(job.deliveries == 1 && job.number > first);

    /* It takes longer than the deadline that the next claim has. */
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_KEEP;
    CHECK(DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_COMPLETE, &how, &error)) == 1);
    sharedspace_bytes template_ = sharedspace_text("[\"resize\", 42]");
    how = json(0);
    how.deadline_ms = 60 * 1000;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_CLAIM, &template_, 1, &how, &job, &error)) == 1);
    CHECK(job.deliveries == 0);
    how.flags = 0;
    how.deadline_ms = 120 * 1000;
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_EXTEND, &how, &error));
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_COMPLETE, NULL, &error));

    /* Ended once, it is ended. */
    FAILS(sharedspace_end(jobs, job.number, SHAREDSPACE_COMPLETE, NULL, &error), "claimLost");
    FAILS(sharedspace_end(jobs, 77, SHAREDSPACE_BURY, NULL, &error), "claimLost");

    /* What fails again and again is set aside. */
    write_json(jobs, "[\"poison\"]");
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"poison\"]", 0, &job)) == 1);
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_BURY, NULL, &error));
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"poison\"]", 0, &job)) == 0);

    /* Out of sight for a while after a release with a delay. */
    write_json(jobs, "[\"later\"]");
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"later\"]", 0, &job)) == 1);
    how = sharedspace_defaults();
    how.delay_ms = 3600 * 1000;
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_RELEASE, &how, &error));
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"later\"]", 0, &job)) == 0);

    /* What a handle has claimed returns when it is closed, also a claim that was extended, or whose end was refused. */
    sharedspace_ns *again = open_namespace("jobs");
    write_json(jobs, "[\"left\"]");
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"left\"]", 0, &job)) == 1);
    how = sharedspace_defaults();
    how.deadline_ms = 60 * 1000;
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_EXTEND, &how, &error));
    how.delay_ms = -2;
    FAILS(sharedspace_end(jobs, job.number, SHAREDSPACE_RELEASE, &how, &error), "invalidArgument");
    DONE(sharedspace_ns_close(jobs, &error));
    CHECK(DONE(find_json(again, SHAREDSPACE_TAKE, "[\"left\"]", 0, &job)) == 1 && job.deliveries == 1);
    sharedspace_result_free(&job);
    return 0;
}
