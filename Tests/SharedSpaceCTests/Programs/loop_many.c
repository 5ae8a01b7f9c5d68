/* A thousand waits of one process behind one descriptor, without a thousand threads: tuples go to the waits for tuples,
 * and a lock goes from wait to wait in the order in which they began. */
#include "writer.h"

#include <dirent.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAKES = 900, LOCKS = 100, THREADS = 40 };

static int threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

int main(void) {
    int go[2];
    char byte = 0;
    pid_t writer = writer_of_jobs(TAKES, go);

    alarm(120);
    sharedspace_ns *ns = open_namespace("n");
    sharedspace_loop *loop;
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"job\", \"?int\"]");
    const char *name = "lock";
    DONE(sharedspace_loop_open(&loop, &error));
    CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &name, 1, &how, &result, &error)) == 1);
    for (uint64_t i = 0; i < TAKES; i++)
        DONE(sharedspace_loop_begin(loop, i, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    for (uint64_t i = TAKES; i < TAKES + LOCKS; i++)
        DONE(sharedspace_loop_begin(loop, i, ns, SHAREDSPACE_WAIT_LOCK, NULL, &name, 1, &how, &error));
    CHECK(threads() <= THREADS);
    DONE(sharedspace_let_go(ns, result.number, &error));
    CHECK(write(go[1], &byte, 1) == 1);

    static int done[TAKES + LOCKS], served[TAKES];
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    uint64_t token, turn = TAKES, fencing = 0;
    int outcome, number;
    for (int left = TAKES + LOCKS; left > 0;) {
        CHECK(poll(&ready, 1, -1) == 1);
        for (; DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1; left--) {
            CHECK(outcome == 1 && token < TAKES + LOCKS && done[token]++ == 0);
            if (token < TAKES) {
                CHECK(sscanf((char *)result.bytes, "[\"job\",%d]", &number) == 1 && served[number]++ == 0);
                continue;
            }
            CHECK(token == turn++ && result.number > fencing);
            fencing = result.number;
            DONE(sharedspace_let_go(ns, result.number, &error));
        }
    }
    CHECK(poll(&ready, 1, 0) == 0 && threads() <= THREADS);
    int status;
    CHECK(waitpid(writer, &status, 0) == writer && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    sharedspace_bytes any = sharedspace_text("\"?\"");
    how = json(0);
    CHECK(sharedspace_count(ns, &any, 1, &how, &error) == 0);
    sharedspace_loop_close(loop);
    sharedspace_result_free(&result);
    return 0;
}
