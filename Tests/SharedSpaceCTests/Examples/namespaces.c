/* Spaces and namespaces: options, names, what is there, errors. */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that does nothing. */
static pid_t fork_sleeper(void) {
    pid_t child = fork();
    if (child == 0) execlp("sleep", "sleep", "60", (char *)NULL);
    return child;
}

int main(void) {
    CHECK(sharedspace_abi() == SHAREDSPACE_ABI && strchr(sharedspace_version(), '.') != NULL);
    sharedspace *space;
    sharedspace_ns *ns, *seen;
    sharedspace_how how = sharedspace_defaults();
    how.timeout_ms = 2000;
    DONE(sharedspace_open(NULL, &how, &space, &error));

    how = sharedspace_defaults();
    how.flags = SHAREDSPACE_PERSISTENT;
    how.mode = "guarded";
    how.limit_bytes = 64 << 20;
    DONE(sharedspace_ns_open(space, "kept", &how, &ns, &error));
    DONE(sharedspace_ns_close(ns, &error));
    how = sharedspace_defaults();
    how.flags = SHAREDSPACE_OBSERVER;
    DONE(sharedspace_ns_open(space, "kept", &how, &seen, &error));
    FAILS(sharedspace_ns_open(space, "absent", &how, &ns, &error), "namespaceNotFound");
    CHECK(ns == NULL);
    how.flags = 0;
    how.mode = "durable";
    FAILS(sharedspace_ns_open(space, "kept", &how, &ns, &error), "incompatible");
    how.mode = "slow";
    FAILS(sharedspace_ns_open(space, "kept", &how, &ns, &error), "invalidArgument");

    /* An error says what was attempted, on what, why it failed, and what to do. */
    CHECK(sharedspace_ns_open(space, "a/b", NULL, &ns, &error) == -1);
    CHECK(strcmp(sharedspace_error_code(error), "invalidName") == 0);
    CHECK(strcmp(sharedspace_error_operation(error), "open the namespace") == 0);
    CHECK(sharedspace_error_holder(error) == 0 && strlen(sharedspace_error_message(error)) > 20);
    CHECK(sharedspace_error_advice(error) != NULL && strcmp(sharedspace_error_namespace(error), "a/b") == 0);
    sharedspace_error_free(error);
    error = NULL;

    sharedspace_list *names;
    sharedspace_result text = sharedspace_no_result();
    DONE(sharedspace_ns_open(space, "also", NULL, &ns, &error));
    DONE(sharedspace_names(space, &names, &error));
    CHECK(sharedspace_list_count(names) == 2);
    CHECK(DONE(sharedspace_list_next(names, &text, &error)) == 1 && is(&text, "also"));
    sharedspace_list_free(names);
    DONE(sharedspace_ns_show(seen, &text, &error));
    CHECK(strstr((char *)text.bytes, "\"persistent\":true") && strstr((char *)text.bytes, "\"mode\":\"guarded\""));

    /* Waiting for one that comes, and for the end of one. */
    how = sharedspace_defaults();
    how.timeout_ms = SHAREDSPACE_FOREVER;
    CHECK(DONE(sharedspace_await(space, "also", &how, &error)) == 1);
    how.flags = SHAREDSPACE_GONE;
    CHECK(DONE(sharedspace_await(space, "absent", &how, &error)) == 1);
    how.timeout_ms = 10;
    CHECK(DONE(sharedspace_await(space, "also", &how, &error)) == 0);

    /* Another process owns it, too; and it stays without an owner, or not. */
    pid_t other = fork_sleeper();
    CHECK(DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_OWNER, other, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_NO_OWNER, other, NULL, &error)) == 1);
    CHECK(DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_NO_OWNER, other, NULL, &error)) == 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    FAILS(sharedspace_ns_set(ns, SHAREDSPACE_NS_OWNER, other, NULL, &error), "noSuchProcess");
    DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_PERSISTENT, 1, NULL, &error));
    DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_HISTORY, 1000, NULL, &error));
    DONE(sharedspace_ns_show(ns, &text, &error));
    CHECK(strstr((char *)text.bytes, "\"persistent\":true"));
    DONE(sharedspace_ns_set(ns, SHAREDSPACE_NS_PERSISTENT, 0, NULL, &error));
    FAILS(sharedspace_ns_set(ns, 77, 0, NULL, &error), "invalidArgument");

    /* Reaping deletes what has no owner: nothing here, because each end deletes at once. */
    DONE(sharedspace_reap(space, &names, &error));
    CHECK(sharedspace_list_count(names) == 0);
    sharedspace_list_free(names);

    CHECK(DONE(sharedspace_delete(space, "kept", &error)) == 1);
    CHECK(DONE(sharedspace_delete(space, "kept", &error)) == 0);
    FAILS(sharedspace_ns_show(seen, &text, &error), "namespaceDeleted");
    DONE(sharedspace_ns_close(seen, &error));
    DONE(sharedspace_ns_close(ns, &error));
    sharedspace_close(space);
    sharedspace_result_free(&text);
    return 0;
}
