/* SPDX-License-Identifier: Apache-2.0 */
#include "regress_db.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

static void end(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static void execute(sqlite3 *db, const char *sql)
{
    char *why;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        end(sql, why);
}

/* ---- the document ------------------------------------------------------------------------------ */

static char *document(void)
{
    static char text[1 << 16];
    const char *path = "host/regress/DATABASE.md", *home = getenv("HOME_OF_TESTS");
    char whole[4200];
    snprintf(whole, sizeof whole, "%s/%s", home ? home : ".", path);
    FILE *f = fopen(whole, "r");
    if (!f)
        end(path, "is not there");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* "name(column TYPE" begins a table. */
static int is_table(const char *text)
{
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    size_t column = name && text[name] == '('
                      ? strspn(text + name + 1, "abcdefghijklmnopqrstuvwxyz_")
                      : 0;
    return column && text[name + 1 + column] == ' '
        && isupper((unsigned char)text[name + 2 + column]);
}

static void create_table(sqlite3 *db, const char *text, size_t length)
{
    char sql[4096];
    snprintf(sql, sizeof sql, "CREATE TABLE %.*s", (int)length, text);
    execute(db, sql);
}

/* A table is an indented block, or stands in backquotes. */
static int create_tables(sqlite3 *db)
{
    int tables = 0;
    for (const char *c = document(); *c; c++) {
        const char *last = NULL;
        if (strncmp(c, "\n    ", 5) == 0 && is_table(c + 5))
            last = strstr(c + 5, "\n\n");
        else if (*c == '`' && is_table(c + 1))
            last = strchr(c + 1, '`');
        if (last) {
            const char *first = *c == '`' ? c + 1 : c + 5;
            create_table(db, first, (size_t)(last - first));
            tables++;
            c = last - 1;
        }
    }
    return tables;
}

static long number_after(const char *words)
{
    const char *at = strstr(document(), words);
    if (!at)
        end("host/regress/DATABASE.md", words);
    return strtol(at + strlen(words), NULL, 0);
}

/* ---- what is in it ------------------------------------------------------------------------------ */

/* :when, :units, :causes, :folder; what is text goes through said(), with something behind it where it has
 * to be the only one. */
static const char *const fill[] = {
    "INSERT INTO session VALUES (1, :when, :when + 3600, said('interrupted'), said('0.9.0'), said('build-7'),"
    " said('local')), (2, :when + 4000, :when + 9000, said('done'), said('0.9.0'), said('build-7'), said('local'))",
    "INSERT INTO machine VALUES"
    " (1, said('sim'), said('four harts, write-back caches'), said('a') || 1, said('s1'), said('h4-s16-w2-l4-b8-q4'),"
    "  said('4c1f0e2+')),"
    " (2, said('model'), said('an operational machine of TSO'), said('b') || 2, said('s2'), said(''), NULL)",
    "INSERT INTO run VALUES"
    " (1, said('caches/bug=upgrade-wins'), said('[\"--target\",\"sim\"]'), said('sim'), said('TSO'), 1, 2, 1,"
    "  said('i1'), 4000, NULL, NULL),"
    " (2, said('caches/bug=none') || substr(' ', 1, said('') <> ''), said('[]'), said('sim'), said('TSO'), 2, 1, 1, said('i2'), 4000, NULL, NULL),"
    " (3, said('model/forward') || substr('  ', 1, 2 * (said('') <> '')), said('[]'), said('model'), said('TSO'), 3, 1, 2, said('i3'), NULL, NULL, 600)",
    "INSERT INTO cover VALUES (1, 2400), (2, 2400), (3, 1100)",
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :units) INSERT INTO unit"
    " SELECT r.id, i * 20, 20, 1 + (i >= :units / 2), :when + 30 + (i + r.id / 4.0) * 8900.0 / :units,"
    " 20 + (i * 7 + r.id) % 9, 24000, 400000, said('done'), cast(1800 * r.id / (r.id + 0.6) * i / (i + 6.0) / r.id AS INT)"
    " FROM n, run r",
    "INSERT INTO test SELECT u.run, u.first + k.i, CASE WHEN (u.first + k.i) % 97 = 13 AND u.run <> 2 THEN 'FAIL'"
    " WHEN (u.first + k.i) % 401 = 7 THEN 'UNDECIDED' WHEN (u.first + k.i) % 997 = 3 THEN 'LOST' ELSE 'PASS' END,"
    " said('hot-line'), said('h4-s1-w2-l4-b4-q4'), 6, 5, 1200, 20000 + (u.first * 131 + k.i * 977) % 90000,"
    " 0.01 + ((u.first * 131 + k.i * 977) % 9000) / 3000.0, 300, 2 FROM unit u,"
    " (WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 19) SELECT i FROM k) k",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :causes) INSERT INTO bucket"
    " SELECT i, said('sig-' || i || '-') || i, said(CASE i % 3 WHEN 1 THEN 'violation' WHEN 2 THEN 'value' ELSE 'standstill' END),"
    " said(CASE i % 3 WHEN 1 THEN 'a store overtakes an earlier store to the same word' WHEN 2 THEN"
    " 'a load sees a value that nobody wrote' ELSE 'a hart waits for its store buffer for ever' END),"
    " CASE WHEN i = 1 THEN :folder END, 1, 13, CASE WHEN i = 1 THEN 4 ELSE 200 END,"
    " said(CASE WHEN i = 1 THEN 'small' ELSE 'new' END) FROM n WHERE :causes > 0",
    "INSERT INTO failure SELECT run, number, 3, 1 + (number / 97) % :causes, said('TSO'), CASE WHEN number = 13 AND run = 1"
    " THEN :folder END, said('P0 S[A]#1 < P0 S[A]#2 < P0 S[A]#1'), 200 FROM test WHERE verdict = 'FAIL' AND :causes > 0",
    "UPDATE test SET verdict = 'PASS' WHERE verdict = 'FAIL' AND :causes = 0",
    "INSERT INTO incident SELECT NULL, run, number, 1, :when + number, said('lost'),"
    " said('the machine did not answer for 60 s; it was started again') FROM test WHERE verdict = 'LOST' LIMIT 4",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) INSERT INTO point"
    " SELECT r.id, said('edge-') || i, i, i FROM n, run r WHERE i < 1000 - 100 * r.id",
};

static void said(sqlite3_context *c, int count, sqlite3_value **values)
{
    const char *instead = sqlite3_user_data(c);
    (void)count;
    if (instead)
        sqlite3_result_text(c, instead, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(c, values[0]);
}

static void bind(sqlite3_stmt *s, const struct regress_db_plan *plan)
{
    int at;
    if ((at = sqlite3_bind_parameter_index(s, ":when")))
        sqlite3_bind_double(s, at, plan->when);
    if ((at = sqlite3_bind_parameter_index(s, ":units")))
        sqlite3_bind_int(s, at, plan->units);
    if ((at = sqlite3_bind_parameter_index(s, ":causes")))
        sqlite3_bind_int(s, at, plan->causes);
    if ((at = sqlite3_bind_parameter_index(s, ":folder")) && plan->folder)
        sqlite3_bind_text(s, at, plan->folder, -1, SQLITE_TRANSIENT);
}

static void fill_tables(sqlite3 *db, const struct regress_db_plan *plan)
{
    sqlite3_create_function(db, "said", 1, SQLITE_UTF8, (void *)plan->text, said, NULL, NULL);
    execute(db, "BEGIN");
    for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
        sqlite3_stmt *s;
        if (sqlite3_prepare_v2(db, fill[i], -1, &s, NULL) != SQLITE_OK)
            end(fill[i], sqlite3_errmsg(db));
        bind(s, plan);
        if (sqlite3_step(s) != SQLITE_DONE)
            end(fill[i], sqlite3_errmsg(db));
        sqlite3_finalize(s);
    }
    execute(db, "COMMIT");
}

void regress_db_make(const char *file, const struct regress_db_plan *plan)
{
    sqlite3 *db;
    char pragma[128];
    unlink(file);
    if (sqlite3_open(file, &db) != SQLITE_OK)
        end(file, sqlite3_errmsg(db));
    snprintf(pragma, sizeof pragma, "PRAGMA application_id = %ld; PRAGMA user_version = %ld",
             number_after("`PRAGMA application_id` is "),
             number_after("the version of this schema, "));
    execute(db, pragma);
    if (create_tables(db) < 10)
        end("host/regress/DATABASE.md", "tables are not found in it any more");
    fill_tables(db, plan);
    sqlite3_close(db);
}

void regress_db_sql(const char *file, const char *sql)
{
    sqlite3 *db;
    if (sqlite3_open(file, &db) != SQLITE_OK)
        end(file, sqlite3_errmsg(db));
    execute(db, sql);
    sqlite3_close(db);
}
