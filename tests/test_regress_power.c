/* SPDX-License-Identifier: Apache-2.0 */
/* The database of a regression when power is lost at many moments, when any of its calls fails, and when
 * the disk is full from any of them on: what was told is there with its folder, nothing is there twice, and
 * who goes on comes to the same end, row by row. (Whole regressions, workers and all, are in test_power.c
 * and test_faults.c.)
 *
 * This program itself is what is watched, under the name `ordeal`: with the word `coordinate` it merges
 * units as the coordinator of `ordeal regress` does, and tells of each once it is merged. FAULTS=all tries
 * every call. */
#include <sys/stat.h>

#include "base/tree.h"
#include "fault_run.h"
#include "power.h"
#include "regress/store.h"
#include "regressions.h"
#include "targets/target.h"

static char self[4096];

void setUp(void)
{
    char ordeal[128];
    shell_enter();
    snprintf(ordeal, sizeof ordeal, "%s/ordeal", directory);
    setenv("ORDEAL", ordeal, 1);
    EXPECT(0, "cp '%s' ordeal", self);
}

void tearDown(void) { shell_leave(); }

/* ---- the coordinator --------------------------------------------------------------------------------- */

enum { UNITS = 4, UNIT = 3 };

static bool put_file(const char *folder, const char *name, uint64_t number)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    bool good = f && fprintf(f, "%s of test %lu\n", name, (unsigned long)number) > 0
             && fflush(f) == 0 && fsync(fileno(f)) == 0;
    return (!f || fclose(f) == 0) && good;
}

static bool sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0)
        close(folder);
    return good;
}

/* As a worker leaves it: on the disk (tests/test_power.c). */
static bool keep_folder(const char *save, const char *name, uint64_t number)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", save, name);
    mkdir(save, 0777);
    return (mkdir(path, 0777) == 0 || access(path, F_OK) == 0)
        && put_file(path, "test.test", number) && put_file(path, "trace.trace", number)
        && sync_folder(path) && sync_folder(save);
}

/* The first test of each unit fails, and the second of odd ones in another way. */
static bool fill(struct record *r, struct record_failure *failures, uint64_t first,
                 const char *save)
{
    static char names[UNIT][32], model[] = "TSO", done[] = "done", program[] = "0",
                                 kind[] = "violation", title[] = "a title", reason[] = "a < b < a";
    static char *const signatures[] = { "coherence.word", "order.program" };
    struct record_test tests[UNIT] = { 0 };
    *r = (struct record){ .first = first, .end = done, .program = program, .seconds = 1 };
    for (uint32_t i = 0; i < UNIT; i++) {
        bool fails = i == 0 || (i == 1 && first / UNIT % 2);
        snprintf(names[i], sizeof names[i], "test-%lu", (unsigned long)(first + i));
        failures[i] = (struct record_failure){
            .operations = 50 - first,
            .model = model,
            .signature = signatures[i % 2],
            .kind = kind,
            .title = title,
            .reason = reason,
            .folder = names[i],
        };
        tests[i] = (struct record_test){ .number = first + i,
                                         .operations = 50,
                                         .verdict = fails ? RECORD_FAIL : RECORD_PASS,
                                         .failure = fails ? &failures[i] : NULL };
        if ((fails && !keep_folder(save, names[i], first + i)) || !LIST_PUSH(&r->tests, tests[i]))
            return false;
    }
    return true;
}

static bool do_unit(struct store *s, struct store_run *run, struct why *why)
{
    const char *save = "p.db-files/work/1";
    struct record_failure failures[UNIT];
    struct record record;
    uint64_t first = run->next;
    struct store_unit unit = { .run = run, .folders = save, .examples = 1 };
    tree_remove(save);
    bool good = (fill(&record, failures, first, save) || why_say(why, "the worker failed"))
             && store_merge(s, &unit, &record, why);
    LIST_FREE(&record.tests);
    if (good)
        printf("merged %lu\n", (unsigned long)first);
    return good && fflush(stdout) == 0;
}

static bool make_small(struct store *s, struct why *why)
{
    const char *save = "p.db-files/work/2";
    struct store_bucket b = { .id = -1 };
    bool good = true;
    while (good && store_next_new(s, b.id, &b)) {
        tree_remove(save);
        good = (keep_folder(save, "small", b.number) || why_say(why, "the worker failed"))
            && store_made_small(s, &b, "p.db-files/work/2/small", 3, why);
        if (good)
            printf("small %s\n", b.signature);
        good = good && fflush(stdout) == 0;
    }
    return good;
}

/* 0: all is done; 2: it said why not. */
static int coordinate(void)
{
    static struct machine_identity machine = { .identity = "x" };
    static char name[] = "a";
    struct plan_run plan = { .name = name, .target = &target_model, .weight = 1 };
    struct store_run run = { .plan = &plan, .identity = "x", .machine = &machine };
    struct store *s = NULL;
    struct why why = { "" };
    bool good = store_open(&s, "p.db", false, &why) && store_begin_session(s, "local", &why)
             && store_take_run(s, &run, &why);
    while (good && run.next < (uint64_t)UNITS * UNIT)
        good = do_unit(s, &run, &why);
    good = good && make_small(s, &why) && store_end_session(s, "done", &why);
    store_close(s);
    if (!good)
        fprintf(stderr, "coordinate: %s\n", why.text);
    return good ? 0 : 2;
}

/* ---- what is there afterwards -------------------------------------------------------------------------- */

/* In the current directory, of which `printed` was told. */
static void look_at_database(const char *printed)
{
    char query[200];
    for (uint32_t first = 0; first < UNITS * UNIT; first += UNIT) {
        char told[32];
        snprintf(told, sizeof told, "merged %u\n", first);
        if (!strstr(printed, told))
            continue;
        snprintf(query, sizeof query, "SELECT count(*) FROM test WHERE number BETWEEN %u AND %u",
                 first, first + UNIT - 1);
        TEST_ASSERT_EQUAL_MESSAGE(UNIT, number_of("p.db", query), told);
    }
    if (strstr(printed, "small coherence.word\n"))
        TEST_ASSERT_EQUAL(1, number_of("p.db", "SELECT count(*) FROM bucket WHERE signature ="
                                               " 'coherence.word' AND state = 'small'"));
}

/* Every folder that a row names is there, whole. */
static bool is_whole(const char *folder)
{
    char path[400], text[64];
    static const char *const names[] = { "test.test", "trace.trace" };
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "p.db-files/%.200s/%s", folder, names[i]);
        FILE *f = fopen(path, "r");
        bool good = f && fgets(text, sizeof text, f) && strchr(text, '\n');
        if (f)
            fclose(f);
        if (!good)
            return false;
    }
    return true;
}

static void look_at_folders(void)
{
    sqlite3 *db = open_db("p.db");
    sqlite3_stmt *q;
    TEST_ASSERT_EQUAL(
        SQLITE_OK, sqlite3_prepare_v2(db,
                                      "SELECT folder FROM failure WHERE folder IS NOT NULL"
                                      " UNION SELECT folder FROM bucket WHERE folder IS NOT NULL",
                                      -1, &q, NULL));
    while (sqlite3_step(q) == SQLITE_ROW)
        TEST_ASSERT_TRUE_MESSAGE(is_whole((const char *)sqlite3_column_text(q, 0)),
                                 (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    sqlite3_close(db);
}

static bool has_tables(void)
{
    return access("p.db", F_OK) == 0
        && number_of("p.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'bucket'");
}

/* What was told is there; it goes on, and comes to the end that `whole` is at. */
static void look_and_go_on(const char *printed, const char *whole)
{
    if (has_tables() || *printed) {
        look_at_database(printed);
        look_at_folders();
    }
    EXPECT(0, "\"$ORDEAL\" coordinate");
    look_at_folders();
    TEST_ASSERT_EQUAL(1, number_of("p.db", "SELECT count(*) FROM pragma_integrity_check WHERE"
                                           " integrity_check = 'ok'"));
    same_tables(whole, "p.db");
}

/* ---- tests ----------------------------------------------------------------------------------------- */

static bool all;
static struct fault_run r;

static void make_whole(void)
{
    EXPECT(0, "mkdir whole && cd whole && \"$ORDEAL\" coordinate");
    OUT("small order.program");
}

static void test_power_is_lost(void)
{
    struct power_log done;
    static char printed[1 << 12];
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    make_whole();
    EXPECT(0, ": >log");
    r = (struct fault_run){ .words = "coordinate", .log = "log" };
    fault_run(&r);
    TEST_ASSERT_EQUAL_MESSAGE(0, r.status, r.err);
    TEST_ASSERT_TRUE(power_log_read(&done, "log") && done.count > 0);
    size_t cuts = 0, step = all ? 1 : done.count / 20 + 1;
    for (size_t cut = 0; cut <= done.count; cut += done.count - cut < 8 ? 1 : step)
        for (uint64_t chance = 0; chance < 4; chance++, cuts++) {
            EXPECT(0, "rm -rf after");
            TEST_ASSERT_TRUE(chance == 3 ? power_kill(&done, cut, "after")
                                         : power_cut(&done, cut, chance, "after"));
            power_printed(&done, cut, printed, sizeof printed);
            TEST_ASSERT_EQUAL(0, chdir("after"));
            look_and_go_on(printed, "../whole/p.db");
            TEST_ASSERT_EQUAL(0, chdir(".."));
        }
    printf("%zu things done to files, %zu cuts\n", done.count, cuts);
    power_log_free(&done);
}

/* `onwards`: that call and all after it, as of a disk that is full. */
static void fail_at(enum fault_kind kind, uint64_t at, bool onwards)
{
    EXPECT(0, "rm -rf p.db*");
    r = (struct fault_run){ .words = "coordinate", .kind = kind, .at = at, .onwards = onwards };
    fault_run(&r);
    char where[80];
    snprintf(where, sizeof where, "%s call %lu%s", fault_names[kind], (unsigned long)at,
             onwards ? " onwards" : "");
    TEST_ASSERT_TRUE_MESSAGE(r.status == 0 || r.status == 2, where);
    if (r.status && !onwards) /* else it cannot say anything either */
        TEST_ASSERT_TRUE_MESSAGE(strlen(r.err) > strlen("coordinate: \n"), where);
    look_and_go_on(r.out, "whole/p.db");
}

static void test_calls_fail(void)
{
    static const enum fault_kind kinds[] = { FAULT_WRITE, FAULT_SYNC,   FAULT_OPEN,
                                             FAULT_READ,  FAULT_RENAME, FAULT_ALLOCATE };
    if (!fault_possible())
        TEST_IGNORE_MESSAGE("allocations are the sanitizers'");
    make_whole();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        EXPECT(0, "rm -rf p.db*");
        r = (struct fault_run){ .words = "coordinate" };
        fault_run(&r);
        TEST_ASSERT_TRUE(r.seen[kinds[k]] > 0);
        uint64_t calls = r.seen[kinds[k]], step = all ? 1 : calls / 8 + 1, tried = 0;
        for (uint64_t at = 1; at <= calls; at += step, tried++)
            for (int onwards = 0; onwards < 2; onwards++)
                fail_at(kinds[k], at, onwards);
        printf("%s: %lu calls, %lu of them fail\n", fault_names[kinds[k]], (unsigned long)calls,
               (unsigned long)tried);
    }
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("FAULTS");
    if (argc > 1 && strcmp(argv[1], "coordinate") == 0)
        return coordinate();
    all = wanted && strcmp(wanted, "all") == 0;
    if (!realpath(argv[0], self) || !shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_power_is_lost);
    RUN_TEST(test_calls_fail);
    return UNITY_END();
}
