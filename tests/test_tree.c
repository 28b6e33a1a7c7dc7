/* SPDX-License-Identifier: Apache-2.0 */
/* Folders that are removed with all that is in them, as far as that can be done. */
#include <sys/stat.h>
#include <sys/types.h>

#include "base/tree.h"
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

enum { NOBODY = 65534 };

/* By somebody to whom it matters what may be written. */
static void remove_as_nobody(const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(1);
        tree_remove(path);
        _exit(0);
    }
    TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
    TEST_ASSERT_EQUAL(0, status);
}

static void test_nothing_is_left(void)
{
    EXPECT(0, "mkdir -p t/a/b t/c && touch t/a/b/x t/.y keep && ln -s ../../keep t/a/link && "
              "ln -s nowhere t/c/gone");
    tree_remove("t");
    EXPECT(1, "test -e t");
    EXPECT(0, "test -e keep");
    tree_remove("nowhere");
}

/* What somebody else keeps there does not save the rest. */
static void test_what_cannot_be_removed_stays_alone(void)
{
    EXPECT(0,
           "mkdir -p t/kept && touch t/kept/x && for i in $(seq 60); do mkdir t/$i; touch t/$i/x; "
           "done");
    EXPECT(0, "test $(id -u) -ne 0 || chown -R %d:%d t; chmod 555 t/kept; chmod 755 .", (int)NOBODY,
           (int)NOBODY);
    remove_as_nobody("t");
    EXPECT(0, "ls t");
    TEST_ASSERT_EQUAL_STRING("kept\n", out);
    EXPECT(0, "chmod 755 t/kept");
}

int main(void)
{
    if (!shell_open())
        return 2;
    UNITY_BEGIN();
    RUN_TEST(test_nothing_is_left);
    RUN_TEST(test_what_cannot_be_removed_stays_alone);
    return UNITY_END();
}
