/* SPDX-License-Identifier: Apache-2.0 */
/* Regressions from outside: what is in their databases, and programs that are ended at some moment. */
#ifndef SUPPORT_REGRESSIONS_H
#define SUPPORT_REGRESSIONS_H

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>

#include "shell.h"

/* All that does not tell the time, in an order of its own. */
static const char *const tables[] = {
    "SELECT id, name, words, target, model, seed, weight, identity, tests, cycles FROM run ORDER BY id",
    "SELECT target, description, identity, sources, configuration, revision FROM machine ORDER BY id",
    "SELECT run, number, verdict, profile, configuration, iterations, outcomes, operations, cycles,"
    " points, news FROM test ORDER BY run, number",
    "SELECT * FROM bucket ORDER BY id",
    "SELECT * FROM failure ORDER BY run, number",
    "SELECT run, first, kind, text FROM incident ORDER BY run, first, kind",
    "SELECT * FROM point ORDER BY run, name",
    "SELECT * FROM cover ORDER BY run",
    "SELECT run, first, count, operations, cycles, end, points FROM unit ORDER BY run, first",
};

static inline sqlite3 *open_db(const char *file)
{
    sqlite3 *db;
    TEST_ASSERT_EQUAL_MESSAGE(SQLITE_OK, sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL),
                              file);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

static inline void dump(const char *file, const char *to)
{
    sqlite3 *db = open_db(file);
    FILE *text = fopen(to, "w");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *q;
        TEST_ASSERT_EQUAL_MESSAGE(SQLITE_OK, sqlite3_prepare_v2(db, tables[i], -1, &q, NULL),
                                  sqlite3_errmsg(db));
        while (sqlite3_step(q) == SQLITE_ROW) {
            fprintf(text, "%zu", i);
            for (int c = 0; c < sqlite3_column_count(q); c++)
                fprintf(text, "|%s", (const char *)sqlite3_column_text(q, c));
            fputc('\n', text);
        }
        sqlite3_finalize(q);
    }
    fclose(text);
    sqlite3_close(db);
}

static inline long number_of(const char *file, const char *query)
{
    sqlite3 *db = open_db(file);
    sqlite3_stmt *q;
    TEST_ASSERT_EQUAL_MESSAGE(SQLITE_OK, sqlite3_prepare_v2(db, query, -1, &q, NULL),
                              sqlite3_errmsg(db));
    TEST_ASSERT_EQUAL_MESSAGE(SQLITE_ROW, sqlite3_step(q), sqlite3_errmsg(db));
    long value = (long)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return value;
}

static inline void same_tables(const char *a, const char *b)
{
    dump(a, "dump-a");
    dump(b, "dump-b");
    EXPECT(0, "diff dump-a dump-b | head -20; cmp dump-a dump-b");
    EXPECT(0, "(cd %s-files/failures && ls) >dump-a; (cd %s-files/failures && ls) | diff dump-a -",
           a, b);
}

static inline void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(f);
    TEST_ASSERT_TRUE(fputs(text, f) >= 0 && fclose(f) == 0);
}

static inline pid_t start(const char *const *argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        int to = open("told", O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(to, 1);
        dup2(to, 2);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    return pid;
}

/* Its exit status; -1: it was killed. */
static inline int end_by(pid_t pid, int signal)
{
    int status;
    kill(pid, signal);
    TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
