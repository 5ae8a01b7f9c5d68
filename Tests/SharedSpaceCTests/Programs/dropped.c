/* A claim, an item, a lock and a responder that are dropped, perhaps while a stopped process is in the way: says what it has
 * done, and waits for a line before it goes on. */
#include "../Examples/check.h"

#include <unistd.h>

static void tell(const char *line) {
    char answer[16];
    printf("%s\n", line);
    fflush(stdout);
    /* At the end of the input nobody has to be waited for. */
    while (read(0, answer, 1) == 1 && answer[0] != '\n') continue;
}

int main(void) {
    alarm(120);
    sharedspace *space;
    sharedspace_ns *ns;
    sharedspace_how how = sharedspace_defaults();
    how.timeout_ms = 100;
    DONE(sharedspace_open(NULL, &how, &space, &error));
    DONE(sharedspace_ns_open(space, "n", NULL, &ns, &error));
    how = json(0);
    sharedspace_result claim = sharedspace_no_result(), item = sharedspace_no_result(), hold = sharedspace_no_result();
    sharedspace_bytes job = sharedspace_text("[\"job\", 1]");
    const char *lock = "lock";
    sharedspace_responder *responder;
    write_json(ns, "[\"job\", 1]");
    DONE(sharedspace_put(ns, "queue", &job, 1, &how, NULL, &error));
    CHECK(DONE(sharedspace_find(ns, SHAREDSPACE_CLAIM, &job, 1, &how, &claim, &error)) == 1);
    CHECK(DONE(sharedspace_item(ns, "queue", &how, &item, &error)) == 1);
    CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &lock, 1, &how, &hold, &error)) == 1);
    DONE(sharedspace_responder_open(ns, "function", NULL, &responder, &error));
    tell("obtained");
    DONE(sharedspace_end(ns, claim.number, SHAREDSPACE_DROP, NULL, &error));
    DONE(sharedspace_end(ns, item.number, SHAREDSPACE_DROP, NULL, &error));
    DONE(sharedspace_end(ns, hold.number, SHAREDSPACE_DROP, NULL, &error));
    sharedspace_responder_close(responder);
    CHECK(DONE(sharedspace_holds(ns, hold.number, &error)) == 0);
    tell("dropped");
    sharedspace_result_free(&claim);
    sharedspace_result_free(&item);
    sharedspace_result_free(&hold);
    DONE(sharedspace_ns_close(ns, &error));
    sharedspace_close(space);
    return 0;
}
