// etcd itself, the floor under what several machines do, and the queue recipe of its Go client.
//
//   etcd HOST:PORT,… WORK MILLISECONDS CLIENTS
//
//   put          a put of 256 bytes under a key of the client's own
//   append       a transaction with one compare and three puts, as an append to a replicated namespace's log has
//   round-trip   a linearizable read of one key
//   recipe       the oldest key under a prefix is read (limit 1, sorted by revision), then deleted if it has not changed,
//                until that succeeds: experimental/recipes/queue.go. The server reads and sorts the whole prefix each time,
//                so its queue is short.
//
// Each client is a process with one connection to each member, and uses them by turns; it makes one call at a time. All
// begin together and go on until the time is over, or the queue is empty. Printed are the time of all ÷ the number of
// operations under the work's name, and the times of single operations under the name and `each`.

#include "../bench.h"
#include "grpc.h"

enum { MOST_MEMBERS = 9, MOST_CLIENTS = 64, ROOM = 1 << 16, QUEUE = 500, PUTS_AT_ONCE = 100, VALUE = 256 };

static char *addresses[MOST_MEMBERS];
static int members, client_number;
static struct grpc *servers[MOST_MEMBERS];
static char value[VALUE], prefix[64];
// Reused, because each operation has one of each.
static struct bytes message, operation, part;

static struct {
    _Atomic int ready;
    _Atomic uint64_t start;
    struct {
        long count;
        uint64_t end;
        double times[ROOM];
    } clients[MOST_CLIENTS];
} *shared;

// MARK: Requests

static struct part call(const char *path) {
    static unsigned turn;
    struct grpc *server = servers[turn++ % (unsigned)members];
    struct part answer = grpc_call(server, path, &message);
    message.count = 0;
    return answer;
}

static void put_text(struct bytes *to, unsigned field, const char *text) { put_blob(to, field, text, strlen(text)); }

// Puts a PutRequest.
static void put_put(struct bytes *to, const char *key, const void *data, size_t count) {
    put_text(to, 1, key);
    put_blob(to, 2, data, count);
}

// Adds a put to a TxnRequest.
static void then_put(const char *key, const void *data, size_t count) {
    put_put(&part, key, data, count);
    put_message(&operation, 2, &part); // RequestOp.request_put
    put_message(&message, 2, &operation); // TxnRequest.success
}

// Runs the TxnRequest. Returns whether its compares held.
static int transact(void) {
    struct part answer = call("/etcdserverpb.KV/Txn"), ignored;
    uint64_t number;
    int held = 0;
    for (unsigned field; (field = take_field(&answer, &number, &ignored));) {
        if (field == 2) held = number != 0; // TxnResponse.succeeded
    }
    return held;
}

// MARK: Works; each operation returns whether there was something to do.

static int put_once(void) {
    char key[96];
    snprintf(key, sizeof key, "%sput/%d", prefix, client_number);
    put_put(&message, key, value, sizeof value);
    call("/etcdserverpb.KV/Put");
    return 1;
}

static int append(void) {
    static uint64_t head;
    char key[96], last[96], entry[96];
    snprintf(key, sizeof key, "%shead/%d", prefix, client_number);
    snprintf(last, sizeof last, "%slast/%d", prefix, client_number);
    snprintf(entry, sizeof entry, "%slog/%d/%016llx", prefix, client_number, (unsigned long long)head + 1);
    if (head == 0) { // The key does not exist: its revision is 0.
        put_number(&part, 2, 2); // Compare.target: MOD
        put_text(&part, 3, key);
        put_number(&part, 6, 0); // Compare.mod_revision
    } else {
        put_number(&part, 2, 3); // Compare.target: VALUE
        put_text(&part, 3, key);
        put_blob(&part, 7, &head, sizeof head); // Compare.value
    }
    put_message(&message, 1, &part); // TxnRequest.compare
    head++;
    then_put(entry, value, sizeof value);
    then_put(key, &head, sizeof head);
    then_put(last, &head, sizeof head);
    MUST(transact());
    return 1;
}

static int round_trip(void) {
    char key[96];
    snprintf(key, sizeof key, "%sround-trip", prefix);
    put_text(&message, 1, key);
    call("/etcdserverpb.KV/Range");
    return 1;
}

static void fill_queue(void) {
    char key[96];
    for (int i = 0; i < QUEUE; i++) {
        snprintf(key, sizeof key, "%squeue/%08d", prefix, i);
        then_put(key, value, 64);
        if ((i + 1) % PUTS_AT_ONCE == 0) MUST(transact());
    }
}

static int take_oldest(void) {
    char first[96], end[96], key[96];
    snprintf(first, sizeof first, "%squeue/", prefix);
    snprintf(end, sizeof end, "%squeue0", prefix); // '0' comes behind '/'
    for (;;) {
        put_text(&message, 1, first);
        put_text(&message, 2, end);
        put_number(&message, 3, 1); // RangeRequest.limit
        put_number(&message, 5, 1); // RangeRequest.sort_order: ASCEND, which 0 (NONE) would not be
        put_number(&message, 6, 3); // RangeRequest.sort_target: MOD, as the recipe has it
        struct part answer = call("/etcdserverpb.KV/Range"), row;
        uint64_t number, revision = 0;
        size_t length = 0;
        for (unsigned field; (field = take_field(&answer, &number, &row));) {
            if (field != 2) continue; // RangeResponse.kvs
            struct part text;
            for (unsigned inner; (inner = take_field(&row, &number, &text));) {
                if (inner == 3) revision = number; // KeyValue.mod_revision
                if (inner != 1) continue; // KeyValue.key
                length = (size_t)(text.end - text.data);
                MUST(length < sizeof key);
                memcpy(key, text.data, length);
            }
        }
        if (length == 0) return 0;
        put_number(&part, 2, 2); // Compare.target: MOD
        put_blob(&part, 3, key, length);
        put_number(&part, 6, revision); // Compare.mod_revision
        put_message(&message, 1, &part); // TxnRequest.compare
        put_blob(&part, 1, key, length);
        put_message(&operation, 3, &part); // RequestOp.request_delete_range
        put_message(&message, 2, &operation); // TxnRequest.success
        if (transact()) return 1;
    }
}

// MARK: Clients

struct work {
    const char *name;
    int (*once)(void);
    void (*prepare)(void);
    uint64_t milliseconds;
};

static void connect_all(void) {
    for (int i = 0; i < members; i++) servers[i] = grpc_connect(addresses[i]);
    // Includes what a first call sets up.
    for (int i = 0; i < members; i++) round_trip();
}

static void run_client(int number, void *context) {
    struct work *work = context;
    client_number = number;
    connect_all();
    atomic_fetch_add(&shared->ready, 1);
    uint64_t start;
    while (!(start = atomic_load(&shared->start))) usleep(100);
    uint64_t deadline = start + work->milliseconds * 1000000, last = now_ns();
    long count = 0;
    while (last < deadline && count < ROOM && work->once()) {
        uint64_t now = now_ns();
        shared->clients[number].times[count++] = (double)(now - last);
        last = now;
        shared->clients[number].end = now;
    }
    shared->clients[number].count = count;
}

static void measure_clients(struct work work, int clients) {
    if (work.prepare) {
        connect_all();
        work.prepare();
    }
    for (int i = 0; i < clients; i++) start_child(run_client, i, &work);
    while (atomic_load(&shared->ready) < clients) {
        MUST(waitpid(-1, NULL, WNOHANG) == 0);
        usleep(1000);
    }
    uint64_t start = now_ns(), end = start;
    atomic_store(&shared->start, start);
    wait_children();
    long count = 0;
    for (int i = 0; i < clients; i++) count += shared->clients[i].count;
    struct latencies all = new_latencies(count);
    for (int i = 0; i < clients; i++) {
        memcpy(all.times + all.count, shared->clients[i].times, sizeof(double) * (size_t)shared->clients[i].count);
        all.count += shared->clients[i].count;
        if (shared->clients[i].end > end) end = shared->clients[i].end;
    }
    tell(work.name, (double)(end - start) / (double)all.count);
    char name[64];
    snprintf(name, sizeof name, "%s, each", work.name);
    tell_latencies(name, &all, 1);
}

int main(int count, char **words) {
    static const struct work works[] = {
        {"put", put_once, NULL, 0},
        {"append", append, NULL, 0},
        {"round-trip", round_trip, NULL, 0},
        {"recipe", take_oldest, fill_queue, 0},
    };
    int clients = count == 5 ? atoi(words[4]) : 0;
    long milliseconds = count == 5 ? atol(words[3]) : 0;
    if (clients > 0 && clients <= MOST_CLIENTS && milliseconds > 0) {
        for (char *address = strtok(words[1], ","); address; address = strtok(NULL, ",")) {
            MUST(members < MOST_MEMBERS);
            addresses[members++] = address;
        }
        memset(value, 'x', sizeof value);
        snprintf(prefix, sizeof prefix, "/benchmark/%d/", getpid());
        shared = shared_memory(sizeof *shared);
        for (size_t i = 0; i < sizeof works / sizeof *works && members > 0; i++) {
            if (strcmp(works[i].name, words[2])) continue;
            struct work work = works[i];
            work.milliseconds = (uint64_t)milliseconds;
            measure_clients(work, clients);
            return 0;
        }
    }
    fprintf(stderr, "usage: %s HOST:PORT,… put|append|round-trip|recipe MILLISECONDS CLIENTS\n", words[0]);
    return 64;
}
