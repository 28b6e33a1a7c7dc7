/* SPDX-License-Identifier: Apache-2.0 */
/* tests/layers: no include of this tree goes upwards, and one that would is found. */
#include "shell.h"

/* A file that includes another one, both new. */
static void includes(const char *file, const char *name, const char *target)
{
    EXPECT(0, "mkdir -p $(dirname %s) $(dirname %s); : > %s", file, target, target);
    EXPECT(0, "printf 'int x;\\n#include \"%s\"\\n' > %s", name, file);
}

#define LAYERS "\"$HOME_OF_TESTS/tests/layers\" . "

void setUp(void) { shell_enter(); }

void tearDown(void) { shell_leave(); }

static void test_this_tree_has_none(void)
{
    EXPECT(0, "\"$HOME_OF_TESTS/tests/layers\"");
    TEST_ASSERT_EQUAL_STRING("", out);
}

static void test_it_says_where_and_what_to_do(void)
{
    includes("host/base/low.c", "tell/high.h", "host/tell/high.h");
    EXPECT(1, LAYERS);
    TEST_ASSERT_EQUAL_STRING("host/base/low.c:2: host/tell/high.h is not for host/base/, "
                             "which may include: checker/ordeal.h sim/process.h. "
                             "Move what is needed down to one "
                             "of these, or what needs it up.\n",
                             out);
}

static void test_includes_that_are_refused(void)
{
    static const struct {
        const char *file, *name, *target;
    } planted[] = {
        { "checker/a.c", "base/b.h", "host/base/b.h" },
        { "checker/a.c", "../host/base/b.h", "host/base/b.h" },
        { "firmware/a.c", "soc.h", "sim/soc.h" },
        { "sim/a.cpp", "ordeal.h", "checker/ordeal.h" },
        { "host/test/a.c", "targets/target.h", "host/targets/target.h" },
        { "host/targets/a.h", "targets/soc/b.h", "host/targets/soc/b.h" },
        { "host/targets/elf/a.c", "targets/model/b.h", "host/targets/model/b.h" },
        { "host/targets/soc/a.c", "targets/board/b.h", "host/targets/board/b.h" },
        { "host/targets/model/a.c", "soc.def", "rtl/soc.def" },
        { "host/targets/board/a.c", "runner.h", "firmware/runner.h" },
        { "host/tell/a.c", "trial/b.h", "host/trial/b.h" },
        { "host/trial/a.c", "top.h", "host/top.h" },
        { "host/a.c", "trace.h", "checker/trace.h" },
        { "host/a.c", "shell.h", "tests/support/shell.h" },
    };
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        includes(planted[i].file, planted[i].name, planted[i].target);
        expect(1, sh(LAYERS), (int)i);
        OUT(planted[i].target);
        EXPECT(0, "rm -r */");
    }
}

static void test_includes_that_are_fine(void)
{
    includes("host/a.c", "trial/b.h", "host/trial/b.h");
    includes("host/trial/c.c", "targets/soc/d.h", "host/targets/soc/d.h");
    includes("host/targets/board/e.c", "protocol.h", "firmware/protocol.h");
    includes("firmware/f.S", "board/board.def", "rtl/board/board.def");
    includes("checker/g.c", "stdio_of_the_system.h", "elsewhere.h");
    includes("tests/h.c", "top.h", "host/top.h");
    EXPECT(0, "rm elsewhere.h; " LAYERS);
}

static void test_the_file_beside_comes_first(void)
{
    includes("checker/a.c", "same.h", "checker/same.h");
    includes("host/base/b.c", "same.h", "host/base/same.h");
    EXPECT(0, LAYERS);
}

static void test_a_room_without_a_rule_is_refused(void)
{
    includes("host/targets/new/a.c", "b.h", "host/targets/new/b.h");
    EXPECT(1, LAYERS);
    OUT("host/targets/new/a.c:1: host/targets/new has no rule");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_this_tree_has_none);
    RUN_TEST(test_it_says_where_and_what_to_do);
    RUN_TEST(test_includes_that_are_refused);
    RUN_TEST(test_includes_that_are_fine);
    RUN_TEST(test_the_file_beside_comes_first);
    RUN_TEST(test_a_room_without_a_rule_is_refused);
    return UNITY_END();
}
