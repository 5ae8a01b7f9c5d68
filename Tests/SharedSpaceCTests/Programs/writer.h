/* A child that writes jobs once it is told to; it is made before this process opens anything. */
#include "../Examples/check.h"

#include <unistd.h>

static pid_t writer_of_jobs(int count, int go[2]) {
    CHECK(pipe(go) == 0);
    pid_t writer = fork();
    if (writer != 0) return writer;
    char byte, text[64];
    CHECK(read(go[0], &byte, 1) == 1);
    sharedspace_ns *ns = open_namespace("n");
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "[\"job\", %d]", i);
        write_json(ns, text);
    }
    DONE(sharedspace_ns_close(ns, &error));
    exit(0);
}
