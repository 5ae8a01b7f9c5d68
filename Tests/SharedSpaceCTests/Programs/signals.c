/* Signals during waits without limit: a function is asked after each, and only its word ends the wait, which keeps its
 * place in line until then. */
#include "../Examples/check.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;
static void count(int number) {
    (void)number;
    signals++;
}

static int asked;
/* Ends the wait once that many signals have come, or tells the pipe after each five and goes on. */
static int most, told = -1, times;
static int look(void *context) {
    CHECK(context == &asked);
    asked++;
    if (told >= 0 && signals >= 5 * (times + 1)) {
        char byte = 0;
        CHECK(write(told, &byte, 1) == 1);
        times++;
    }
    if (most == 0 || signals < most) return 0;
    /* It says yes once. */
    most = 0;
    return 1;
}

static void begin_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval every = {{0, 5000}, {0, 5000}};
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

/* Waits for a job without limit, and is interrupted again and again. */
static void wait_in_line(int is_first, int go) {
    char byte;
    CHECK(read(go, &byte, 1) == 1);
    sharedspace_ns *jobs = open_namespace("jobs");
    sharedspace_result found = sharedspace_no_result();
    sharedspace_bytes template_ = sharedspace_text("{\"job\": \"?int\"}");
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    begin_signals();
    how.interrupted = look;
    how.context = &asked;
    CHECK(DONE(sharedspace_find(jobs, SHAREDSPACE_TAKE, &template_, 1, &how, &found, &error)) == 1);
    CHECK(is(&found, is_first ? "{\"job\":1}" : "{\"job\":2}"));
    CHECK(asked >= 5 && signals >= 5);
    exit(0);
}

int main(void) {
    int go[2][2], waits[2][2];
    char byte = 0;
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        CHECK(pipe(go[i]) == 0 && pipe(waits[i]) == 0);
        children[i] = fork();
        told = waits[i][1];
        if (children[i] == 0) wait_in_line(i == 0, go[i][0]);
    }
    told = -1;
    sharedspace_ns *jobs = open_namespace("jobs");
    for (int i = 0; i < 2; i++) {
        CHECK(write(go[i][1], &byte, 1) == 1);
        CHECK(read(waits[i][0], &byte, 1) == 1);
    }
    /* The first is interrupted five times more, now that the second is in line. */
    int before;
    CHECK(ioctl(waits[0][0], FIONREAD, &before) == 0);
    for (int i = 0; i < before + 2; i++) CHECK(read(waits[0][0], &byte, 1) == 1);
    for (int i = 0; i < 2; i++) {
        write_json(jobs, i == 0 ? "{\"job\": 1}" : "{\"job\": 2}");
        int status;
        CHECK(waitpid(children[i], &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }

    /* The function's word ends each kind of wait. */
    begin_signals();
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    how.interrupted = look;
    how.context = &asked;
    sharedspace_bytes template_ = sharedspace_text("[\"none\"]");
    sharedspace_watch *watch;
    for (int verb = SHAREDSPACE_READ; verb <= SHAREDSPACE_CLAIM; verb++) {
        most = signals + 3;
        FAILS(sharedspace_find(jobs, verb, &template_, 1, &how, &result, &error), "cancelled");
    }
    most = signals + 3;
    FAILS(sharedspace_get(jobs, "none", &how, &result, &error), "cancelled");
    most = signals + 3;
    const char *permits = "permits";
    CHECK(DONE(sharedspace_hold(jobs, SHAREDSPACE_SEMAPHORE, &permits, 1, NULL, &result, &error)) == 1);
    how.timeout_ms = 60 * 1000; /* without limit the thread would wait for itself, which is refused */
    FAILS(sharedspace_hold(jobs, SHAREDSPACE_SEMAPHORE, &permits, 1, &how, &result, &error), "cancelled");
    how.timeout_ms = SHAREDSPACE_FOREVER;
    most = signals + 3;
    FAILS(sharedspace_item(jobs, "none", &how, &result, &error), "cancelled");
    DONE(sharedspace_watch_open(jobs, sharedspace_text("{\"key\": \"none\"}"), NULL, NULL, &watch, &error));
    most = signals + 3;
    FAILS(sharedspace_watch_next(watch, &how, &result, &error), "cancelled");
    sharedspace_watch_close(watch);
    sharedspace_result_free(&result);
    return 0;
}
