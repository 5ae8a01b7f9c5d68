/* A queue of work: priorities, unique keys, delays, what fails. */
#include "check.h"

int main(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result item = sharedspace_no_result();
    sharedspace_how how = json(0);
    sharedspace_bytes mails[] = {sharedspace_text("\"ada\""), sharedspace_text("\"bob\"")};
    uint64_t numbers[2];
    CHECK(DONE(sharedspace_put(jobs, "mail", mails, 2, &how, numbers, &error)) == 1 && numbers[1] > numbers[0]);

    sharedspace_bytes report = sharedspace_text("{\"report\": \"today\"}");
    how.priority = 5;
    how.unique = "report";
    uint64_t number, present;
    CHECK(DONE(sharedspace_put(jobs, "mail", &report, 1, &how, &number, &error)) == 1);
    CHECK(DONE(sharedspace_put(jobs, "mail", &report, 1, &how, &present, &error)) == 0 && present == number);

    how = json(SHAREDSPACE_FOREVER);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1);
    CHECK(is(&item, "{\"report\":\"today\"}") && item.id == number && item.deliveries == 0);
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_COMPLETE, NULL, &error));
    FAILS(sharedspace_end(jobs, item.number, SHAREDSPACE_COMPLETE, NULL, &error), "claimLost");

    /* One that fails comes later, and has been delivered once. */
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1 && is(&item, "\"ada\""));
    sharedspace_how later = sharedspace_defaults();
    later.delay_ms = 3600 * 1000;
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_RELEASE, &later, &error));
    sharedspace_list *items;
    CHECK(DONE(sharedspace_items(jobs, "mail", SHAREDSPACE_ITEM_DELAYED, &how, &items, &error)) == 1);
    CHECK(DONE(sharedspace_list_next(items, &item, &error)) == 1);
    CHECK(is(&item, "\"ada\"") && item.deliveries == 1 && item.kind == SHAREDSPACE_ITEM_DELAYED);
    sharedspace_list_free(items);

    /* One that fails for good is buried. */
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1 && is(&item, "\"bob\""));
    later = sharedspace_defaults();
    later.deadline_ms = 60 * 1000;
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_EXTEND, &later, &error));
    later.reason = "no such address";
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_BURY, &later, &error));
    how.timeout_ms = 0;
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 0);
    CHECK(DONE(sharedspace_items(jobs, "mail", SHAREDSPACE_ITEM_BURIED, &how, &items, &error)) == 1);
    sharedspace_list_free(items);

    /* An item that its worker has not begun goes back as if it had never been taken. */
    how = json(0);
    DONE(sharedspace_put(jobs, "urgent", &report, 1, &how, &number, &error));
    CHECK(DONE(sharedspace_item(jobs, "urgent", &how, &item, &error)) == 1);
    later = sharedspace_defaults();
    later.flags = SHAREDSPACE_KEEP;
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_COMPLETE, &later, &error));
    how.id = number;
    CHECK(DONE(sharedspace_item(jobs, "urgent", &how, &item, &error)) == 1 && item.deliveries == 0);
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_COMPLETE, NULL, &error));
    CHECK(DONE(sharedspace_item(jobs, "urgent", &how, &item, &error)) == 0);

    /* A queue that takes one item. */
    how = json(0);
    how.bound = 1;
    DONE(sharedspace_put(jobs, "small", &report, 1, &how, NULL, &error));
    FAILS(sharedspace_put(jobs, "small", &report, 1, &how, NULL, &error), "limitReached");
    how.timeout_ms = 10;
    CHECK(DONE(sharedspace_put(jobs, "small", &report, 1, &how, &number, &error)) == 0 && number == 0);
    sharedspace_result_free(&item);
    return 0;
}
