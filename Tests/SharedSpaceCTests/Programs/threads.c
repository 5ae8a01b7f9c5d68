/* Threads: one waits while another closes the handle; many use one handle while it is closed. */
#include "../Examples/check.h"

#include <pthread.h>
#include <unistd.h>

static sharedspace_ns *jobs;

static void *wait_for_tuple(void *unused) {
    sharedspace_error *failure = NULL;
    sharedspace_result found = sharedspace_no_result();
    sharedspace_bytes template_ = sharedspace_text("[\"never\"]");
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    CHECK(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, &how, &found, &failure) == -1);
    CHECK(strcmp(sharedspace_error_code(failure), "closed") == 0);
    sharedspace_error_free(failure);
    sharedspace_result_free(&found);
    return unused;
}

static void *work(void *unused) {
    sharedspace_error *failure = NULL;
    sharedspace_result found = sharedspace_no_result();
    sharedspace_bytes text = sharedspace_text("[\"job\"]");
    sharedspace_how how = json(0);
    while (sharedspace_write(jobs, &text, 1, &how, NULL, &failure) == 1
           && sharedspace_find(jobs, SHAREDSPACE_CLAIM, &text, 1, &how, &found, &failure) >= 0
           && (found.number == 0 || sharedspace_end(jobs, found.number, SHAREDSPACE_COMPLETE, NULL, &failure) >= 0)) {}
    /* Closing releases what was claimed, perhaps just before this thread ends it. */
    const char *code = sharedspace_error_code(failure);
    CHECK(strcmp(code, "closed") == 0 || strcmp(code, "claimLost") == 0);
    sharedspace_error_free(failure);
    sharedspace_result_free(&found);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    sharedspace_result text = sharedspace_no_result();
    jobs = open_namespace("jobs");
    CHECK(pthread_create(&threads[0], NULL, wait_for_tuple, NULL) == 0);
    do {
        DONE(sharedspace_ns_show(jobs, &text, &error));
    } while (strstr((char *)text.bytes, "\"never\"") == NULL);
    DONE(sharedspace_ns_close(jobs, &error));
    CHECK(pthread_join(threads[0], NULL) == 0);

    for (int round = 0; round < 20; round++) {
        jobs = open_namespace("jobs");
        for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
        for (int i = 0; i < 50; i++) write_json(jobs, "[\"other\"]");
        DONE(sharedspace_ns_close(jobs, &error));
        for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    }
    sharedspace_result_free(&text);
    return 0;
}
