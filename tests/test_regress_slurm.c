/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal regress --engine slurm`, with a Slurm that is pretended (tests/slurm/pretend): whatever becomes
 * of its jobs, the database is that of --engine local. `make test-slurm` runs tests/slurm/run with a real
 * one. */
#include "regress/slurm_tool.h"
#include "regressions.h"

#define PLAN \
    "[regression]\ntests = 20\nbatch = 5\nexamples = 1\nwaves = no\nshrink = 0\n" \
    "[run good]\ntarget = model\n[run bad]\ntarget = model\nbug = forward-oldest\n"
#define LOCAL "$ORDEAL regress p.plan --db local.db"
#define SLURM "$ORDEAL regress p.plan --db slurm.db --engine slurm "

/* In a folder whose name is no easy one. */
void setUp(void)
{
    char path[16384];
    shell_enter();
    EXPECT(
        0,
        "mkdir -p bin site \"it's 100%% \\$HOME \\\\ & so\" && "
        "for p in sbatch squeue scancel; do ln -s \"$HOME_OF_TESTS/tests/slurm/pretend\" bin/$p; "
        "done");
    snprintf(path, sizeof path, "%s/site", directory);
    setenv("SITE", path, 1);
    snprintf(path, sizeof path, "%s/bin:%s", directory, getenv("PATH_OF_TESTS"));
    setenv("PATH", path, 1);
    TEST_ASSERT_EQUAL(0, chdir("it's 100% $HOME \\ & so"));
    write_file("p.plan", PLAN);
}

void tearDown(void) { shell_leave(); }

static void nothing_is_left(const char *db)
{
    EXPECT(0, "test -z \"$(ls %s-files/work)\" && test ! -e %s-files/slurm", db, db);
}

/* ---- what Slurm says ------------------------------------------------------------------------------ */

static void test_lines_of_squeue_are_taken_or_left(void)
{
    static const struct {
        const char *text, *state, *reason;
        uint64_t job, index;
    } good[] = {
        { "task 17 0 RUNNING None\n", "RUNNING", "None", 17, 0 },
        { "task 17 12 PENDING launch failed requeued held", "PENDING",
          "launch failed requeued held", 17, 12 },
        { "task 1 2 FAILED", "FAILED", "", 1, 2 },
        { "task 1 2 PENDING \x1b[31m\n", "PENDING", "\\x1b[31m", 1, 2 },
    };
    static const char *const bad[] = {
        "",
        "task",
        "task 1",
        "task 1 2",
        "task 1 2 ",
        "task x 2 RUNNING",
        "task 1 N/A RUNNING None",
        "task -1 2 RUNNING None",
        "task 1 99999999999999999999999 RUNNING None",
        "slurm_load_jobs error: Unable to contact slurm controller",
        "task 1 2 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA None",
    };
    struct slurm_line line;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        TEST_ASSERT_TRUE_MESSAGE(slurm_read_line(&line, good[i].text), good[i].text);
        TEST_ASSERT_EQUAL_STRING(good[i].state, line.state);
        TEST_ASSERT_EQUAL_STRING(good[i].reason, line.reason);
        TEST_ASSERT_EQUAL_UINT64(good[i].job, line.job);
        TEST_ASSERT_EQUAL_UINT64(good[i].index, line.index);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_FALSE_MESSAGE(slurm_read_line(&line, bad[i]), bad[i]);
}

static void test_the_number_of_a_job_is_found(void)
{
    uint64_t job = 0;
    write_file("log", "sbatch: warning: 12 is no number here\n77;cluster\n");
    TEST_ASSERT_TRUE(slurm_read_job("log", &job));
    TEST_ASSERT_EQUAL_UINT64(77, job);
    write_file("log", "Submitted batch job 12\n12 jobs\n-3\n");
    TEST_ASSERT_FALSE(slurm_read_job("log", &job));
    TEST_ASSERT_FALSE(slurm_read_job("nowhere", &job));
}

static void test_names_are_ours(void)
{
    char name[SLURM_NAME], other[SLURM_NAME];
    TEST_ASSERT_TRUE(slurm_new_name(name) && slurm_new_name(other));
    TEST_ASSERT_TRUE(slurm_is_name(name));
    TEST_ASSERT_TRUE(strcmp(name, other) != 0);
    TEST_ASSERT_FALSE(slurm_is_name(""));
    TEST_ASSERT_FALSE(slurm_is_name("ordeal-0123456789abcde"));
    TEST_ASSERT_FALSE(slurm_is_name("ordeal-0123456789abcdeg"));
    TEST_ASSERT_FALSE(slurm_is_name("--full-0123456789abcdef"));
}

/* ---- what becomes of jobs ------------------------------------------------------------------------- */

/* Tasks 0 and 1 look at the machines, 2 and 3 are 0 again; then come four units, and two of them again. */
static void test_whatever_becomes_of_jobs_the_tables_are_the_same(void)
{
    write_file("../site/fate-0", "kill\n");
    write_file("../site/fate-2", "vanish\n");
    write_file("../site/fate-3", "twice\n");
    write_file("../site/fate-4", "kill\n");
    write_file("../site/fate-5", "late\n");
    EXPECT(1, LOCAL);
    EXPECT(1, SLURM);
    OUT("incidents=0 end=done");
    same_tables("local.db", "slurm.db");
    nothing_is_left("slurm.db");
    EXPECT(0, "cat ../site/tasks");
    TEST_ASSERT_EQUAL_STRING("10\n", out);
    TEST_ASSERT_EQUAL(1, number_of("slurm.db", "SELECT engine = 'slurm' FROM session"));
}

/* It would do so again: that is for the coordinator to decide. */
static void test_a_task_whose_time_is_over_is_an_incident(void)
{
    write_file("../site/fate-2", "timeout\n");
    EXPECT(1, SLURM);
    OUT(" kind=worker text=\"Slurm's job 101_0 took longer than the plan's 'worker' allows and handed "
        "in nothing; attempts: 1\"");
    OUT("incidents=1 end=done");
    TEST_ASSERT_EQUAL(20, number_of("slurm.db", "SELECT count(*) FROM test"));
}

static void test_sbatch_gets_its_words(void)
{
    EXPECT(1, SLURM "--sbatch '--partition=long --account=me' --sbatch=-N1 --jobs 2");
    EXPECT(0, "grep '^sbatch ' ../site/calls");
    OUT("sbatch --partition=long --account=me -N1 --parsable --requeue --output=/dev/null "
        "--job-name=ordeal-");
    OUT(" --array=0-1 --time=60 ");
    EXPECT(2, SLURM "--db other.db --sbatch '--partition long'");
    ERR("'long' does not begin with '-': --partition=NAME is one word");
    EXPECT(2, LOCAL " --sbatch=--partition=long");
    ERR("--sbatch is for --engine slurm");
    EXPECT(2, SLURM "--jobs 1025");
    ERR("--jobs takes a number up to 1024");
    EXPECT(2, "PATH=/usr/bin:/bin; rm ../bin/*; PATH=../bin $ORDEAL regress p.plan --engine slurm");
    ERR("there is no 'sbatch' on PATH: install Slurm's programs (Debian: slurm-client), or take "
        "--engine local");
}

static void test_what_sbatch_refuses_is_told_and_nothing_is_lost(void)
{
    write_file("../site/refuse",
               "sbatch: error: Batch job submission failed: Invalid \x1b[31maccount\n");
    EXPECT(2, SLURM);
    ERR("sbatch ended with status 1: sbatch: error: Batch job submission failed: Invalid "
        "\\x1b[31maccount; --sbatch=WORDS gives it what the site asks for, as --partition or "
        "--account. What came so far is kept, and the same command goes on from there");
    nothing_is_left("slurm.db");
    EXPECT(0, "rm ../site/refuse");
    EXPECT(1, LOCAL);
    EXPECT(1, SLURM);
    same_tables("local.db", "slurm.db");
}

static void test_a_job_that_nobody_starts_is_told(void)
{
    write_file("../site/hold", "JobHeldUser\n");
    EXPECT(2, SLURM "--queue-seconds 1");
    ERR("Slurm has not started job 100_0 within 1 s (JobHeldUser); ");
    EXPECT(0, "grep '^scancel --name=ordeal-' ../site/calls");
    nothing_is_left("slurm.db");
}

/* ---- ends ----------------------------------------------------------------------------------------- */

static const char *const regress[] = { NULL,       "regress",  "p.plan", "--db",
                                       "slurm.db", "--engine", "slurm",  NULL };

static pid_t start_slurm(void)
{
    const char *argv[sizeof regress / sizeof *regress];
    memcpy(argv, regress, sizeof regress);
    argv[0] = getenv("ORDEAL");
    return start(argv);
}

/* Until `command` says yes; a minute at most. */
static void wait_until(const char *command)
{
    for (int i = 0; i < 600; i++) {
        if (sh("%s", command) == 0)
            return;
        usleep(100000);
    }
    TEST_FAIL_MESSAGE(command);
}

static void test_an_interrupt_takes_what_there_is(void)
{
    write_file("p.plan", "[regression]\nseconds = 100\n[run a]\ntarget = model\n[run b]\n"
                         "target = model\nseeds = 7\n");
    pid_t pid = start_slurm();
    wait_until("test $(grep -c '^sbatch ' ../site/calls) -ge 4");
    TEST_ASSERT_EQUAL(130, end_by(pid, SIGINT));
    EXPECT(0, "cat told");
    OUT("end=interrupted");
    EXPECT(0, "cat ../site/calls");
    OUT(" --state=PENDING");
    OUT(" --state=RUNNING --signal=TERM --full");
    nothing_is_left("slurm.db");
    TEST_ASSERT_TRUE(number_of("slurm.db", "SELECT count(*) FROM test") > 0);
    TEST_ASSERT_EQUAL(0, number_of("slurm.db", "SELECT count(*) FROM incident"));
}

static void test_the_session_after_a_kill_cancels_what_is_left(void)
{
    EXPECT(1, LOCAL);
    pid_t pid = start_slurm();
    wait_until("test -s slurm.db-files/slurm && grep '^sbatch ' ../site/calls");
    TEST_ASSERT_EQUAL(-1, end_by(pid, SIGKILL));
    EXPECT(0, "cp slurm.db-files/slurm left");
    EXPECT(1, SLURM);
    same_tables("local.db", "slurm.db");
    EXPECT(0, "grep -x \"scancel --name=$(cat left)\" ../site/calls");
    nothing_is_left("slurm.db");
}

/* It stays known to whom they belong. */
static void test_what_cannot_be_cancelled_is_kept_in_mind(void)
{
    EXPECT(0, "mkdir slurm.db-files && echo ordeal-0123456789abcdef >slurm.db-files/slurm && "
              "echo 'scancel: error: no controller' >../site/deaf");
    EXPECT(2, SLURM);
    ERR("scancel ended with status 1: scancel: error: no controller");
    EXPECT(0, "cat slurm.db-files/slurm");
    OUT("ordeal-0123456789abcdef\n");
    EXPECT(0, "rm ../site/deaf");
    EXPECT(1, SLURM);
    nothing_is_left("slurm.db");
}

static void test_a_name_of_others_is_not_cancelled(void)
{
    EXPECT(0, "mkdir slurm.db-files && echo '--user=root' >slurm.db-files/slurm");
    EXPECT(1, SLURM);
    EXPECT(1, "grep root ../site/calls");
    nothing_is_left("slurm.db");
}

int main(void)
{
    if (!shell_open())
        return 2;
    setenv("PATH_OF_TESTS", getenv("PATH"), 1);
    UNITY_BEGIN();
    RUN_TEST(test_lines_of_squeue_are_taken_or_left);
    RUN_TEST(test_the_number_of_a_job_is_found);
    RUN_TEST(test_names_are_ours);
    RUN_TEST(test_whatever_becomes_of_jobs_the_tables_are_the_same);
    RUN_TEST(test_a_task_whose_time_is_over_is_an_incident);
    RUN_TEST(test_sbatch_gets_its_words);
    RUN_TEST(test_what_sbatch_refuses_is_told_and_nothing_is_lost);
    RUN_TEST(test_a_job_that_nobody_starts_is_told);
    RUN_TEST(test_an_interrupt_takes_what_there_is);
    RUN_TEST(test_the_session_after_a_kill_cancels_what_is_left);
    RUN_TEST(test_what_cannot_be_cancelled_is_kept_in_mind);
    RUN_TEST(test_a_name_of_others_is_not_cancelled);
    return UNITY_END();
}
