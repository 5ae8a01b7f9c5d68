// Redis as a queue, over a Unix socket: RPUSH and LPOP or BLPOP of 64-byte messages, LMOVE and LREM for a claim.
//
//   redis SOCKET WORK …

#include "../bench.h"
#include "line.h"

static const char *address;
static struct connection *server;
static char message[65];

// Sends a command in the protocol's form (RESP) and reads the reply: its value, or NULL for nothing.
static const char *ask(struct connection *to, int count, const char **words) {
    char request[512];
    int length = sprintf(request, "*%d\r\n", count);
    for (int i = 0; i < count; i++)
        length += sprintf(request + length, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    send_all(to, request, (size_t)length);
    int items = 1;
    const char *value = NULL;
    while (items-- > 0) {
        char *line = read_line(to);
        switch (line[0]) {
        case ':': value = line + 1; break;
        case '+': value = line + 1; break;
        case '*': items += atoi(line + 1) > 0 ? atoi(line + 1) : 0; break;
        case '$': value = atoi(line + 1) < 0 ? NULL : read_line(to); break;
        default: fprintf(stderr, "redis: %s\n", line); exit(70);
        }
    }
    return value;
}

#define ASK(...) ask(server, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

static void connect_once(void) {
    if (!server) server = connect_to(address);
}

static void push(long number, void *list) { (void)number; MUST(ASK("RPUSH", list, message)); }
static void pop(long number, void *list) { (void)number; MUST(ASK("LPOP", list)); }
static void block(void *list) { MUST(ASK("BLPOP", list, "60")); }

static void one(long count) {
    connect_once();
    measure("write", count, push, "jobs");
    measure("take", count, pop, "jobs");
}

static void claim_and_complete(long number, void *context) {
    (void)number, (void)context;
    MUST(ASK("LMOVE", "jobs", "claimed", "LEFT", "RIGHT"));
    MUST(ASK("LREM", "claimed", "1", message));
}

static void claim(long count) {
    connect_once();
    for (long i = 0; i < count; i++) push(i, "jobs");
    measure("claim", count, claim_and_complete, NULL);
}

static void answer(int count, void *context) {
    (void)context;
    server = connect_to(address);
    for (int i = 0; i < count; i++) block("ping"), push(0, "pong");
}

static void there_and_back(void) { push(0, "ping"), block("pong"); }

static void ping_pong(long count) {
    start_child(answer, (int)count, NULL);
    connect_once();
    measure_round_trips(count, there_and_back);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    connect_once();
    for (long i = 0; i < count; i++) push(0, "jobs");
}

static void take(long count, int number, void *context) {
    (void)number, (void)context;
    connect_once();
    for (long i = 0; i < count; i++) block("jobs");
}

int main(int count, char **words) {
    address = count > 1 ? words[1] : "";
    memset(message, 'x', 64);
    return run_peer((struct peer){one, ping_pong, claim, produce, take}, count, words);
}
