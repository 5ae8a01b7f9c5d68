/* An ordered set: elements in an order that is given, each once. */
#include "check.h"

static sharedspace_ns *party;
static int64_t number;

static int edit(int verb, int64_t index, const char *first, const char *second) {
    sharedspace_bytes values[] = {sharedspace_text(first), sharedspace_text(second)};
    sharedspace_how how = json(0);
    size_t count = first == NULL ? 0 : second == NULL ? 1 : 2;
    number = -1;
    return DONE(sharedspace_ordered(party, "songs", verb, index, values, count, &how, &number, &error));
}

/* Whether the set has these elements, in JSON form with a space behind each. */
static int has(const char *expected) {
    sharedspace_list *list;
    sharedspace_result element = sharedspace_no_result();
    sharedspace_how how = json(0);
    char text[256] = "";
    if (DONE(sharedspace_elements(party, "songs", 0, &how, &list, &error)) == 1) {
        while (DONE(sharedspace_list_next(list, &element, &error)) == 1) {
            strcat(text, (char *)element.bytes);
            strcat(text, " ");
        }
        sharedspace_list_free(list);
    }
    sharedspace_result_free(&element);
    return strcmp(text, expected) == 0;
}

int main(void) {
    party = open_namespace("party");
    CHECK(edit(SHAREDSPACE_SORT, 0, NULL, NULL) == 0 && has(""));
    CHECK(edit(SHAREDSPACE_APPEND, 0, "\"Blue\"", "\"Green\"") == 1 && number == 2);
    CHECK(edit(SHAREDSPACE_APPEND, 0, "\"Blue\"", NULL) == 0);
    CHECK(edit(SHAREDSPACE_INSERT, 0, "\"Red\"", NULL) == 1 && has("\"Red\" \"Blue\" \"Green\" "));
    CHECK(edit(SHAREDSPACE_MOVE, 0, "\"Green\"", NULL) == 1 && has("\"Green\" \"Red\" \"Blue\" "));
    CHECK(edit(SHAREDSPACE_EXCHANGE, 0, "\"Red\"", "\"Pink\"") == 1);
    CHECK(edit(SHAREDSPACE_INDEX, 0, "\"Pink\"", NULL) == 1 && number == 1);
    CHECK(edit(SHAREDSPACE_INDEX, 0, "\"Red\"", NULL) == 0);
    CHECK(edit(SHAREDSPACE_SORT, 0, NULL, NULL) == 1 && has("\"Blue\" \"Green\" \"Pink\" "));
    CHECK(edit(SHAREDSPACE_WITHOUT, 0, "\"Pink\"", "\"Red\"") == 1 && number == 1);

    sharedspace_how how = json(0);
    sharedspace_bytes seven = sharedspace_text("7"), song = sharedspace_text("\"Grey\"");
    FAILS(sharedspace_ordered(party, "songs", SHAREDSPACE_APPEND, 0, &seven, 1, &how, NULL, &error), "badData");
    FAILS(sharedspace_ordered(party, "songs", SHAREDSPACE_INSERT, 9, &song, 1, &how, NULL, &error), "invalidArgument");
    FAILS(sharedspace_ordered(party, "songs", SHAREDSPACE_MOVE, 0, NULL, 0, &how, NULL, &error), "invalidArgument");
    sharedspace_list *list;
    how.max = 1;
    CHECK(DONE(sharedspace_elements(party, "songs", 1, &how, &list, &error)) == 1 && sharedspace_list_count(list) == 1);
    sharedspace_list_free(list);
    CHECK(DONE(sharedspace_rule(party, SHAREDSPACE_RULE_REMOVE, "songs", SHAREDSPACE_ORDERED, NULL, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_elements(party, "songs", 0, &how, &list, &error)) == 0);
    return 0;
}
