/* SPDX-License-Identifier: Apache-2.0 */
/* How much of USB's full speed the stream of a board gets, on the wires of the simulation: RTL,
 * firmware and the host's link as they are, time that of the bus. */
#include <stdio.h>

#include "bench/wire_speed.h"
#include "unity.h"

#define BOARD "h2-s16-w2-l4-b8-q4"

void setUp(void) {}
void tearDown(void) {}

static struct wire_speed measure(struct wire_plan plan)
{
    struct wire_speed speed;
    struct why why = { "" };
    TEST_ASSERT_TRUE_MESSAGE(wire_measure(&plan, &speed, &why), why.text);
    return speed;
}

static void test_a_count(void)
{
    struct wire_speed speed = measure((struct wire_plan){ .model = BOARD, .words = 20000 });
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(80, (uint32_t)speed.percent);
    TEST_ASSERT_EQUAL_UINT64(0, speed.faults);
}

/* Records of both harts, faster than the bus could take them. */
static void test_the_capture(void)
{
    struct wire_speed speed = measure((struct wire_plan){ .model = BOARD, .capture = true,
                                                          .words = 20000 });
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(80, (uint32_t)speed.percent);
}

/* One packet in a hundred damaged, lost, too short or too long, of each kind: slower, but whole. */
static void test_faults(void)
{
    struct wire_speed speed = measure((struct wire_plan){ .model = BOARD, .capture = true,
                                                          .faults = "all=0.01", .words = 20000 });
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(70, (uint32_t)speed.percent);
    TEST_ASSERT_GREATER_THAN_UINT64(50, speed.faults);
}

/* The smallest board has a slow hart for a monitor: a quarter of it. */
static void test_the_smallest_board(void)
{
    struct wire_speed speed = measure((struct wire_plan){ .model = "lean", .capture = true,
                                                          .words = 5000 });
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(24, (uint32_t)speed.percent);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_count);
    RUN_TEST(test_the_capture);
    RUN_TEST(test_faults);
    RUN_TEST(test_the_smallest_board);
    return UNITY_END();
}
