/* SPDX-License-Identifier: Apache-2.0 */
/* The mistakes of tests/mistakes: each is a patch that says what it is, and is one of the machine as
 * it is now. No model is built. ORDEAL in the environment names the program. */
#include <glob.h>

#include "shell.h"

enum { FEWEST = 20 };

static glob_t patches;

void setUp(void)
{
    shell_enter();
    EXPECT(0, "cp -R \"$HOME_OF_TESTS/rtl\" .");
}

void tearDown(void) { shell_leave(); }

static void there_are_enough(void) { TEST_ASSERT_GREATER_OR_EQUAL(FEWEST, patches.gl_pathc); }

/* What and Shows, one line each, then perhaps Model, which is not the usual one; then the diff. */
static bool is_headed(const char *patch)
{
    return sh("awk 'NR == 1 && !/^What: .+/ || NR == 2 && !/^Shows: .+/ { exit 1 }\n"
              "     NR == 3 && !/^(Model: (SC|PSO|RMO)$|--- a)/ { exit 1 }\n"
              "     NR == 4 && !/^(--- a|\\+\\+\\+ b)/ { exit 1 }\n"
              "     END { if (NR < 5) exit 1 }' '%s'",
              patch)
        == 0;
}

static bool is_of_the_machine(const char *patch)
{
    return sh("test $(grep -cE '^(--- a|[+]{3} b)/rtl/[a-z_]+\\.v$' '%s')"
              " = $(grep -cE '^(---|[+]{3}) ' '%s')",
              patch, patch)
        == 0;
}

static bool applies(const char *patch)
{
    return sh("patch --dry-run --quiet --force --fuzz=0 -p1 < '%s'", patch) == 0;
}

static void expect_of_all(bool (*holds)(const char *patch))
{
    for (size_t i = 0; i < patches.gl_pathc; i++)
        TEST_ASSERT_TRUE_MESSAGE(holds(patches.gl_pathv[i]), patches.gl_pathv[i]);
}

static void each_says_what_it_is(void) { expect_of_all(is_headed); }

static void each_changes_the_machine_alone(void) { expect_of_all(is_of_the_machine); }

static void each_applies_to_the_machine_as_it_is(void) { expect_of_all(applies); }

/* What the three look for, they find missing. */
static void a_patch_that_has_rotted_is_seen(void)
{
    EXPECT(0,
           "printf '%%s\\n' 'What: x' 'Shows: y' '--- a/rtl/amo.v' '+++ b/rtl/amo.v' '@@ -1 +1 @@'"
           " '-no such line' '+x' > old.patch\n"
           "sed 1d old.patch > bare.patch; sed 's/amo.v/zoo.def/' old.patch > elsewhere.patch\n"
           "sed '2a Model: TSO' old.patch > usual.patch");
    TEST_ASSERT_TRUE(is_headed("old.patch"));
    TEST_ASSERT_FALSE(is_headed("bare.patch"));
    TEST_ASSERT_FALSE(is_headed("usual.patch"));
    TEST_ASSERT_TRUE(is_of_the_machine("old.patch"));
    TEST_ASSERT_FALSE(is_of_the_machine("elsewhere.patch"));
    TEST_ASSERT_FALSE(applies("old.patch"));
}

int main(void)
{
    if (!shell_open())
        return 1;
    char pattern[4200];
    snprintf(pattern, sizeof pattern, "%s/tests/mistakes/*.patch", home);
    if (glob(pattern, 0, NULL, &patches) != 0) {
        fprintf(stderr, "%s: there is none\n", pattern);
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(there_are_enough);
    RUN_TEST(each_says_what_it_is);
    RUN_TEST(each_changes_the_machine_alone);
    RUN_TEST(each_applies_to_the_machine_as_it_is);
    RUN_TEST(a_patch_that_has_rotted_is_seen);
    int failures = UNITY_END();
    globfree(&patches);
    return failures;
}
