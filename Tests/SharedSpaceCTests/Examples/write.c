/* Writing tuples: one as bytes, several at once as JSON, all or none. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");

    /* ("resize", 42): a string is 02, its bytes and 00; the integer 42 is 15 2a. */
    static const uint8_t resize[] = {0x02, 'r', 'e', 's', 'i', 'z', 'e', 0x00, 0x15, 0x2a};
    sharedspace_bytes tuple = {resize, sizeof resize};
    uint64_t id;
    DONE(sharedspace_write(jobs, &tuple, 1, NULL, &id, &error));
    CHECK(id > 0);

    sharedspace_how how = json(0);
    how.expires_ms = 3600 * 1000;
    sharedspace_bytes several[] = {sharedspace_text("[\"resize\", 43]"), sharedspace_text("{\"kind\": \"resize\"}")};
    uint64_t ids[2];
    DONE(sharedspace_write(jobs, several, 2, &how, ids, &error));
    CHECK(ids[0] > id && ids[1] > ids[0]);

    /* One that is no tuple, and none is written. */
    several[1] = sharedspace_text("resize");
    FAILS(sharedspace_write(jobs, several, 2, &how, NULL, &error), "badData");
    static const uint8_t cut[] = {0x02, 'a'};
    tuple = (sharedspace_bytes){cut, sizeof cut};
    FAILS(sharedspace_write(jobs, &tuple, 1, NULL, NULL, &error), "badData");

    sharedspace_bytes any = sharedspace_text("\"?\"");
    CHECK(sharedspace_count(jobs, &any, 1, &how, &error) == 3);
    return 0;
}
