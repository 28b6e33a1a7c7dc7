/* SPDX-License-Identifier: Apache-2.0 */
/* Races on the coherence protocol, over offsets, seeds and delays, with large and tiny caches:
 * values are right in every run, and the events that a race is about have happened in some. */
#include "machines.h"
#include "racing.h"
#include "unity.h"

enum { OFFSETS = 24 };

void setUp(void) {}
void tearDown(void) { racing_close(); }

/* All have the line to read and write a word of it each. */
static void upgrade_body(uint32_t hart, uint32_t k)
{
    racing_emit(rv_lw(A1, S10, 0));
    racing_meet(0);
    racing_nap(hart * k % 7);
    racing_store(0, hart % 4, 100 + hart);
    racing_meet(1);
    for (uint32_t w = 0; w < 4 && w < racing_harts; w++)
        racing_load(0, w);
}

static void upgrade_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        for (uint32_t w = 0; w < 4 && w < racing_harts; w++)
            racing_expect(h, w, 100 + w);
}

static void test_upgrades_race(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, upgrade_body, upgrade_check,
         RACING_EVENTS(EVENT_UPGRADE, EVENT_UPGRADE_RACE, EVENT_BUS_CONFLICT, EVENT_INVALIDATED));
}

/* A dirty line is replaced while another hart asks for it, to read and to write. */
static void eviction_body(uint32_t hart, uint32_t k)
{
    if (hart == 0)
        racing_store(0, 0, 7);
    racing_meet(0);
    if (hart == 0) {
        for (uint32_t i = 1; i < 4; i++)
            racing_emit(rv_lw(A1, S10, racing_at(i, 0)));
    } else {
        racing_nap(k);
        for (uint32_t i = 0; i < k % 3; i++)
            racing_emit(rv_addi(ZERO, ZERO, 0));
        if (k & 1)
            racing_store(0, 1, 9);
        racing_load(0, 0);
    }
    racing_meet(1);
    racing_load(0, 0);
    racing_load(0, 1);
}

static void eviction_check(uint32_t k)
{
    racing_expect(1, 0, 7);
    for (uint32_t h = 0; h < 2; h++) {
        racing_expect(h, h, 7);
        racing_expect(h, h + 1, k & 1 ? 9 : 0);
    }
}

static void test_eviction_crosses_snoop(void)
{
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, eviction_body, eviction_check,
         RACING_EVENTS(EVENT_EVICT_DIRTY, EVENT_SNOOP_HIT_WB));
}

/* All add to one word. */
static void atomic_body(uint32_t hart, uint32_t k)
{
    uint32_t top;
    racing_meet(0);
    racing_nap(hart * k % 5);
    top = racing_loop(S2, 15);
    if (k & 1)
        racing_emit(rv_lw(A1, S10, 4)); /* then it has the line to read, and waits to write */
    racing_emit(rv_amoadd(A1, S9, S10));
    racing_again(S2, top);
    racing_meet(1);
    racing_load(0, 0);
}

static void atomic_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        racing_expect(h, 0, 15 * racing_harts);
}

static void test_atomics_contend(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, atomic_body, atomic_check,
         RACING_EVENTS(EVENT_ATOMIC_INVALIDATED, EVENT_FROM_CACHE, EVENT_SNOOP_HELD));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, atomic_body, atomic_check,
                RACING_EVENTS(EVENT_ATOMIC_INVALIDATED));
}

/* The same with LR and SC, with time enough between them to lose the line. */
static void reserved_body(uint32_t hart, uint32_t k)
{
    uint32_t top, retry;
    racing_meet(0);
    racing_nap(hart * 3);
    top = racing_loop(S2, 8);
    retry = racing_here();
    racing_emit(rv_lr(A1, S10));
    racing_emit(rv_addi(A1, A1, 1));
    if (k % 3 == 0 && hart == 0) /* if all did, none might ever come to an end */
        racing_nap(40);
    racing_emit(rv_sc(A2, A1, S10));
    racing_jump_back(rv_bne(A2, ZERO, 0), retry);
    racing_again(S2, top);
    racing_meet(1);
    racing_load(0, 0);
}

static void reserved_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        racing_expect(h, 0, 8 * racing_harts);
}

static void test_reservations_contend(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, reserved_body, reserved_check,
         RACING_EVENTS(EVENT_RESERVATION_LOST, EVENT_SC_FAILED, EVENT_SNOOP_HELD));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, reserved_body, reserved_check,
                RACING_EVENTS(EVENT_SC_FAILED));
}

/* Each hart writes a byte of one word and reads it back, with fences that empty the buffer. */
static void bytes_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    racing_nap(hart * k % 3);
    for (uint32_t i = 1; i <= 10; i++) {
        racing_emit(rv_addi(A0, ZERO, (int32_t)(16 * hart + i)));
        racing_emit(rv_store(0, A0, S10, (int32_t)hart));
        if (i % 3 == 0)
            racing_emit(rv_fence(15, 15));
        racing_emit(rv_load(4, A1, S10, (int32_t)hart));
        racing_emit(rv_mark(A1));
    }
    racing_meet(1);
    racing_load(0, 0);
}

static void bytes_check(uint32_t k)
{
    uint32_t word = 0;
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++) {
        for (uint32_t i = 1; i <= 10; i++)
            racing_expect(h, i - 1, 16 * h + i);
        word |= (16 * h + 10) << 8 * h;
    }
    for (uint32_t h = 0; h < racing_harts; h++)
        racing_expect(h, 10, word);
}

static void test_bytes_of_one_word(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, bytes_body, bytes_check,
         RACING_EVENTS(EVENT_FROM_CACHE, EVENT_SNOOP_SUPPLY, EVENT_INVALIDATED));
}

/* A line is flushed again and again while another hart writes and reads it. */
static void flush_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    racing_nap(hart * k);
    for (uint32_t i = 1; i <= 12; i++) {
        racing_store(0, hart % 4, i);
        if (hart == 0)
            racing_emit(rv_flush(S10));
        else
            racing_load(0, 0);
    }
    racing_meet(1);
    for (uint32_t w = 0; w < racing_harts && w < 4; w++)
        racing_load(0, w);
}

static void flush_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++) {
        uint32_t first = h == 0 ? 0 : 12, last = 0;
        for (uint32_t i = 0; i < first; i++) { /* what hart 0 wrote grows */
            TEST_ASSERT_TRUE_MESSAGE(rig_mark(&racing, h, i) >= last, racing_context);
            last = rig_mark(&racing, h, i);
        }
        for (uint32_t w = 0; w < racing_harts && w < 4; w++)
            racing_expect(h, first + w, 12);
    }
}

static void test_flush_crosses_snoop(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, flush_body, flush_check,
                RACING_EVENTS(EVENT_SNOOP_HIT_WB));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, flush_body, flush_check,
                RACING_EVENTS(EVENT_SNOOP_HIT_WB));
}

/* Hart 1 writes line 1, then line 0, numbers that grow; hart 0 reads 0, then 1. */
static void early_body(uint32_t hart, uint32_t k)
{
    uint32_t top;
    racing_meet(0);
    racing_nap(k);
    if (hart == 1) {
        for (uint32_t i = 1; i <= 40; i++) {
            racing_emit(rv_addi(A0, ZERO, (int32_t)i));
            racing_emit(rv_sw(A0, S10, racing_at(1, 0)));
            racing_emit(rv_sw(A0, S10, racing_at(0, 0)));
        }
    } else if (hart == 0) {
        top = racing_loop(S2, 60);
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        racing_emit(rv_lw(A2, S10, racing_at(1, 0)));
        racing_emit(rv_mark(A1));
        racing_emit(rv_mark(A2));
        racing_again(S2, top);
    }
}

static void early_check(uint32_t k)
{
    (void)k;
    for (uint32_t i = 0; i < 60; i++)
        TEST_ASSERT_TRUE_MESSAGE(rig_mark(&racing, 0, 2 * i) <= rig_mark(&racing, 0, 2 * i + 1),
                                 racing_context);
}

static void test_early_loads_are_taken_again(void)
{
    racing_race(MACHINE_USUAL, RACING_STRONG, OFFSETS, early_body, early_check,
         RACING_EVENTS(EVENT_LOAD_SAMPLED_EARLY, EVENT_LOAD_RESAMPLED, EVENT_MISS_UNDER_MISS));
}

/* More lines of one set than ways, all shared, each hart with a word in each. */
static void crowd_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    racing_nap(hart * k % 11);
    for (uint32_t turn = 0; turn < 4; turn++)
        for (uint32_t line = 0; line < 6; line++) {
            uint32_t l = hart & 1 ? 5 - line : line;
            if (turn & 1) {
                racing_address(A2, l, hart % 4);
                racing_emit(rv_amoadd(ZERO, S9, A2));
            } else {
                racing_emit(rv_lw(A1, S10, racing_at(l, hart % 4)));
                racing_emit(rv_addi(A1, A1, 1));
                racing_emit(rv_sw(A1, S10, racing_at(l, hart % 4)));
            }
        }
    racing_meet(1);
    for (uint32_t line = 0; line < 6; line++)
        racing_load(line, hart % 4);
}

static void crowd_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        for (uint32_t line = 0; line < 6; line++)
            racing_expect(h, line, 4);
}

static void test_crowded_set(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, crowd_body, crowd_check,
         RACING_EVENTS(EVENT_EVICT_DIRTY, EVENT_EVICT_CLEAN, EVENT_SNOOP_HIT_WB,
                       EVENT_MISS_UNDER_MISS, EVENT_DATA_OUT_OF_ORDER, EVENT_BUS_CONFLICT));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, crowd_body, crowd_check,
         RACING_EVENTS(EVENT_EVICT_DIRTY, EVENT_SNOOP_HIT_WB, EVENT_MEMORY_BEHIND_WRITE));
}

/* Stores to more lines than there is room for, one after the other, and back. */
static void stream_body(uint32_t hart, uint32_t k)
{
    uint32_t top;
    racing_set(S3, MAP_MEMORY + 2048 * hart);
    racing_meet(0);
    for (uint32_t turn = 0; turn < 2; turn++) {
        racing_emit(rv_addi(S4, S3, 0));
        top = racing_loop(S2, 40);
        racing_emit(rv_add(A0, S2, S4));
        if (turn == 0) {
            if (k & 1)
                racing_emit(rv_prefetch_w(S4));
            racing_emit(rv_sw(A0, S4, 0));
        } else {
            racing_emit(rv_lw(A1, S4, 0));
            racing_emit(rv_beq(A0, A1, 8));
            racing_emit(rv_mark(A1));
        }
        racing_emit(rv_addi(S4, S4, 16));
        racing_again(S2, top);
    }
}

static void stream_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        TEST_ASSERT_EQUAL_UINT32_MESSAGE(0, rig_marks(&racing, h), racing_context);
}

static void test_write_backs_queue_up(void)
{
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, stream_body, stream_check,
         RACING_EVENTS(EVENT_EVICT_DIRTY, EVENT_WB_FULL, EVENT_BUFFER_FULL));
}

/* Uncached, then cached: who sees the second sees the first. */
static void uncached_body(uint32_t hart, uint32_t k)
{
    racing_set(S3, MAP_UNCACHED + RACING_FREE);
    racing_meet(0);
    racing_nap(hart * k % 5);
    for (uint32_t i = 1; i <= 8; i++) {
        if (hart == 0) {
            racing_emit(rv_addi(A0, ZERO, (int32_t)i));
            racing_emit(rv_sw(A0, S3, 0));
            racing_emit(rv_fence(FENCE_W, FENCE_W));
            racing_emit(rv_sw(A0, S10, 0));
        } else {
            racing_emit(rv_lw(A1, S10, 0));
            racing_emit(rv_fence(FENCE_R, FENCE_R));
            racing_emit(rv_lw(A2, S3, 0));
            racing_emit(rv_mark(A1));
            racing_emit(rv_mark(A2));
        }
    }
}

static void uncached_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 1; h < racing_harts; h++)
        for (uint32_t i = 0; i < 8; i++)
            TEST_ASSERT_TRUE_MESSAGE(rig_mark(&racing, h, 2 * i) <= rig_mark(&racing, h, 2 * i + 1),
                                     racing_context);
}

static void test_uncached_is_ordered_with_cached(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, uncached_body, uncached_check,
                RACING_EVENTS(EVENT_UNCACHED));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_upgrades_race);
    RUN_TEST(test_eviction_crosses_snoop);
    RUN_TEST(test_atomics_contend);
    RUN_TEST(test_reservations_contend);
    RUN_TEST(test_bytes_of_one_word);
    RUN_TEST(test_flush_crosses_snoop);
    RUN_TEST(test_early_loads_are_taken_again);
    RUN_TEST(test_crowded_set);
    RUN_TEST(test_write_backs_queue_up);
    RUN_TEST(test_uncached_is_ordered_with_cached);
    return UNITY_END();
}
