/* The machine of the smallest board, through the program: tests with all that it has are clean and
 * show that it is weaker than SC; what it has not is refused. ORDEAL in the environment names the
 * program. */
#include <stdlib.h>
#include <unistd.h>

#include "shell.h"

static char directory[64], home[4096];

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-lean-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL(0, chdir(directory));
}

void tearDown(void)
{
    TEST_ASSERT_EQUAL(0, chdir(home));
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

#define RUN(OPTIONS) "\"$ORDEAL\" run --target sim --config lean=1 " OPTIONS

static void test_it_is_tso(void)
{
    EXPECT(0, RUN("--no-save --bias \"$EXAMPLES/small_board.bias\" --check --count 400 "
                  "--iterations 2"));
    OUT("pass=400 fail=0 undecided=0");
}

static void test_it_is_not_sc(void)
{
    EXPECT(1, RUN("--no-save --bias \"$EXAMPLES/small_board.bias\" --against SC --count 100 "
                  "--keep-going"));
    OUT("model=SC");
    OUT("reason=");
}

static void test_the_same_seed_gives_the_same(void)
{
    EXPECT(0, RUN("--iterations 1 --seed 3 -o a") " && " RUN("--iterations 1 --seed 3 -o b")
              " && cmp a b");
}

static void test_what_it_has_not(void)
{
    static const struct { const char *options, *why; } wrong[] = {
        { "--model SC", "a model other than TSO" },
        { "--bug swap-no-drain", "bugs to choose" },
        { "--visible", "records of visible stores" },
        { "--capture lossy", "a lossy capture" },
        { "--harts 4", "harts: 4, but the lean machine has 2" },
        { "--config lean=1,ways=2", "ways of a cache: 2, but the lean machine has 1" },
        { "--config lean=2", "expected a number from 0 to 1" },
        { "--bias \"$EXAMPLES/transactions.bias\" --set test.threads=2", "it has no transactions" },
        { "--set test.operations=1000", "a hart has 1536" },
        { "--set test.locations=40", "it has 1024" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        TEST_ASSERT_NOT_EQUAL_INT_MESSAGE(0, sh(RUN("--no-save --check %s"), wrong[i].options),
                                          wrong[i].options);
        ERR(wrong[i].why);
    }
}

int main(void)
{
    static char program[4096], examples[4096 + 16];
    UNITY_BEGIN();
    if (!realpath(getenv("ORDEAL") ? getenv("ORDEAL") : "build/ordeal", program)
        || !getcwd(home, sizeof home)) {
        fputs("ORDEAL does not name the program\n", stderr);
        return 1;
    }
    setenv("ORDEAL", program, 1);
    snprintf(examples, sizeof examples, "%s/examples", home);
    setenv("EXAMPLES", examples, 1);
    RUN_TEST(test_it_is_tso);
    RUN_TEST(test_it_is_not_sc);
    RUN_TEST(test_the_same_seed_gives_the_same);
    RUN_TEST(test_what_it_has_not);
    return UNITY_END();
}
