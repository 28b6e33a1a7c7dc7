/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions against other harts: every kind of conflict, and what is none; nothing of a
 * transaction is seen before it commits, all of it at once then, nothing of one that aborts. */
#include "machines.h"
#include "racing.h"
#include "unity.h"

enum { OFFSETS = 32 };

void setUp(void) {}
void tearDown(void) { racing_close(); }

static uint32_t begin_at;

/* A transaction that ends with the status in A7 in any case: 0 where it committed. */
static void tx_begin(void)
{
    racing_emit(rv_addi(A7, ZERO, 0));
    begin_at = racing_here();
    racing_emit(rv_tx_begin(A7, 4 * 64));
}

static void tx_commit(void)
{
    racing_emit(rv_tx_commit());
    while (racing_here() - begin_at < 64)
        racing_emit(rv_nop());
}

static bool is(uint32_t hart, uint32_t n, uint32_t value)
{
    return rig_mark(&racing, hart, n) == value;
}

static void check(bool good) { TEST_ASSERT_TRUE_MESSAGE(good, racing_context); }

/* ---- a line that was read is written -------------------------------------------------------- */

static void read_set_body(uint32_t hart, uint32_t k)
{
    if (hart == 0)
        racing_emit(rv_lw(A1, S10, racing_at(0, 0))); /* what it saw then does not count any more */
    racing_meet(0);
    if (hart == 0) {
        racing_nap(k & 2 ? k : 0);
        tx_begin();
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        racing_nap(20);
        racing_emit(rv_lw(A2, S10, racing_at(0, 0)));
        racing_emit(rv_lw(A3, S10, racing_at(1, 0)));
        tx_commit();
        racing_emit(rv_mark(A7));
        racing_emit(rv_mark(A1));
        racing_emit(rv_mark(A2));
        racing_emit(rv_mark(A3));
    } else if (hart == 1) {
        racing_nap(2 * k);
        if (k & 1)
            racing_emit(rv_lw(A1, S10, racing_at(0, 0))); /* then it is an upgrade */
        racing_store(1, 0, 9);
        racing_emit(rv_fence(FENCE_W, FENCE_W));
        racing_store(0, 0, 5);
    }
}

static void read_set_check(uint32_t k)
{
    (void)k;
    check(is(0, 0, 0) || is(0, 0, TX_CONFLICT));
    if (!is(0, 0, 0))
        return;
    check(rig_mark(&racing, 0, 1) == rig_mark(&racing, 0, 2)); /* of one moment */
    check(is(0, 1, 0) || (is(0, 1, 5) && is(0, 3, 9)));
}

static void test_read_set_written(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, read_set_body, read_set_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_ABORTED, EVENT_TX_COMMITTED));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, read_set_body, read_set_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_ABORTED, EVENT_TX_COMMITTED));
}

/* ---- a line that was written is read -------------------------------------------------------- */

static void write_set_body(uint32_t hart, uint32_t k)
{
    if (k & 1 && hart == 0)
        racing_store(0, 0, 1); /* dirty before */
    racing_meet(0);
    if (hart == 0) {
        tx_begin();
        racing_set(A0, 5);
        racing_emit(rv_sw(A0, S10, racing_at(0, 0)));
        racing_nap(15);
        racing_emit(rv_sw(A0, S10, racing_at(1, 0)));
        tx_commit();
        racing_emit(rv_mark(A7));
    } else {
        racing_nap(k + 5 * hart);
        for (uint32_t i = 0; i < 3; i++) {
            racing_emit(rv_lw(A1, S10, racing_at((i + k) & 1, 0)));
            racing_emit(rv_fence(FENCE_R, FENCE_R));
            racing_emit(rv_lw(A2, S10, racing_at((i + k + 1) & 1, 0)));
            racing_emit(rv_mark(A1));
            racing_emit(rv_mark(A2));
            racing_nap(4);
        }
    }
    racing_meet(1);
    racing_load(0, 0);
    racing_load(1, 0);
}

static void write_set_check(uint32_t k)
{
    bool committed = is(0, 0, 0);
    check(committed || is(0, 0, TX_CONFLICT));
    for (uint32_t h = 0; h < racing_harts; h++) {
        uint32_t last = h == 0 ? 1 : 6;
        for (uint32_t i = 0; h > 0 && i < 3; i++) {
            /* Who has seen one of them written then sees the other written. */
            check(!is(h, 2 * i, 5) || is(h, 2 * i + 1, 5));
            check(committed || (!is(h, 2 * i, 5) && !is(h, 2 * i + 1, 5)));
        }
        racing_expect(h, last, committed ? 5 : k & 1);
        racing_expect(h, last + 1, committed ? 5 : 0);
    }
}

static void test_write_set_read(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, write_set_body, write_set_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_ABORTED, EVENT_TX_COMMITTED));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, write_set_body, write_set_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_ABORTED, EVENT_TX_COMMITTED));
}

/* ---- a line that was written is written ----------------------------------------------------- */

static void both_write_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    if (hart == 0) {
        tx_begin();
        racing_set(A0, 5);
        racing_emit(rv_sw(A0, S10, racing_at(0, 0)));
        racing_emit(rv_lw(A1, S10, racing_at(0, 1))); /* what the other writes, in the same line */
        racing_nap(15);
        racing_emit(rv_lw(A2, S10, racing_at(0, 1)));
        racing_emit(rv_sw(A0, S10, racing_at(0, 2)));
        tx_commit();
        racing_emit(rv_mark(A7));
        racing_emit(rv_mark(A1));
        racing_emit(rv_mark(A2));
    } else if (hart == 1) {
        racing_nap(k);
        racing_store(0, 1, 9);
    }
    racing_meet(1);
    for (uint32_t w = 0; w < 3; w++)
        racing_load(0, w);
}

static void both_write_check(uint32_t k)
{
    bool committed = is(0, 0, 0);
    (void)k;
    check(committed || is(0, 0, TX_CONFLICT));
    if (committed)
        check(rig_mark(&racing, 0, 1) == rig_mark(&racing, 0, 2));
    for (uint32_t h = 0; h < racing_harts; h++) {
        uint32_t first = h == 0 ? 3 : 0;
        racing_expect(h, first, committed ? 5 : 0);
        racing_expect(h, first + 1, 9);
        racing_expect(h, first + 2, committed ? 5 : 0);
    }
}

static void test_write_set_written(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, both_write_body, both_write_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_ABORTED, EVENT_TX_COMMITTED));
}

/* ---- no conflict: what was read is read; other lines are written ---------------------------- */

static void no_conflict_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    if (hart == 0) {
        tx_begin();
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        racing_emit(rv_sw(S9, S10, 1024 + 64));
        racing_nap(10);
        racing_emit(rv_lw(A2, S10, racing_at(0, 1)));
        tx_commit();
        racing_emit(rv_mark(A7));
    } else {
        racing_nap(k);
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        racing_emit(rv_sw(S9, S10, 1024 + 256 + 64 + 16 * (int32_t)hart));
        racing_emit(rv_lw(A1, S10, racing_at(0, 1)));
    }
}

static void no_conflict_check(uint32_t k)
{
    (void)k;
    check(is(0, 0, 0));
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(0, rig_counters(&racing, EVENT_TX_ABORTED), racing_context);
}

static void test_no_conflict(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, no_conflict_body, no_conflict_check,
                RACING_EVENTS(EVENT_TX_COMMITTED));
}

/* ---- an abort leaves nothing, for anybody at any time --------------------------------------- */

static void abort_body(uint32_t hart, uint32_t k)
{
    if (hart == 0) {
        racing_store(0, 0, 1);
        racing_store(1, 0, 1);
    }
    racing_meet(0);
    if (hart == 0) {
        for (uint32_t i = 0; i < 4; i++) {
            racing_set(A0, 66 + i);
            begin_at = racing_here();
            racing_emit(rv_tx_begin(A7, 4 * 7));
            racing_emit(rv_sw(A0, S10, racing_at(0, 0)));
            racing_emit(rv_sw(A0, S10, racing_at(1, 0)));
            racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
            racing_emit(k & 1 ? rv_nop() : rv_lw(A2, S10, racing_at(1, 0)));
            racing_emit(rv_tx_abort(i));
            racing_emit(rv_nop());
        }
    } else {
        racing_nap(k % 5);
        for (uint32_t i = 0; i < 8; i++)
            racing_load(i & 1, 0);
    }
    racing_meet(1);
    racing_load(0, 0);
    racing_load(1, 0);
}

static void abort_check(uint32_t k)
{
    (void)k;
    for (uint32_t h = 0; h < racing_harts; h++)
        for (uint32_t i = 0; i < (h == 0 ? 2 : 10); i++)
            racing_expect(h, i, 1);
}

static void test_aborts_leave_nothing(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, abort_body, abort_check,
                RACING_EVENTS(EVENT_TX_ABORTED, EVENT_TX_CONFLICTS));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, abort_body, abort_check,
                RACING_EVENTS(EVENT_TX_ABORTED, EVENT_TX_CONFLICTS));
}

/* ---- stores before a transaction are there before it, stores of it after them --------------- */

static void order_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    if (hart == 0) {
        racing_nap(k % 7);
        racing_store(2, 0, 1);
        tx_begin();
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        racing_emit(rv_sw(S9, S10, racing_at(1, 0)));
        tx_commit();
        racing_store(3, 0, 1);
        racing_emit(rv_mark(A7));
        racing_emit(rv_mark(A1));
    } else if (hart == 1) { /* Dekker's way round, and reading from the end */
        racing_nap(k % 5);
        racing_store(0, 0, 1);
        racing_emit(rv_fence(15, 15));
        racing_load(2, 0);
        racing_load(3, 0);
        racing_emit(rv_fence(FENCE_R, FENCE_R));
        racing_load(1, 0);
        racing_emit(rv_fence(FENCE_R, FENCE_R));
        racing_load(2, 0);
    }
}

static void order_check(uint32_t k)
{
    (void)k;
    if (!is(0, 0, 0))
        return;
    check(!(is(0, 1, 0) && is(1, 0, 0)));          /* one of them was first */
    check(!(is(1, 1, 1) && !is(1, 2, 1)));
    check(!(is(1, 2, 1) && !is(1, 3, 1)));
}

static void test_transactions_are_barriers(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, order_body, order_check,
                RACING_EVENTS(EVENT_TX_COMMITTED));
}

/* ---- Dekker with transactions: the stores before one are over when it begins ----------------- */

/* To lines of other sets than those that the harts share. */
static void cold_stores(uint32_t hart, uint32_t count)
{
    racing_set(T3, MAP_MEMORY + 2 * RACING_FREE + 1024 * hart + 16);
    for (uint32_t i = 0; i < count; i++)
        racing_emit(rv_sw(S9, T3, 48 * (int32_t)i));
}

static void dekker_body(uint32_t hart, uint32_t k)
{
    uint32_t other = 1 - (hart & 1);
    if (hart < 2)
        racing_emit(rv_lw(A1, S10, racing_at(other, 0)));
    racing_meet(0);
    if (hart < 2) {
        racing_nap(hart * k % 4);
        cold_stores(hart, k % 6);
        racing_store(hart, 0, 1);
        tx_begin();
        racing_emit(rv_lw(A1, S10, racing_at(other, 0)));
        tx_commit();
        racing_emit(rv_mark(A7));
        racing_emit(rv_mark(A1));
    }
}

static void dekker_check(uint32_t k)
{
    (void)k;
    check(!is(0, 0, 0) || !is(1, 0, 0) || is(0, 1, 1) || is(1, 1, 1));
}

static void test_stores_before_a_transaction(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, dekker_body, dekker_check,
                RACING_EVENTS(EVENT_TX_COMMITTED));
}

/* ---- a conflict while the commit waits for the last stores ----------------------------------- */

static void late_body(uint32_t hart, uint32_t k)
{
    racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
    if (hart == 1)
        racing_emit(rv_lw(A1, S10, racing_at(1, 0)));
    racing_meet(0);
    if (hart == 0) {
        tx_begin();
        racing_emit(rv_lw(A1, S10, racing_at(0, 0)));
        cold_stores(0, 1 + k % 4);
        racing_emit(rv_sw(S9, S10, racing_at(1, 0)));
        tx_commit();
        racing_emit(rv_mark(A7));
        racing_emit(rv_mark(A1));
    } else if (hart == 1) {
        racing_nap(k * k / 16);
        racing_store(0, 0, 1);
        racing_emit(rv_fence(15, 15));
        racing_load(1, 0);
    }
}

static void late_check(uint32_t k)
{
    (void)k;
    if (is(0, 0, 0) && is(0, 1, 0)) /* it was before the store, thus all of it before the load */
        check(is(1, 0, 1));
}

static void test_late_conflict(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, 2 * OFFSETS, late_body, late_check,
                RACING_EVENTS(EVENT_TX_CONFLICTS, EVENT_TX_COMMITTED));
}

/* ---- a read set that does not fit ----------------------------------------------------------- */

static void capacity_body(uint32_t hart, uint32_t k)
{
    racing_meet(0);
    if (hart == 0) {
        tx_begin();
        for (uint32_t i = 0; i < 5; i++)
            racing_emit(rv_lw(A1, S10, racing_at(i, 0)));
        racing_emit(rv_lw(A2, S10, racing_at(0, 0)));
        tx_commit();
        racing_emit(rv_mark(A7));
    } else {
        racing_nap(k);
        racing_store(0, 0, 1);
    }
}

static void capacity_check(uint32_t k)
{
    (void)k;
    check(is(0, 0, TX_CAPACITY) || is(0, 0, TX_CONFLICT)); /* five lines of a set of two ways */
}

static void test_read_set_too_large(void)
{
    racing_race(MACHINE_USUAL, RACING_ANY, OFFSETS, capacity_body, capacity_check,
                RACING_EVENTS(EVENT_TX_CAPACITIES));
    racing_race(MACHINE_SMALL, RACING_ANY, OFFSETS, capacity_body, capacity_check,
                RACING_EVENTS(EVENT_TX_CAPACITIES));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_read_set_written);
    RUN_TEST(test_write_set_read);
    RUN_TEST(test_write_set_written);
    RUN_TEST(test_no_conflict);
    RUN_TEST(test_aborts_leave_nothing);
    RUN_TEST(test_transactions_are_barriers);
    RUN_TEST(test_stores_before_a_transaction);
    RUN_TEST(test_late_conflict);
    RUN_TEST(test_read_set_too_large);
    return UNITY_END();
}
