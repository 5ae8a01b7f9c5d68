// A connection to a gRPC server over plain TCP, for one call at a time: one message there, one back.
//
// It does what one client in sequence needs of HTTP/2 (RFC 9113) and no more. It lets the server keep no table of headers
// (SETTINGS_HEADER_TABLE_SIZE 0), so the headers of answers need not be decoded: an answer without a message is an error.
// It answers the server's settings and pings, and counts both windows of the flow.

#ifndef GRPC_H
#define GRPC_H

#include "../bench.h"
#include "bytes.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { FRAME_HEADER = 9, GRPC_HEADER = 5, FIRST_WINDOW = 65535, LARGEST_WINDOW = 0x7fffffff };
enum frame_type { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE };
enum frame_flag { END_STREAM = 1, ACKNOWLEDGED = 1, END_HEADERS = 4, PADDED = 8 };

struct grpc {
    int socket;
    char authority[128];
    uint32_t stream;
    // How many bytes the server takes, and how many it has sent since it was last allowed to send more.
    int64_t window, received;
    struct bytes request, input, answer;
    size_t read;
};

static inline void grpc_send(struct grpc *server, const struct bytes *bytes) {
    for (size_t sent = 0; sent < bytes->count;) {
        ssize_t count = send(server->socket, bytes->data + sent, bytes->count - sent, MSG_NOSIGNAL);
        MUST(count > 0);
        sent += (size_t)count;
    }
}

static inline void put_frame(struct bytes *to, enum frame_type type, int flags, uint32_t stream, const void *body, size_t count) {
    put_big(to, count, 3);
    put_big(to, (uint64_t)type, 1);
    put_big(to, (uint64_t)flags, 1);
    put_big(to, stream, 4);
    put_raw(to, body, count);
}

static inline void grpc_send_frame(struct grpc *server, enum frame_type type, int flags, const void *body, size_t count) {
    struct bytes frame = {0};
    put_frame(&frame, type, flags, 0, body, count);
    grpc_send(server, &frame);
    free(frame.data);
}

static inline void put_setting(struct bytes *to, unsigned name, uint32_t value) {
    put_big(to, name, 2);
    put_big(to, value, 4);
}

// `address` is HOST:PORT.
static inline struct grpc *grpc_connect(const char *address) {
    struct grpc *server = calloc(1, sizeof *server);
    MUST(server && strlen(address) < sizeof server->authority);
    strcpy(server->authority, address);
    char host[128];
    strcpy(host, address);
    char *colon = strrchr(host, ':');
    MUST(colon);
    *colon = 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    MUST(getaddrinfo(host, colon + 1, &hints, &found) == 0);
    server->socket = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(server->socket >= 0 && connect(server->socket, found->ai_addr, found->ai_addrlen) == 0);
    freeaddrinfo(found);
    int on = 1;
    struct timeval patience = {.tv_sec = 20};
    MUST(setsockopt(server->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    MUST(setsockopt(server->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    server->window = FIRST_WINDOW;
    server->stream = 1;
    struct bytes first = {0}, body = {0};
    put_raw(&first, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    put_setting(&body, 1, 0); // SETTINGS_HEADER_TABLE_SIZE
    put_setting(&body, 4, LARGEST_WINDOW); // SETTINGS_INITIAL_WINDOW_SIZE, that of a stream
    put_frame(&first, SETTINGS, 0, 0, body.data, body.count);
    body.count = 0;
    put_big(&body, LARGEST_WINDOW - FIRST_WINDOW, 4);
    put_frame(&first, WINDOW_UPDATE, 0, 0, body.data, body.count);
    grpc_send(server, &first);
    free(first.data);
    free(body.data);
    return server;
}

static inline void grpc_close(struct grpc *server) {
    close(server->socket);
    free(server->request.data);
    free(server->input.data);
    free(server->answer.data);
    free(server);
}

// Waits until so many bytes are there that were not read yet.
static inline const uint8_t *grpc_need(struct grpc *server, size_t count) {
    struct bytes *input = &server->input;
    if (server->read == input->count) server->read = input->count = 0;
    while (input->count - server->read < count) {
        reserve(input, count + 65536);
        ssize_t got = recv(server->socket, input->data + input->count, 65536, 0);
        MUST(got > 0);
        input->count += (size_t)got;
    }
    return input->data + server->read;
}

// Reads a frame, and does what it asks for. Returns whether it ends the stream of the present call.
static inline int grpc_read_frame(struct grpc *server) {
    const uint8_t *header = grpc_need(server, FRAME_HEADER);
    size_t count = (size_t)big(header, 3);
    int type = header[3], flags = header[4];
    uint32_t stream = (uint32_t)big(header + 5, 4);
    const uint8_t *body = grpc_need(server, FRAME_HEADER + count) + FRAME_HEADER;
    server->read += FRAME_HEADER + count;
    switch (type) {
    case DATA:
        MUST(!(flags & PADDED) && stream == server->stream);
        put_raw(&server->answer, body, count);
        server->received += (int64_t)count;
        return flags & END_STREAM;
    case HEADERS: return stream == server->stream && flags & END_STREAM;
    case SETTINGS:
        if (!(flags & ACKNOWLEDGED)) grpc_send_frame(server, SETTINGS, ACKNOWLEDGED, NULL, 0);
        return 0;
    case PING:
        if (!(flags & ACKNOWLEDGED)) grpc_send_frame(server, PING, ACKNOWLEDGED, body, count);
        return 0;
    case WINDOW_UPDATE:
        if (stream == 0) server->window += (int64_t)big(body, 4);
        return 0;
    case RST_STREAM:
    case GOAWAY:
        errno = 0;
        fail("the server ended the stream");
    default: return 0;
    }
}

static inline void put_short_string(struct bytes *to, const char *text) {
    MUST(strlen(text) < 127);
    put_big(to, strlen(text), 1);
    put_raw(to, text, strlen(text));
}

// The headers of a request (RFC 7541): known ones by number, the others as literals that enter no table.
static inline void put_headers(struct bytes *to, const char *authority, const char *path) {
    put_raw(to, "\x83\x86\x04", 3); // :method POST, :scheme http, :path
    put_short_string(to, path);
    put_raw(to, "\x01", 1); // :authority
    put_short_string(to, authority);
    put_raw(to, "\x0f\x10", 2); // content-type
    put_short_string(to, "application/grpc");
    put_raw(to, "\x00", 1);
    put_short_string(to, "te");
    put_short_string(to, "trailers");
}

// Calls a method. The answer is valid until the next call.
static inline struct part grpc_call(struct grpc *server, const char *path, const struct bytes *message) {
    struct bytes *request = &server->request;
    struct bytes headers = {0};
    put_headers(&headers, server->authority, path);
    request->count = 0;
    put_frame(request, HEADERS, END_HEADERS, server->stream, headers.data, headers.count);
    free(headers.data);
    size_t count = GRPC_HEADER + message->count;
    MUST(count <= 16384); // SETTINGS_MAX_FRAME_SIZE: the least that each side takes
    put_big(request, count, 3);
    put_big(request, DATA, 1);
    put_big(request, END_STREAM, 1);
    put_big(request, server->stream, 4);
    put_big(request, 0, 1); // not compressed
    put_big(request, message->count, 4);
    put_raw(request, message->data, message->count);
    while (server->window < (int64_t)count) grpc_read_frame(server);
    server->window -= (int64_t)count;
    server->answer.count = 0;
    grpc_send(server, request);
    while (!grpc_read_frame(server)) {}
    server->stream += 2;
    if (server->received > LARGEST_WINDOW / 4) {
        uint32_t more = htonl((uint32_t)server->received);
        grpc_send_frame(server, WINDOW_UPDATE, 0, &more, sizeof more);
        server->received = 0;
    }
    struct bytes *answer = &server->answer;
    errno = 0;
    if (answer->count < GRPC_HEADER) fail("the server refused a call");
    MUST(big(answer->data + 1, 4) == answer->count - GRPC_HEADER);
    return (struct part){answer->data + GRPC_HEADER, answer->data + answer->count};
}

#endif
