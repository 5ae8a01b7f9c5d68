/* The first lines of the article "C". */
#include <sharedspace.h>
#include <stdio.h>

int main(void) {
    sharedspace *space;
    sharedspace_ns *jobs;
    sharedspace_result found = sharedspace_no_result();
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_JSON;

    if (sharedspace_open(NULL, NULL, &space, NULL) < 0 || sharedspace_ns_open(space, "jobs", NULL, &jobs, NULL) < 0)
        return 1;
    sharedspace_bytes tuple = sharedspace_text("[\"resize\", 42, \"cat.png\"]");
    sharedspace_write(jobs, &tuple, 1, &how, NULL, NULL);
    sharedspace_bytes template_ = sharedspace_text("[\"resize\", \"?int\", \"?string\"]");
    if (sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, &how, &found, NULL) == 1)
        printf("%s\n", (char *)found.bytes);

    sharedspace_result_free(&found);
    sharedspace_ns_close(jobs, NULL);
    sharedspace_close(space);
    return 0;
}
