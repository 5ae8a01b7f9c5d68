/* All tuples of one moment; counted, taken and claimed together. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result one = sharedspace_no_result();
    sharedspace_list *list;
    for (int i = 0; i < 5; i++) write_json(jobs, i % 2 == 0 ? "[\"even\", 1]" : "[\"odd\", 1]");
    sharedspace_bytes even = sharedspace_text("[\"even\", \"?int\"]");
    sharedspace_how how = json(0);
    CHECK(sharedspace_count(jobs, &even, 1, &how, &error) == 3);

    how.max = 2;
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_READ, &even, 1, &how, &list, &error)) == 1);
    CHECK(sharedspace_list_count(list) == 2);
    CHECK(DONE(sharedspace_list_next(list, &one, &error)) == 1 && is(&one, "[\"even\",1]"));
    CHECK(DONE(sharedspace_list_next(list, &one, &error)) == 1);
    CHECK(DONE(sharedspace_list_next(list, &one, &error)) == 0);
    sharedspace_list_free(list);

    how.max = 0;
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_CLAIM, &even, 1, &how, &list, &error)) == 1);
    CHECK(sharedspace_count(jobs, &even, 1, &how, &error) == 0);
    while (DONE(sharedspace_list_next(list, &one, &error)) == 1)
        CHECK(DONE(sharedspace_end(jobs, one.number, SHAREDSPACE_RELEASE, NULL, &error)) == 1);
    sharedspace_list_free(list);

    sharedspace_bytes any = sharedspace_text("\"?\"");
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_TAKE, &any, 1, &how, &list, &error)) == 1);
    CHECK(sharedspace_list_count(list) == 5);
    sharedspace_list_free(list);
    CHECK(DONE(sharedspace_find_all(jobs, SHAREDSPACE_TAKE, &any, 1, &how, &list, &error)) == 0 && list == NULL);
    sharedspace_result_free(&one);
    return 0;
}
