// beanstalkd, a work queue, over a Unix socket: put, reserve and delete of 64-byte jobs.
//
//   beanstalkd SOCKET WORK …
//
// It has no take except reserve and delete: a take costs both, and a claim is the same.

#include "../bench.h"
#include "line.h"

static const char *address;
static struct connection *server;
static char message[65];

static char *ask(const char *request, const char *expected) {
    send_all(server, request, strlen(request));
    char *line = read_line(server);
    if (strncmp(line, expected, strlen(expected))) {
        fprintf(stderr, "beanstalkd: %s\n", line);
        exit(70);
    }
    return line;
}

static void connect_once(void) {
    if (!server) server = connect_to(address);
}

static void use(const char *puts, const char *reserves) {
    char request[128];
    connect_once();
    sprintf(request, "use %s\r\n", puts);
    ask(request, "USING");
    sprintf(request, "watch %s\r\n", reserves);
    ask(request, "WATCHING");
    ask("ignore default\r\n", "WATCHING");
}

static void put(long number, void *context) {
    (void)number, (void)context;
    char request[128];
    sprintf(request, "put 0 0 60 64\r\n%s\r\n", message);
    ask(request, "INSERTED");
}

static void take_one(long number, void *context) {
    (void)number, (void)context;
    char request[64];
    unsigned long long job;
    MUST(sscanf(ask("reserve\r\n", "RESERVED"), "RESERVED %llu", &job) == 1);
    read_line(server);
    sprintf(request, "delete %llu\r\n", job);
    ask(request, "DELETED");
}

static void one(long count) {
    use("jobs", "jobs");
    measure("write", count, put, NULL);
    measure("take", count, take_one, NULL);
}

static void claim(long count) {
    use("jobs", "jobs");
    for (long i = 0; i < count; i++) put(i, NULL);
    measure("claim", count, take_one, NULL);
}

static void answer(int count, void *context) {
    (void)context;
    use("pong", "ping");
    for (int i = 0; i < count; i++) take_one(i, NULL), put(i, NULL);
}

static void there_and_back(void) { put(0, NULL), take_one(0, NULL); }

static void ping_pong(long count) {
    start_child(answer, (int)count, NULL);
    use("ping", "pong");
    measure_round_trips(count, there_and_back);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    if (!count) use("jobs", "jobs");
    for (long i = 0; i < count; i++) put(i, NULL);
}

static void take(long count, int number, void *context) {
    (void)number, (void)context;
    if (!count) use("jobs", "jobs");
    for (long i = 0; i < count; i++) take_one(i, NULL);
}

int main(int count, char **words) {
    address = count > 1 ? words[1] : "";
    memset(message, 'x', 64);
    return run_peer((struct peer){one, ping_pong, claim, produce, take}, count, words);
}
