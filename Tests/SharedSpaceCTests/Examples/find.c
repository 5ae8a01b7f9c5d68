/* Finding tuples: read, take, any of several templates, records, templates in bytes. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result found = sharedspace_no_result();
    write_json(jobs, "[\"resize\", 42, \"cat.png\"]");
    uint64_t second = write_json(jobs, "[\"scale\", 2.5]");
    write_json(jobs, "{\"kind\": \"resize\", \"id\": 7}");

    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"resize\", \"?int\", \"?\"]", 0, &found)) == 1);
    CHECK(is(&found, "[\"resize\",42,\"cat.png\"]"));
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, "[\"rotate\", \"?\"]", 0, &found)) == 0 && found.count == 0);

    /* Any of several templates: the oldest tuple that one of them matches, or the newest. */
    sharedspace_bytes either[] = {sharedspace_text("[\"scale\", \"?\"]"), sharedspace_text("[\"resize\", \"?...\"]")};
    sharedspace_how how = json(0);
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_READ, either, 2, &how, &found, &error)) == 1);
    CHECK(is(&found, "[\"resize\",42,\"cat.png\"]"));
    how.flags |= SHAREDSPACE_NEWEST;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, either, 2, &how, &found, &error)) == 1);
    CHECK(is(&found, "[\"scale\",2.5]") && found.id == second);

    /* A template of names matches records with other names too, unless it says that it doesn't. */
    sharedspace_bytes names = sharedspace_text("{\"kind\": \"resize\"}");
    how.flags = SHAREDSPACE_JSON | SHAREDSPACE_EXACT;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &names, 1, &how, &found, &error)) == 0);
    how.flags = SHAREDSPACE_JSON;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &names, 1, &how, &found, &error)) == 1);
    CHECK(is(&found, "{\"id\":7,\"kind\":\"resize\"}"));

    /* In bytes: "resize", an integer from 40 up to 50, anything. */
    static const uint8_t bytes[] = {0x02, 'r', 'e', 's', 'i', 'z', 'e', 0x00,       /* the string */
                                    0x42, 0x15, 40, 0x15, 50, 0x26, /* 40..<50 */
                                    0x41, 0x00};                    /* anything */
    sharedspace_bytes template_ = {bytes, sizeof bytes};
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, NULL, &found, &error)) == 1);
    static const uint8_t whole[] = {0x02, 'r', 'e', 's', 'i', 'z', 'e', 0, 0x15, 42, 0x02, 'c', 'a', 't', '.', 'p', 'n', 'g', 0};
    CHECK(found.count == sizeof whole && memcmp(found.bytes, whole, sizeof whole) == 0 && found.flags == 0);

    /* A record in bytes is one object: {"id": 7}. */
    static const uint8_t record[] = {0x40, 0x02, 'i', 'd', 0x00, 0x15, 7, 0x00};
    static const uint8_t of_integers[] = {0x40, 0x02, 'i', 'd', 0x00, 0x41, 0x14, 0x00};
    sharedspace_bytes tuple = {record, sizeof record};
    how = sharedspace_defaults();
    how.flags = SHAREDSPACE_RECORD;
    DONE(sharedspace_write(jobs, &tuple, 1, &how, NULL, &error));
    template_ = (sharedspace_bytes){of_integers, sizeof of_integers};
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_READ, &template_, 1, &how, &found, &error)) == 1);
    CHECK(found.count == sizeof record && found.flags == SHAREDSPACE_RECORD);
    how.flags = 0;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, &how, &found, &error)) == 0);
    how.flags = SHAREDSPACE_RECORD;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, &how, &found, &error)) == 1);

    /* A program may use the memory of a template again: each call reads it. */
    char again[] = "[\"again\", 1]";
    write_json(jobs, again);
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, again, 0, &found)) == 1);
    again[10] = '2';
    CHECK(DONE(find_json(jobs, SHAREDSPACE_READ, again, 0, &found)) == 0);
    again[10] = '1';
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, again, 0, &found)) == 1 && is(&found, "[\"again\",1]"));

    /* What is no template takes nothing. */
    static const uint8_t no_type[] = {0x41, 0x77};
    template_ = (sharedspace_bytes){no_type, sizeof no_type};
    FAILS(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, NULL, &found, &error), "badData");
    FAILS(sharedspace_find(jobs, SHAREDSPACE_TAKE, NULL, 0, NULL, &found, &error), "invalidArgument");
    FAILS(sharedspace_find(jobs, 77, &names, 1, NULL, &found, &error), "invalidArgument");

    /* A wait that ends because the time has passed. */
    CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "\"?\"", 20, &found)) == 0);
    sharedspace_result_free(&found);
    DONE(sharedspace_ns_close(jobs, &error));
    return 0;
}
