/* SPDX-License-Identifier: Apache-2.0 */
/* A regression of the multiprocessor in simulation, one of whose machines has a bug: from the plan to a
 * small test with the way to run it again. And one of a board that is unplugged. */
#include "regressions.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

static void ask(const char *query, char *text, size_t size)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    TEST_ASSERT_EQUAL(SQLITE_OK, sqlite3_open_v2("p.db", &db, SQLITE_OPEN_READWRITE, NULL));
    TEST_ASSERT_EQUAL_MESSAGE(SQLITE_OK, sqlite3_prepare_v2(db, query, -1, &q, NULL), query);
    TEST_ASSERT_EQUAL_MESSAGE(SQLITE_ROW, sqlite3_step(q), query);
    const char *value = (const char *)sqlite3_column_text(q, 0);
    snprintf(text, size, "%s", value ? value : "");
    sqlite3_finalize(q);
    sqlite3_close(db);
}

static void test_a_bug_is_found_and_made_small(void)
{
    char text[512];
    FILE *f = fopen("p.plan", "w");
    fputs("[regression]\ncycles = 150000\nbatch = 4\nshrink = 20\nwaves = no\nexamples = 1\n"
          "[all]\ntarget = sim\nsizes = h2-s1-w2-l4-b8-q4\nmodel = TSO\n"
          "[run good]\n[run bad]\nbug = forward-oldest\n",
          f);
    fclose(f);
    EXPECT(1, "$ORDEAL regress p.plan --junit x.xml");
    OUT("FAIL bad#");
    OUT("machine=h2-s1-w2-l4-b8-q4");
    OUT("RUN good ");
    OUT("state=small");
    ask("SELECT count(*) FROM failure JOIN run ON run.id = run WHERE name = 'good'", text,
        sizeof text);
    TEST_ASSERT_EQUAL_STRING("0", text);
    ask("SELECT configuration || ' ' || length(sources) FROM machine", text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("h2-s1-w2-l4-b8-q4 32", text);
    ask("SELECT count(*) FROM run WHERE (SELECT sum(cycles) FROM unit WHERE run = run.id) < cycles OR"
        " (SELECT sum(cycles) FROM test WHERE run = run.id AND number < (SELECT max(number) FROM test"
        " WHERE run = run.id)) >= cycles",
        text, sizeof text);
    TEST_ASSERT_EQUAL_STRING_MESSAGE("0", text, "the last test is the one that uses the cycles up");
    ask("SELECT count(*) FROM test WHERE verdict <> 'FAIL' AND (points = 0 OR seconds <= 0)", text,
        sizeof text);
    TEST_ASSERT_EQUAL_STRING("0", text);
    ask("SELECT folder FROM bucket WHERE state = 'small'", text, sizeof text);
    EXPECT(1, "PATH=\"$BUILD_OF_TESTS:$PATH\" sh p.db-files/%s/replay", text);
    OUT("FAIL");
}

/* The cable is pulled when some tests are done: what is told is no verdict, nothing is left out, and with
 * the board back it goes on. */
static void test_a_board_is_unplugged(void)
{
    static char board[4200];
    snprintf(board, sizeof board, "%s/ordeal-board", getenv("BUILD_OF_TESTS"));
    const char *const argv[] = { board, "--", getenv("ORDEAL"), "regress", "p.plan", NULL };
    write_file("p.plan", "[regression]\ntests = 60\nbatch = 10\n[run b]\ntarget = board\n"
                         "set = threads=2\nset = test.operations=20\n[run m]\ntarget = model\n");
    pid_t pid = start(argv);
    for (int i = 0; i < 1200 && access("p.db-files/failures", F_OK) != 0; i++)
        usleep(50000);
    for (int i = 0; i < 1200
                    && !number_of("p.db", "SELECT count(*) FROM unit JOIN run ON run = run.id"
                                          " WHERE target = 'board'");
         i++)
        usleep(50000);
    end_by(pid, SIGKILL);
    for (int i = 0; i < 1200 && !number_of("p.db", "SELECT count(end) FROM session"); i++)
        usleep(50000);
    TEST_ASSERT_EQUAL(1, number_of("p.db", "SELECT end = 'done' FROM session"));
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM incident WHERE kind <> 'target'"));
    TEST_ASSERT_TRUE(number_of("p.db", "SELECT count(*) FROM incident") > 0);
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM unit WHERE end = 'skipped'"));
    EXPECT(0, "%s -- $ORDEAL regress p.plan", board);
    OUT("RUN b tests=30 pass=30 ");
    OUT("RUN m tests=30 pass=30 ");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_a_bug_is_found_and_made_small);
    RUN_TEST(test_a_board_is_unplugged);
    return UNITY_END();
}
