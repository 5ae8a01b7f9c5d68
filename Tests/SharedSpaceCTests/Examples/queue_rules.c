/* Ruling a queue, and items that others have. */
#include "check.h"

static sharedspace_ns *jobs;
static int64_t number;

static int rule(int verb, uint64_t item, const sharedspace_how *how) {
    number = -1;
    return DONE(sharedspace_rule(jobs, verb, "mail", item, how, &number, &error));
}

/* How many items have a state. */
static int64_t count(int state) {
    CHECK(rule(SHAREDSPACE_RULE_ITEMS, (uint64_t)state, NULL) == 1);
    return number;
}

int main(void) {
    jobs = open_namespace("jobs");
    sharedspace_result item = sharedspace_no_result();
    sharedspace_how how = json(0), options = sharedspace_defaults();
    sharedspace_bytes mails[] = {sharedspace_text("1"), sharedspace_text("2"), sharedspace_text("3")};
    uint64_t numbers[3], other;
    CHECK(count(SHAREDSPACE_ITEM_ANY) == 0);
    DONE(sharedspace_put(jobs, "mail", mails, 3, &how, numbers, &error));
    CHECK(count(SHAREDSPACE_ITEM_READY) == 3);

    /* While it is paused, workers get nothing. */
    CHECK(rule(SHAREDSPACE_RULE_PAUSE, 0, NULL) == 1);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 0);
    CHECK(rule(SHAREDSPACE_RULE_RESUME, 0, NULL) == 1);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1 && is(&item, "1"));

    /* A worker has more time, or its item is cancelled. */
    options.deadline_ms = 60 * 1000;
    CHECK(rule(SHAREDSPACE_RULE_EXTEND, numbers[0], &options) == 1);
    CHECK(rule(SHAREDSPACE_RULE_EXTEND, numbers[1], &options) == 0);
    CHECK(rule(SHAREDSPACE_RULE_DROP, numbers[0], NULL) == 0); /* a worker has it */
    CHECK(rule(SHAREDSPACE_RULE_CANCEL, numbers[0], NULL) == 1 && number == SHAREDSPACE_ITEM_TAKEN);
    FAILS(sharedspace_end(jobs, item.number, SHAREDSPACE_COMPLETE, NULL, &error), "holdLost");
    CHECK(rule(SHAREDSPACE_RULE_DROP, numbers[1], NULL) == 1);

    /* What was buried comes back under a new number. */
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1 && is(&item, "3"));
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_BURY, NULL, &error));
    CHECK(rule(SHAREDSPACE_RULE_KICK, numbers[2], NULL) == 1 && number > (int64_t)numbers[2]);
    CHECK(rule(SHAREDSPACE_RULE_KICK, 0, NULL) == 1 && number == 0);

    /* After one delivery an item is buried, and two are the most. */
    options = sharedspace_defaults();
    options.deliveries = 1;
    options.bound = 2;
    CHECK(rule(SHAREDSPACE_RULE_QUEUE, 0, &options) == 1);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1);
    DONE(sharedspace_end(jobs, item.number, SHAREDSPACE_RELEASE, NULL, &error));
    CHECK(count(SHAREDSPACE_ITEM_BURIED) == 1);
    FAILS(sharedspace_put(jobs, "mail", mails, 3, &how, NULL, &error), "limitReached");
    options.bound = SHAREDSPACE_FOREVER;
    CHECK(rule(SHAREDSPACE_RULE_QUEUE, 0, &options) == 1);
    DONE(sharedspace_put(jobs, "mail", mails, 3, &how, NULL, &error));

    /* One with a key replaces that which waits, and comes behind that which is worked on. */
    CHECK(rule(SHAREDSPACE_RULE_DRAIN, 0, NULL) == 1 && number == 3);
    how.unique = "report";
    DONE(sharedspace_put(jobs, "mail", &mails[0], 1, &how, numbers, &error));
    how.flags |= SHAREDSPACE_REPLACE;
    CHECK(DONE(sharedspace_put(jobs, "mail", &mails[1], 1, &how, &other, &error)) == 1 && other == numbers[0]);
    how = json(0);
    CHECK(DONE(sharedspace_item(jobs, "mail", &how, &item, &error)) == 1 && is(&item, "2"));
    how.unique = "report";
    how.flags |= SHAREDSPACE_AGAIN;
    CHECK(DONE(sharedspace_put(jobs, "mail", &mails[2], 1, &how, &other, &error)) == 1 && other > numbers[0]);

    /* It is not removed while a worker has an item, unless it must. */
    FAILS(
        sharedspace_rule(jobs, SHAREDSPACE_RULE_REMOVE, "mail", SHAREDSPACE_QUEUE, NULL, NULL, &error),
        "invalidArgument");
    options = sharedspace_defaults();
    options.flags = SHAREDSPACE_FORCE;
    CHECK(rule(SHAREDSPACE_RULE_REMOVE, SHAREDSPACE_QUEUE, &options) == 1 && number > 0);
    CHECK(rule(SHAREDSPACE_RULE_REMOVE, SHAREDSPACE_QUEUE, NULL) == 0);
    FAILS(sharedspace_rule(jobs, 77, "mail", 0, NULL, NULL, &error), "invalidArgument");
    sharedspace_result_free(&item);
    return 0;
}
