// Message queues of boost.interprocess: a heap of messages in shared memory, behind a mutex and two conditions.
//
// They are not robust: a process that is killed at the mutex leaves the others waiting for ever.

#include "queue.h"
#include <boost/interprocess/ipc/message_queue.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

using boost::interprocess::message_queue;

// As many messages as the library's near end has places.
static constexpr std::size_t ROOM = 256;
static message_queue *queues[2];

// It has '/' put before it; a name has one at most.
static std::string name_of(const char *base, int number) {
    std::string name = base;
    if (!name.empty() && name[0] == '/') name.erase(0, 1);
    return name + "-boost-" + std::to_string(number);
}

template <class Body> static void must(const char *what, Body body) {
    try {
        if (body()) return;
        std::fprintf(stderr, "%s: failed\n", what);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", what, error.what());
    }
    std::exit(70);
}

void open_queues(const char *base) {
    must("message_queue", [&] {
        for (int i = 0; i < 2; i++)
            queues[i] = new message_queue(boost::interprocess::create_only, name_of(base, i).c_str(), ROOM, SIZE);
        return true;
    });
}

void remove_queues(const char *base) {
    for (int i = 0; i < 2; i++) message_queue::remove(name_of(base, i).c_str());
}

void put(int queue, const char message[SIZE]) {
    must("send", [&] { return queues[queue]->send(message, SIZE, 0), true; });
}

void receive(int queue, char message[SIZE]) {
    must("receive", [&] {
        message_queue::size_type size = 0;
        unsigned priority;
        queues[queue]->receive(message, SIZE, size, priority);
        return size == SIZE;
    });
}
