// SQLite as a queue between processes: a table in WAL mode with synchronous off, on tmpfs.
//
//   sqlite FILE WORK …
//
// It can't wait for a row: a process that finds none looks again after 50 µs, which spares the writer's lock.

#include "../bench.h"
#include <sqlite3.h>

static const char *path;
static sqlite3 *database;
static sqlite3_stmt *put_row, *take_row, *claim_row, *complete_row;
static char message[65];

static void must(int code, int expected) {
    if (code == expected) return;
    fprintf(stderr, "sqlite: %s\n", database ? sqlite3_errmsg(database) : sqlite3_errstr(code));
    exit(70);
}

static sqlite3_stmt *prepare(const char *text) {
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK);
    return statement;
}

static void execute(const char *text) { must(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK); }

// Once, by the parent: changing the mode needs exclusive use of the file.
static void create(void) {
    must(sqlite3_open(path, &database), SQLITE_OK);
    execute("PRAGMA journal_mode=WAL;"
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, kind TEXT, claimed INT, body TEXT);"
            "CREATE INDEX by_kind ON jobs (kind, claimed, id)");
    must(sqlite3_close(database), SQLITE_OK);
    database = NULL;
}

static void open_once(void) {
    if (database) return;
    must(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 60000);
    execute("PRAGMA synchronous=OFF");
    put_row = prepare("INSERT INTO jobs (kind, claimed, body) VALUES (?, 0, ?)");
    take_row = prepare("DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE kind = ? AND claimed = 0 ORDER BY id LIMIT 1)"
                       " RETURNING body");
    claim_row = prepare("UPDATE jobs SET claimed = 1 WHERE id = "
                        "(SELECT id FROM jobs WHERE kind = ? AND claimed = 0 ORDER BY id LIMIT 1) RETURNING id, body");
    complete_row = prepare("DELETE FROM jobs WHERE id = ?");
}

static void put(long number, void *kind) {
    (void)number;
    sqlite3_bind_text(put_row, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(put_row, 2, message, 64, SQLITE_STATIC);
    must(sqlite3_step(put_row), SQLITE_DONE);
    must(sqlite3_reset(put_row), SQLITE_OK);
}

static int try_take(const char *kind) {
    sqlite3_bind_text(take_row, 1, kind, -1, SQLITE_STATIC);
    int code = sqlite3_step(take_row), found = code == SQLITE_ROW;
    if (found) {
        MUST(sqlite3_column_bytes(take_row, 0) == 64);
        code = sqlite3_step(take_row);
    }
    must(code, SQLITE_DONE);
    must(sqlite3_reset(take_row), SQLITE_OK);
    return found;
}

static void take_one(long number, void *kind) { (void)number; MUST(try_take(kind)); }

static void block(const char *kind) {
    while (!try_take(kind)) usleep(50);
}

static void one(long count) {
    open_once();
    measure("write", count, put, "job");
    measure("take", count, take_one, "job");
}

static void claim_and_complete(long number, void *context) {
    (void)number, (void)context;
    sqlite3_bind_text(claim_row, 1, "job", -1, SQLITE_STATIC);
    must(sqlite3_step(claim_row), SQLITE_ROW);
    sqlite3_bind_int64(complete_row, 1, sqlite3_column_int64(claim_row, 0));
    must(sqlite3_step(claim_row), SQLITE_DONE);
    must(sqlite3_reset(claim_row), SQLITE_OK);
    must(sqlite3_step(complete_row), SQLITE_DONE);
    must(sqlite3_reset(complete_row), SQLITE_OK);
}

static void claim(long count) {
    open_once();
    for (long i = 0; i < count; i++) put(i, "job");
    measure("claim", count, claim_and_complete, NULL);
}

static void answer(int count, void *context) {
    (void)context;
    open_once();
    for (int i = 0; i < count; i++) block("ping"), put(0, "pong");
}

static void there_and_back(void) { put(0, "ping"), block("pong"); }

static void ping_pong(long count) {
    start_child(answer, (int)count, NULL);
    open_once();
    measure_round_trips(count, there_and_back);
}

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    open_once();
    for (long i = 0; i < count; i++) put(i, "job");
}

static void take(long count, int number, void *context) {
    (void)number, (void)context;
    open_once();
    for (long i = 0; i < count; i++) block("job");
}

int main(int count, char **words) {
    path = count > 1 ? words[1] : "";
    memset(message, 'x', 64);
    create();
    return run_peer((struct peer){one, ping_pong, claim, produce, take}, count, words);
}
