/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/tree.h"
#include "trial/saved.h"

/* ---- SQL ----------------------------------------------------------------------------------------- */

static const char schema[] =
    "CREATE TABLE session(id INTEGER PRIMARY KEY, started REAL, ended REAL, end TEXT, program TEXT,"
    " host TEXT, engine TEXT);"
    "CREATE TABLE machine(id INTEGER PRIMARY KEY, target TEXT, description TEXT, identity TEXT,"
    " sources TEXT, configuration TEXT, revision TEXT, UNIQUE(target, identity));"
    "CREATE TABLE run(id INTEGER PRIMARY KEY, name TEXT UNIQUE, words TEXT, target TEXT, model TEXT,"
    " seed INTEGER, weight REAL, machine INTEGER REFERENCES machine, identity TEXT, tests INTEGER,"
    " cycles INTEGER, seconds REAL);"
    "CREATE TABLE unit(run INTEGER REFERENCES run, first INTEGER, count INTEGER,"
    " session INTEGER REFERENCES session, finished REAL, seconds REAL, operations INTEGER,"
    " cycles INTEGER, end TEXT, points INTEGER, PRIMARY KEY(run, first)) WITHOUT ROWID;"
    "CREATE TABLE test(run INTEGER, number INTEGER, verdict TEXT, profile TEXT, configuration TEXT,"
    " iterations INTEGER, outcomes INTEGER, operations INTEGER, cycles INTEGER, seconds REAL,"
    " points INTEGER, news INTEGER, PRIMARY KEY(run, number)) WITHOUT ROWID;"
    "CREATE INDEX test_notable ON test(run, verdict) WHERE verdict <> 'PASS';"
    "CREATE TABLE bucket(id INTEGER PRIMARY KEY, signature TEXT UNIQUE, kind TEXT, title TEXT,"
    " folder TEXT, run INTEGER, number INTEGER, operations INTEGER, state TEXT);"
    "CREATE TABLE failure(run INTEGER, number INTEGER, iteration INTEGER,"
    " bucket INTEGER REFERENCES bucket, model TEXT, folder TEXT, reason TEXT, operations INTEGER,"
    " PRIMARY KEY(run, number)) WITHOUT ROWID;"
    "CREATE INDEX failure_bucket ON failure(bucket, run, number);"
    "CREATE TABLE incident(id INTEGER PRIMARY KEY, run INTEGER, first INTEGER, session INTEGER,"
    " time REAL, kind TEXT, text TEXT);"
    "CREATE INDEX incident_run ON incident(run);"
    "CREATE TABLE point(run INTEGER, name TEXT, count INTEGER, number INTEGER,"
    " PRIMARY KEY(run, name)) WITHOUT ROWID;"
    "CREATE TABLE cover(run INTEGER PRIMARY KEY, known INTEGER);";

/* STATEMENT(NAME, SQL): prepared when it is first used. */
/* clang-format off */
#define BUCKET_FIELDS \
    "b.id, b.run, b.number, b.operations, b.signature, b.kind, b.title, b.folder, b.state," \
    " (SELECT name FROM run WHERE id = b.run)"
/* A point `p` of the old run `o` that is not missed by chance: the same machine, if it is an exact target,
 * does the same again; what ten of as many tests are expected to reach one does, but for one in 20,000. */
#define TO_BE_REACHED \
    "p.run = o.id AND p.number < u.tests AND (p.count * u.tests >= 10 * v.tests" \
    " OR o.identity = r.identity AND r.target NOT IN ('native', 'elf'))"
#define STATEMENTS(STATEMENT) \
    STATEMENT(BEGIN, "BEGIN IMMEDIATE") \
    STATEMENT(COMMIT, "COMMIT") \
    STATEMENT(ROLLBACK, "ROLLBACK") \
    STATEMENT(ADD_SESSION, "INSERT INTO session(started, program, host, engine) VALUES(?,?,?,?)") \
    STATEMENT(END_SESSION, "UPDATE session SET ended = ?, end = ? WHERE id = ?") \
    STATEMENT(ELAPSED, "SELECT sum(coalesce(ended, (SELECT max(finished) FROM unit" \
        " WHERE session = session.id), started) - started) FROM session") \
    STATEMENT(FIND_RUN, "SELECT run.id, run.words, run.identity, machine.identity," \
        " machine.sources, machine.revision FROM run JOIN machine ON machine.id = run.machine" \
        " WHERE run.name = ?") \
    STATEMENT(ADD_MACHINE, "INSERT OR IGNORE INTO machine(target, description, identity, sources," \
        " configuration, revision) VALUES(?,?,?,?,?,?)") \
    STATEMENT(ADD_RUN, "INSERT INTO run(name, words, target, model, seed, weight, machine," \
        " identity) VALUES(?,?,?,?,?,?,(SELECT id FROM machine WHERE target = ? AND identity = ?),?)") \
    STATEMENT(SET_BUDGET, "UPDATE run SET weight = ?, tests = nullif(?, 0), cycles = nullif(?, 0)," \
        " seconds = nullif(?, 0) WHERE id = ?") \
    STATEMENT(PROGRESS, "SELECT max(first + count), sum(cycles), sum(seconds) FROM unit" \
        " WHERE run = ?") \
    STATEMENT(POINTS, "SELECT name FROM point WHERE run = ?") \
    STATEMENT(ADD_UNIT, "INSERT INTO unit VALUES(?,?,?,?,?,?,?,?,?,?)") \
    STATEMENT(ADD_TEST, "INSERT INTO test VALUES(?,?,?,?,?,?,?,?,?,?,?,?)") \
    STATEMENT(FIND_BUCKET, "SELECT " BUCKET_FIELDS ", 0 FROM bucket b WHERE b.signature = ?") \
    STATEMENT(ADD_BUCKET, "INSERT INTO bucket VALUES(?,?,?,?,?,?,?,?,'new')") \
    STATEMENT(SET_EXAMPLE, "UPDATE bucket SET title = ?, folder = ?, run = ?, number = ?," \
        " operations = ? WHERE id = ?") \
    STATEMENT(RANK, "SELECT count(*) FROM (SELECT 1 FROM failure WHERE bucket = ? AND run = ?" \
        " AND number < ? LIMIT ?)") \
    STATEMENT(DROP_FOLDER, "UPDATE failure SET folder = NULL WHERE run = ? AND number = ?") \
    STATEMENT(ADD_FAILURE, "INSERT INTO failure VALUES(?,?,?,?,?,?,?,?)") \
    STATEMENT(ADD_INCIDENT, "INSERT INTO incident(run, first, session, time, kind, text)" \
        " VALUES(?,?,?,?,?,?)") \
    STATEMENT(ADD_POINT, "INSERT INTO point VALUES(?,?,?,?)" \
        " ON CONFLICT(run, name) DO UPDATE SET count = count + excluded.count") \
    STATEMENT(SET_COVER, "INSERT OR REPLACE INTO cover VALUES(?,?)") \
    STATEMENT(NEXT_NEW, "SELECT " BUCKET_FIELDS ", 0 FROM bucket b WHERE b.state = 'new'" \
        " AND b.folder IS NOT NULL AND b.id > ? ORDER BY b.id LIMIT 1") \
    STATEMENT(SET_SMALL, "UPDATE bucket SET title = ?, folder = ?, operations = ?, state = ?" \
        " WHERE id = ?") \
    STATEMENT(NAMED, "SELECT 1 FROM failure WHERE folder = ?1 UNION ALL" \
        " SELECT 1 FROM bucket WHERE folder = ?1 LIMIT 1") \
    STATEMENT(FOLDERS, "SELECT folder FROM failure WHERE folder IS NOT NULL") \
    STATEMENT(SUMS, "SELECT r.id, r.name, r.target, u.tests, u.skipped, u.operations, u.cycles," \
        " u.seconds, (SELECT count(*) FROM point WHERE run = r.id)," \
        " (SELECT known FROM cover WHERE run = r.id)," \
        " (SELECT count(*) FROM incident WHERE run = r.id)" \
        " FROM run r LEFT JOIN (SELECT run, sum(CASE end WHEN 'skipped' THEN 0 ELSE count END)" \
        " tests, sum(CASE end WHEN 'skipped' THEN count ELSE 0 END) skipped, sum(operations)" \
        " operations, sum(cycles) cycles, sum(seconds) seconds FROM unit GROUP BY run) u" \
        " ON u.run = r.id ORDER BY r.id") \
    STATEMENT(NOTABLE, "SELECT verdict, count(*) FROM test WHERE run = ? AND verdict <> 'PASS'" \
        " GROUP BY verdict") \
    STATEMENT(BUCKETS, "SELECT " BUCKET_FIELDS ", f.n FROM bucket b JOIN (SELECT bucket," \
        " count(*) n FROM failure GROUP BY bucket) f ON f.bucket = b.id ORDER BY f.n DESC, b.id") \
    STATEMENT(BUCKETS_OF, "SELECT " BUCKET_FIELDS ", f.n FROM bucket b JOIN (SELECT bucket," \
        " count(*) n FROM failure WHERE run = ? GROUP BY bucket) f ON f.bucket = b.id" \
        " ORDER BY f.n DESC, b.id") \
    STATEMENT(INCIDENTS, "SELECT (SELECT name FROM run WHERE id = incident.run), kind, text," \
        " min(first), count(*) FROM incident WHERE run IS nullif(?, 0) GROUP BY kind, text ORDER BY min(id)") \
    STATEMENT(COMPARE_NEW, "SELECT b.signature, b.title, 0, (SELECT count(*) FROM failure" \
        " WHERE bucket = b.id) FROM bucket b" \
        " WHERE b.signature NOT IN (SELECT signature FROM old.bucket) ORDER BY b.id") \
    STATEMENT(COMPARE_GONE, "SELECT b.signature, b.title, count(*), 0 FROM old.bucket b" \
        " JOIN old.failure f ON f.bucket = b.id JOIN old.run o ON o.id = f.run" \
        " JOIN run r ON r.name = o.name JOIN test t ON t.run = r.id AND t.number = f.number" \
        " WHERE b.signature NOT IN (SELECT signature FROM bucket) GROUP BY b.id ORDER BY b.id") \
    STATEMENT(COMPARE_FLAKY, "SELECT r.name || '#' || n.number, a.verdict || ' before, now '" \
        " || n.verdict, 0, 0 FROM (SELECT x.run, x.number, x.verdict FROM test x" \
        " WHERE x.verdict IN ('FAIL')) n JOIN run r ON r.id = n.run" \
        " JOIN old.run o ON o.name = r.name AND o.identity = r.identity" \
        " JOIN old.test a ON a.run = o.id AND a.number = n.number AND a.verdict = 'PASS'" \
        " UNION ALL" \
        " SELECT r.name || '#' || n.number, n.verdict || ' before, now ' || a.verdict, 0, 0" \
        " FROM (SELECT x.run, x.number, x.verdict FROM old.test x WHERE x.verdict IN ('FAIL')) n" \
        " JOIN old.run o ON o.id = n.run JOIN run r ON o.name = r.name AND o.identity = r.identity" \
        " JOIN test a ON a.run = r.id AND a.number = n.number AND a.verdict = 'PASS'") \
    STATEMENT(COMPARE_SLOWER, "SELECT r.name, 'seconds of ' || count(*) || ' tests'," \
        " sum(a.seconds), sum(n.seconds) FROM run r JOIN old.run o ON o.name = r.name" \
        " JOIN test n ON n.run = r.id JOIN old.test a ON a.run = o.id AND a.number = n.number" \
        " WHERE n.verdict = 'PASS' AND a.verdict = 'PASS' GROUP BY r.id" \
        " HAVING sum(n.seconds) > 1.25 * sum(a.seconds) AND sum(n.seconds) > 0.5" \
        " UNION ALL SELECT r.name, 'cycles of ' || count(*) || ' tests', sum(a.cycles)," \
        " sum(n.cycles) FROM run r JOIN old.run o ON o.name = r.name" \
        " JOIN test n ON n.run = r.id JOIN old.test a ON a.run = o.id AND a.number = n.number" \
        " WHERE n.verdict = 'PASS' AND a.verdict = 'PASS' GROUP BY r.id" \
        " HAVING sum(n.cycles) > 1.05 * sum(a.cycles)") \
    STATEMENT(COMPARE_COVER, "SELECT r.name, (SELECT name FROM old.point p WHERE " TO_BE_REACHED \
        " AND NOT EXISTS (SELECT 1 FROM point WHERE run = r.id AND name = p.name) LIMIT 1)," \
        " (SELECT count(*) FROM old.point p WHERE " TO_BE_REACHED ")," \
        " (SELECT count(*) FROM old.point p WHERE " TO_BE_REACHED \
        " AND EXISTS (SELECT 1 FROM point WHERE run = r.id AND name = p.name)) FROM run r" \
        " JOIN old.run o ON o.name = r.name" \
        " JOIN (SELECT run, max(first + count) tests FROM unit GROUP BY run) u ON u.run = r.id" \
        " JOIN (SELECT run, max(first + count) tests FROM old.unit GROUP BY run) v ON v.run = o.id")
/* clang-format on */

enum statement {
#define STATEMENT(NAME, SQL) SQL_##NAME,
    STATEMENTS(STATEMENT)
#undef STATEMENT
        SQL_COUNT
};
static const char *const sql[] = {
#define STATEMENT(NAME, SQL) SQL,
    STATEMENTS(STATEMENT)
#undef STATEMENT
};

enum { LONGEST_VALUE = 16 << 20 }; /* bytes */

struct store {
    char *file, *folder;
    int lock; /* of the folder; -1: it is only read */
    sqlite3 *db;
    int64_t session;
    sqlite3_stmt *prepared[SQL_COUNT];
    /* Of a transaction a statement failed. SQLite may have rolled back by itself then, and what follows
     * would be committed alone: so nothing follows. */
    bool broken;
    bool inside; /* a transaction */
};

const char *const store_changes[] = { "NEW", "GONE", "FLAKY", "SLOWER", "UNCOVERED" };

const char *store_folder(const struct store *s) { return s->folder; }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- statements ---------------------------------------------------------------------------------- */

static bool complain_of(struct store *s, struct why *why)
{
    int code = sqlite3_errcode(s->db);
    return why_say(why, "%.300s: %s%s", s->file, sqlite3_errmsg(s->db),
                   code == SQLITE_FULL || code == SQLITE_IOERR
                       ? "; nothing that was told is lost, and the same command goes on once there "
                         "is room"
                       : "");
}

static bool is_good(struct store *s, bool good)
{
    s->broken |= !good;
    return good;
}

/* One character each: i int64_t, d double, t text or NULL. NULL: it failed. */
static sqlite3_stmt *bind(struct store *s, enum statement which, const char *types, va_list args)
{
    sqlite3_stmt **p = &s->prepared[which];
    int error = SQLITE_OK;
    if ((s->inside && s->broken)
        || !is_good(s, *p || sqlite3_prepare_v2(s->db, sql[which], -1, p, NULL) == SQLITE_OK))
        return NULL;
    sqlite3_reset(*p);
    for (int i = 0; types[i]; i++)
        switch (types[i]) {
        case 'i': error |= sqlite3_bind_int64(*p, i + 1, va_arg(args, int64_t)); break;
        case 'd': error |= sqlite3_bind_double(*p, i + 1, va_arg(args, double)); break;
        default:
            error |= sqlite3_bind_text(*p, i + 1, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
        }
    return is_good(s, error == SQLITE_OK) ? *p : NULL;
}

static sqlite3_stmt *query(struct store *s, enum statement which, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    sqlite3_stmt *q = bind(s, which, types, args);
    va_end(args);
    return q;
}

static bool row(struct store *s, sqlite3_stmt *q)
{
    int step = q ? sqlite3_step(q) : SQLITE_ERROR;
    is_good(s, step == SQLITE_ROW || step == SQLITE_DONE);
    return step == SQLITE_ROW;
}

/* After the last row: nothing failed. */
static bool was_all(sqlite3_stmt *q) { return q && sqlite3_reset(q) == SQLITE_OK; }

static void path_in(const struct store *s, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", s->folder, name);
}

/* Who removes or replaces the file while it is open takes all that is written from now on with it; without
 * our lock another may write, too. */
static bool is_in_place(struct store *s, struct why *why)
{
    char path[PATH_MAX];
    struct stat held, there;
    int moved = 0;
    path_in(s, path, "lock");
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return why_say(why,
                       "%.300s was removed or replaced by somebody; what was kept is gone with it",
                       s->file);
    return s->lock < 0
        || (fstat(s->lock, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino
            && held.st_dev == there.st_dev)
        || why_say(why, "%.300s was removed or replaced by somebody", path);
}

static bool execute(struct store *s, struct why *why, enum statement which, const char *types, ...)
{
    if (which != SQL_ROLLBACK && !is_in_place(s, why))
        return false;
    va_list args;
    va_start(args, types);
    sqlite3_stmt *q = bind(s, which, types, args);
    va_end(args);
    bool good = is_good(s, q && sqlite3_step(q) == SQLITE_DONE);
    if (!good)
        complain_of(s, why);
    if (q)
        sqlite3_reset(q);
    return good;
}

static bool begin(struct store *s, struct why *why)
{
    s->broken = false;
    return s->inside = execute(s, why, SQL_BEGIN, "");
}

static void roll_back(struct store *s)
{
    struct why unheard;
    s->inside = false;
    if (!sqlite3_get_autocommit(s->db))
        execute(s, &unheard, SQL_ROLLBACK, "");
}

static bool commit(struct store *s, struct why *why)
{
    bool good = execute(s, why, SQL_COMMIT, "");
    s->inside = s->inside && !good; /* roll_back() has to end it else */
    return good;
}

static void copy_column(sqlite3_stmt *q, int column, char *to, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    snprintf(to, size, "%s", text ? text : "");
}

/* ---- folders ------------------------------------------------------------------------------------- */

static bool make_folder(const struct store *s, const char *name, struct why *why)
{
    char path[PATH_MAX];
    path_in(s, path, name);
    int error = output_directory(path);
    return !error || why_say(why, "%.300s: %s", path, strerror(error));
}

/* What a session before this one left when it was killed. */
static void remove_unnamed(struct store *s)
{
    char path[PATH_MAX];
    path_in(s, path, "failures");
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[300];
        if (*e->d_name == '.')
            continue;
        snprintf(name, sizeof name, "failures/%s", e->d_name);
        sqlite3_stmt *q = query(s, SQL_NAMED, "t", name);
        path_in(s, path, name);
        if (q && sqlite3_step(q) == SQLITE_DONE)
            tree_remove(path);
        if (q)
            sqlite3_reset(q);
    }
    if (d)
        closedir(d);
}

static bool clear_work(struct store *s, struct why *why)
{
    char path[PATH_MAX];
    path_in(s, path, "work");
    tree_remove(path);
    return make_folder(s, "work", why) && make_folder(s, "failures", why);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static bool say_holder(struct store *s, const char *path, struct why *why)
{
    char who[128] = "";
    FILE *in = fopen(path, "re");
    if (!in || !fgets(who, sizeof who, in))
        snprintf(who, sizeof who, "somebody");
    who[strcspn(who, "\n")] = '\0';
    if (in)
        fclose(in);
    return why_say(why,
                   "%.300s: %s is at work on it; --wait waits until it ends, --db takes another",
                   s->file, who);
}

static bool take_lock(struct store *s, bool wait, struct why *why)
{
    char path[PATH_MAX], host[64] = "", text[128];
    path_in(s, path, "lock");
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->lock < 0)
        return why_say(why, "%.300s: %s", path, strerror(errno));
    while (flock(s->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return why_say(why, "%.300s: %s", path, strerror(errno));
        if (interrupted())
            return why_say(why, "interrupted");
        if (!wait)
            return say_holder(s, path, why);
        pause_for(0.2);
    }
    gethostname(host, sizeof host - 1);
    int length = snprintf(text, sizeof text, "process %d on %s\n", (int)getpid(), host);
    if (ftruncate(s->lock, 0) != 0 || pwrite(s->lock, text, (size_t)length, 0) != length)
        return why_say(why, "%.300s: %s", path, strerror(errno));
    return true;
}

static int64_t pragma(struct store *s, const char *text, char *word, size_t size)
{
    sqlite3_stmt *q = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(s->db, text, -1, &q, NULL) == SQLITE_OK && row(s, q)) {
        value = sqlite3_column_int64(q, 0);
        if (word)
            copy_column(q, 0, word, size);
    }
    sqlite3_finalize(q);
    return value;
}

static bool check_version(struct store *s, struct why *why)
{
    int64_t application = pragma(s, "PRAGMA application_id", NULL, 0);
    int64_t version = pragma(s, "PRAGMA user_version", NULL, 0);
    if (application < 0 || version < 0)
        return complain_of(s, why);
    if (application != STORE_APPLICATION)
        return why_say(why, "%.300s is no database of a regression; name another one", s->file);
    return version == STORE_VERSION
        || why_say(
               why,
               "%.300s is a database of version %d, this program knows %d: go on with the program "
               "that wrote it ('select program from session'), or begin a new one with --db",
               s->file, (int)version, STORE_VERSION);
}

static bool run_script(struct store *s, const char *text, struct why *why)
{
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK || complain_of(s, why);
}

static bool make_schema(struct store *s, struct why *why)
{
    char head[128];
    snprintf(head, sizeof head, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             STORE_APPLICATION, STORE_VERSION);
    bool good = begin(s, why) && run_script(s, schema, why) && run_script(s, head, why)
             && commit(s, why);
    if (!good)
        roll_back(s);
    return good;
}

static bool open_file(struct store *s, int flags, struct why *why)
{
    if (sqlite3_open_v2(s->file, &s->db, flags, NULL) != SQLITE_OK)
        return s->db ? complain_of(s, why) : why_say(why, "out of memory");
    /* It may be a stranger's: nothing in it is executed. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_busy_timeout(s->db, 10000);
    return true;
}

static struct store *new_store(const char *file)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->lock = -1;
    s->file = strdup(file);
    if (s->file && asprintf(&s->folder, "%s-files", file) >= 0)
        return s;
    s->folder = NULL;
    store_close(s);
    return NULL;
}

static bool open_to_write(struct store *s, struct why *why)
{
    char mode[16] = "";
    if (!open_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, why))
        return false;
    bool empty = pragma(s, "PRAGMA schema_version", NULL, 0) == 0;
    if (!empty && !check_version(s, why))
        return false;
    pragma(s, "PRAGMA journal_mode = WAL", mode, sizeof mode);
    if (strcmp(mode, "wal") != 0)
        return sqlite3_errcode(s->db) != SQLITE_OK && sqlite3_errcode(s->db) != SQLITE_DONE
                 ? complain_of(s, why)
                 : why_say(why, "%.300s: this file system has no shared memory for it (WAL)",
                           s->file);
    return run_script(s, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;", why)
        && (!empty || make_schema(s, why)) && output_sync_parent(s->file) == 0;
}

bool store_open(struct store **opened, const char *file, bool wait, struct why *why)
{
    struct store *s = *opened = new_store(file);
    if (!s)
        return why_say(why, "out of memory");
    why->text[0] = '\0';
    int error = output_directory(s->folder);
    bool good = error ? why_say(why, "%.300s: %s", s->folder, strerror(error))
                      : take_lock(s, wait, why);
    good = good && open_to_write(s, why) && clear_work(s, why);
    if (good)
        remove_unnamed(s);
    else if (!*why->text)
        complain_of(s, why);
    return good;
}

bool store_open_old(struct store **opened, const char *file, struct why *why)
{
    struct store *s = *opened = new_store(file);
    return s ? open_file(s, SQLITE_OPEN_READWRITE, why) && check_version(s, why)
             : why_say(why, "out of memory");
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(s->prepared[i]);
    sqlite3_close(s->db);
    if (s->lock >= 0)
        close(s->lock);
    free(s->file);
    free(s->folder);
    free(s);
}

/* ---- sessions ------------------------------------------------------------------------------------ */

bool store_begin_session(struct store *s, const char *engine, struct why *why)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    if (!execute(s, why, SQL_ADD_SESSION, "dttt", now(), ORDEAL_VERSION, host, engine))
        return false;
    s->session = sqlite3_last_insert_rowid(s->db);
    return true;
}

bool store_end_session(struct store *s, const char *end, struct why *why)
{
    return execute(s, why, SQL_END_SESSION, "dti", now(), end, s->session);
}

double store_elapsed(struct store *s)
{
    sqlite3_stmt *q = query(s, SQL_ELAPSED, "");
    double seconds = row(s, q) ? sqlite3_column_double(q, 0) : 0;
    if (q)
        sqlite3_reset(q);
    return seconds;
}

/* ---- runs ---------------------------------------------------------------------------------------- */

static char *words_as_json(const struct plan_run *run)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < run->words.count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(run->words.data[i]));
    char *text = cJSON_PrintUnformatted(list);
    cJSON_Delete(list);
    if (!json_failed())
        return text;
    cJSON_free(text);
    return NULL;
}

/* The row of FIND_RUN against the run of that name. */
static bool is_the_same(struct store *s, sqlite3_stmt *q, const struct store_run *run,
                        const char *words, struct why *why)
{
    static const char advice[] = "; take another name for it, or another database with --db";
    const char *was[6];
    for (int i = 1; i < 6; i++)
        was[i] = sqlite3_column_text(q, i) ? (const char *)sqlite3_column_text(q, i) : "";
    const struct machine_identity *m = run->machine;
    const char *name = run->plan->name;
    if (strcmp(was[4], m->sources) != 0)
        return why_say(
            why,
            "%.200s: the machine of run '%.100s' was built from other sources then (%.12s%s%s, "
            "now %.12s%s%s)%s",
            s->file, name, was[4], *was[5] ? ", revision " : "", was[5], m->sources,
            *m->revision ? ", revision " : "", m->revision, advice);
    if (strcmp(was[3], m->identity) != 0 && strcmp(was[1], words) == 0)
        return why_say(why,
                       "%.200s: run '%.100s' was on another machine or by another program then%s",
                       s->file, name, advice);
    if (strcmp(was[2], run->identity) == 0 && strcmp(was[3], m->identity) == 0)
        return true;
    if (strcmp(was[1], words) != 0)
        return why_say(why, "%.200s: run '%.100s' had other words then: %.250s; now: %.250s%s",
                       s->file, name, was[1], words, advice);
    return why_say(why, "%.200s: of run '%.100s' a file that it names has changed since%s", s->file,
                   name, advice);
}

static bool add_run(struct store *s, struct store_run *run, const char *words, struct why *why)
{
    const struct plan_run *p = run->plan;
    const struct machine_identity *m = run->machine;
    if (!execute(s, why, SQL_ADD_MACHINE, "tttttt", p->target->name, m->description, m->identity,
                 m->sources, m->configuration, *m->revision ? m->revision : NULL)
        || !execute(s, why, SQL_ADD_RUN, "ttttidttt", p->name, words, p->target->name, p->model,
                    (int64_t)p->seed, p->weight, p->target->name, m->identity, run->identity))
        return false;
    run->id = sqlite3_last_insert_rowid(s->db);
    return true;
}

static bool find_run(struct store *s, struct store_run *run, const char *words, struct why *why)
{
    sqlite3_stmt *q = query(s, SQL_FIND_RUN, "t", run->plan->name);
    int step = q ? sqlite3_step(q) : SQLITE_ERROR;
    bool good = step == SQLITE_DONE;
    if (step == SQLITE_ROW) {
        run->id = sqlite3_column_int64(q, 0);
        good = is_the_same(s, q, run, words, why);
    } else if (!good) {
        complain_of(s, why);
    }
    if (q)
        sqlite3_reset(q);
    return good && (step == SQLITE_ROW || add_run(s, run, words, why));
}

static bool load_progress(struct store *s, struct store_run *run, struct why *why)
{
    sqlite3_stmt *q = query(s, SQL_PROGRESS, "i", run->id);
    if (row(s, q)) {
        run->next = (uint64_t)sqlite3_column_int64(q, 0);
        run->cycles = (uint64_t)sqlite3_column_int64(q, 1);
        run->seconds = sqlite3_column_double(q, 2);
    }
    if (q)
        sqlite3_reset(q);
    for (q = query(s, SQL_POINTS, "i", run->id); row(s, q);) {
        const char *name = (const char *)sqlite3_column_text(q, 0);
        uint32_t point = name ? cover_point_find(name, strlen(name)) : COVER_POINTS;
        if (point < COVER_POINTS)
            cover_hit(&run->reached, point);
    }
    return !s->broken || complain_of(s, why);
}

bool store_take_run(struct store *s, struct store_run *run, struct why *why)
{
    const struct plan_budget *b = &run->plan->budget;
    char *words = words_as_json(run->plan);
    if (!words)
        return why_say(why, "out of memory");
    bool good = begin(s, why) && find_run(s, run, words, why)
             && execute(s, why, SQL_SET_BUDGET, "diidi", run->plan->weight, (int64_t)b->tests,
                        (int64_t)b->cycles, b->seconds, run->id)
             && load_progress(s, run, why) && commit(s, why);
    cJSON_free(words);
    if (!good)
        roll_back(s);
    return good;
}

/* ---- buckets ------------------------------------------------------------------------------------- */

static void fill_bucket(sqlite3_stmt *q, struct store_bucket *b)
{
    *b = (struct store_bucket){ .id = sqlite3_column_int64(q, 0),
                                .run = sqlite3_column_int64(q, 1),
                                .number = (uint64_t)sqlite3_column_int64(q, 2),
                                .operations = (uint64_t)sqlite3_column_int64(q, 3),
                                .failures = (uint64_t)sqlite3_column_int64(q, 10) };
    copy_column(q, 4, b->signature, sizeof b->signature);
    copy_column(q, 5, b->kind, sizeof b->kind);
    copy_column(q, 6, b->title, sizeof b->title);
    copy_column(q, 7, b->folder, sizeof b->folder);
    copy_column(q, 8, b->state, sizeof b->state);
    copy_column(q, 9, b->run_name, sizeof b->run_name);
}

static bool take_bucket(struct store *s, sqlite3_stmt *q, struct store_bucket *b)
{
    bool found = row(s, q);
    if (found)
        fill_bucket(q, b);
    if (q)
        sqlite3_reset(q);
    return found;
}

bool store_find_bucket(struct store *s, const char *signature, struct store_bucket *b)
{
    return take_bucket(s, query(s, SQL_FIND_BUCKET, "t", signature), b);
}

bool store_next_new(struct store *s, int64_t after, struct store_bucket *b)
{
    return take_bucket(s, query(s, SQL_NEXT_NEW, "i", after), b);
}

/* The same on every machine, whichever bucket came first. */
static int64_t bucket_id(const char *signature)
{
    struct hash h;
    hash_begin(&h);
    hash_text(&h, signature);
    return (int64_t)((uint64_t)(h.state >> 64) & INT64_MAX);
}

/* ---- units --------------------------------------------------------------------------------------- */

/* What a merge does besides rows. */
struct merge {
    struct store *s;
    const struct store_unit *unit;
    const struct record *record;
    struct cover_hits reached;
    uint64_t operations, cycles;
    LIST(char *) dropped; /* folders that nobody names after the commit */
    struct why *why;
};

static bool is_smaller(const struct record_failure *f, int64_t run, uint64_t number,
                       const struct store_bucket *b)
{
    if (f->operations != b->operations)
        return f->operations < b->operations;
    return run != b->run ? run < b->run : number < b->number;
}

/* How many failures of the bucket its run has before this one, up to `most`. */
static uint64_t rank(struct store *s, int64_t bucket, int64_t run, uint64_t number, uint64_t most)
{
    sqlite3_stmt *q = query(s, SQL_RANK, "iiii", bucket, run, (int64_t)number, (int64_t)most);
    uint64_t count = row(s, q) ? (uint64_t)sqlite3_column_int64(q, 0) : most;
    if (q)
        sqlite3_reset(q);
    return count;
}

/* The folder to its place; `*folder` is its name then. A failure that came without one goes without. */
static bool move_folder(struct merge *m, const struct record_failure *f, const char *name,
                        const char **folder)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (!f->folder || !m->unit->folders)
        return true;
    snprintf(from, sizeof from, "%.3000s/%.300s", m->unit->folders, f->folder);
    path_in(m->s, to, name);
    tree_remove(to); /* of a merge that came to no end */
    if (rename(from, to) == 0)
        *folder = name;
    else if (errno != ENOENT)
        return why_say(m->why, "%.300s: %s", to, strerror(errno));
    return true;
}

/* The example before this one, unless it is one of those that are kept anyway. */
static bool drop_example(struct merge *m, const struct store_bucket *b)
{
    uint64_t most = m->unit->examples;
    char *folder;
    if (!*b->folder || rank(m->s, b->id, b->run, b->number, most) < most)
        return true;
    if (!(folder = strdup(b->folder)) || !LIST_PUSH(&m->dropped, folder)) {
        free(folder);
        return why_say(m->why, "out of memory");
    }
    return execute(m->s, m->why, SQL_DROP_FOLDER, "ii", b->run, (int64_t)b->number);
}

static bool add_failure(struct merge *m, const struct record_test *t)
{
    const struct record_failure *f = t->failure;
    struct store *s = m->s;
    struct store_bucket b = { .id = bucket_id(f->signature) };
    int64_t run = m->unit->run->id, number = (int64_t)t->number;
    char name[64];
    snprintf(name, sizeof name, "failures/%" PRId64 "-%" PRIu64, run, t->number);
    bool known = store_find_bucket(s, f->signature, &b);
    bool smaller = !known || (strcmp(b.state, "new") == 0 && is_smaller(f, run, t->number, &b));
    bool kept = smaller || rank(s, b.id, run, t->number, m->unit->examples) < m->unit->examples;
    const char *folder = NULL;
    if (kept && !move_folder(m, f, name, &folder))
        return false;
    smaller = smaller && (folder || !known);
    if (known && smaller && !drop_example(m, &b))
        return false;
    if (!known
        && !execute(s, m->why, SQL_ADD_BUCKET, "ittttiii", b.id, f->signature, f->kind, f->title,
                    folder, run, number, (int64_t)f->operations))
        return false;
    if (known && smaller
        && !execute(s, m->why, SQL_SET_EXAMPLE, "ttiiii", f->title, folder, run, number,
                    (int64_t)f->operations, b.id))
        return false;
    return execute(s, m->why, SQL_ADD_FAILURE, "iiiittti", run, number, (int64_t)f->iteration, b.id,
                   f->model, folder, f->reason, (int64_t)f->operations);
}

static bool add_test(struct merge *m, const struct record_test *t)
{
    uint64_t news = 0;
    m->operations += t->operations;
    m->cycles += t->cycles;
    for (size_t i = 0; i < t->news.count; i++)
        if (!cover_is_hit(&m->reached, t->news.data[i])) {
            cover_hit(&m->reached, t->news.data[i]);
            news++;
        }
    return execute(m->s, m->why, SQL_ADD_TEST, "iitttiiiidii", m->unit->run->id, (int64_t)t->number,
                   record_verdicts[t->verdict], t->profile, t->configuration,
                   (int64_t)t->iterations, (int64_t)t->outcomes, (int64_t)t->operations,
                   (int64_t)t->cycles, t->seconds, (int64_t)t->points, (int64_t)news)
        && (!t->failure || add_failure(m, t));
}

/* Which test reached it first, of those of the unit. */
static int64_t first_to_reach(const struct merge *m, uint32_t point)
{
    for (size_t i = 0; i < m->record->tests.count; i++) {
        const struct record_test *t = &m->record->tests.data[i];
        for (size_t k = 0; k < t->news.count; k++)
            if (t->news.data[k] == point)
                return (int64_t)t->number;
    }
    return -1;
}

static bool add_points(struct merge *m)
{
    const struct record *r = m->record;
    char name[COVER_NAME_SIZE];
    for (size_t i = 0; i < r->reached.count; i++) {
        const struct record_reached *one = &r->reached.data[i];
        bool fresh = !cover_is_hit(&m->unit->run->reached, one->point);
        cover_point_name(one->point, name);
        if (!execute(m->s, m->why, SQL_ADD_POINT, "itii", m->unit->run->id, name,
                     (int64_t)one->count, fresh ? first_to_reach(m, one->point) : -1))
            return false;
    }
    return !r->cover
        || execute(m->s, m->why, SQL_SET_COVER, "ii", m->unit->run->id, (int64_t)r->known);
}

static bool add_incidents(struct merge *m)
{
    bool good = true;
    for (size_t i = 0; good && i < m->record->incidents.count; i++) {
        const struct record_incident *one = &m->record->incidents.data[i];
        good = store_incident(m->s, m->unit->run, one->test, one->kind, one->text, m->why);
    }
    return good;
}

static bool add_unit(struct merge *m)
{
    const struct record *r = m->record;
    bool good = true;
    for (size_t i = 0; good && i < r->tests.count; i++)
        good = add_test(m, &r->tests.data[i]);
    return good && add_points(m) && add_incidents(m)
        && (r->tests.count == 0
            || execute(m->s, m->why, SQL_ADD_UNIT, "iiiiddiiti", m->unit->run->id,
                       (int64_t)r->first, (int64_t)r->tests.count, m->s->session, now(), r->seconds,
                       (int64_t)m->operations, (int64_t)m->cycles, r->end,
                       (int64_t)cover_hits_count(&m->reached)));
}

static void drop_folders(struct merge *m, bool committed)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < m->dropped.count; i++) {
        path_in(m->s, path, m->dropped.data[i]);
        if (committed)
            tree_remove(path);
        free(m->dropped.data[i]);
    }
    LIST_FREE(&m->dropped);
}

static bool sync_failures(struct store *s, struct why *why)
{
    char path[PATH_MAX];
    path_in(s, path, "failures");
    int error = output_sync(path);
    return !error || why_say(why, "%.300s: %s", path, strerror(error));
}

bool store_merge(struct store *s, const struct store_unit *unit, const struct record *record,
                 struct why *why)
{
    struct merge m = {
        .s = s, .unit = unit, .record = record, .reached = unit->run->reached, .why = why
    };
    if (record->first != unit->run->next)
        return true; /* it was handed in twice, or late */
    bool good = begin(s, why) && add_unit(&m) && sync_failures(s, why) && commit(s, why);
    if (!good)
        roll_back(s);
    drop_folders(&m, good);
    if (!good)
        return remove_unnamed(s), false;
    unit->run->next += record->tests.count;
    unit->run->cycles += m.cycles;
    unit->run->seconds += record->seconds;
    unit->run->reached = m.reached;
    return true;
}

bool store_skip(struct store *s, struct store_run *run, uint64_t count, struct why *why)
{
    if (!execute(s, why, SQL_ADD_UNIT, "iiiiddiiti", run->id, (int64_t)run->next, (int64_t)count,
                 s->session, now(), 0.0, INT64_C(0), INT64_C(0), "skipped",
                 (int64_t)cover_hits_count(&run->reached)))
        return false;
    run->next += count;
    return true;
}

bool store_incident(struct store *s, const struct store_run *run, uint64_t first,
                    enum incident_kind kind, const char *text, struct why *why)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, run ? run->id : 0);
    return execute(s, why, SQL_ADD_INCIDENT, "tiidtt", run ? id : NULL, (int64_t)first, s->session,
                   now(), incident_kinds[kind], text);
}

/* Of what is left of it, if that is still what the bucket is for. */
static void title_of_small(const struct store_bucket *b, const char *folder, char *title,
                           size_t size)
{
    char signature[sizeof b->signature] = "";
    *title = '\0';
    if (*folder)
        saved_words(folder, true, "signature", signature, sizeof signature);
    if (strcmp(signature, b->signature) == 0)
        saved_words(folder, true, "title", title, size);
    if (!*title)
        snprintf(title, size, "%s", b->title);
}

bool store_made_small(struct store *s, const struct store_bucket *b, const char *path,
                      uint64_t operations, struct why *why)
{
    char name[80], to[PATH_MAX], title[sizeof b->title];
    snprintf(name, sizeof name, "failures/%" PRId64 "-%" PRIu64 "-small", b->run, b->number);
    path_in(s, to, name);
    if (path) {
        tree_remove(to);
        if (rename(path, to) != 0)
            return why_say(why, "%.300s: %s", to, strerror(errno));
        if (!sync_failures(s, why))
            return false;
    }
    title_of_small(b, path ? to : "", title, sizeof title);
    return execute(s, why, SQL_SET_SMALL, "ttiti", title, path ? name : b->folder,
                   (int64_t)(operations ? operations : b->operations),
                   operations ? "small" : "whole", b->id);
}

/* ---- what is in it ------------------------------------------------------------------------------- */

static bool count_verdicts(struct store *s, struct store_sum *sum)
{
    uint64_t others = 0;
    sqlite3_stmt *q = query(s, SQL_NOTABLE, "i", sum->id);
    while (row(s, q)) {
        const char *verdict = (const char *)sqlite3_column_text(q, 0);
        for (int i = 0; verdict && i < RECORD_VERDICTS; i++)
            if (strcmp(verdict, record_verdicts[i]) == 0)
                others += sum->results[i] = (uint64_t)sqlite3_column_int64(q, 1);
    }
    sum->results[RECORD_PASS] = sum->tests - others;
    return was_all(q);
}

bool store_each_run(struct store *s, bool (*each)(void *user, const struct store_sum *sum),
                    void *user)
{
    bool more = true;
    sqlite3_stmt *q = query(s, SQL_SUMS, "");
    while (more && row(s, q)) {
        struct store_sum sum = { .id = sqlite3_column_int64(q, 0),
                                 .tests = (uint64_t)sqlite3_column_int64(q, 3),
                                 .skipped = (uint64_t)sqlite3_column_int64(q, 4),
                                 .operations = (uint64_t)sqlite3_column_int64(q, 5),
                                 .cycles = (uint64_t)sqlite3_column_int64(q, 6),
                                 .seconds = sqlite3_column_double(q, 7),
                                 .points = (uint64_t)sqlite3_column_int64(q, 8),
                                 .known = (uint64_t)sqlite3_column_int64(q, 9),
                                 .incidents = (uint64_t)sqlite3_column_int64(q, 10) };
        copy_column(q, 1, sum.name, sizeof sum.name);
        copy_column(q, 2, sum.target, sizeof sum.target);
        more = count_verdicts(s, &sum) && each(user, &sum);
    }
    return was_all(q) && more;
}

static bool each_bucket(struct store *s, sqlite3_stmt *q,
                        bool (*each)(void *user, const struct store_bucket *b), void *user)
{
    bool more = true;
    struct store_bucket b;
    while (more && row(s, q)) {
        fill_bucket(q, &b);
        more = each(user, &b);
    }
    return was_all(q) && more;
}

bool store_each_bucket(struct store *s, bool (*each)(void *user, const struct store_bucket *b),
                       void *user)
{
    return each_bucket(s, query(s, SQL_BUCKETS, ""), each, user);
}

bool store_each_bucket_of(struct store *s, int64_t run,
                          bool (*each)(void *user, const struct store_bucket *b), void *user)
{
    return each_bucket(s, query(s, SQL_BUCKETS_OF, "i", run), each, user);
}

bool store_each_incident(struct store *s, int64_t run,
                         bool (*each)(void *user, const struct store_incident *i), void *user)
{
    bool more = true;
    struct store_incident i;
    sqlite3_stmt *q = query(s, SQL_INCIDENTS, "i", run);
    while (more && row(s, q)) {
        copy_column(q, 0, i.run, sizeof i.run);
        copy_column(q, 1, i.kind, sizeof i.kind);
        copy_column(q, 2, i.text, sizeof i.text);
        i.first = (uint64_t)sqlite3_column_int64(q, 3);
        i.count = (uint64_t)sqlite3_column_int64(q, 4);
        more = each(user, &i);
    }
    return was_all(q) && more;
}

/* ---- compared ------------------------------------------------------------------------------------ */

static bool compare_by(struct store *s, enum statement which, enum store_change change,
                       bool (*each)(void *user, const struct store_difference *d), void *user)
{
    bool more = true;
    sqlite3_stmt *q = query(s, which, "");
    while (more && row(s, q)) {
        struct store_difference d = { .change = change,
                                      .before = sqlite3_column_double(q, 2),
                                      .after = sqlite3_column_double(q, 3) };
        copy_column(q, 0, d.name, sizeof d.name);
        copy_column(q, 1, d.what, sizeof d.what);
        if (change != STORE_UNCOVERED || d.after < d.before)
            more = each(user, &d);
    }
    return was_all(q) && more;
}

bool store_compare(struct store *s, const char *old,
                   bool (*each)(void *user, const struct store_difference *d), void *user,
                   struct why *why)
{
    static const struct {
        enum statement sql;
        enum store_change change;
    } all[] = { { SQL_COMPARE_NEW, STORE_NEW },
                { SQL_COMPARE_GONE, STORE_GONE },
                { SQL_COMPARE_FLAKY, STORE_FLAKY },
                { SQL_COMPARE_SLOWER, STORE_SLOWER },
                { SQL_COMPARE_COVER, STORE_UNCOVERED } };
    struct store *other;
    bool good = store_open_old(&other, old, why);
    store_close(other);
    char *attach = good ? sqlite3_mprintf("ATTACH %Q AS old", old) : NULL;
    good = good && attach && run_script(s, attach, why);
    sqlite3_free(attach);
    for (size_t i = 0; good && i < sizeof all / sizeof *all; i++)
        good = compare_by(s, all[i].sql, all[i].change, each, user) || complain_of(s, why);
    return good;
}
