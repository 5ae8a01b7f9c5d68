/* Does jobs until it is killed: each is completed, noted and counted in one step. */
#include <sharedspace.h>
#include <stdio.h>

static sharedspace_error *error;

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sharedspace_error_message(error));
    return 1;
}

int main(void) {
    sharedspace *space;
    sharedspace_ns *jobs;
    sharedspace_result job = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    sharedspace_bytes wanted = sharedspace_text("[\"job\", \"?int\"]");
    how.flags = SHAREDSPACE_JSON;
    if (sharedspace_open(NULL, NULL, &space, &error) < 0 || sharedspace_ns_open(space, "jobs", NULL, &jobs, &error) < 0)
        return failed("open");
    for (;;) {
        char steps[256];
        long long number;
        how.timeout_ms = SHAREDSPACE_FOREVER;
        if (sharedspace_find(jobs, SHAREDSPACE_CLAIM, &wanted, 1, &how, &job, &error) < 0) return failed("claim");
        if (sscanf((char *)job.bytes, "[\"job\",%lld]", &number) != 1) return 1;
        snprintf(
            steps, sizeof steps, "[[\"complete\", %llu], [\"write\", [\"done\", %lld, \"c\"]], [\"incr\", \"count\"]]",
            (unsigned long long)job.number, number);
        how.timeout_ms = 0;
        if (sharedspace_transact(jobs, sharedspace_text(steps), &how, NULL, &error) < 0) return failed("complete");
    }
}
