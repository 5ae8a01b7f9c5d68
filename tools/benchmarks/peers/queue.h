// A peer that passes 64-byte messages on and matches nothing: what `queue.c` asks of it. There are two queues, 0 and 1.
//
// The queues are opened once, before any other process is started, which then inherits them.

#ifndef QUEUE_H
#define QUEUE_H

#ifdef __cplusplus
extern "C" {
#endif

// DEPTH: how many messages one process puts before it takes them. /proc/sys/fs/mqueue/msg_max allows a POSIX queue 10 by
// any user.
enum { DEPTH = 10, SIZE = 64 };

// `base`: the beginning of the queues' names.
void open_queues(const char *base);
// Removes the names; does nothing for those that are not there.
void remove_queues(const char *base);
void put(int queue, const char message[SIZE]);
// Waits until there is a message.
void receive(int queue, char message[SIZE]);

#ifdef __cplusplus
}
#endif

#endif
