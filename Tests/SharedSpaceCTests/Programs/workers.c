/* Four processes share the jobs that a fifth writes: each job is done once. */
#include "../Examples/check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, JOBS = 400 };

static void work(void) {
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result job = sharedspace_no_result();
    sharedspace_how how = json(0);
    sharedspace_bytes wanted[] = {sharedspace_text("[\"job\", \"?int\"]"), sharedspace_text("[\"stop\"]")};
    for (;;) {
        how.timeout_ms = SHAREDSPACE_FOREVER;
        CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_CLAIM, wanted, 2, &how, &job, &error)) == 1);
        if (is(&job, "[\"stop\"]")) break;
        int number;
        char steps[128];
        CHECK(sscanf((char *)job.bytes, "[\"job\",%d]", &number) == 1);
        unsigned long long claim = job.number;
        snprintf(steps, sizeof steps, "[[\"complete\", %llu], [\"write\", [\"done\", %d]]]", claim, number);
        how.timeout_ms = 0;
        CHECK(DONE(sharedspace_transact(jobs, sharedspace_text(steps), &how, NULL, &error)) == 1);
    }
    DONE(sharedspace_end(jobs, job.number, SHAREDSPACE_COMPLETE, NULL, &error));
    exit(0);
}

int main(void) {
    /* A space alone holds nothing open: it may be there at the fork. */
    sharedspace *space;
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    for (int i = 0; i < WORKERS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) work();
    }
    sharedspace_ns *jobs;
    DONE(sharedspace_ns_open(space, "jobs", NULL, &jobs, &error));
    char text[64];
    for (int i = 0; i < JOBS; i++) {
        snprintf(text, sizeof text, "[\"job\", %d]", i);
        write_json(jobs, text);
    }
    static int done[JOBS];
    sharedspace_result result = sharedspace_no_result();
    for (int i = 0; i < JOBS; i++) {
        int number;
        CHECK(DONE(find_json(jobs, SHAREDSPACE_TAKE, "[\"done\", \"?int\"]", SHAREDSPACE_FOREVER, &result)) == 1);
        CHECK(sscanf((char *)result.bytes, "[\"done\",%d]", &number) == 1 && number >= 0 && number < JOBS);
        CHECK(done[number]++ == 0);
    }
    for (int i = 0; i < WORKERS; i++) write_json(jobs, "[\"stop\"]");
    int status;
    for (int i = 0; i < WORKERS; i++) CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    sharedspace_bytes any = sharedspace_text("\"?\"");
    sharedspace_how how = json(0);
    CHECK(sharedspace_count(jobs, &any, 1, &how, &error) == 0);
    sharedspace_result_free(&result);
    return 0;
}
