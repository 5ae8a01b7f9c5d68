/* What is out of sight: claimed and buried tuples. And what goes by itself. */
#include "check.h"

#include <unistd.h>

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result found = sharedspace_no_result();
    sharedspace_bytes template_ = sharedspace_text("[\"job\", \"?int\"]");
    sharedspace_how how = json(0);
    sharedspace_list *list;
    for (int n = 0; n < 4; n++) {
        char text[32];
        snprintf(text, sizeof text, "[\"job\", %d]", n);
        write_json(jobs, text);
    }

    CHECK(DONE(find_json(jobs, SHAREDSPACE_CLAIM, "[\"job\", 0]", 0, &found)) == 1);
    uint64_t claim = found.number;
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_LOOK_CLAIMED, &template_, 1, &how, &list, &error)) == 1);
    CHECK(DONE(sharedspace_list_next(list, &found, &error)) == 1 && is(&found, "[\"job\",0]"));
    CHECK(found.number == claim && found.pid == getpid() && found.time_ms == 0);
    CHECK(DONE(sharedspace_list_next(list, &found, &error)) == 0);
    sharedspace_list_free(list);

    how.max = 2;
    CHECK(sharedspace_bury(jobs, &template_, 1, &how, &error) == 2);
    CHECK(sharedspace_count(jobs, &template_, 1, &how, &error) == 1);
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_LOOK_BURIED, &template_, 1, &how, &list, &error)) == 1);
    CHECK(sharedspace_list_count(list) == 2 && DONE(sharedspace_list_next(list, &found, &error)) == 1);
    sharedspace_list_free(list);
    how.id = found.id;
    CHECK(sharedspace_kick(jobs, NULL, 0, &how, &error) == 1);
    CHECK(sharedspace_kick(jobs, NULL, 0, &how, &error) == 0);
    how = json(0);
    CHECK(sharedspace_kick(jobs, &template_, 1, &how, &error) == 1);
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_LOOK_BURIED, &template_, 1, &how, &list, &error)) == 0);
    FAILS(sharedspace_find(jobs, SHAREDSPACE_LOOK_BURIED, &template_, 1, &how, &found, &error), "invalidArgument");

    /* From now on a tuple that comes back once is buried. */
    DONE(sharedspace_ns_set(jobs, SHAREDSPACE_NS_DELIVERIES, 1, NULL, &error));
    DONE(sharedspace_end(jobs, claim, SHAREDSPACE_RELEASE, NULL, &error));
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"job\", 0]", 0, &found)) == 0);

    /* A tuple and a cell that go by themselves, unless that is changed. */
    int64_t left;
    sharedspace_how expiring = sharedspace_defaults();
    expiring.expires_ms = 3600 * 1000;
    uint64_t id = write_json(jobs, "[\"note\"]");
    CHECK(DONE(sharedspace_ttl(jobs, NULL, id, &left, &error)) == 1 && left == SHAREDSPACE_FOREVER);
    CHECK(DONE(sharedspace_expire(jobs, NULL, id, &expiring, &error)) == 1);
    CHECK(DONE(sharedspace_ttl(jobs, NULL, id, &left, &error)) == 1 && left > 3500 * 1000 && left <= 3600 * 1000);
    CHECK(DONE(sharedspace_expire(jobs, "lease", 0, &expiring, &error)) == 0);
    DONE(sharedspace_set(jobs, "lease", sharedspace_text("1"), &how, NULL, &error));
    CHECK(DONE(sharedspace_expire(jobs, "lease", 0, &expiring, &error)) == 1);
    CHECK(DONE(sharedspace_ttl(jobs, "lease", 0, &left, &error)) == 1 && left > 0);
    CHECK(DONE(sharedspace_expire(jobs, "lease", 0, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_ttl(jobs, "lease", 0, &left, &error)) == 1 && left == SHAREDSPACE_FOREVER);
    CHECK(DONE(sharedspace_ttl(jobs, NULL, 1u << 30, &left, &error)) == 0);

    /* A tuple that a program computes. */
    const char *echo[] = {"echo", "[\"rendered\", 42]"}, *fails[] = {"false"}, *slow[] = {"sleep", "60"};
    CHECK(DONE(sharedspace_evaluate(jobs, echo, 2, NULL, &id, &error)) == 1);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "[\"rendered\", \"?int\"]", 0, &found)) == 1 && found.id == id);
    FAILS(sharedspace_evaluate(jobs, fails, 1, NULL, NULL, &error), "evaluationFailed");
    how = sharedspace_defaults();
    how.timeout_ms = 10;
    CHECK(DONE(sharedspace_evaluate(jobs, slow, 2, &how, NULL, &error)) == 0);
    sharedspace_result_free(&found);
    return 0;
}
