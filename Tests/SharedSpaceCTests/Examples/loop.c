/* An event loop: several waits behind one descriptor. */
#include "check.h"

#include <poll.h>

enum { JOB = 1, CONFIG, DEPLOY, MAIL, CHANGE, LATE, PERMIT, LEADER, MEET, ALSO, OPEN, RATE };

/* The next outcome; sleeps in poll(2) until there is one. */
static int next(sharedspace_loop *loop, uint64_t *token, sharedspace_result *result) {
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, NULL), .events = POLLIN};
    int outcome;
    while (DONE(sharedspace_loop_next(loop, token, &outcome, result, &error)) == 0) CHECK(poll(&ready, 1, -1) == 1);
    return outcome;
}

/* Waits for the outcome of a wait, which is the only one under way that can end. */
static int expect(sharedspace_loop *loop, uint64_t expected, sharedspace_result *result) {
    uint64_t token;
    int outcome = next(loop, &token, result);
    CHECK(token == expected);
    return outcome;
}

static void begin(
    sharedspace_loop *loop, uint64_t token, sharedspace_ns *ns, int what, const char *name, const sharedspace_how *how) {
    DONE(sharedspace_loop_begin(loop, token, ns, what, NULL, &name, 1, how, &error));
}

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_loop *loop;
    sharedspace_watch *watch;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"resize\", \"?int\"]");
    const char *names[] = {"deploy", "build"};
    uint64_t token;
    int outcome;
    DONE(sharedspace_loop_open(&loop, &error));
    DONE(sharedspace_watch_open(jobs, sharedspace_text("{\"posts\": \"*\"}"), NULL, NULL, &watch, &error));

    /* Waits for a tuple, a cell, two locks, a queue's item and a change. */
    DONE(sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_CLAIM, &job, NULL, 1, &how, &error));
    begin(loop, CONFIG, jobs, SHAREDSPACE_WAIT_CELL, "config", &how);
    begin(loop, MAIL, jobs, SHAREDSPACE_WAIT_ITEM, "mail", &how);
    DONE(sharedspace_loop_watch(loop, CHANGE, watch, &how, &error));
    DONE(sharedspace_loop_begin(loop, DEPLOY, jobs, SHAREDSPACE_WAIT_LOCK, NULL, names, 2, &how, &error));
    CHECK(expect(loop, DEPLOY, &result) == 1); /* it was free */
    DONE(sharedspace_let_go(jobs, result.number, &error));
    CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0);

    write_json(jobs, "[\"resize\", 42]");
    CHECK(expect(loop, JOB, &result) == 1 && is(&result, "[\"resize\",42]") && result.deliveries == 0);
    DONE(sharedspace_end(jobs, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
    how.timeout_ms = 0;
    DONE(sharedspace_set(jobs, "config", sharedspace_text("{\"retries\": 3}"), &how, NULL, &error));
    CHECK(expect(loop, CONFIG, &result) == 1 && is(&result, "{\"retries\":3}"));
    sharedspace_bytes letter = sharedspace_text("\"hello\"");
    DONE(sharedspace_put(jobs, "mail", &letter, 1, &how, NULL, &error));
    CHECK(expect(loop, MAIL, &result) == 1 && is(&result, "\"hello\""));
    DONE(sharedspace_end(jobs, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
    DONE(sharedspace_post(jobs, "bell", letter, &how, &error));
    CHECK(expect(loop, CHANGE, &result) == 1 && result.kind == SHAREDSPACE_CHANGE_POST);

    /* A take is done when it is handed out. A look with nothing to find, and a wait whose time passes, end with 0. */
    write_json(jobs, "[\"resize\", 43]");
    DONE(sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    CHECK(expect(loop, JOB, &result) == 1 && is(&result, "[\"resize\",43]") && result.number == 0);
    DONE(sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    CHECK(expect(loop, JOB, &result) == 0);
    how.timeout_ms = 20;
    DONE(sharedspace_loop_begin(loop, LATE, jobs, SHAREDSPACE_WAIT_READ, &job, NULL, 1, &how, &error));
    CHECK(expect(loop, LATE, &result) == 0);

    /* A wait for a lock that is held ends with 0, too, and tells who has it. */
    how = json(0);
    CHECK(DONE(sharedspace_hold(jobs, SHAREDSPACE_LOCK, names, 1, &how, &result, &error)) == 1);
    uint64_t held = result.number;
    begin(loop, DEPLOY, jobs, SHAREDSPACE_WAIT_LOCK, "deploy", &how);
    CHECK(expect(loop, DEPLOY, &result) == 0 && result.pid > 0);
    DONE(sharedspace_let_go(jobs, held, &error));

    /* Permits, leadership, a meeting of two, and a rate. */
    how.permits = 2;
    begin(loop, PERMIT, jobs, SHAREDSPACE_WAIT_SEMAPHORE, "permits", &how);
    CHECK(expect(loop, PERMIT, &result) == 1);
    DONE(sharedspace_let_go(jobs, result.number, &error));
    how.value = sharedspace_text("\"here\"");
    begin(loop, LEADER, jobs, SHAREDSPACE_WAIT_ELECTION, "leader", &how);
    CHECK(expect(loop, LEADER, &result) == 1 && DONE(sharedspace_holds(jobs, result.number, &error)) == 1);
    how = sharedspace_defaults();
    how.timeout_ms = SHAREDSPACE_FOREVER;
    how.permits = 2;
    begin(loop, MEET, jobs, SHAREDSPACE_WAIT_BARRIER, "noon", &how);
    begin(loop, ALSO, jobs, SHAREDSPACE_WAIT_BARRIER, "noon", &how);
    CHECK(next(loop, &token, &result) == 1 && next(loop, &token, &result) == 1);
    how.interval_ms = 1000;
    begin(loop, RATE, jobs, SHAREDSPACE_WAIT_RATE, "calls", &how);
    CHECK(expect(loop, RATE, &result) == 1);
    how.timeout_ms = 0;
    begin(loop, OPEN, jobs, SHAREDSPACE_WAIT_LATCH, "ready", &how);
    CHECK(expect(loop, OPEN, &result) == 0);

    /* A cancelled wait does not end, and what it has obtained is back. */
    how = json(SHAREDSPACE_FOREVER);
    write_json(jobs, "[\"resize\", 44]");
    DONE(sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    CHECK(DONE(sharedspace_loop_cancel(loop, JOB, &error)) == 1);
    CHECK(DONE(sharedspace_loop_cancel(loop, JOB, &error)) == 0);
    CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "[\"resize\", 44]", SHAREDSPACE_FOREVER, &result)) == 1);
    CHECK(result.deliveries == 0);

    sharedspace_loop_close(loop);
    sharedspace_watch_close(watch);
    sharedspace_result_free(&result);
    DONE(sharedspace_ns_close(jobs, &error));
    return 0;
}
