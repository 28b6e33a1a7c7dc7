/* SPDX-License-Identifier: Apache-2.0 */
/* What Verilator thinks of rtl/: nothing, with all its warnings on. The short form of `make lint`,
 * which also asks yosys; and that it would tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shell.h"
#include "unity.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

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
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(nothing_is_said);
    RUN_TEST(a_warning_fails);
    return UNITY_END();
}
