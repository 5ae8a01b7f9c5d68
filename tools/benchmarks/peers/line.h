// A connection over a Unix socket to a server that speaks in lines.

#ifndef LINE_H
#define LINE_H

#include "../bench.h"
#include <sys/socket.h>
#include <sys/un.h>

struct connection {
    int socket;
    size_t begin, end;
    char buffer[65536];
};

static inline struct connection *connect_to(const char *path) {
    struct connection *connection = calloc(1, sizeof *connection);
    MUST(connection);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    MUST(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    connection->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(connection->socket >= 0);
    MUST(connect(connection->socket, (struct sockaddr *)&address, sizeof address) == 0);
    return connection;
}

static inline void send_all(struct connection *to, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(to->socket, bytes, count);
        MUST(sent > 0);
        bytes += sent;
        count -= (size_t)sent;
    }
}

// The next line, ended by CR LF in place of which stands a NUL; valid until the next.
static inline char *read_line(struct connection *from) {
    while (1) {
        char *start = from->buffer + from->begin;
        char *end = memmem(start, from->end - from->begin, "\r\n", 2);
        if (end) {
            *end = 0;
            from->begin = (size_t)(end + 2 - from->buffer);
            return start;
        }
        memmove(from->buffer, start, from->end - from->begin);
        from->end -= from->begin;
        from->begin = 0;
        MUST(from->end < sizeof from->buffer);
        ssize_t count = read(from->socket, from->buffer + from->end, sizeof from->buffer - from->end);
        MUST(count > 0);
        from->end += (size_t)count;
    }
}

#endif
