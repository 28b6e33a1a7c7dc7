/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves: the capture unit against the model's own log, full FIFOs in both modes,
 * stores when they become visible; the same seed gives the same run cycle by cycle; and a reset in
 * the middle of a test leaves a machine like new. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "racing.h"
#include "unity.h"

struct list { struct rig_record *record; size_t count; };

static struct list first, second;
static uint64_t random_state;

void setUp(void) {}

static void drop(struct list *l)
{
    free(l->record);
    *l = (struct list){ NULL, 0 };
}

void tearDown(void)
{
    racing_close();
    drop(&first);
    drop(&second);
}

static uint32_t chance(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 24) % below;
}

/* Takes the records of the last run away from the rig. */
static void keep(struct list *l)
{
    drop(l);
    l->record = malloc((racing.records + 1) * sizeof *l->record);
    TEST_ASSERT_NOT_NULL(l->record);
    if (racing.records)
        memcpy(l->record, racing.record, racing.records * sizeof *l->record);
    l->count = racing.records;
}

static bool same(const struct rig_record *a, const struct rig_record *b)
{
    return a->kind == b->kind && a->size == b->size && a->hart == b->hart &&
           a->sequence == b->sequence && a->latency == b->latency && a->tx == b->tx &&
           a->cycle == b->cycle && a->address == b->address && a->read == b->read &&
           a->written == b->written && a->of_visible == b->of_visible;
}

/* Those of one hart, REC_VISIBLE alone or the others. */
static void filter(struct list *to, const struct list *from, uint32_t hart, bool visible)
{
    drop(to);
    to->record = malloc((from->count + 1) * sizeof *to->record);
    TEST_ASSERT_NOT_NULL(to->record);
    for (size_t i = 0; i < from->count; i++)
        if (from->record[i].hart == hart && (from->record[i].kind == REC_VISIBLE) == visible)
            to->record[to->count++] = from->record[i];
}

static void expect_same(const struct list *a, const struct list *b)
{
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(a->count, b->count, racing_context);
    for (size_t i = 0; i < a->count; i++)
        TEST_ASSERT_TRUE_MESSAGE(same(&a->record[i], &b->record[i]), racing_context);
}

/* ---- programs ------------------------------------------------------------------------------- */

/* All sorts of operations on a few lines that all share. */
static void mixed(uint32_t hart, uint32_t k)
{
    random_state = (hart + 1) * 0x9E3779B97F4A7C15u + k;
    for (uint32_t i = 0; i < 150; i++) {
        uint32_t line = chance(6), word = chance(4);
        switch (chance(12)) {
        case 0: case 1: case 2:
            racing_emit(rv_addi(A0, ZERO, (int32_t)chance(2000)));
            racing_emit(rv_sw(A0, S10, racing_at(line, word)));
            break;
        case 3:
            racing_address(A2, line, word);
            racing_emit(rv_swap(A3, A0, A2));
            break;
        case 4:
            racing_address(A2, line, word);
            racing_emit(rv_lr(A3, A2));
            racing_emit(rv_sc(A4, A3, A2));
            break;
        case 5: racing_emit(rv_fence(chance(16), chance(16))); break;
        case 6:
            racing_address(A2, line, word);
            racing_emit(chance(2) ? rv_flush(A2) : rv_prefetch_w(A2));
            break;
        case 7:
            racing_emit(rv_tx_begin(A7, 16));
            racing_emit(rv_lw(A1, S10, racing_at(line, word)));
            racing_emit(rv_sw(A0, S10, racing_at(line, 0)));
            racing_emit(chance(4) ? rv_tx_commit() : rv_tx_abort(3));
            break;
        default: racing_emit(rv_lw(A1 + chance(4), S10, racing_at(line, word))); break;
        }
    }
    racing_emit(rv_mark(A1));
}

/* Loads that hit, one after the other: more records than the stream takes. */
static void torrent(uint32_t hart, uint32_t k)
{
    (void)k;
    racing_emit(rv_lw(A1, S10, racing_at(0, hart % 4)));
    uint32_t top = racing_loop(S2, 60);
    for (uint32_t i = 0; i < 8; i++)
        racing_emit(rv_lw(A1 + i % 4, S10, racing_at(0, hart % 4)));
    racing_again(S2, top);
}

static void run(void (*program)(uint32_t hart, uint32_t k), uint32_t k, struct soc_setup setup)
{
    snprintf(racing_context, sizeof racing_context, "%s, model %u, seed %u, delay %u",
             racing.soc->name, setup.model, setup.seed, setup.delay);
    racing_run(program, k, &setup);
}

/* ---- the unit against the log --------------------------------------------------------------- */

static void test_stream_is_the_log(void)
{
    for (uint32_t m = MACHINE_USUAL; m <= MACHINE_SMALL; m++) {
        racing_open(m);
        for (uint32_t k = 0; k < 8; k++) {
            struct list stream = { NULL, 0 }, log = { NULL, 0 };
            run(mixed, k, (struct soc_setup){ .model = k % 4, .seed = k, .delay = k % 3 * 2,
                                              .visible = k & 4, .log = true });
            keep(&stream);
            rig_take_log(&racing);
            keep(&log);
            TEST_ASSERT_TRUE(log.count > 100);
            for (uint32_t h = 0; h < racing_harts; h++)
                for (int visible = 0; visible < 2; visible++) {
                    filter(&first, &stream, h, visible);
                    filter(&second, &log, h, visible);
                    TEST_ASSERT_EQUAL(visible && !(k & 4), visible && first.count == 0);
                    expect_same(&first, &second);
                }
            drop(&stream);
            drop(&log);
        }
        racing_close();
    }
}

static void test_full_fifos_stall_and_lose_nothing(void)
{
    struct list stream = { NULL, 0 }, log = { NULL, 0 };
    racing_open(MACHINE_USUAL);
    run(torrent, 0, (struct soc_setup){ .model = SOC_TSO, .log = true });
    keep(&stream);
    rig_take_log(&racing);
    keep(&log);
    for (uint32_t h = 0; h < racing_harts; h++) {
        TEST_ASSERT_TRUE(rig_counter(&racing, h, EVENT_CAPTURE_STALL) > 0);
        filter(&first, &stream, h, false);
        filter(&second, &log, h, false);
        TEST_ASSERT_EQUAL_UINT64(60 * 8 + 1 + 1, first.count); /* and REC_DONE */
        expect_same(&first, &second);
    }
    drop(&stream);
    drop(&log);
}

/* Between two records that came REC_LOST says how many of the log did not. */
static void test_lossy_mode_counts_what_it_drops(void)
{
    struct list stream = { NULL, 0 }, log = { NULL, 0 };
    uint64_t lost_of_all = 0;
    racing_open(MACHINE_USUAL);
    run(torrent, 0, (struct soc_setup){ .model = SOC_TSO, .capture = SOC_CAPTURE_LOSSY,
                                        .log = true });
    keep(&stream);
    rig_take_log(&racing);
    keep(&log);
    for (uint32_t h = 0; h < racing_harts; h++) {
        size_t at_log = 0;
        TEST_ASSERT_EQUAL_UINT32(0, rig_counter(&racing, h, EVENT_CAPTURE_STALL));
        filter(&first, &stream, h, false);
        filter(&second, &log, h, false);
        for (size_t i = 0; i < first.count; i++) {
            if (first.record[i].kind == REC_LOST) {
                TEST_ASSERT_TRUE(first.record[i].read > 0);
                at_log += first.record[i].read;
                lost_of_all += first.record[i].read;
                continue;
            }
            TEST_ASSERT_TRUE(at_log < second.count);
            TEST_ASSERT_TRUE_MESSAGE(same(&first.record[i], &second.record[at_log]),
                                     "not the next of the log");
            at_log++;
        }
        TEST_ASSERT_EQUAL_UINT64(second.count, at_log);
    }
    TEST_ASSERT_TRUE(lost_of_all > 0);
    drop(&stream);
    drop(&log);
}

/* Visible stores: once each, in an order of each word that its final value ends. */
static void stores(uint32_t hart, uint32_t k)
{
    random_state = (hart + 7) * 0x9E3779B97F4A7C15u + k;
    for (uint32_t i = 0; i < 60; i++) {
        racing_emit(rv_addi(A0, ZERO, (int32_t)(64 * hart + i + 1)));
        racing_emit(rv_sw(A0, S10, racing_at(chance(3), chance(2))));
        if (i % 16 == 15) {
            racing_address(A2, 0, 0);
            racing_emit(rv_swap(A3, A0, A2));
        }
    }
    racing_meet(0);
    for (uint32_t w = 0; w < 6 && hart == 0; w++)
        racing_load(w / 2, w % 2);
}

static void test_visible_stores(void)
{
    for (uint32_t m = MACHINE_USUAL; m <= MACHINE_SMALL; m++) {
        racing_open(m);
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t final[6] = { 0 }, when[6] = { 0 };
            struct list all = { NULL, 0 };
            run(stores, k, (struct soc_setup){ .model = k % 4, .seed = k, .delay = k % 3,
                                               .visible = true });
            keep(&all);
            for (uint32_t h = 0; h < racing_harts; h++) {
                size_t n = 0;
                filter(&first, &all, h, true);
                filter(&second, &all, h, false);
                for (size_t i = 0; i < second.count; i++) { /* every store has its moment */
                    const struct rig_record *x = &second.record[i];
                    size_t j = 0;
                    if ((x->kind != REC_STORE && x->kind != REC_ATOMIC) || x->address < MAP_MEMORY)
                        continue;
                    while (j < first.count && (first.record[j].address != x->address ||
                                               first.record[j].written != x->written ||
                                               first.record[j].cycle < x->cycle - x->latency))
                        j++;
                    TEST_ASSERT_TRUE_MESSAGE(j < first.count, racing_context);
                    if (k % 4 <= SOC_TSO && x->kind == REC_STORE)
                        TEST_ASSERT_TRUE_MESSAGE(j >= n, "not in program order");
                    n = j;
                }
                for (size_t i = 0; i < first.count; i++) {
                    const struct rig_record *x = &first.record[i];
                    if (x->address < MAP_MEMORY)
                        continue;
                    uint32_t word = (x->address - MAP_MEMORY) / RACING_LINE * 2 +
                                    (x->address & 4) / 4;
                    TEST_ASSERT_TRUE(word < 6);
                    TEST_ASSERT_TRUE_MESSAGE(x->cycle != when[word], "two in one cycle");
                    if (x->cycle > when[word]) {
                        when[word] = x->cycle;
                        final[word] = x->written;
                    }
                }
            }
            for (uint32_t w = 0; w < 6; w++)
                racing_expect(0, w, final[w]);
            drop(&all);
        }
        racing_close();
    }
}

/* Asking for visible stores, or for losses where there is room, changes nothing of the run. */
static void test_capture_does_not_disturb(void)
{
    racing_open(MACHINE_SMALL);
    for (uint32_t k = 0; k < 8; k++) {
        struct soc_setup setup = { .model = k % 4, .seed = k, .delay = k % 3 };
        struct list plain = { NULL, 0 }, more = { NULL, 0 };
        run(mixed, k, setup);
        keep(&plain);
        setup.visible = k & 1;
        setup.log = true;
        setup.capture = k & 2 ? SOC_CAPTURE_LOSSY : SOC_CAPTURE_STALL;
        run(mixed, k, setup);
        keep(&more);
        TEST_ASSERT_EQUAL_UINT64(0, rig_counters(&racing, EVENT_CAPTURE_STALL));
        for (uint32_t h = 0; h < racing_harts; h++) {
            filter(&first, &plain, h, false);
            filter(&second, &more, h, false);
            expect_same(&first, &second);
        }
        drop(&plain);
        drop(&more);
    }
}

/* ---- the same run, again -------------------------------------------------------------------- */

static void test_same_seed_same_run(void)
{
    for (uint32_t m = MACHINE_USUAL; m <= MACHINE_SMALL; m++)
        for (uint32_t k = 0; k < 8; k++) {
            const struct soc_setup setup = { .model = k % 4, .seed = 40 + k, .delay = k % 4 * 2,
                                             .visible = k & 1 };
            uint64_t cycles;
            racing_open(m);
            run(mixed, k, setup);
            keep(&first);
            cycles = racing.cycles;
            run(mixed, k + 100, (struct soc_setup){ .model = 3 - k % 4, .seed = 1, .delay = 7 });
            run(mixed, k, setup); /* the same machine after another test */
            keep(&second);
            expect_same(&first, &second);
            TEST_ASSERT_EQUAL_UINT64(cycles, racing.cycles);
            racing_close();
            racing_open(m); /* another machine */
            run(mixed, k, setup);
            keep(&second);
            expect_same(&first, &second);
            racing_close();
        }
}

static void test_another_seed_another_run(void)
{
    struct soc_setup setup = { .model = SOC_TSO, .seed = 1, .delay = 3 };
    uint32_t different = 0;
    racing_open(MACHINE_USUAL);
    run(mixed, 0, setup);
    keep(&first);
    for (setup.seed = 2; setup.seed < 12; setup.seed++) {
        size_t i = 0;
        run(mixed, 0, setup);
        keep(&second);
        while (i < first.count && i < second.count && same(&first.record[i], &second.record[i]))
            i++;
        different += i < first.count;
    }
    TEST_ASSERT_EQUAL_UINT32(10, different);
}

/* A machine in the midst of something is reset: the next run is that of a fresh one. */
static void test_reset_in_the_middle(void)
{
    for (uint32_t m = MACHINE_USUAL; m <= MACHINE_SMALL; m++) {
        const struct soc_setup setup = { .model = SOC_RMO, .seed = 9, .delay = 2, .visible = true };
        racing_open(m);
        run(mixed, 5, setup);
        keep(&first);
        for (uint32_t k = 0; k < 40; k++) {
            run(mixed, k, (struct soc_setup){ .model = k % 4, .seed = k, .delay = k % 8 });
            rig_reset(&racing, &(struct soc_setup){ .model = k % 4, .seed = k, .delay = k % 8,
                                                    .bug = 0 }, 0); /* the same code once more */
            rig_step(&racing, 40 + 37 * k);
            TEST_ASSERT_FALSE(racing.soc->done(racing.s));
            run(mixed, 5, setup);
            keep(&second);
            expect_same(&first, &second);
        }
        racing_close();
    }
}

/* Two machines side by side do not know of one another. */
static void test_two_machines_in_turn(void)
{
    const struct soc_setup setup = { .model = SOC_TSO, .seed = 3, .delay = 2 };
    struct rig other;
    racing_open(MACHINE_SMALL);
    run(mixed, 1, setup);
    keep(&first);
    rig_open(&other, machine(MACHINE_SMALL));
    rig_reset(&other, &(struct soc_setup){ .model = SOC_SC, .seed = 8 }, 4096);
    static struct rig_code spin = { { 0x0000006f }, 1 };
    for (uint32_t h = 0; h < racing_harts; h++)
        rig_load(&other, h, &spin);
    rig_step(&other, 100);
    rig_reset(&racing, &setup, (0x8000 + 4096) / 4); /* code is still there */
    for (uint32_t i = 0; i < 100000 && !racing.soc->done(racing.s); i++) {
        rig_step(&racing, 7);
        rig_step(&other, 5);
    }
    TEST_ASSERT_TRUE(racing.soc->done(racing.s));
    TEST_ASSERT_FALSE(other.soc->done(other.s));
    keep(&second);
    expect_same(&first, &second);
    rig_close(&other);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_stream_is_the_log);
    RUN_TEST(test_full_fifos_stall_and_lose_nothing);
    RUN_TEST(test_lossy_mode_counts_what_it_drops);
    RUN_TEST(test_visible_stores);
    RUN_TEST(test_capture_does_not_disturb);
    RUN_TEST(test_same_seed_same_run);
    RUN_TEST(test_another_seed_another_run);
    RUN_TEST(test_reset_in_the_middle);
    RUN_TEST(test_two_machines_in_turn);
    return UNITY_END();
}
