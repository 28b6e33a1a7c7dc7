/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of the smallest board, through the program: tests with all that it has are clean and
 * show that it is weaker than SC; what it has not is refused. ORDEAL in the environment names the
 * program. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define EXAMPLE(NAME) "--bias \"$HOME_OF_TESTS/examples/" NAME ".bias\" "
#define RUN(OPTIONS) "\"$ORDEAL\" run --target sim --config lean=1 " OPTIONS

static void test_it_is_tso(void)
{
    EXPECT(0, RUN("--no-save " EXAMPLE("small_board") "--check --count 400 --iterations 2"));
    OUT("pass=400 fail=0 undecided=0");
}

static void test_it_is_not_sc(void)
{
    EXPECT(1, RUN("--no-save " EXAMPLE("small_board") "--against SC --count 100 --keep-going"));
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
    static const struct {
        const char *options, *why;
    } wrong[] = {
        { "--model SC", "a model other than TSO" },
        { "--bug swap-no-drain", "bugs to choose" },
        { "--visible", "records of visible stores" },
        { "--capture lossy", "a lossy capture" },
        { "--harts 4", "harts: 4, but the lean machine has 2" },
        { "--config lean=1,ways=2", "ways of a cache: 2, but the lean machine has 1" },
        { "--config lean=2", "expected a number from 0 to 1" },
        { EXAMPLE("transactions") "--set test.threads=2", "it has no transactions" },
        { "--set test.operations=1000", "a hart has 1536" },
        { EXAMPLE("small_board") "--set test.locations=200", "it has 1024" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        TEST_ASSERT_NOT_EQUAL_INT_MESSAGE(0, sh(RUN("--no-save --check %s"), wrong[i].options),
                                          wrong[i].options);
        ERR(wrong[i].why);
    }
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_it_is_tso);
    RUN_TEST(test_it_is_not_sc);
    RUN_TEST(test_the_same_seed_gives_the_same);
    RUN_TEST(test_what_it_has_not);
    return UNITY_END();
}
