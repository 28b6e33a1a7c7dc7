/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal tune` on the multiprocessor in simulation: its knobs are turned from test to test, by which
 * neither the number of machines nor replays are confused. */
#include "shell.h"

void setUp(void) { shell_enter(); }
void tearDown(void) { shell_leave(); }

#define TUNE \
    "$ORDEAL tune --target sim --sizes h2-s16-w2-l4-b8-q4,h2-s1-w2-l4-b8-q4 " \
    "--bias $HOME_OF_TESTS/examples/profiles.bias --set threads=2 --batch 4 "

static void test_machines_side_by_side_find_the_same(void)
{
    EXPECT(0, TUNE "--cycles 600000 --jobs 1 -o dir-A");
    OUT("cycles=");
    EXPECT(0,
           "awk '/^test/ { all += $4; if ($4 > most) most = $4 } "
           "END { print all, most; exit all < 525000 || all > 600000 + 3 * most }' dir-A/journal");
    EXPECT(0, TUNE "--cycles 600000 --jobs 2 -o dir-B");
    EXPECT(0, "cmp dir-A/coverage.cover dir-B/coverage.cover");
    EXPECT(0, "for d in A B; do sed \"s/dir-$d//g; s/--jobs [12]//\" dir-$d/tuned.bias >$d; done; "
              "cmp A B");
    EXPECT(0, "grep -A 3 'New points with --sizes' dir-A/tuned.bias");
    OUT("any ");
    OUT("h2-s16-w2-l4-b8-q4 ");
    OUT("h2-s1-w2-l4-b8-q4 ");
    EXPECT(0, "grep -A 9 'New points with --delay' dir-A/tuned.bias | grep -q '   7 '");
    EXPECT(0, TUNE "--delay 3 --tests 8 --compare none -o dir-C"); /* what is given stays */
    EXPECT(1, "grep 'New points with --delay' dir-C/tuned.bias");
}

/* Whatever the knobs were when a test failed, it fails in the same way again. */
static void test_what_failed_replays_exactly(void)
{
    EXPECT(1, TUNE "--tests 100 --compare none --bug upgrade-wins --save kept -o dir");
    EXPECT(0, "ls kept | wc -l");
    TEST_ASSERT_TRUE(atoi(out) >= 1 && atoi(out) <= 10);
    EXPECT(0, "grep -l -e --delay kept/*/replay");
    EXPECT(0, "for f in kept/*; do sh $f/replay -o again.trace; "
              "cmp again.trace $f/trace.trace || exit 9; done");
}

int main(void)
{
    if (!shell_open())
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_machines_side_by_side_find_the_same);
    RUN_TEST(test_what_failed_replays_exactly);
    return UNITY_END();
}
