/* SPDX-License-Identifier: Apache-2.0 */
/* Host and board in one process, by one seed: who of the pipeline's threads runs when, what the wire
 * loses, what the disk refuses, when ^C comes (tests/simulation/). For every seed it comes to an end,
 * nobody waits for ever, tests are settled in order and once each, with the verdicts and sums of a
 * run that nothing disturbs, and what is said to be saved is.
 *
 * SEEDS and FIRST in the environment say how many, and from which; `make simulate` takes them, too.
 * A seed that fails is told with the command that does it again. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/stories.h"
#include "test/program.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

static const char *program;

/* By the seed: of the first there are a thousand in a second, of the others ten. */
static void tell_story(uint64_t seed)
{
    if (seed % 16 == 7)
        story_board();
    else if (seed % 16 == 15)
        story_command();
    else
        story_script();
}


static uint64_t tell(uint64_t seed)
{
    static char again[512];
    snprintf(again, sizeof again,
             "make simulate SEEDS=1 FIRST=%" PRIu64 ", or SEEDS=1 FIRST=%" PRIu64 " %.300s", seed,
             seed, program);
    schedule_begin(seed, again);
    tell_story(seed);
    return schedule_end();
}

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : usual;
}

static void test_seeds(void)
{
    uint64_t first = number("FIRST", 1), count = number("SEEDS", 1000);
    for (uint64_t i = 0; i < count; i++)
        tell(first + i);
}

static void test_a_seed_is_a_run(void)
{
    for (uint64_t seed = 1; seed <= 32; seed++) {
        uint64_t sum = tell(seed);
        TEST_ASSERT_EQUAL_UINT64(sum, tell(seed));
    }
}

/* Judging takes its time: others get on meanwhile. */
struct judge;
enum ordeal_status __real_judge_outcome(struct judge *j, uint64_t iteration, const uint64_t *values,
                                        enum ordeal_result *result);
enum ordeal_status __wrap_judge_outcome(struct judge *j, uint64_t iteration, const uint64_t *values,
                                        enum ordeal_result *result);
enum ordeal_status __wrap_judge_outcome(struct judge *j, uint64_t iteration, const uint64_t *values,
                                        enum ordeal_result *result)
{
    schedule_point();
    enum ordeal_status status = __real_judge_outcome(j, iteration, values, result);
    schedule_point();
    return status;
}

int main(int argc, char **argv)
{
    (void)argc;
    program = argv[0];
    mallopt(M_PERTURB, 0xa5); /* what is freed is not what it was */
    schedule_begin(0, program);
    story_command_open();
    schedule_end();
    UNITY_BEGIN();
    RUN_TEST(test_a_seed_is_a_run);
    RUN_TEST(test_seeds);
    story_command_close();
    return UNITY_END();
}
