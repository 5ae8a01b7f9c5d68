// Bytes that grow, and the coding of messages in protocol buffers (protobuf.dev, "Encoding").

#ifndef BYTES_H
#define BYTES_H

#include "../bench.h"

struct bytes {
    uint8_t *data;
    size_t count, room;
};

// A part of some bytes; a decoder takes from its beginning.
struct part {
    const uint8_t *data, *end;
};

static inline void reserve(struct bytes *bytes, size_t more) {
    if (bytes->room - bytes->count >= more) return;
    bytes->room = (bytes->count + more) * 2;
    MUST(bytes->data = realloc(bytes->data, bytes->room));
}

static inline void put_raw(struct bytes *to, const void *data, size_t count) {
    if (count == 0) return;
    reserve(to, count);
    memcpy(to->data + to->count, data, count);
    to->count += count;
}

// A number in network order.
static inline void put_big(struct bytes *to, uint64_t number, int size) {
    reserve(to, 8);
    for (int i = size - 1; i >= 0; i--) to->data[to->count++] = (uint8_t)(number >> (8 * i));
}

static inline uint64_t big(const uint8_t *data, int size) {
    uint64_t number = 0;
    for (int i = 0; i < size; i++) number = number << 8 | data[i];
    return number;
}

static inline void put_varint(struct bytes *to, uint64_t number) {
    reserve(to, 10);
    for (; number > 127; number >>= 7) to->data[to->count++] = (uint8_t)(number | 128);
    to->data[to->count++] = (uint8_t)number;
}

static inline void put_number(struct bytes *to, unsigned field, uint64_t number) {
    put_varint(to, field << 3);
    put_varint(to, number);
}

static inline void put_blob(struct bytes *to, unsigned field, const void *data, size_t count) {
    put_varint(to, field << 3 | 2);
    put_varint(to, count);
    put_raw(to, data, count);
}

// Puts a message into another one, and empties it.
static inline void put_message(struct bytes *to, unsigned field, struct bytes *message) {
    put_blob(to, field, message->data, message->count);
    message->count = 0;
}

static inline uint64_t take_varint(struct part *from) {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        MUST(from->data < from->end);
        uint8_t byte = *from->data++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return number;
    }
    fail("a number is too long");
}

// Takes the next field: its number, and its value as a number, or as a part with so many bytes. Returns 0 at the end.
static inline unsigned take_field(struct part *from, uint64_t *number, struct part *value) {
    if (from->data == from->end) return 0;
    uint64_t key = take_varint(from);
    MUST((key & 7) == 0 || (key & 7) == 2);
    *number = take_varint(from);
    *value = (struct part){from->data, from->data};
    if ((key & 7) == 2) {
        MUST(*number <= (uint64_t)(from->end - from->data));
        *value = (struct part){from->data, from->data + *number};
        from->data += *number;
    }
    return (unsigned)(key >> 3);
}

#endif
