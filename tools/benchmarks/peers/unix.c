// Unix sockets that keep messages apart (seqpacket), a pair for each queue: what the kernel offers processes that know
// each other. All senders share one end, and all receivers the other.

#include "../bench.h"
#include "queue.h"
#include <sys/socket.h>

static int pairs[2][2];

void open_queues(const char *base) {
    (void)base;
    for (int i = 0; i < 2; i++) MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[i]) == 0);
}

void remove_queues(const char *base) { (void)base; }

void put(int queue, const char message[SIZE]) { MUST(write(pairs[queue][0], message, SIZE) == SIZE); }

void receive(int queue, char message[SIZE]) { MUST(read(pairs[queue][1], message, SIZE) == SIZE); }
