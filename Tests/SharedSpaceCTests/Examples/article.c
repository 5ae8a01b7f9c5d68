/* What the article "C" shows besides its first program. */
#include "check.h"

#include <poll.h>
#include <pthread.h>

static int resize(const char *job) { return strstr(job, "cat") != NULL; }

/* A worker: what fails, or is being worked on when this process is killed, returns to the namespace. */
static void work(sharedspace_ns *jobs) {
    sharedspace_result job = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_JSON;
    how.timeout_ms = 10;
    sharedspace_bytes wanted[] = {sharedspace_text("[\"resize\", \"?int\", \"?string\"]"), sharedspace_text("[\"stop\"]")};
    while (sharedspace_find(jobs, SHAREDSPACE_CLAIM, wanted, 2, &how, &job, &error) == 1) {
        int end = resize((char *)job.bytes) ? SHAREDSPACE_COMPLETE : SHAREDSPACE_BURY;
        if (sharedspace_end(jobs, job.number, end, NULL, &error) < 0) break;
    }
    sharedspace_result_free(&job);
}

/* The same tuple, ("resize", 42), and a template for ("resize", any integer), as bytes. */
static void use_bytes(sharedspace_ns *jobs) {
    static const uint8_t tuple[] = {0x02, 'r', 'e', 's', 'i', 'z', 'e', 0x00, 0x15, 42};
    static const uint8_t template_[] = {0x02, 'r', 'e', 's', 'i', 'z', 'e', 0x00, 0x41, 0x14};
    sharedspace_bytes written = {tuple, sizeof tuple}, wanted = {template_, sizeof template_};
    sharedspace_result found = sharedspace_no_result();
    sharedspace_write(jobs, &written, 1, NULL, NULL, NULL);
    sharedspace_find(jobs, SHAREDSPACE_TAKE, &wanted, 1, NULL, &found, NULL);
    CHECK(found.count == sizeof tuple && memcmp(found.bytes, tuple, sizeof tuple) == 0);
    sharedspace_result_free(&found);
}

static void look_at_errors(sharedspace *space) {
    sharedspace_ns *ns;
    sharedspace_error *error;
    if (sharedspace_ns_open(space, "a/b", NULL, &ns, &error) < 0) {
        if (strcmp(sharedspace_error_code(error), "holderBusy") == 0) printf("%d has it\n", sharedspace_error_holder(error));
        printf("%s\n", sharedspace_error_message(error));
        sharedspace_error_free(error);
    }
}

static volatile int interrupted_by_signal;
static int asked_to_end(void *context) {
    return *(volatile int *)context;
}

static void wait_and_be_interrupted(sharedspace_ns *jobs) {
    sharedspace_how how = sharedspace_defaults();
    sharedspace_result value = sharedspace_no_result();
    interrupted_by_signal = 1;
    how.timeout_ms = SHAREDSPACE_FOREVER;
    how.interrupted = asked_to_end;
    how.context = (void *)&interrupted_by_signal;
    FAILS(sharedspace_get(jobs, "none", &how, &value, &error), "cancelled");
}

static void hold(sharedspace_ns *jobs) {
    sharedspace_result held = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    how.timeout_ms = 5000;
    const char *lock = "deploy";
    if (sharedspace_hold(jobs, SHAREDSPACE_LOCK, &lock, 1, &how, &held, &error) == 1) {
        /* held.number is a fencing number, greater than that of every earlier holder */
        sharedspace_let_go(jobs, held.number, NULL);
    }
    sharedspace_result_free(&held);
}

static void transact(sharedspace_ns *jobs, uint64_t claim) {
    char steps[100];
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_JSON;
    snprintf(steps, sizeof steps, "[[\"complete\", %llu], [\"write\", [\"done\", 42]]]", (unsigned long long)claim);
    int outcome = sharedspace_transact(jobs, sharedspace_text(steps), &how, NULL, &error);
    CHECK(outcome == 1);
}

/* One descriptor for all waits; in a server it is one among those of its sockets. */
static void serve(sharedspace_ns *jobs) {
    enum { JOB = 1, STOP };
    sharedspace_loop *loop;
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_JSON;
    how.timeout_ms = SHAREDSPACE_FOREVER;
    sharedspace_bytes wanted = sharedspace_text("[\"resize\", \"?...\"]");
    const char *cell = "stop";
    sharedspace_result found = sharedspace_no_result();
    uint64_t token = 0;
    int outcome;
    sharedspace_loop_open(&loop, &error);
    sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_TAKE, &wanted, NULL, 1, &how, &error);
    sharedspace_loop_begin(loop, STOP, jobs, SHAREDSPACE_WAIT_CELL, NULL, &cell, 1, &how, &error);
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    while (token != STOP && poll(&ready, 1, -1) > 0) {
        while (sharedspace_loop_next(loop, &token, &outcome, &found, &error) == 1) {
            if (token == STOP || outcome < 0) break;
            printf("%s\n", (char *)found.bytes);
            sharedspace_loop_begin(loop, JOB, jobs, SHAREDSPACE_WAIT_TAKE, &wanted, NULL, 1, &how, &error);
        }
    }
    sharedspace_loop_close(loop);
    sharedspace_result_free(&found);
}

/* Asks, and then removes the responder, which ends its loop. */
static void *ask(void *jobs) {
    sharedspace_result reply = sharedspace_no_result();
    sharedspace_error *failure = NULL;
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    CHECK(sharedspace_request(jobs, "double", sharedspace_text("21"), &how, &reply, &failure) == 1 && is(&reply, "42"));
    how = sharedspace_defaults();
    how.unique = "doubler";
    CHECK(sharedspace_rule(jobs, SHAREDSPACE_RULE_REMOVE, "double", SHAREDSPACE_RESPONDER, &how, NULL, &failure) == 1);
    sharedspace_result_free(&reply);
    return NULL;
}

static void respond(sharedspace_ns *jobs) {
    sharedspace_responder *responder;
    sharedspace_result request = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER), key = sharedspace_defaults();
    char reply[32];
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask, jobs) == 0);
    key.unique = "doubler";
    sharedspace_responder_open(jobs, "double", &key, &responder, &error);
    while (sharedspace_responder_next(responder, &how, &request, &error) == 1) {
        snprintf(reply, sizeof reply, "%d", 2 * atoi((char *)request.bytes));
        sharedspace_responder_reply(responder, request.number, sharedspace_text(reply), &how, &error);
    }
    sharedspace_responder_close(responder);
    CHECK(strcmp(sharedspace_error_code(error), "holdLost") == 0 && pthread_join(thread, NULL) == 0);
    sharedspace_error_free(error);
    sharedspace_result_free(&request);
}

int main(void) {
    sharedspace *space;
    sharedspace_ns *jobs;
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    DONE(sharedspace_ns_open(space, "jobs", NULL, &jobs, &error));
    write_json(jobs, "[\"resize\", 42, \"cat.png\"]");
    write_json(jobs, "[\"resize\", 43, \"dog.png\"]");
    work(jobs);
    use_bytes(jobs);
    look_at_errors(space);
    wait_and_be_interrupted(jobs);
    hold(jobs);
    sharedspace_result job = sharedspace_no_result();
    write_json(jobs, "[\"resize\", 42, \"cat.png\"]");
    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "\"?\"", 0, &job)) == 1);
    transact(jobs, job.number);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "[\"done\", 42]", 0, &job)) == 1);
    write_json(jobs, "[\"resize\", 44]");
    sharedspace_how how = json(0);
    DONE(sharedspace_set(jobs, "stop", sharedspace_text("true"), &how, NULL, &error));
    serve(jobs);
    respond(jobs);
    sharedspace_result_free(&job);
    return 0;
}
