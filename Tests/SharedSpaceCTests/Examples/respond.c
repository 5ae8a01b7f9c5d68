/* Requests, and responders that answer them. */
#include "check.h"

#include <pthread.h>

static sharedspace_ns *jobs;

/* Asks, and keeps the reply. */
static void *ask(void *context) {
    sharedspace_result *reply = context;
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_error *failure;
    int outcome = sharedspace_request(jobs, "double", sharedspace_text("21"), &how, reply, &failure);
    if (outcome == 1) return NULL;
    CHECK(outcome < 0 && strcmp(sharedspace_error_code(failure), "responderFailed") == 0);
    CHECK(strstr(sharedspace_error_message(failure), "out of paper"));
    sharedspace_error_free(failure);
    reply->number = 1;
    return NULL;
}

int main(void) {
    jobs = open_namespace("jobs");
    sharedspace_result request = sharedspace_no_result(), reply = sharedspace_no_result();
    sharedspace_responder *responder, *below;
    sharedspace_how how = json(0);
    pthread_t thread;
    how.flags |= SHAREDSPACE_NOW;
    CHECK(DONE(sharedspace_request(jobs, "double", sharedspace_text("1"), &how, &reply, &error)) == 0);

    how = sharedspace_defaults();
    how.flags = SHAREDSPACE_BASE;
    DONE(sharedspace_responder_open(jobs, "double", &how, &below, &error));
    how = sharedspace_defaults();
    how.unique = "mine";
    DONE(sharedspace_responder_open(jobs, "double", &how, &responder, &error));
    how = json(0);
    CHECK(DONE(sharedspace_responder_next(responder, &how, &request, &error)) == 0);

    /* A reply. */
    how.timeout_ms = SHAREDSPACE_FOREVER;
    CHECK(pthread_create(&thread, NULL, ask, &reply) == 0);
    CHECK(DONE(sharedspace_responder_next(responder, &how, &request, &error)) == 1 && is(&request, "21"));
    CHECK(DONE(sharedspace_responder_reply(responder, request.number, sharedspace_text("42"), &how, &error)) == 1);
    CHECK(pthread_join(thread, NULL) == 0 && is(&reply, "42") && reply.pid == request.pid);
    FAILS(
        sharedspace_responder_reply(responder, request.number, sharedspace_text("42"), &how, &error),
        "invalidArgument");

    /* One that is given back comes next, to a wait that has begun before that. */
    CHECK(pthread_create(&thread, NULL, ask, &reply) == 0);
    CHECK(DONE(sharedspace_responder_next(responder, &how, &request, &error)) == 1);
    sharedspace_loop *next;
    sharedspace_result again = sharedspace_no_result();
    uint64_t waiting;
    int ended;
    DONE(sharedspace_loop_open(&next, &error));
    DONE(sharedspace_loop_responder(next, 1, responder, &how, &error));
    CHECK(DONE(sharedspace_loop_next(next, &waiting, &ended, &again, &error)) == 0);
    DONE(sharedspace_responder_give_back(responder, request.number, &error));
    while (DONE(sharedspace_loop_next(next, &waiting, &ended, &again, &error)) == 0) sched_yield();
    CHECK(waiting == 1 && ended == 1 && is(&again, "21"));
    DONE(sharedspace_responder_reply(responder, again.number, sharedspace_text("42"), &how, &error));
    CHECK(pthread_join(thread, NULL) == 0 && is(&reply, "42"));
    FAILS(sharedspace_responder_give_back(responder, again.number, &error), "invalidArgument");
    sharedspace_loop_close(next);

    /* A failure. */
    CHECK(pthread_create(&thread, NULL, ask, &reply) == 0);
    CHECK(DONE(sharedspace_responder_next(responder, &how, &request, &error)) == 1);
    how.reason = "out of paper";
    CHECK(DONE(sharedspace_responder_reply(responder, request.number, sharedspace_text(NULL), &how, &error)) == 1);
    CHECK(pthread_join(thread, NULL) == 0 && reply.number == 1);

    /* An event loop has both ends; and asks the responder below within the request. */
    enum { ASKED = 1, REQUEST, BELOW };
    sharedspace_loop *loop;
    const char *name = "double";
    uint64_t token;
    int outcome;
    DONE(sharedspace_loop_open(&loop, &error));
    how = json(SHAREDSPACE_FOREVER);
    how.value = sharedspace_text("4");
    DONE(sharedspace_loop_begin(loop, ASKED, jobs, SHAREDSPACE_WAIT_REPLY, NULL, &name, 1, &how, &error));
    DONE(sharedspace_loop_responder(loop, REQUEST, responder, &how, &error));
    while (DONE(sharedspace_loop_next(loop, &token, &outcome, &request, &error)) == 0) sched_yield();
    CHECK(token == REQUEST && outcome == 1 && is(&request, "4"));
    how.timeout_ms = 1;
    CHECK(DONE(sharedspace_responder_pass(responder, request.number, sharedspace_text(NULL), &how, &reply, &error)) == 0);
    CHECK(DONE(sharedspace_responder_next(below, &how, &reply, &error)) == 0); /* it was taken back */
    how.timeout_ms = 0;
    CHECK(DONE(sharedspace_responder_reply(responder, request.number, sharedspace_text("8"), &how, &error)) == 1);
    while (DONE(sharedspace_loop_next(loop, &token, &outcome, &reply, &error)) == 0) sched_yield();
    CHECK(token == ASKED && outcome == 1 && is(&reply, "8"));

    /* A cancelled wait leaves its request for the next. */
    DONE(sharedspace_loop_begin(loop, ASKED, jobs, SHAREDSPACE_WAIT_REPLY, NULL, &name, 1, &how, &error));
    how.timeout_ms = SHAREDSPACE_FOREVER;
    DONE(sharedspace_loop_responder(loop, REQUEST, responder, &how, &error));
    CHECK(DONE(sharedspace_loop_cancel(loop, REQUEST, &error)) == 1);
    CHECK(DONE(sharedspace_responder_next(responder, &how, &request, &error)) == 1);
    DONE(sharedspace_responder_reply(responder, request.number, sharedspace_text("1"), &how, &error));
    sharedspace_loop_close(loop);

    /* Another one with its key takes its place; one is removed by its key. */
    sharedspace_responder *newer;
    how = sharedspace_defaults();
    how.unique = "mine";
    DONE(sharedspace_responder_open(jobs, "double", &how, &newer, &error));
    FAILS(sharedspace_responder_next(responder, NULL, &request, &error), "holdLost");
    CHECK(DONE(sharedspace_rule(jobs, SHAREDSPACE_RULE_REMOVE, "double", SHAREDSPACE_RESPONDER, &how, NULL, &error)) == 1);
    FAILS(sharedspace_responder_next(newer, NULL, &request, &error), "holdLost");
    sharedspace_responder_close(responder);
    sharedspace_responder_close(newer);
    sharedspace_responder_close(below);
    FAILS(sharedspace_responder_next(below, NULL, &request, &error), "closed");
    sharedspace_result_free(&request);
    sharedspace_result_free(&reply);
    return 0;
}
