// The works of the peers that pass messages on and match nothing; linked with one of them.
//
//   mq NAME WORK …      POSIX message queues; NAME as mq_open(3) wants it
//   boost NAME WORK …   message queues of boost.interprocess, in shared memory
//   unix NAME WORK …    Unix sockets; they have no name

#include "../bench.h"
#include "queue.h"

static char message[SIZE];

static void send_to(int queue) { put(queue, message); }

static void receive_from(int queue) {
    char bytes[SIZE] = {0};
    receive(queue, bytes);
    MUST(bytes[SIZE - 1] == 'x');
}

// As much as the queue holds, put and taken by turns, each a lap: one operation may be quicker than the clock's step.
static void one(long count) {
    long turns = count / DEPTH > 0 ? count / DEPTH : 1;
    struct latencies puts = new_latencies(turns), takes = new_latencies(turns);
    for (long i = 0; i < turns; i++) {
        begin_lap(&puts);
        for (int j = 0; j < DEPTH; j++) send_to(0);
        end_lap(&puts, DEPTH);
        begin_lap(&takes);
        for (int j = 0; j < DEPTH; j++) receive_from(0);
        end_lap(&takes, DEPTH);
    }
    tell_latencies("write", &puts, DEPTH);
    tell_latencies("take", &takes, DEPTH);
}

static void answer(int count, void *context) {
    (void)context;
    for (int i = 0; i < count; i++) receive_from(0), send_to(1);
}

static void there_and_back(void) { send_to(0), receive_from(1); }

static void ping_pong(long count) {
    start_child(answer, (int)count, NULL);
    measure_round_trips(count, there_and_back);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    for (long i = 0; i < count; i++) send_to(0);
}

static void take(long count, int number, void *context) {
    (void)number, (void)context;
    for (long i = 0; i < count; i++) receive_from(0);
}

int main(int count, char **words) {
    const char *base = count > 1 ? words[1] : "";
    memset(message, 'x', SIZE);
    // A queue that a killed run left behind would be full.
    remove_queues(base);
    open_queues(base);
    int status = run_peer((struct peer){one, ping_pong, NULL, produce, take}, count, words);
    remove_queues(base);
    return status;
}
