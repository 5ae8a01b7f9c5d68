/* NULL, closed and foreign handles, and arguments that are none: each is an error, and never a crash. */
#include "../Examples/check.h"

static const sharedspace_bytes none = {NULL, 0};

/* Every call on a namespace. */
static void refuse(sharedspace_ns *ns, const char *code) {
    sharedspace_result result = sharedspace_no_result();
    sharedspace_bytes text = sharedspace_text("[1]");
    sharedspace_list *list;
    sharedspace_watch *watch;
    sharedspace_responder *responder;
    uint64_t number;
    const char *name = "x";
    sharedspace_how how = json(0);
    FAILS(sharedspace_ns_show(ns, &result, &error), code);
    FAILS(sharedspace_write(ns, &text, 1, &how, &number, &error), code);
    FAILS(sharedspace_find(ns, SHAREDSPACE_READ, &text, 1, &how, &result, &error), code);
    FAILS(sharedspace_find_all(ns, SHAREDSPACE_TAKE, &text, 1, &how, &list, &error), code);
    FAILS(sharedspace_count(ns, &text, 1, &how, &error), code);
    FAILS(sharedspace_end(ns, 1, SHAREDSPACE_COMPLETE, NULL, &error), code);
    FAILS(sharedspace_get(ns, name, NULL, &result, &error), code);
    FAILS(sharedspace_set(ns, name, text, &how, NULL, &error), code);
    FAILS(sharedspace_unset(ns, name, NULL, NULL, &error), code);
    FAILS(sharedspace_add(ns, name, 1, NULL, &error), code);
    FAILS(sharedspace_cells(ns, NULL, NULL, &list, &error), code);
    FAILS(sharedspace_transact(ns, text, &how, &result, &error), code);
    FAILS(sharedspace_post(ns, name, none, NULL, &error), code);
    FAILS(sharedspace_watch_open(ns, none, NULL, NULL, &watch, &error), code);
    FAILS(sharedspace_hold(ns, SHAREDSPACE_LOCK, &name, 1, NULL, &result, &error), code);
    FAILS(sharedspace_let_go(ns, 1, &error), code);
    FAILS(sharedspace_holds(ns, 1, &error), code);
    FAILS(sharedspace_put(ns, name, &text, 1, &how, NULL, &error), code);
    FAILS(sharedspace_item(ns, name, NULL, &result, &error), code);
    FAILS(sharedspace_items(ns, name, 0, NULL, &list, &error), code);
    FAILS(sharedspace_ns_set(ns, SHAREDSPACE_NS_PERSISTENT, 1, NULL, &error), code);
    FAILS(sharedspace_bury(ns, &text, 1, &how, &error), code);
    FAILS(sharedspace_kick(ns, &text, 1, &how, &error), code);
    FAILS(sharedspace_expire(ns, name, 0, NULL, &error), code);
    FAILS(sharedspace_ttl(ns, name, 0, (int64_t *)&number, &error), code);
    FAILS(sharedspace_evaluate(ns, &name, 1, NULL, NULL, &error), code);
    FAILS(sharedspace_unsubscribe(ns, name, &error), code);
    FAILS(sharedspace_pass(ns, SHAREDSPACE_LATCH, name, NULL, &error), code);
    FAILS(sharedspace_rule(ns, SHAREDSPACE_RULE_COUNT, name, 0, NULL, NULL, &error), code);
    FAILS(sharedspace_leader(ns, name, NULL, &result, &error), code);
    FAILS(sharedspace_proclaim(ns, name, 1, text, &how, &error), code);
    FAILS(sharedspace_ordered(ns, name, SHAREDSPACE_APPEND, 0, &text, 1, &how, NULL, &error), code);
    FAILS(sharedspace_elements(ns, name, 0, NULL, &list, &error), code);
    FAILS(sharedspace_request(ns, name, none, NULL, &result, &error), code);
    FAILS(sharedspace_responder_open(ns, name, NULL, &responder, &error), code);
    FAILS(sharedspace_ns_close(ns, &error), code);
    CHECK(sharedspace_ns_close(ns, NULL) == -1); /* the error is not wanted */
    sharedspace_result_free(&result);
}

static void refuse_watch(sharedspace_watch *watch, const char *code) {
    sharedspace_result result = sharedspace_no_result();
    FAILS(sharedspace_watch_next(watch, NULL, &result, &error), code);
    FAILS(sharedspace_watch_point(watch, &result, &error), code);
    FAILS(sharedspace_watch_acknowledge(watch, 1, &error), code);
    sharedspace_watch_close(watch);
    FAILS(sharedspace_list_next((sharedspace_list *)watch, &result, &error), code);
    CHECK(sharedspace_list_count((sharedspace_list *)watch) == 0);
    sharedspace_list_free((sharedspace_list *)watch);
}

static void refuse_responder(sharedspace_responder *responder, const char *code) {
    sharedspace_result result = sharedspace_no_result();
    FAILS(sharedspace_responder_next(responder, NULL, &result, &error), code);
    FAILS(sharedspace_responder_reply(responder, 1, none, NULL, &error), code);
    FAILS(sharedspace_responder_pass(responder, 1, none, NULL, &result, &error), code);
    FAILS(sharedspace_responder_give_back(responder, 1, &error), code);
}

static void refuse_loop(sharedspace_loop *loop, sharedspace_ns *ns, sharedspace_watch *watch, const char *code) {
    sharedspace_result result = sharedspace_no_result();
    sharedspace_bytes text = sharedspace_text("[1]");
    sharedspace_how how = json(0);
    uint64_t token;
    int outcome;
    FAILS(sharedspace_loop_descriptor(loop, &error), code);
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &text, NULL, 1, &how, &error), code);
    FAILS(sharedspace_loop_watch(loop, 1, watch, &how, &error), code);
    FAILS(sharedspace_loop_cancel(loop, 1, &error), code);
    FAILS(sharedspace_loop_next(loop, &token, &outcome, &result, &error), code);
    sharedspace_result_free(&result);
}

/* A loop's handle, and the arguments of its calls; of none of them comes an outcome. */
static void use_loop(sharedspace_ns *ns, sharedspace_watch *watch) {
    sharedspace_loop *loop;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_bytes text = sharedspace_text("[1]"), lost = {NULL, 5}, bad = sharedspace_text("[");
    sharedspace_how how = json(SHAREDSPACE_FOREVER), wrong = json(-7);
    const char *names[] = {"x", NULL}, *same[] = {"x", "x"};
    uint64_t token = 77;
    int outcome = 77;
    refuse_loop(NULL, ns, watch, "invalidArgument");
    refuse_loop((sharedspace_loop *)ns, ns, watch, "invalidArgument");
    FAILS(sharedspace_loop_open(NULL, &error), "invalidArgument");
    DONE(sharedspace_loop_open(&loop, &error));
    FAILS(sharedspace_loop_begin(loop, 1, NULL, SHAREDSPACE_WAIT_TAKE, &text, NULL, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, 0, &text, names, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, 99, &text, names, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, NULL, names, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &lost, NULL, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &bad, NULL, 1, &how, &error), "badData");
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &text, NULL, 1, &wrong, &error), "invalidArgument");
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_BARRIER, NULL, names, 1, &how, &error), "invalidArgument");
    how.flags = 0;
    for (int what = SHAREDSPACE_WAIT_CELL; what <= SHAREDSPACE_WAIT_REPLY; what++) {
        FAILS(sharedspace_loop_begin(loop, 1, ns, what, &text, NULL, 1, &how, &error), "invalidArgument");
        FAILS(sharedspace_loop_begin(loop, 1, ns, what, &text, names, 0, &how, &error), "invalidArgument");
        FAILS(sharedspace_loop_begin(loop, 1, ns, what, &text, names, 2, &how, &error), "invalidArgument");
    }
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_CELL, NULL, same, 2, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_watch(loop, 1, NULL, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_watch(loop, 1, watch, &wrong, &error), "invalidArgument");
    FAILS(sharedspace_loop_next(loop, NULL, &outcome, &result, &error), "invalidArgument");
    FAILS(sharedspace_loop_next(loop, &token, NULL, &result, &error), "invalidArgument");
    FAILS(sharedspace_loop_next(loop, &token, &outcome, NULL, &error), "invalidArgument");
    CHECK(DONE(sharedspace_loop_cancel(loop, 1, &error)) == 0);
    CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0 && token == 77 && outcome == 77);

    /* A token stands for one wait; an error that the wait itself finds comes as its outcome. */
    DONE(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_CELL, NULL, names, 1, &how, &error));
    FAILS(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_CELL, NULL, names, 1, &how, &error), "invalidArgument");
    FAILS(sharedspace_loop_watch(loop, 1, watch, &how, &error), "invalidArgument");
    DONE(sharedspace_loop_begin(loop, 2, ns, SHAREDSPACE_WAIT_LOCK, NULL, same, 2, &how, &error));
    CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1 && token == 2 && outcome == -1);
    CHECK(strcmp(sharedspace_error_code(error), "invalidArgument") == 0);
    sharedspace_error_free(error);
    error = NULL;
    DONE(sharedspace_loop_watch(loop, 2, watch, &how, &error));
    CHECK(DONE(sharedspace_loop_cancel(loop, 2, &error)) == 1);
    sharedspace_loop_close((sharedspace_loop *)ns);
    DONE(sharedspace_loop_descriptor(loop, &error));
    sharedspace_loop_close(loop);
    sharedspace_loop_close(loop);
    sharedspace_loop_close(NULL);
    refuse_loop(loop, ns, watch, "closed");
    sharedspace_result_free(&result);
}

int main(void) {
    sharedspace *space;
    sharedspace_ns *ns, *other;
    sharedspace_watch *watch;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_list *list;
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    DONE(sharedspace_ns_open(space, "n", NULL, &ns, &error));
    DONE(sharedspace_ns_open(space, "n", NULL, &other, &error));
    DONE(sharedspace_watch_open(ns, none, NULL, NULL, &watch, &error));

    /* NULL, another kind of handle, a small number, an address, a number that is like a handle. */
    int local = 0;
    refuse(NULL, "invalidArgument");
    refuse((sharedspace_ns *)space, "invalidArgument");
    refuse((sharedspace_ns *)watch, "invalidArgument");
    refuse((sharedspace_ns *)(uintptr_t)8, "invalidArgument");
    refuse((sharedspace_ns *)(void *)&local, "invalidArgument");
    refuse((sharedspace_ns *)((uintptr_t)ns ^ (uintptr_t)1 << 45), "invalidArgument");
    refuse((sharedspace_ns *)((uintptr_t)ns ^ 1 << 20), "closed");
    refuse_watch(NULL, "invalidArgument");
    refuse_watch((sharedspace_watch *)ns, "invalidArgument");
    FAILS(sharedspace_ns_open(NULL, "n", NULL, &other, &error), "invalidArgument");
    FAILS(sharedspace_names((sharedspace *)ns, &list, &error), "invalidArgument");
    FAILS(sharedspace_reap((sharedspace *)ns, &list, &error), "invalidArgument");
    FAILS(sharedspace_await((sharedspace *)ns, "n", NULL, &error), "invalidArgument");
    refuse_responder(NULL, "invalidArgument");
    refuse_responder((sharedspace_responder *)ns, "invalidArgument");
    sharedspace_responder *responder;
    DONE(sharedspace_responder_open(ns, "n", NULL, &responder, &error));
    FAILS(sharedspace_responder_reply(responder, 7, none, NULL, &error), "invalidArgument");
    FAILS(sharedspace_loop_responder(NULL, 1, responder, NULL, &error), "invalidArgument");
    sharedspace_responder_close((sharedspace_responder *)ns);
    sharedspace_responder_close(responder);
    sharedspace_responder_close(responder);
    sharedspace_responder_close(NULL);
    refuse_responder(responder, "closed");
    FAILS(sharedspace_delete(NULL, "n", &error), "invalidArgument");
    sharedspace_close((sharedspace *)ns);
    sharedspace_close(NULL);
    DONE(sharedspace_ns_show(ns, &result, &error)); /* none of that has closed it */

    use_loop(ns, watch);

    /* Closed, also when another handle has taken the place. */
    DONE(sharedspace_ns_close(ns, &error));
    refuse(ns, "closed");
    sharedspace_watch_close(watch);
    refuse_watch(watch, "closed");
    sharedspace_ns *again;
    DONE(sharedspace_ns_open(space, "n", NULL, &again, &error));
    refuse(ns, "closed");
    DONE(sharedspace_ns_show(again, &result, &error));
    for (int i = 0; i < 1000; i++) {
        DONE(sharedspace_names(space, &list, &error));
        sharedspace_list_free(list);
        sharedspace_list_free(list);
    }
    sharedspace_close(space);
    sharedspace_close(space);
    FAILS(sharedspace_names(space, &list, &error), "closed");
    FAILS(sharedspace_ns_open(space, "n", NULL, &other, &error), "closed");

    /* Arguments. */
    sharedspace_bytes text = sharedspace_text("[1]");
    sharedspace_bytes lost = {NULL, 5}, huge = {(const uint8_t *)"", SIZE_MAX};
    sharedspace_how how = json(0);
    FAILS(sharedspace_write(again, NULL, 1, NULL, NULL, &error), "invalidArgument");
    FAILS(sharedspace_write(again, &lost, 1, NULL, NULL, &error), "invalidArgument");
    FAILS(sharedspace_write(again, &huge, 1, NULL, NULL, &error), "invalidArgument");
    FAILS(sharedspace_write(again, &text, SIZE_MAX, NULL, NULL, &error), "invalidArgument");
    DONE(sharedspace_write(again, NULL, 0, NULL, NULL, &error));
    FAILS(sharedspace_find(again, SHAREDSPACE_READ, &text, 1, &how, NULL, &error), "invalidArgument");
    FAILS(sharedspace_find_all(again, SHAREDSPACE_READ, &text, 1, &how, NULL, &error), "invalidArgument");
    FAILS(sharedspace_get(again, NULL, NULL, &result, &error), "invalidArgument");
    FAILS(sharedspace_get(again, "\xff", NULL, &result, &error), "invalidArgument");
    FAILS(sharedspace_get(again, "", NULL, &result, &error), "tooLarge");
    FAILS(sharedspace_put(again, NULL, &text, 1, &how, NULL, &error), "invalidArgument");
    how.permits = -3;
    how.count = INT64_MAX;
    for (int verb = -1; verb <= 20; verb++) {
        /* Whatever it says, it says it. */
        sharedspace_rule(again, verb, "r", UINT64_MAX, &how, NULL, NULL);
        sharedspace_rule(again, verb, NULL, 0, NULL, NULL, NULL);
        sharedspace_ordered(again, "r", verb, INT64_MIN, &text, 1, &how, NULL, NULL);
        sharedspace_ordered(again, "r", verb, INT64_MAX, &lost, 1, &how, NULL, NULL);
        sharedspace_ns_set(again, verb, INT64_MIN, &how, NULL);
        /* It fails, with whatever code. */
        FAILS(sharedspace_pass(again, verb, "", &how, &error), sharedspace_error_code(error));
    }
    FAILS(sharedspace_ttl(again, NULL, 1, NULL, &error), "invalidArgument");
    FAILS(sharedspace_evaluate(again, NULL, 0, NULL, NULL, &error), "invalidArgument");
    FAILS(sharedspace_elements(again, "r", INT64_MIN, NULL, &list, &error), "invalidArgument");
    CHECK(DONE(sharedspace_elements(again, "r", INT64_MAX, NULL, &list, &error)) == 0);
    how = json(0);

    /* Options and results of other versions. */
    how.size = 4;
    FAILS(sharedspace_get(again, "x", &how, &result, &error), "invalidArgument");
    how = json(0);
    how.group = "group";
    for (how.size = 0; how.size < sizeof how; how.size++) {
        if (how.size % 8 > 0)
            FAILS(sharedspace_put(again, "x", &text, 1, &how, NULL, &error), "invalidArgument");
    }
    how.size = UINT32_MAX;
    FAILS(sharedspace_get(again, "x", &how, &result, &error), "invalidArgument");
    struct {
        sharedspace_how how;
        uint64_t more;
    } newer = {json(0), 0};
    newer.how.size = sizeof newer;
    DONE(sharedspace_get(again, "x", &newer.how, &result, &error));
    newer.more = 1;
    FAILS(sharedspace_get(again, "x", &newer.how, &result, &error), "invalidArgument");
    how = json(0);
    how.size = 16;
    DONE(sharedspace_get(again, "x", &how, &result, &error)); /* an older one has fewer fields */
    how = json(0);
    how.flags |= 1u << 31;
    FAILS(sharedspace_get(again, "x", &how, &result, &error), "invalidArgument");
    how = json(-7);
    FAILS(sharedspace_get(again, "x", &how, &result, &error), "invalidArgument");
    how = json(0);
    how.expires_ms = -1;
    FAILS(sharedspace_write(again, &text, 1, &how, NULL, &error), "invalidArgument");
    how = json(0);
    how.expires_ms = INT64_MAX;
    DONE(sharedspace_write(again, &text, 1, &how, NULL, &error));
    sharedspace_result unmade;
    memset(&unmade, 0, sizeof unmade);
    FAILS(sharedspace_get(again, "x", NULL, &unmade, &error), "invalidArgument");

    sharedspace_result_free(&result);
    sharedspace_result_free(&result);
    sharedspace_result_free(NULL);
    sharedspace_error_free(NULL);
    CHECK(sharedspace_error_code(NULL)[0] == 0 && sharedspace_error_advice(NULL) == NULL);
    DONE(sharedspace_ns_close(again, &error));
    return 0;
}
