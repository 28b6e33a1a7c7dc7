/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal regress` from outside: what comes out; that it is the same with any number of workers and
 * after any kill, on a full disk, too; what it refuses; how it ends. On the software model, which is
 * fast. KILLS in the environment says how often it is killed (`make kills`: a hundred times). */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include <cJSON.h>

#include "base/random.h"
#include "regressions.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

/* ---- plans ---------------------------------------------------------------------------------------- */

#define PLAN_WITH(SHRINK) \
    "[regression]\ntests = 40\nbatch = 5\nexamples = 1\nwaves = no\nshrink = " SHRINK "\n" \
    "[run good]\ntarget = model\nseeds = 1..2\n" \
    "[run bad]\ntarget = model\nbug = forward-oldest\nset = test.operations=12 | test.operations=20\n"

#define PLAN PLAN_WITH("0")
#define REGRESS "$ORDEAL regress p.plan "

/* ---- tests ---------------------------------------------------------------------------------------- */

static void test_what_comes_out(void)
{
    write_file("p.plan", PLAN_WITH("20"));
    EXPECT(1, REGRESS "--junit x.xml");
    OUT("FAIL bad/test.operations=");
    OUT("RUN good/seed=1 tests=10 pass=10 fail=0 ");
    OUT("RUN bad/test.operations=20 tests=10 ");
    OUT("REGRESSION p.db tests=40 ");
    OUT(" incidents=0 end=done");
    TEST_ASSERT_EQUAL(40, number_of("p.db", "SELECT count(*) FROM test"));
    TEST_ASSERT_EQUAL(8, number_of("p.db", "SELECT count(*) FROM unit"));
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM test WHERE (verdict = 'FAIL') <>"
                                           " (SELECT count(*) FROM failure f WHERE f.run = test.run"
                                           " AND f.number = test.number)"));
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM bucket WHERE state <> 'small'"));
    TEST_ASSERT_EQUAL(1, number_of("p.db", "SELECT end = 'done' FROM session"));
    EXPECT(0, "cd p.db-files/failures && for f in *-small; do test -s $f/small/test.test && "
              "test -x $f/small/replay && test -s $f/small/verdict.json || exit 1; done");
    EXPECT(1, REGRESS); /* nothing is left to do; each bucket tells what its small example is */
    EXPECT(
        0,
        "sed -n 's/^BUCKET.* small=\\([^ ]*\\) .*saved=\\(.*\\)/\\1 \\2/p' out > smalls;"
        "test $(grep -c ^BUCKET out) = $(wc -l < smalls) && while read s f; do"
        " grep -q \"\\\"signature\\\":\\\"$s\\\"\" $f/small/verdict.json || exit 1; done < smalls");
    EXPECT(0, "test -z \"$(ls p.db-files/work)\"");
    EXPECT(0, "grep -c '<failure ' x.xml");
    EXPECT(1, "$ORDEAL show $(echo p.db-files/failures/*-small | cut -d' ' -f1)");
    EXPECT(0, REGRESS "--json | tail -1");
    cJSON *last = cJSON_Parse(out);
    TEST_ASSERT_EQUAL_STRING("REGRESSION",
                             cJSON_GetStringValue(cJSON_GetObjectItem(last, "verdict")));
    TEST_ASSERT_EQUAL(40, cJSON_GetNumberValue(cJSON_GetObjectItem(last, "tests")));
    cJSON_Delete(last);
}

/* It has no more operations than what it is the title of. */
static void test_a_title_is_of_the_small_example(void)
{
    write_file("p.plan", "[regression]\ntests = 50\nshrink = 60\ncoverage = no\n"
                         "[run bad]\ntarget = model\nbug = membar-ignored\n");
    EXPECT(0, REGRESS "| grep '^BUCKET' >buckets; test -s buckets");
    EXPECT(0, "awk '{ split($0, n, / small=| operations=| state=/)\n"
              "       match($0, /title=\"[^\"]*\"/); title = substr($0, RSTART, RLENGTH)\n"
              "       sub(/ [|] FIN.*/, \"\", title); gsub(/TX.BEGIN; |; TX.END/, \"\", title)\n"
              "       if ($0 !~ \" small=\" $2 \" \") next\n"
              "       checked++; operations = gsub(/[;|]/, \"\", title) + 1\n"
              "       if (operations > n[2]) { print; exit 1 } } END { print checked }' buckets");
    TEST_ASSERT_TRUE(atoi(out) > 0);
}

static void test_points_are_those_of_a_run(void)
{
    write_file("p.plan", "[regression]\ntests = 60\nbatch = 7\n[run good]\ntarget = model\n");
    EXPECT(0, REGRESS);
    EXPECT(0, "$ORDEAL run --target model --check --count 60 --cover c.cover >&2 && "
              "grep -c '^exec[.][^ ]* [1-9]' c.cover");
    TEST_ASSERT_EQUAL(atoi(out), number_of("p.db", "SELECT count(*) FROM point"));
    TEST_ASSERT_EQUAL(number_of("p.db", "SELECT count(*) FROM point"),
                      number_of("p.db", "SELECT sum(news) FROM test"));
    TEST_ASSERT_EQUAL(number_of("p.db", "SELECT sum(count) FROM point"),
                      number_of("p.db", "SELECT sum(points) FROM test"));
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM point WHERE number < 0"));
}

static void test_workers_do_not_matter(void)
{
    write_file("p.plan", PLAN);
    EXPECT(1, REGRESS "--jobs 1 --db one.db");
    EXPECT(1, REGRESS "--jobs 5 --db five.db");
    same_tables("one.db", "five.db");
}

/* ---- kills ---------------------------------------------------------------------------------------- */

static bool is_there(const char *db)
{
    return access(db, F_OK) == 0 && number_of(db, "SELECT count(*) FROM sqlite_schema") > 0;
}

static long units_of(const char *db)
{
    return is_there(db) ? number_of(db, "SELECT count(*) FROM unit") : 0;
}

/* Its end is not taken away. */
static bool is_alive(pid_t pid)
{
    siginfo_t info = { 0 };
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* Whatever was told is in the database, and nothing is there twice. */
static void look_at_told(const char *db)
{
    char line[4096], query[512], run[200];
    unsigned long number;
    FILE *in = fopen("told", "a+");
    TEST_ASSERT_NOT_NULL(in);
    rewind(in);
    while (fgets(line, sizeof line, in))
        if (sscanf(line, "FAIL %199[^#]#%lu ", run, &number) == 2) {
            snprintf(query, sizeof query,
                     "SELECT count(*) FROM failure JOIN run ON run.id = failure.run WHERE "
                     "run.name = '%s' AND number = %lu",
                     run, number);
            TEST_ASSERT_EQUAL_MESSAGE(1, number_of(db, query), line);
        }
    fclose(in);
    TEST_ASSERT_EQUAL(0,
                      number_of(db, "SELECT count(*) FROM unit u WHERE end <> 'skipped' AND count"
                                    " <> (SELECT count(*) FROM test t WHERE t.run = u.run AND"
                                    " number BETWEEN first AND first + count - 1)"));
    TEST_ASSERT_EQUAL(number_of(db, "SELECT count(*) FROM test"),
                      number_of(db, "SELECT coalesce(sum(count), 0) FROM unit"));
}

static void test_killed_at_any_moment_it_comes_to_the_same_end(void)
{
    const char *wanted = getenv("KILLS");
    int kills = wanted ? atoi(wanted) : 5, ended = 0;
    long worked = 0;
    const char *const argv[] = { getenv("ORDEAL"), "regress", "p.plan", "--db", "killed.db", NULL };
    struct random random;
    random_seed(&random, 1, 0);
    write_file("p.plan", PLAN_WITH("20"));
    EXPECT(1, REGRESS "--db whole.db");
    for (int i = 0; i < kills; i++) {
        long goal = units_of("killed.db") + random_below(&random, 4);
        pid_t pid = start(argv);
        for (int k = 0; k < 4000 && units_of("killed.db") < goal && is_alive(pid); k++)
            usleep(5000);
        usleep(random_below(&random, 300000));
        ended += end_by(pid, SIGKILL) >= 0;
        if (is_there("killed.db"))
            look_at_told("killed.db");
        if (i % 5 == 4 && i + 1 < kills) { /* so that there is always something left to do */
            worked += number_of("killed.db", "SELECT count(DISTINCT session) FROM unit");
            EXPECT(0, "rm -rf killed.db* told");
        }
    }
    printf("%d kills, %d were too late\n", kills, ended);
    EXPECT(1, REGRESS "--db killed.db");
    worked += number_of("killed.db", "SELECT count(DISTINCT session) FROM unit");
    printf("%ld of them had merged something\n", worked);
    same_tables("whole.db", "killed.db");
}

static void change(const char *file, const char *statements)
{
    sqlite3 *db = open_db(file);
    TEST_ASSERT_EQUAL(SQLITE_OK, sqlite3_exec(db, statements, NULL, NULL, NULL));
    sqlite3_close(db);
}

/* How tests were dealt out differs after an interrupt. */
static void forget_units(const char *file) { change(file, "DELETE FROM unit"); }

/* Tests that take longer to be explained than to be run: ^C comes while a violation is known that
 * nobody has explained yet. The first worker of a start looks at the machine, the second does tests. */
static void test_interrupted_at_any_moment_it_comes_to_the_same_end(void)
{
    const char *const argv[] = { getenv("ORDEAL"), "regress", "p.plan", "--db", "cut.db", NULL };
    struct random random;
    random_seed(&random, 2, 0);
    write_file("p.plan", "[regression]\ntests = 40\nbatch = 20\nexamples = 1\nshrink = 0\n"
                         "coverage = no\n[run bad]\ntarget = model\nbug = forward-oldest\n"
                         "limit = 3600\nset = test.operations=3000\n");
    EXPECT(1, REGRESS "--db whole.db");
    for (int i = 0; i < 6; i++) {
        pid_t pid = start(argv);
        for (int k = 0; k < 4000 && access("cut.db-files/work/2", F_OK) != 0 && is_alive(pid); k++)
            usleep(5000);
        usleep(200000 + random_below(&random, 400000));
        end_by(pid, i % 2 ? SIGINT : SIGTERM);
        look_at_told("cut.db");
    }
    EXPECT(1, REGRESS "--db cut.db");
    forget_units("whole.db");
    forget_units("cut.db");
    same_tables("whole.db", "cut.db");
}

/* ---- a full disk ---------------------------------------------------------------------------------- */

/* Files may not grow: at any size it stops with a reason, and goes on when there is room. */
static void test_a_full_disk_loses_nothing(void)
{
    write_file("p.plan", PLAN);
    EXPECT(1, REGRESS "--db whole.db");
    for (int blocks = 8; blocks <= 1200; blocks += 300) {
        sh("sh -c 'ulimit -f %d; " REGRESS "--db full.db' >>told 2>>said", blocks);
        if (is_there("full.db"))
            look_at_told("full.db");
    }
    EXPECT(0, "cat said");
    OUT("ordeal regress: full.db");
    OUT("goes on once there is room");
    EXPECT(1, REGRESS "--db full.db");
    EXPECT(0, "true");
    dump("whole.db", "a");
    dump("full.db", "b");
    EXPECT(0, "grep '^[2347]' a >a2; grep '^[2347]' b >b2; diff a2 b2 | head; cmp a2 b2");
}

/* ---- going on, and what is refused ---------------------------------------------------------------- */

static void test_a_greater_budget_goes_on(void)
{
    write_file("p.plan", "[regression]\ntests = 20\nbatch = 10\n[run a]\ntarget = model\n");
    EXPECT(0, REGRESS);
    write_file("p.plan", "[regression]\ntests = 50\nbatch = 10\n[run a]\ntarget = model\n");
    EXPECT(0, REGRESS);
    OUT("REGRESSION p.db tests=50 ");
    EXPECT(0, REGRESS "--db whole.db");
    same_tables("p.db", "whole.db");
    TEST_ASSERT_EQUAL(2, number_of("p.db", "SELECT count(*) FROM session"));
}

static void test_another_run_of_the_same_name_is_refused(void)
{
    write_file("b.bias", "[test]\noperations = 10\n");
    write_file("p.plan", "[regression]\ntests = 5\n[run a]\ntarget = model\nbias = b.bias\n");
    EXPECT(0, REGRESS);
    write_file("b.bias", "[test]\noperations = 11\n");
    EXPECT(2, REGRESS);
    ERR("of run 'a' a file that it names has changed since; take another name for it, or another "
        "database with --db");
    write_file("b.bias", "# as it was\n[test]\noperations = 10\n");
    EXPECT(0, REGRESS);
    write_file("p.plan", "[regression]\ntests = 5\n[run a]\ntarget = model\nmodel = SC\n");
    EXPECT(2, REGRESS);
    ERR("p.db: run 'a' ");
    ERR("another database with --db");
}

static void test_other_databases_are_refused(void)
{
    write_file("p.plan", "[regression]\ntests = 5\n[run a]\ntarget = model\n");
    write_file("p.db", "this is no database, but a text of some length, so that it is looked at\n");
    EXPECT(2, REGRESS);
    ERR("p.db: file is not a database");
    EXPECT(0, "rm p.db && " REGRESS);
    sqlite3 *db = open_db("p.db");
    TEST_ASSERT_EQUAL(SQLITE_OK, sqlite3_exec(db, "PRAGMA user_version = 7", NULL, NULL, NULL));
    sqlite3_close(db);
    EXPECT(2, REGRESS);
    ERR("p.db is a database of version 7, this program knows 1: go on with the program that wrote it");
    db = open_db("p.db");
    sqlite3_exec(db, "PRAGMA application_id = 7", NULL, NULL, NULL);
    sqlite3_close(db);
    EXPECT(2, REGRESS);
    ERR("p.db is no database of a regression");
}

static void test_the_second_waits_or_says_who_has_it(void)
{
    write_file("p.plan", "[regression]\ntests = 5\n[run a]\ntarget = model\n");
    EXPECT(
        2,
        "mkdir p.db-files; exec 9>p.db-files/lock; flock 9; echo 'process 1 on moon' >&9; " REGRESS);
    ERR("p.db: process 1 on moon is at work on it; --wait waits until it ends, --db takes another");
    EXPECT(0, "exec 9>p.db-files/lock; flock 9; (sleep 0.5) & exec 9>&-; " REGRESS "--wait");
    OUT("tests=5");
}

/* Somebody's hand in a database that is written to: what is written on would be lost, and is not said to
 * be kept. */
static void test_a_database_that_is_taken_away_is_noticed(void)
{
    static const struct {
        const char *hand, *said;
    } hands[] = { { "rm p.db", "p.db was removed or replaced" },
                  { "cp p.db other.db && mv other.db p.db", "p.db was removed or replaced" },
                  { "rm p.db-files/lock", "p.db-files/lock was removed or replaced" } };
    const char *const argv[] = { getenv("ORDEAL"), "regress", "p.plan", NULL };
    write_file("p.plan", "[regression]\ntests = 1000\nbatch = 2\n[run a]\ntarget = model\n");
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++) {
        EXPECT(0, "rm -rf p.db* told");
        pid_t pid = start(argv);
        for (int k = 0; k < 4000 && units_of("p.db") < 1; k++)
            usleep(5000);
        EXPECT(0, hands[i].hand);
        TEST_ASSERT_EQUAL(2, end_by(pid, 0)); /* by itself */
        EXPECT(0, "cat told");
        OUT(hands[i].said);
        OUT("end=error");
    }
}

static void test_wrong_plans_say_where(void)
{
    static const struct {
        const char *plan, *said;
    } wrong[] = {
        { "[run a]\ntarget = model\nset = no.such=1\n", "p.plan:3: run 'a': " },
        { "[run a]\ntarget = sim\nconfig = sets=3\n", "p.plan:3: run 'a': " },
        { "[run a]\ntarget = model\nbug = nonsense\n", "p.plan:3: run 'a': " },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char plan[512];
        snprintf(plan, sizeof plan, "[regression]\ntests = 5\n%s", wrong[i].plan);
        write_file("p.plan", plan);
        EXPECT(2, REGRESS);
        ERR(wrong[i].said);
        TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM run"));
    }
}

static void test_it_begins_with_a_plan(void)
{
    EXPECT(0, "$ORDEAL regress --init begin.plan && $ORDEAL regress begin.plan --dry-run");
    OUT("PLANNED sim weight=3 tests=120 words=\"run --model TSO --target sim\"");
    EXPECT(2, "$ORDEAL regress --init begin.plan");
    EXPECT(2, "$ORDEAL regress");
    ERR("--init");
}

/* ---- incidents ------------------------------------------------------------------------------------ */

static void test_what_is_not_there_is_an_incident(void)
{
    write_file("p.plan",
               "[regression]\ntests = 20\nbatch = 5\nwaves = no\n[run a]\ntarget = model\n"
               "[run gone]\ntarget = board\n");
    EXPECT(0, "env -u UMOCKDEV_DIR " REGRESS "--junit x.xml");
    OUT("INCIDENT gone kind=target ");
    OUT("RUN a tests=10 pass=10 ");
    OUT(" incidents=1 end=done");
    EXPECT(0, "grep '<skipped ' x.xml");
    EXPECT(0, "sed -i 's/^waves.*/incidents = fail/' p.plan");
    EXPECT(3, "env -u UMOCKDEV_DIR " REGRESS);
    write_file("p.plan", "[regression]\ntests = 20\n[run gone]\ntarget = board\n");
    EXPECT(3, "env -u UMOCKDEV_DIR " REGRESS "--db other.db"); /* nothing at all could be run */
}

/* A command that ends at once, and the solver's limit, beside a run that is well. */
static void test_no_verdict_is_an_incident(void)
{
    write_file("p.plan",
               "[regression]\ntests = 60\nbatch = 10\nshrink = 0\n[run a]\ntarget = model\n"
               "[run dies]\ntarget = elf\ncommand = false {elf} {signature}\n"
               "[run hard]\ntarget = model\nlimit = 0.000001\nagainst = SC\n"
               "set = test.operations=400\nset = threads=8\n");
    EXPECT(0, REGRESS "| tee told");
    OUT("INCIDENT dies kind=target text=\"test-0: false ended with status 1\"");
    OUT("INCIDENT hard kind=undecided text=\"not decided within the limits given\"");
    OUT("RUN a tests=20 pass=20 ");
    OUT("RUN hard tests=20 pass=0 fail=0 undecided=20 lost=0 incidents=20 ");
    EXPECT(0, "grep -c '^INCIDENT hard' told"); /* the first three are enough */
    TEST_ASSERT_EQUAL(3, atoi(out));
    EXPECT(0, "sed -i 's/^shrink.*/incidents = fail/' p.plan");
    EXPECT(3, REGRESS);
}

/* What others of its workers had done already is in vain, and nobody waits for it. */
static void test_a_run_that_is_given_up_keeps_no_example_large(void)
{
    write_file("p.plan",
               "[regression]\nbatch = 5\nshrink = 20\ncoverage = no\n[run dies]\ntarget = elf\n"
               "tests = 40\ncommand = false {elf} {signature}\n"
               "[run bad]\ntarget = model\nbug = forward-oldest\ntests = 10\n");
    EXPECT(1, REGRESS "--jobs 4");
    OUT("RUN dies tests=0 ");
    OUT("BUCKET coherence.word ");
    TEST_ASSERT_TRUE(number_of("p.db", "SELECT count(*) FROM bucket") > 0);
    TEST_ASSERT_EQUAL(0, number_of("p.db", "SELECT count(*) FROM bucket WHERE state <> 'small'"));
}

/* It is a finding, as where a model stands still. */
static void test_a_machine_that_hangs_fails(void)
{
    write_file("hang", "exec sleep 100\n");
    write_file("p.plan",
               "[regression]\ntests = 4\nbatch = 2\nshrink = 0\n[run a]\ntarget = model\n"
               "[run hangs]\ntarget = elf\ntimeout = 1\ncommand = sh hang {elf} {signature}\n");
    EXPECT(1, REGRESS);
    OUT("FAIL hangs#0 bucket=standstill kind=standstill ");
    OUT("RUN a tests=2 pass=2 ");
    OUT("RUN hangs tests=2 pass=0 fail=2 undecided=0 lost=0 incidents=0 ");
    OUT("BUCKET standstill kind=standstill failures=2 ");
}

/* The sources of the machine with a mistake: it is told where, and the other run is done. */
static void test_a_machine_that_does_not_compile_says_where(void)
{
    write_file("p.plan", "[regression]\ntests = 10\n[run a]\ntarget = model\n[run broken]\n"
                         "target = sim\nsizes = h2-s1-w2-l4-b8-q4\n");
    EXPECT(
        0,
        "mkdir prog && cp $ORDEAL prog/ordeal && cp -r $HOME_OF_TESTS/rtl $HOME_OF_TESTS/sim . &&"
        " sed -i '14s/^/nonsense /' rtl/lsu.v");
    EXPECT(0, "ORDEAL_MODELS=$PWD/models prog/ordeal regress p.plan");
    OUT("INCIDENT broken kind=build ");
    OUT("rtl/lsu.v:14:");
    OUT("RUN a tests=5 pass=5 ");
}

/* ---- the end -------------------------------------------------------------------------------------- */

static bool has_tests(const char *file)
{
    return is_there(file) && number_of(file, "SELECT count(*) FROM test") > 0;
}

static void test_an_interrupt_ends_in_order(void)
{
    const char *const argv[] = { getenv("ORDEAL"), "regress", "p.plan", NULL };
    write_file("p.plan", "[regression]\nseconds = 100\n[run a]\ntarget = model\n[run b]\n"
                         "target = model\nseeds = 7\n");
    pid_t pid = start(argv);
    for (int i = 0; i < 600 && !has_tests("p.db"); i++)
        usleep(100000);
    TEST_ASSERT_EQUAL(130, end_by(pid, SIGINT));
    EXPECT(0, "cat told");
    OUT("the same command goes on from here");
    OUT("end=interrupted");
    TEST_ASSERT_EQUAL(1, number_of("p.db", "SELECT end = 'interrupted' FROM session"));
    look_at_told("p.db");
}

static void test_budgets_of_time_are_kept_to(void)
{
    long tests = 0;
    for (int seconds = 2; tests == 0 && seconds <= 128;
         seconds *= 2) { /* the machine may be slow */
        char plan[128];
        snprintf(plan, sizeof plan, "[regression]\nseconds = %d\n[run a]\ntarget = model\n",
                 seconds);
        write_file("p.plan", plan);
        EXPECT(0, "rm -f p.db");
        EXPECT(0, REGRESS);
        OUT("end=budget");
        tests = number_of("p.db", "SELECT count(*) FROM test");
    }
    TEST_ASSERT_TRUE(tests > 0);
    EXPECT(0, REGRESS);
    TEST_ASSERT_EQUAL(tests, number_of("p.db", "SELECT count(*) FROM test"));
}

static void test_what_changed_is_told(void)
{
    write_file("p.plan", PLAN);
    EXPECT(1, REGRESS "--db old.db");
    EXPECT(1, REGRESS "--db new.db --against old.db");
    TEST_ASSERT_NULL(strstr(out, "NEW "));
    TEST_ASSERT_NULL(strstr(out, "GONE "));
    TEST_ASSERT_NULL(strstr(out, "FLAKY "));
    TEST_ASSERT_NULL(strstr(out, "UNCOVERED "));
    EXPECT(0, "sed -i 's/^bug/#bug/' p.plan");
    EXPECT(0, REGRESS "--db fixed.db --against old.db");
    OUT("GONE ");
    EXPECT(0, REGRESS "--db fixed.db");
    EXPECT(0, "sed -i 's/^#bug/bug/' p.plan");
    EXPECT(1, REGRESS "--db again.db --against fixed.db");
    OUT("NEW ");
    change("old.db", "UPDATE test SET verdict = 'PASS' WHERE run = 3 AND number ="
                     " (SELECT min(number) FROM failure WHERE run = 3);"
                     "UPDATE test SET seconds = seconds / 100;"
                     "UPDATE test SET cycles = 5 WHERE number = 0;"
                     "INSERT INTO point VALUES(1, 'exec.none', 1, 0);");
    change("new.db", "UPDATE test SET seconds = seconds + 1 WHERE run = 3");
    EXPECT(1, REGRESS "--db new.db --against old.db");
    OUT("FLAKY bad/test.operations=12#");
    OUT("SLOWER bad/test.operations=12 ");
    TEST_ASSERT_NULL(strstr(out, "SLOWER good"));
    OUT("UNCOVERED good/seed=1 first=exec.none");
    /* A machine that was built anew reaches others by chance, but not what most tests reach. */
    change("old.db", "UPDATE run SET identity = 'other' WHERE id = 1;"
                     "INSERT INTO point VALUES(1, 'exec.never', 9, 0)");
    EXPECT(1, REGRESS "--db new.db --against old.db");
    TEST_ASSERT_NULL(strstr(out, "UNCOVERED "));
    change("old.db", "UPDATE point SET count = 10 WHERE name = 'exec.never'");
    EXPECT(1, REGRESS "--db new.db --against old.db");
    OUT("UNCOVERED good/seed=1 first=exec.never");
    TEST_ASSERT_NULL(strstr(out, "exec.none"));
    EXPECT(2, REGRESS "--db new2.db --against none.db");
    ERR("--against none.db");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_what_comes_out);
    RUN_TEST(test_a_title_is_of_the_small_example);
    RUN_TEST(test_points_are_those_of_a_run);
    RUN_TEST(test_workers_do_not_matter);
    RUN_TEST(test_killed_at_any_moment_it_comes_to_the_same_end);
    RUN_TEST(test_interrupted_at_any_moment_it_comes_to_the_same_end);
    RUN_TEST(test_a_full_disk_loses_nothing);
    RUN_TEST(test_a_greater_budget_goes_on);
    RUN_TEST(test_another_run_of_the_same_name_is_refused);
    RUN_TEST(test_other_databases_are_refused);
    RUN_TEST(test_the_second_waits_or_says_who_has_it);
    RUN_TEST(test_a_database_that_is_taken_away_is_noticed);
    RUN_TEST(test_wrong_plans_say_where);
    RUN_TEST(test_it_begins_with_a_plan);
    RUN_TEST(test_what_is_not_there_is_an_incident);
    RUN_TEST(test_no_verdict_is_an_incident);
    RUN_TEST(test_a_run_that_is_given_up_keeps_no_example_large);
    RUN_TEST(test_a_machine_that_hangs_fails);
    RUN_TEST(test_a_machine_that_does_not_compile_says_where);
    RUN_TEST(test_an_interrupt_ends_in_order);
    RUN_TEST(test_budgets_of_time_are_kept_to);
    RUN_TEST(test_what_changed_is_told);
    return UNITY_END();
}
