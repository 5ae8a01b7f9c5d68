/* Several changes in one transaction: all or nothing. */
#include "check.h"

int main(void) {
    sharedspace_ns *bank = open_namespace("bank");
    sharedspace_result results = sharedspace_no_result();
    sharedspace_how how = json(0);
    write_json(bank, "[\"balance\", \"ada\", 10]");
    write_json(bank, "[\"balance\", \"bob\", 1]");
    sharedspace_bytes steps = sharedspace_text(
        "[[\"take\", [\"balance\", \"ada\", 10]], [\"write\", [\"balance\", \"ada\", 7]],"
        " [\"take\", [\"balance\", \"bob\", \"?int\"]], [\"write\", [\"balance\", \"bob\", 4]], [\"incr\", \"transfers\"]]");
    CHECK(DONE(sharedspace_transact(bank, steps, &how, &results, &error)) == 1);
    CHECK(is(&results, "[[\"balance\",\"ada\",10],3,[\"balance\",\"bob\",1],4,1]"));

    /* The balance is another one now, so nothing is done. */
    CHECK(DONE(sharedspace_transact(bank, steps, &how, &results, &error)) == 0);
    CHECK(strstr((char *)results.bytes, "step 1: no tuple matches") != NULL);
    steps = sharedspace_text("[[\"incr\", \"transfers\"], [\"fly\"]]");
    FAILS(sharedspace_transact(bank, steps, &how, &results, &error), "badData");

    /* A claim is completed together with its result. */
    write_json(bank, "[\"job\", 7]");
    sharedspace_result job = sharedspace_no_result();
    CHECK(DONE(find_json(bank, SHAREDSPACE_CLAIM, "[\"job\", \"?int\"]", 0, &job)) == 1);
    char text[128];
    snprintf(text, sizeof text, "[[\"complete\", %llu], [\"write\", [\"done\", 7]]]", (unsigned long long)job.number);
    CHECK(DONE(sharedspace_transact(bank, sharedspace_text(text), &how, &results, &error)) == 1);
    FAILS(sharedspace_end(bank, job.number, SHAREDSPACE_COMPLETE, NULL, &error), "claimLost");

    /* In bytes: the one step ["count"], whose result is one integer, 3. */
    static const uint8_t count[] = {0x05, 0x02, 'c', 'o', 'u', 'n', 't', 0x00, 0x00};
    steps = (sharedspace_bytes){count, sizeof count};
    CHECK(DONE(sharedspace_transact(bank, steps, NULL, &results, &error)) == 1);
    CHECK(results.count == 2 && results.bytes[0] == 0x15 && results.bytes[1] == 3);
    sharedspace_result_free(&job);
    sharedspace_result_free(&results);
    return 0;
}
