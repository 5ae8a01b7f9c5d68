// Calls through the C library, beside the same in Swift (Sources/ours/Calls.swift).
//
//   calls FOLDER take|claim COUNT    writes a tuple and takes it, or claims and completes it, in a queue that is empty
//
// Tuples and templates cross as bytes of the tuple layer. With $BENCHMARK_COUNTED it does not time the operations.

#include "../bench.h"
#include <sharedspace.h>

static sharedspace_error *error;
static sharedspace_ns *ns;
static sharedspace_result result;

#define CALL(status, call) \
    do { \
        if ((call) != (status)) { \
            fprintf(stderr, "%s: %s\n", #call, error ? sharedspace_error_message(error) : "not what was expected"); \
            exit(70); \
        } \
    } while (0)

enum { PAYLOAD = 64 };

// ["job", any integer, any string]
static const uint8_t next[] = {0x02, 'j', 'o', 'b', 0, 0x41, 0x14, 0x41, 0x02};
static sharedspace_bytes tuple, template_ = {next, sizeof next};

// Makes ["job", number, payload]: the code of an integer says how many bytes it has.
static void make(long number) {
    static uint8_t bytes[8 + sizeof(long) + PAYLOAD] = {0x02, 'j', 'o', 'b', 0};
    uint8_t *end = bytes + 5;
    int length = number ? (int)sizeof number - __builtin_clzl((unsigned long)number) / 8 : 0;
    *end++ = (uint8_t)(0x14 + length);
    while (length-- > 0) *end++ = (uint8_t)(number >> 8 * length);
    *end++ = 0x02;
    memset(end, 'x', PAYLOAD);
    end[PAYLOAD] = 0;
    tuple = (sharedspace_bytes){bytes, (size_t)(end + PAYLOAD + 1 - bytes)};
}

static void write_and_find(long number, int what) {
    make(number);
    CALL(1, sharedspace_write(ns, &tuple, 1, NULL, NULL, &error));
    CALL(1, sharedspace_find(ns, what, &template_, 1, NULL, &result, &error));
    MUST(result.count == tuple.count && !memcmp(result.bytes, tuple.bytes, tuple.count));
}

static void take(long number, void *context) {
    (void)context;
    write_and_find(number, SHAREDSPACE_TAKE);
}

static void claim(long number, void *context) {
    (void)context;
    write_and_find(number, SHAREDSPACE_CLAIM);
    CALL(1, sharedspace_end(ns, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
}

int main(int count, char **words) {
    long operations = count == 4 ? atol(words[3]) : 0;
    int is_claim = count == 4 && !strcmp(words[2], "claim");
    if (operations <= 0 || (!is_claim && strcmp(words[2], "take"))) {
        fprintf(stderr, "usage: %s FOLDER take|claim COUNT\n", words[0]);
        return 64;
    }
    sharedspace *space;
    result = sharedspace_no_result();
    CALL(1, sharedspace_open(words[1], NULL, &space, &error));
    CALL(1, sharedspace_ns_open(space, "bench", NULL, &ns, &error));
    void (*operation)(long, void *) = is_claim ? claim : take;
    if (getenv("BENCHMARK_COUNTED")) {
        for (long i = 0; i < operations; i++) operation(i, NULL);
    } else {
        measure("call", operations, operation, NULL);
    }
    template_ = (sharedspace_bytes){(const uint8_t *)"\x45", 1};
    MUST(sharedspace_count(ns, &template_, 1, NULL, &error) == 0);
    CALL(1, sharedspace_ns_close(ns, &error));
    sharedspace_close(space);
    return 0;
}
