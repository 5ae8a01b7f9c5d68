// ZeroMQ over Unix sockets (ipc), PUSH and PULL: a thread in each process passes the messages on, and keeps some on the
// way. A taker has a socket of its own, and a producer hands its messages to all of them in turn.
//
//   zmq PATH WORK …     PATH: the beginning of the sockets' paths

#include "../bench.h"
#include <zmq.h>

enum { SIZE = 64 };

static const char *base;
static char message[SIZE];
static int producers, takers;
static void *sender, *receiver, *zeromq;

#define ZMQ(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s: %s\n", #condition, zmq_strerror(zmq_errno())); \
            exit(70); \
        } \
    } while (0)

// A process makes its context itself: the threads of one that it inherits are missing.
static void *new_socket(int kind) {
    if (!zeromq) ZMQ(zeromq = zmq_ctx_new());
    void *socket;
    ZMQ(socket = zmq_socket(zeromq, kind));
    return socket;
}

static const char *address(int number) {
    static char text[256];
    MUST(snprintf(text, sizeof text, "ipc://%s-%d", base, number) < (int)sizeof text);
    return text;
}

static void listen_at(int number) {
    receiver = new_socket(ZMQ_PULL);
    ZMQ(zmq_bind(receiver, address(number)) == 0);
}

// Returns when the first of `count` receivers, numbered from `first`, is connected. One that doesn't listen yet is asked
// again soon; the default would be a tenth of a second.
static void connect_to_receivers(int first, int count) {
    int soon = 1, connected_alone = 1;
    sender = new_socket(ZMQ_PUSH);
    ZMQ(zmq_setsockopt(sender, ZMQ_RECONNECT_IVL, &soon, sizeof soon) == 0);
    ZMQ(zmq_setsockopt(sender, ZMQ_IMMEDIATE, &connected_alone, sizeof connected_alone) == 0);
    for (int i = 0; i < count; i++) ZMQ(zmq_connect(sender, address(first + i)) == 0);
    zmq_pollitem_t ready = {.socket = sender, .events = ZMQ_POLLOUT};
    ZMQ(zmq_poll(&ready, 1, 60000) == 1);
}

static void put(void) { ZMQ(zmq_send(sender, message, SIZE, 0) == SIZE); }

static void receive(void) {
    char bytes[SIZE] = {0};
    ZMQ(zmq_recv(receiver, bytes, SIZE, 0) == SIZE);
    MUST(bytes[SIZE - 1] == 'x');
}

static void answer(int count, void *context) {
    (void)context;
    listen_at(0);
    connect_to_receivers(1, 1);
    for (int i = 0; i < count; i++) receive(), put();
    // The last message may not have left this process.
    zmq_close(receiver);
    zmq_close(sender);
    zmq_ctx_term(zeromq);
}

static void there_and_back(void) { put(), receive(); }

static void ping_pong(long count) {
    start_child(answer, (int)count, NULL);
    listen_at(1);
    connect_to_receivers(0, 1);
    measure_round_trips(count, there_and_back);
}

static void one(long count) {
    (void)count;
    fprintf(stderr, "zmq: one process has no queue of its own\n");
    exit(64);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    if (!sender) connect_to_receivers(0, takers);
    for (long i = 0; i < count; i++) put();
}

static void take(long count, int number, void *context) {
    (void)context;
    if (!receiver) listen_at(number - producers);
    for (long i = 0; i < count; i++) receive();
}

int main(int count, char **words) {
    base = count > 1 ? words[1] : "";
    memset(message, 'x', SIZE);
    producers = count > 4 ? atoi(words[4]) : 0;
    takers = count > 5 ? atoi(words[5]) : 0;
    return run_peer((struct peer){one, ping_pong, NULL, produce, take}, count, words);
}
