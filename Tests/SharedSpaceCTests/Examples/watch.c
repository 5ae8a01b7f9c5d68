/* Watching: every change, in order; a subscription goes on where it stopped. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result change = sharedspace_no_result();
    sharedspace_result point = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_watch *watch;
    write_json(jobs, "[\"before\"]");
    DONE(sharedspace_watch_open(jobs, (sharedspace_bytes){NULL, 0}, NULL, NULL, &watch, &error));
    uint64_t id = write_json(jobs, "[\"after\", 1]");
    DONE(sharedspace_post(jobs, "note", sharedspace_text("{\"a\": 1}"), &how, &error));

    CHECK(DONE(sharedspace_watch_next(watch, &how, &change, &error)) == 1);
    CHECK(change.kind == SHAREDSPACE_CHANGE_WRITE && change.id == id && change.pid > 0 && change.time_ms > 0);
    CHECK(strstr((char *)change.bytes, "\"event\":\"write\"") && strstr((char *)change.bytes, "[\"after\",1]"));
    DONE(sharedspace_watch_point(watch, &point, &error));

    /* As bytes a change is a record. */
    CHECK(DONE(sharedspace_watch_next(watch, NULL, &change, &error)) == 1);
    CHECK(change.kind == SHAREDSPACE_CHANGE_POST && change.flags == SHAREDSPACE_RECORD && change.bytes[0] == 0x40);
    CHECK(DONE(sharedspace_watch_next(watch, NULL, &change, &error)) == 0);

    /* Another one goes on where the first was after its first change. Changes are kept while somebody watches. */
    sharedspace_watch *another;
    sharedspace_bytes posts = sharedspace_text("{\"posts\": \"n*\"}");
    DONE(sharedspace_watch_open(jobs, posts, (char *)point.bytes, NULL, &another, &error));
    CHECK(DONE(sharedspace_watch_next(another, &how, &change, &error)) == 1 && change.kind == SHAREDSPACE_CHANGE_POST);
    sharedspace_watch_close(another);
    sharedspace_watch_close(watch);

    /* What is there comes first. */
    sharedspace_bytes tuples = sharedspace_text("{\"tuples\": \"?\", \"events\": [\"write\"]}");
    DONE(sharedspace_watch_open(jobs, tuples, "initial", NULL, &watch, &error));
    CHECK(DONE(sharedspace_watch_next(watch, &how, &change, &error)) == 1);
    CHECK(strstr((char *)change.bytes, "[\"before\"]") && strstr((char *)change.bytes, "\"present\":true"));
    sharedspace_watch_close(watch);

    /* A subscription. */
    sharedspace_how named = sharedspace_defaults();
    named.subscription = "audit";
    DONE(sharedspace_watch_open(jobs, tuples, NULL, &named, &watch, &error));
    for (int i = 0; i < 2; i++) write_json(jobs, "[\"told\"]");
    DONE(sharedspace_watch_next(watch, &how, &change, &error));
    DONE(sharedspace_watch_acknowledge(watch, change.sequence, &error));
    uint64_t told = change.sequence;
    DONE(sharedspace_watch_next(watch, &how, &change, &error));
    sharedspace_watch_close(watch);
    DONE(sharedspace_watch_open(jobs, tuples, NULL, &named, &watch, &error));
    CHECK(DONE(sharedspace_watch_next(watch, &how, &change, &error)) == 1 && change.sequence == told + 1);

    CHECK(DONE(sharedspace_unsubscribe(jobs, "audit", &error)) == 1);
    CHECK(DONE(sharedspace_unsubscribe(jobs, "audit", &error)) == 0);
    FAILS(sharedspace_watch_next(watch, &how, &change, &error), "subscriptionEnded");
    sharedspace_watch_close(watch);
    DONE(sharedspace_watch_open(jobs, tuples, NULL, NULL, &watch, &error));

    /* The namespace's end is the last change. */
    sharedspace *space;
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    CHECK(DONE(sharedspace_delete(space, "jobs", &error)) == 1 && DONE(sharedspace_delete(space, "jobs", &error)) == 0);
    while (DONE(sharedspace_watch_next(watch, &how, &change, &error)) == 1 && change.kind != SHAREDSPACE_CHANGE_GONE) {}
    FAILS(sharedspace_watch_next(watch, &how, &change, &error), "namespaceDeleted");
    sharedspace_watch_close(watch);

    FAILS(sharedspace_watch_open(jobs, sharedspace_text("{\"tuple\": []}"), NULL, NULL, &watch, &error), "badData");
    CHECK(watch == NULL);
    sharedspace_result_free(&change);
    sharedspace_result_free(&point);
    return 0;
}
