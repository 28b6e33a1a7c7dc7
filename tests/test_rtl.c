/* What Verilator thinks of rtl/: nothing, with all its warnings on. The short form of `make lint`,
 * which also asks yosys; and that it would tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"
#include "unity.h"

static char directory[64], home[4096];

void setUp(void)
{
    snprintf(directory, sizeof directory, "/tmp/test-rtl-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL(0, chdir(directory));
}

void tearDown(void)
{
    char command[128];
    TEST_ASSERT_EQUAL(0, chdir(home));
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

static void nothing_is_said(void)
{
    EXPECT(0, "'%s/rtl/lint' -q", home);
    OUT("lint: the capture unit alone");
    OUT("lint: soc as usual\n");
    TEST_ASSERT_EQUAL_STRING("", err);
}

static void a_warning_fails(void)
{
    EXPECT(1, "cp -r '%s/rtl' rtl && "
              "sed -i 's/^endmodule/wire forgotten;\\n&/' rtl/capture_fifo.v && rtl/lint -q", home);
    ERR("%Warning-UNUSEDSIGNAL: rtl/capture_fifo.v");
}

int main(void)
{
    TEST_ASSERT_NOT_NULL(getcwd(home, sizeof home));
    UNITY_BEGIN();
    RUN_TEST(nothing_is_said);
    RUN_TEST(a_warning_fails);
    return UNITY_END();
}
