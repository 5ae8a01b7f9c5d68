// POSIX message queues, which store bytes: the cost of the kernel's own hand-off.

#include "../bench.h"
#include "queue.h"
#include <mqueue.h>

static mqd_t queues[2];

static const char *name_of(const char *base, int number) {
    static char name[256];
    MUST(snprintf(name, sizeof name, "%s-%d", base, number) < (int)sizeof name);
    return name;
}

void open_queues(const char *base) {
    struct mq_attr attributes = {.mq_maxmsg = DEPTH, .mq_msgsize = SIZE};
    for (int i = 0; i < 2; i++) {
        queues[i] = mq_open(name_of(base, i), O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
        MUST(queues[i] != (mqd_t)-1);
    }
}

void remove_queues(const char *base) {
    for (int i = 0; i < 2; i++) mq_unlink(name_of(base, i));
}

void put(int queue, const char message[SIZE]) { MUST(mq_send(queues[queue], message, SIZE, 0) == 0); }

void receive(int queue, char message[SIZE]) { MUST(mq_receive(queues[queue], message, SIZE, NULL) == SIZE); }
