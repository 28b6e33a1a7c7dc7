/* SPDX-License-Identifier: Apache-2.0 */
#include "query.h"

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "base/interrupt.h"

/* ---- rows into structs --------------------------------------------------------------------------- */

enum column_type { NUMBER, REAL, TEXT };
struct column {
    enum column_type type;
    size_t offset;
};
#define COLUMN(TYPE, STRUCT, FIELD) \
    { \
        TYPE, offsetof(struct STRUCT, FIELD) \
    }

/* The columns of a question in the order in which it names them; the list that gets the rows. */
struct question {
    const char *sql;
    size_t list, size; /* offset in struct query; of a row */
    const struct column *columns;
    bool counts; /* changes from second to second */
};
#define ROWS(LIST, ROW) offsetof(struct query, LIST), sizeof(struct ROW)

/* clang-format off */
static const struct question questions[] = {
    { "SELECT started, ended, end, program, host, engine FROM session ORDER BY started, id LIMIT 10000",
      ROWS(sessions, query_session), (const struct column[]){
      COLUMN(REAL, query_session, started), COLUMN(REAL, query_session, ended), COLUMN(TEXT, query_session, end),
      COLUMN(TEXT, query_session, program), COLUMN(TEXT, query_session, host),
      COLUMN(TEXT, query_session, engine) }, true },
    { "SELECT min(m.id), (SELECT coalesce(sum(count), 0) FROM unit u JOIN run r ON r.id = u.run JOIN machine o "
      "ON o.id = r.machine WHERE u.end IS NOT 'skipped' AND (o.target, o.description, o.configuration, o.revision) "
      "IS (m.target, m.description, m.configuration, m.revision)), m.target, m.description, m.configuration, "
      "m.revision FROM machine m GROUP BY 3, 4, 5, 6 ORDER BY 1 LIMIT 10000",
      ROWS(machines, query_machine), (const struct column[]){
      COLUMN(NUMBER, query_machine, id), COLUMN(NUMBER, query_machine, tests),
      COLUMN(TEXT, query_machine, target), COLUMN(TEXT, query_machine, description),
      COLUMN(TEXT, query_machine, configuration), COLUMN(TEXT, query_machine, revision) }, false },
    { "SELECT r.id, r.seed, r.machine, r.tests, r.name, r.words, r.target, r.model, "
      "coalesce(u.tests, 0), coalesce(u.tests, 0) - coalesce(n.notable, 0), coalesce(n.fail, 0), "
      "coalesce(n.undecided, 0), coalesce(n.lost, 0), coalesce(u.operations, 0), "
      "(SELECT count(*) FROM point p WHERE p.run = r.id), (SELECT known FROM cover c WHERE c.run = r.id), "
      "u.seconds FROM run r LEFT JOIN (SELECT run, sum(CASE end WHEN 'skipped' THEN 0 ELSE count END) AS tests, "
      "sum(operations) AS operations, sum(seconds) AS seconds FROM unit GROUP BY run) u ON u.run = r.id LEFT JOIN "
      "(SELECT run, count(*) AS notable, sum(verdict = 'FAIL') AS fail, sum(verdict = 'UNDECIDED') AS undecided, "
      "sum(verdict = 'LOST') AS lost FROM test WHERE verdict <> 'PASS' GROUP BY run) n ON n.run = r.id "
      "ORDER BY r.id LIMIT 10000",
      ROWS(runs, query_run), (const struct column[]){
      COLUMN(NUMBER, query_run, id), COLUMN(NUMBER, query_run, seed), COLUMN(NUMBER, query_run, machine),
      COLUMN(NUMBER, query_run, budget), COLUMN(TEXT, query_run, name), COLUMN(TEXT, query_run, words),
      COLUMN(TEXT, query_run, target), COLUMN(TEXT, query_run, model), COLUMN(NUMBER, query_run, tests),
      COLUMN(NUMBER, query_run, pass), COLUMN(NUMBER, query_run, fail), COLUMN(NUMBER, query_run, undecided),
      COLUMN(NUMBER, query_run, lost), COLUMN(NUMBER, query_run, operations), COLUMN(NUMBER, query_run, points),
      COLUMN(NUMBER, query_run, known), COLUMN(REAL, query_run, seconds) }, true },
    { "SELECT run, count, operations, points, finished, seconds FROM unit ORDER BY finished LIMIT 1000000",
      ROWS(units, query_unit), (const struct column[]){
      COLUMN(NUMBER, query_unit, run), COLUMN(NUMBER, query_unit, count), COLUMN(NUMBER, query_unit, operations),
      COLUMN(NUMBER, query_unit, points), COLUMN(REAL, query_unit, finished),
      COLUMN(REAL, query_unit, seconds) }, false },
    { "SELECT run, number, operations, cycles, seconds, verdict, profile, configuration FROM test "
      "WHERE seconds IS NOT NULL ORDER BY seconds DESC, run, number LIMIT 15",
      ROWS(slowest, query_test), (const struct column[]){
      COLUMN(NUMBER, query_test, run), COLUMN(NUMBER, query_test, number), COLUMN(NUMBER, query_test, operations),
      COLUMN(NUMBER, query_test, cycles), COLUMN(REAL, query_test, seconds), COLUMN(TEXT, query_test, verdict),
      COLUMN(TEXT, query_test, profile), COLUMN(TEXT, query_test, configuration) }, false },
    { "SELECT b.id, b.run, b.number, b.operations, count(f.run), count(DISTINCT f.run), b.signature, b.kind, "
      "b.title, b.folder, b.state FROM bucket b LEFT JOIN failure f ON f.bucket = b.id GROUP BY b.id "
      "ORDER BY count(f.run) DESC, b.id LIMIT 1000",
      ROWS(buckets, query_bucket), (const struct column[]){
      COLUMN(NUMBER, query_bucket, id), COLUMN(NUMBER, query_bucket, run), COLUMN(NUMBER, query_bucket, number),
      COLUMN(NUMBER, query_bucket, operations), COLUMN(NUMBER, query_bucket, failures),
      COLUMN(NUMBER, query_bucket, runs), COLUMN(TEXT, query_bucket, signature), COLUMN(TEXT, query_bucket, kind),
      COLUMN(TEXT, query_bucket, title), COLUMN(TEXT, query_bucket, folder), COLUMN(TEXT, query_bucket, state) }, true },
    { "SELECT bucket, run, number, iteration, operations, model, folder, reason FROM (SELECT *, "
      "row_number() OVER (PARTITION BY bucket ORDER BY folder IS NULL, run, number) AS place FROM failure) "
      "WHERE place <= 50 ORDER BY bucket, run, number LIMIT 50000",
      ROWS(failures, query_failure), (const struct column[]){
      COLUMN(NUMBER, query_failure, bucket), COLUMN(NUMBER, query_failure, run),
      COLUMN(NUMBER, query_failure, number), COLUMN(NUMBER, query_failure, iteration),
      COLUMN(NUMBER, query_failure, operations), COLUMN(TEXT, query_failure, model),
      COLUMN(TEXT, query_failure, folder), COLUMN(TEXT, query_failure, reason) }, false },
    { "SELECT run, first, time, kind, text FROM incident ORDER BY time DESC, id DESC LIMIT 100",
      ROWS(incidents, query_incident), (const struct column[]){
      COLUMN(NUMBER, query_incident, run), COLUMN(NUMBER, query_incident, first),
      COLUMN(REAL, query_incident, time), COLUMN(TEXT, query_incident, kind),
      COLUMN(TEXT, query_incident, text) }, false },
};
/* clang-format on */

static const char *keep_text(struct query *q, const unsigned char *text)
{
    char *copy = strdup(text ? (const char *)text : "");
    if (copy && LIST_PUSH(&q->texts, copy))
        return copy;
    free(copy);
    return NULL;
}

/* False: out of memory. */
static bool take_column(struct query *q, sqlite3_stmt *s, int i, const struct column *c, char *row)
{
    bool none = sqlite3_column_type(s, i) == SQLITE_NULL;
    void *field = row + c->offset;
    switch (c->type) {
    case NUMBER: *(int64_t *)field = sqlite3_column_int64(s, i); return true;
    case REAL: *(double *)field = none ? -1 : sqlite3_column_double(s, i); return true;
    default: return (*(const char **)field = keep_text(q, sqlite3_column_text(s, i))) != NULL;
    }
}

/* All lists begin alike, whatever they hold. */
struct any_list {
    char *data;
    size_t count, capacity;
};

static bool add_row(struct query *q, sqlite3_stmt *s, const struct question *ask)
{
    struct any_list *list = (struct any_list *)((char *)q + ask->list);
    if (list->count == list->capacity
        && !list_grow((void **)&list->data, &list->capacity, ask->size, list->count))
        return false;
    char *row = list->data + list->count * ask->size;
    memset(row, 0, ask->size);
    for (int i = 0; i < sqlite3_column_count(s); i++)
        if (!take_column(q, s, i, &ask->columns[i], row))
            return false;
    list->count++;
    return true;
}

/* ---- the database -------------------------------------------------------------------------------- */

static bool refuse(struct why *why, const char *file, sqlite3 *db)
{
    return why_say(why, "%.600s: %.300s", file, db ? sqlite3_errmsg(db) : "out of memory");
}

static bool answer(struct query *q, sqlite3 *db, const struct question *ask, struct why *why)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, ask->sql, -1, &s, NULL) != SQLITE_OK)
        return refuse(why, q->file, db);
    int step;
    bool good = true;
    while (good && (step = sqlite3_step(s)) == SQLITE_ROW)
        good = add_row(q, s, ask) || why_say(why, "out of memory");
    if (good && step != SQLITE_DONE)
        good = refuse(why, q->file, db);
    sqlite3_finalize(s);
    return good;
}

static bool read_number(sqlite3 *db, const char *sql, int64_t *number)
{
    sqlite3_stmt *s = NULL;
    bool good = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK
             && sqlite3_step(s) == SQLITE_ROW;
    *number = good ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return good;
}

static bool is_ours(sqlite3 *db, const char *file, struct why *why)
{
    int64_t application, version;
    if (!read_number(db, "PRAGMA application_id", &application)
        || !read_number(db, "PRAGMA user_version", &version))
        return sqlite3_errcode(db) == SQLITE_NOTADB
                 ? why_say(why, "%.700s: it is no database of 'ordeal regress'", file)
                 : refuse(why, file, db);
    if (application != QUERY_APPLICATION)
        return why_say(why, "%.700s: it is no database of 'ordeal regress'", file);
    if (version != QUERY_VERSION)
        return why_say(
            why,
            "%.600s: its version is %jd, and this program knows %d; use the program that "
            "made it, or begin a new database",
            file, (intmax_t)version, QUERY_VERSION);
    return true;
}

static int is_enough(void *none)
{
    (void)none;
    return interrupted();
}

/* It may come from anywhere: what it defines is not trusted, and no value may be huge. */
static sqlite3 *open_database(const char *file, struct why *why)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 16 << 20);
        sqlite3_busy_timeout(db, 10000);
        sqlite3_progress_handler(db, 100000, is_enough, NULL);
        return db;
    }
    refuse(why, file, db);
    sqlite3_close(db);
    return NULL;
}

/* One transaction: all answers are of the same moment. */
static bool read_all(struct query *q, const char *file, bool counts, struct why *why)
{
    *q = (struct query){ .file = file };
    sqlite3 *db = open_database(file, why);
    bool good = db && is_ours(db, file, why)
             && (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK || refuse(why, file, db));
    for (size_t i = 0; good && i < sizeof questions / sizeof *questions; i++)
        if (!counts || questions[i].counts)
            good = answer(q, db, &questions[i], why);
    good = good
        && (read_number(db, "SELECT count(*) FROM incident", &q->incident_count)
            || refuse(why, file, db));
    sqlite3_close(db);
    return good;
}

bool query_read(struct query *q, const char *file, struct why *why)
{
    return read_all(q, file, false, why);
}

bool query_read_counts(struct query *q, const char *file, struct why *why)
{
    return read_all(q, file, true, why);
}

bool query_folder(const char *file, int64_t bucket, char *folder, size_t size, struct why *why)
{
    sqlite3 *db = open_database(file, why);
    sqlite3_stmt *s = NULL;
    bool good = db && is_ours(db, file, why)
             && (sqlite3_prepare_v2(db, "SELECT folder FROM bucket WHERE id = ?", -1, &s, NULL)
                     == SQLITE_OK
                 || refuse(why, file, db));
    if (good) {
        sqlite3_bind_int64(s, 1, bucket);
        const char *text = sqlite3_step(s) == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0)
                                                         : NULL;
        int length = text ? snprintf(folder, size, "%s", text) : 0;
        good = (length > 0 && (size_t)length < size)
            || why_say(why, "no example of that cause was kept");
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    return good;
}

void query_free(struct query *q)
{
    for (size_t i = 0; i < q->texts.count; i++)
        free(q->texts.data[i]);
    LIST_FREE(&q->texts);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        LIST_FREE((struct any_list *)((char *)q + questions[i].list));
}

/* ---- sums ---------------------------------------------------------------------------------------- */

const struct query_run *query_run_of(const struct query *q, int64_t id)
{
    for (size_t i = 0; i < q->runs.count; i++)
        if (q->runs.data[i].id == id)
            return &q->runs.data[i];
    return NULL;
}

struct query_sums query_sums(const struct query *q)
{
    struct query_sums all = { .started = -1, .ended = -1 };
    for (size_t i = 0; i < q->runs.count; i++) {
        const struct query_run *r = &q->runs.data[i];
        all.tests += r->tests;
        all.pass += r->pass;
        all.fail += r->fail;
        all.undecided += r->undecided;
        all.lost += r->lost;
        all.operations += r->operations;
        all.points += r->points;
        all.known += r->known;
    }
    if (q->sessions.count)
        all.started = q->sessions.data[0].started;
    if (q->units.count)
        all.ended = q->units.data[q->units.count - 1].finished;
    all.seconds = all.ended > all.started && all.started >= 0 ? all.ended - all.started : 0;
    return all;
}
