/* Random bytes, from a seed, as tuple, template, value, steps, filter and options: each is an outcome or an error, and never a
 * crash or a call without end. `program COUNT SEED`. */
#include "../Examples/check.h"

#include <unistd.h>

static uint64_t state;
static uint64_t random_below(uint64_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state * 2685821657736338717u >> 11) % bound;
}

static uint8_t buffer[4096];
static size_t length;

static void put(unsigned byte) {
    if (length < sizeof buffer) buffer[length++] = (uint8_t)byte;
}

static void put_random(size_t count) {
    while (count-- > 0) put((unsigned)random_below(256));
}

/* Bytes or text, with zeros escaped and an end. */
static void put_string(unsigned code) {
    static const char texts[][12] = {"", "job", "x", "?int", "\xc3\xa9", "^a+", "(", "[a-z]*", "\xff", "a\\", "name"};
    const char *text = texts[random_below(sizeof texts / sizeof *texts)];
    put(code);
    while (*text != 0) put((unsigned char)*text++);
    if (random_below(4) == 0) {
        put(0);
        put(0xFF);
    }
    put(0);
}

/* An element that is often one of the tuple layer's, or of a template's. */
static void put_element(int depth) {
    static const uint8_t codes[] = {0x00, 0x01, 0x02, 0x05, 0x0C, 0x14, 0x15, 0x16, 0x1C, 0x1D, 0x20, 0x21, 0x26, 0x27, 0x30,
                                    0x33, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0xFF};
    unsigned code = codes[random_below(sizeof codes)];
    if (code == 0x01 || code == 0x02) {
        put_string(code);
        return;
    }
    put(code);
    if (code == 0x05 || code == 0x40) {
        for (uint64_t i = random_below(4); i > 0 && depth < 80; i--) {
            if (code == 0x40) put_string(0x02);
            put_element(depth + 1 + 30 * (random_below(20) == 0));
        }
        put(0);
    } else if (code > 0x05 && code < 0x1E) {
        put_random(code < 0x14 ? 0x14 - code : code - 0x14);
    } else if (code == 0x20 || code == 0x21) {
        put_random(code == 0x20 ? 4 : 8);
    } else if (code == 0x30) {
        put_random(16);
    } else if (code == 0x41) {
        put(codes[random_below(sizeof codes)]);
    } else if (code == 0x42) {
        put_element(depth + 40);
        put_element(depth + 40);
        put(0x26 + (unsigned)random_below(2));
    } else if (code == 0x43) {
        put_string(0x02);
    }
}

static void put_json(int depth) {
    static const char words[][16] = {"[", "]", "{", "}", ",", ":", "\"job\"", "\"?int\"", "\"?1...9\"", "\"?/^a/\"", "\"?...\"",
                                     "\"?\"", "1", "-0", "1e999", "0.5", "null", "true", "\"\\ud800\"", "\"write\"", "\"take\"",
                                     "\"complete\"", "\"tuples\"", "\"key\"", "\"events\"", "\xff", " "};
    for (uint64_t i = random_below(12) + 1; i > 0 && length < 400; i--) {
        if (random_below(depth > 0 ? 2 : 8) == 0 && depth < 100) {
            put('[');
            put_json(depth + 1);
            put(random_below(8) == 0 ? ',' : ']');
        } else {
            const char *word = words[random_below(sizeof words / sizeof *words)];
            while (*word != 0) put((unsigned char)*word++);
            if (random_below(3) > 0) put(',');
        }
    }
    if (length > 0 && buffer[length - 1] == ',') length--;
}

static sharedspace_bytes random_bytes(int is_json) {
    length = 0;
    if (random_below(8) == 0) {
        put_random(random_below(64));
    } else if (is_json) {
        put_json(0);
    } else {
        for (uint64_t i = random_below(5); i > 0; i--) put_element(0);
    }
    if (random_below(8) == 0 && length > 0) buffer[random_below(length)] = (uint8_t)random_below(256);
    if (random_below(16) == 0 && length > 0) length = random_below(length);
    return (sharedspace_bytes){buffer, length};
}

static int64_t random_number(void) {
    static const int64_t numbers[] = {0, 0, 0, 1, 2, 7, -1, -7, 1000, INT32_MAX, INT64_MAX, INT64_MIN};
    return numbers[random_below(sizeof numbers / sizeof *numbers)];
}

static sharedspace_how random_options(void) {
    sharedspace_how how = sharedspace_defaults();
    how.flags = random_below(8) == 0 ? (uint32_t)random_below(8192) : (uint32_t)random_below(4); /* RECORD, JSON */
    if (random_below(64) == 0) how.size = (uint32_t)random_below(2 * sizeof how);
    if (random_below(4) > 0) return how;
    /* Waiting is limited; all else may be any number. */
    how.timeout_ms = random_below(100) == 0 ? 1 : random_below(16) == 0 ? -7 : 0;
    how.deadline_ms = random_number();
    how.expires_ms = random_number();
    how.delay_ms = random_number();
    how.max = (uint64_t)random_number();
    how.priority = random_number();
    how.permits = random_number();
    how.count = random_number();
    how.deliveries = random_number();
    how.bound = random_number();
    how.interval_ms = random_number();
    how.group = random_below(4) == 0 ? "group" : NULL;
    how.unique = random_below(4) == 0 ? "\xff" : NULL;
    how.reason = random_below(4) == 0 ? "" : NULL;
    return how;
}

static uint64_t done, refused;

static int64_t note(int64_t outcome) {
    if (outcome >= 0) {
        done++;
        return outcome;
    }
    CHECK(outcome == -1 && sharedspace_error_code(error)[0] != 0 && sharedspace_error_message(error)[0] != 0);
    sharedspace_error_free(error);
    error = NULL;
    refused++;
    return outcome;
}

int main(int argc, char **argv) {
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20261129;
    state = seed * 2 + 1;
    alarm(argc > 1 ? 3000 : 120);
    sharedspace_ns *ns = open_namespace("n");
    sharedspace_loop *loop;
    sharedspace_result result = sharedspace_no_result(), text = sharedspace_no_result();
    sharedspace_bytes all = {(const uint8_t *)"\x45", 1};
    static const char *const names[] = {"a", "", "queue", "\xff", "lock", "*", "?", "[", "name/with/a/slash"};
    DONE(sharedspace_loop_open(&loop, &error));
    for (uint64_t i = 0; i < count; i++) {
        sharedspace_how how = random_options();
        sharedspace_bytes bytes = random_bytes((how.flags & SHAREDSPACE_JSON) != 0);
        const char *name = names[random_below(sizeof names / sizeof *names)];
        int what = (int)random_below(14);
        sharedspace_watch *watch;
        sharedspace_list *list;
        uint64_t number, token;
        int64_t sum;
        int outcome;
        switch (random_below(19)) {
        case 0:
        case 1:
        case 2: note(sharedspace_write(ns, &bytes, 1, &how, &number, &error)); break;
        case 3:
        case 4:
            if (note(sharedspace_find(ns, what % 5, &bytes, 1, &how, &result, &error)) == 1 && result.number > 0)
                note(sharedspace_end(ns, result.number, (int)random_below(6), &how, &error));
            break;
        case 5:
            if (note(sharedspace_find_all(ns, SHAREDSPACE_READ, &bytes, 1, &how, &list, &error)) == 1) {
                while (note(sharedspace_list_next(list, &result, &error)) == 1) {}
                sharedspace_list_free(list);
            }
            break;
        case 6: note(sharedspace_count(ns, &bytes, 1, &how, &error)); break;
        case 7:
            if (note(sharedspace_unpack(bytes, how.flags & (SHAREDSPACE_RECORD | SHAREDSPACE_VALUE), &text, &error)) == 1) {
                /* What was accepted is text that makes the same bytes. */
                sharedspace_bytes json = {text.bytes, text.count};
                if (note(sharedspace_pack(json, how.flags & SHAREDSPACE_VALUE, &result, &error)) == 1)
                    note(sharedspace_unpack((sharedspace_bytes){result.bytes, result.count},
                                            result.flags | (how.flags & SHAREDSPACE_VALUE), &result, &error));
            }
            break;
        case 8: note(sharedspace_pack(bytes, how.flags & SHAREDSPACE_VALUE, &result, &error)); break;
        case 9: note(sharedspace_transact(ns, bytes, &how, &result, &error)); break;
        case 10:
            how.value = random_below(2) == 0 ? bytes : how.value;
            note(sharedspace_set(ns, name, bytes, &how, &result, &error));
            note(sharedspace_get(ns, name, &how, &result, &error));
            note(sharedspace_add(ns, name, random_number(), &sum, &error));
            break;
        case 11:
            if (note(sharedspace_watch_open(ns, bytes, random_below(2) ? "initial" : name, &how, &watch, &error)) == 1) {
                note(sharedspace_watch_next(watch, &how, &result, &error));
                sharedspace_watch_close(watch);
            }
            break;
        case 12:
            note(sharedspace_put(ns, name, &bytes, 1, &how, &number, &error));
            how.timeout_ms = 0;
            if (note(sharedspace_item(ns, name, &how, &result, &error)) == 1)
                note(sharedspace_end(ns, result.number, (int)random_below(6), &how, &error));
            break;
        case 13:
            how.value = bytes;
            how.timeout_ms = 0;
            if (note(sharedspace_hold(ns, what % 5, &name, 1, &how, &result, &error)) == 1)
                note(sharedspace_let_go(ns, result.number, &error));
            break;
        case 14:
            if (note(sharedspace_cells(ns, name, &how, &list, &error)) == 1) sharedspace_list_free(list);
            note(sharedspace_post(ns, name, bytes, &how, &error));
            break;
        case 15:
            note(sharedspace_ordered(ns, name, what % 9, random_number(), &bytes, 1, &how, &sum, &error));
            if (note(sharedspace_elements(ns, name, random_number(), &how, &list, &error)) == 1)
                sharedspace_list_free(list);
            break;
        case 16:
            note(sharedspace_rule(ns, (int)random_below(16), name, (uint64_t)random_number(), &how, &sum, &error));
            how.timeout_ms = 0;
            note(sharedspace_pass(ns, what, name, &how, &error));
            note(sharedspace_expire(ns, name, 0, &how, &error));
            note(sharedspace_proclaim(ns, name, (uint64_t)random_number(), bytes, &how, &error));
            break;
        case 17:
            if (note(sharedspace_find_all(ns, 4 + what % 2, &bytes, 1, &how, &list, &error)) == 1)
                sharedspace_list_free(list);
            note(sharedspace_bury(ns, &bytes, 1, &how, &error));
            note(sharedspace_kick(ns, &bytes, 1, &how, &error));
            how.timeout_ms = 1;
            note(sharedspace_request(ns, name, bytes, &how, &result, &error));
            break;
        default:
            note(sharedspace_loop_begin(loop, i, ns, what, &bytes, &name, 1, &how, &error));
            if (random_below(2) == 0) note(sharedspace_loop_cancel(loop, i, &error));
            while (note(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1) {
                if (outcome < 0) note(-1);
                else if (outcome == 1 && result.number > 0 && what == SHAREDSPACE_WAIT_CLAIM)
                    note(sharedspace_end(ns, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
                else if (outcome == 1 && result.number > 0 && what != SHAREDSPACE_WAIT_ITEM)
                    note(sharedspace_let_go(ns, result.number, &error));
            }
        }
        /* The namespace stays small; and it still works. */
        if (i % 256 == 255) {
            sharedspace_how none = sharedspace_defaults();
            if (DONE(sharedspace_find_all(ns, SHAREDSPACE_TAKE, &all, 1, &none, &list, &error)) == 1)
                sharedspace_list_free(list);
            CHECK(sharedspace_count(ns, &all, 1, &none, &error) == 0);
        }
    }
    sharedspace_loop_close(loop);
    if (argc > 1) printf("%llu calls done, %llu refused\n", (unsigned long long)done, (unsigned long long)refused);
    CHECK(done > count / 8 && refused > count / 8);
    sharedspace_result_free(&result);
    sharedspace_result_free(&text);
    DONE(sharedspace_ns_close(ns, &error));
    return 0;
}
