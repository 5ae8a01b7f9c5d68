/* Cells: values with names. */
#include "check.h"

int main(void) {
    sharedspace_ns *app = open_namespace("app");
    sharedspace_result value = sharedspace_no_result();
    sharedspace_how how = json(0);
    CHECK(DONE(sharedspace_get(app, "progress", &how, &value, &error)) == 0);
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("0.5"), &how, &value, &error)) == 1);
    CHECK(value.count == 0); /* it was not set before */
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("0.75"), &how, &value, &error)) == 1);
    CHECK(is(&value, "0.5"));
    how.timeout_ms = SHAREDSPACE_FOREVER;
    CHECK(DONE(sharedspace_get(app, "progress", &how, &value, &error)) == 1 && is(&value, "0.75"));

    /* In bytes: the string "red". */
    static const uint8_t red[] = {0x02, 'r', 'e', 'd', 0x00};
    sharedspace_bytes colour = {red, sizeof red};
    DONE(sharedspace_set(app, "colour", colour, NULL, NULL, &error));
    CHECK(DONE(sharedspace_get(app, "colour", NULL, &value, &error)) == 1);
    CHECK(value.count == sizeof red && memcmp(value.bytes, red, sizeof red) == 0);

    /* Only if it is not set, and only if it has a value. */
    how = json(0);
    how.flags |= SHAREDSPACE_IF_ABSENT;
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("1"), &how, NULL, &error)) == 0);
    how.flags = SHAREDSPACE_JSON | SHAREDSPACE_IF_EQUAL;
    how.value = sharedspace_text("0.5");
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("1"), &how, NULL, &error)) == 0);
    how.value = sharedspace_text("0.75");
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("1"), &how, NULL, &error)) == 1);
    how.flags |= SHAREDSPACE_IF_ABSENT;
    FAILS(sharedspace_set(app, "progress", sharedspace_text("1"), &how, NULL, &error), "invalidArgument");

    /* Only if nobody has set it since it was looked at. */
    how = json(0);
    CHECK(DONE(sharedspace_get(app, "progress", &how, &value, &error)) == 1 && value.number > 0);
    how.flags |= SHAREDSPACE_IF_VERSION;
    how.version = value.number;
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("2"), &how, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_set(app, "progress", sharedspace_text("3"), &how, NULL, &error)) == 0);
    how.version = 0;
    CHECK(DONE(sharedspace_set(app, "new", sharedspace_text("1"), &how, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_unset(app, "new", NULL, NULL, &error)) == 1);

    int64_t sum;
    DONE(sharedspace_add(app, "done", 40, &sum, &error));
    DONE(sharedspace_add(app, "done", 2, &sum, &error));
    CHECK(sum == 42);
    FAILS(sharedspace_add(app, "colour", 1, NULL, &error), "badData");

    sharedspace_list *cells;
    how = json(0);
    CHECK(DONE(sharedspace_cells(app, "*o*r*", &how, &cells, &error)) == 1);
    CHECK(sharedspace_list_count(cells) == 2);
    DONE(sharedspace_list_next(cells, &value, &error));
    CHECK(is(&value, "[\"colour\",\"red\"]"));
    sharedspace_list_free(cells);

    CHECK(DONE(sharedspace_unset(app, "done", &how, &value, &error)) == 1 && is(&value, "42"));
    CHECK(DONE(sharedspace_unset(app, "done", &how, NULL, &error)) == 0);
    sharedspace_result_free(&value);
    return 0;
}
