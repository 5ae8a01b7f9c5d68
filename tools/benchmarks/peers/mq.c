// POSIX message queues, which store bytes and match nothing: the cost of the kernel's own hand-off.
//
//   mq NAME WORK …     NAME as mq_open(3) wants it; two queues, NAME-0 and NAME-1, are made and removed

#include "../bench.h"
#include <mqueue.h>

// Messages a queue holds: /proc/sys/fs/mqueue/msg_max allows 10 to any user.
enum { DEPTH = 10, SIZE = 64 };

static const char *base;
static mqd_t queues[2];
static char message[SIZE];

static mqd_t open_queue(int number) {
    char name[256];
    snprintf(name, sizeof name, "%s-%d", base, number);
    struct mq_attr attributes = {.mq_maxmsg = DEPTH, .mq_msgsize = SIZE};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    MUST(queue != (mqd_t)-1);
    return queue;
}

static void open_once(void) {
    for (int i = 0; i < 2; i++)
        if (!queues[i]) queues[i] = open_queue(i);
}

static void remove_queues(void) {
    char name[256];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s-%d", base, i);
        mq_unlink(name);
    }
}

static void put(int queue) { MUST(mq_send(queues[queue], message, SIZE, 0) == 0); }

static void receive(int queue) {
    char bytes[SIZE];
    MUST(mq_receive(queues[queue], bytes, SIZE, NULL) == SIZE);
}

// As much as the queue holds, put and taken by turns.
static void one(long count) {
    open_once();
    long turns = count / DEPTH > 0 ? count / DEPTH : 1;
    struct latencies puts = new_latencies(turns * DEPTH), takes = new_latencies(turns * DEPTH);
    for (long i = 0; i < turns; i++) {
        begin_lap(&puts);
        for (int j = 0; j < DEPTH; j++) put(0), end_lap(&puts, 1);
        begin_lap(&takes);
        for (int j = 0; j < DEPTH; j++) receive(0), end_lap(&takes, 1);
    }
    tell_latencies("write", &puts, 1);
    tell_latencies("take", &takes, 1);
}

static void answer(int count, void *context) {
    (void)context;
    for (int i = 0; i < count; i++) receive(0), put(1);
}

static void there_and_back(void) { put(0), receive(1); }

static void ping_pong(long count) {
    open_once();
    start_child(answer, (int)count, NULL);
    measure_round_trips(count, there_and_back);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    open_once();
    for (long i = 0; i < count; i++) put(0);
}

static void take(long count, int number, void *context) {
    (void)number, (void)context;
    open_once();
    for (long i = 0; i < count; i++) receive(0);
}

int main(int count, char **words) {
    base = count > 1 ? words[1] : "";
    memset(message, 'x', SIZE);
    // A queue that a killed run left behind would be full.
    remove_queues();
    int status = run_peer((struct peer){one, ping_pong, NULL, produce, take}, count, words);
    remove_queues();
    return status;
}
