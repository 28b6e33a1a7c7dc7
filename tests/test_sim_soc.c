/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of sim/soc.h itself, kept by the models of the hardware and by the reference machine
 * alike: what is refused, when a step ends, what is told of harts; several SoCs at a time. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "machines.h"
#include "rig.h"
#include "rv.h"
#include "unity.h"

static struct rig r;
static struct rig_code code;

void setUp(void) { code.count = 0; }
void tearDown(void)
{
    if (r.soc)
        rig_close(&r);
}

static void emit(uint32_t word) { rig_emit(&code, word); }

static const struct soc_interface *kind(uint32_t n)
{
    return n < MACHINES ? machine(n) : iss_interface(4);
}
#define EVERY_KIND(n) for (uint32_t n = 0; n <= MACHINES; n++)

static void load_all(struct rig *rig)
{
    for (uint32_t h = 0; h < rig->soc->parameters.harts; h++)
        rig_load(rig, h, &code);
}

static void test_what_it_says_of_itself(void)
{
    EVERY_KIND(n) {
        const struct soc_interface *soc = kind(n);
        TEST_ASSERT_EQUAL_UINT32(SOC_VERSION, soc->version);
        TEST_ASSERT_TRUE(strlen(soc->name) > 0);
        TEST_ASSERT_TRUE(soc->parameters.harts >= 1 && soc->parameters.harts <= 16);
        TEST_ASSERT_EQUAL(n == MACHINE_LEAN, soc->parameters.lean);
        TEST_ASSERT_TRUE(soc->parameters.memory_bytes >= (n == MACHINE_LEAN ? 16384 : 65536));
        TEST_ASSERT_TRUE(soc->parameters.code_bytes >= (n == MACHINE_LEAN ? 7680 : 16384));
        TEST_ASSERT_EQUAL(n != MACHINE_LEAN, soc->parameters.transactions);
    }
    TEST_ASSERT_EQUAL_UINT32(4, machine(MACHINE_USUAL)->parameters.harts);
    TEST_ASSERT_TRUE(machine(MACHINE_USUAL)->parameters.checks);
    TEST_ASSERT_EQUAL_UINT32(2, machine(MACHINE_SMALL)->parameters.ways);
    TEST_ASSERT_EQUAL_UINT32(1, machine(MACHINE_ODD)->parameters.store_buffer);
}

static void test_places_outside_are_refused(void)
{
    EVERY_KIND(n) {
        uint32_t words[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
        const struct soc_parameters *p = &kind(n)->parameters;
        rig_open(&r, kind(n));
        rig_reset(&r, &(struct soc_setup){ .seed = 1 }, 0);
        TEST_ASSERT_TRUE(r.soc->write_code(r.s, 0, p->code_bytes - 16, words, 4));
        TEST_ASSERT_FALSE(r.soc->write_code(r.s, 0, p->code_bytes - 12, words, 4));
        TEST_ASSERT_FALSE(r.soc->write_code(r.s, 0, p->code_bytes + 4, words, 0xffffffff));
        TEST_ASSERT_FALSE(r.soc->write_code(r.s, 0, 2, words, 1));
        TEST_ASSERT_FALSE(r.soc->write_code(r.s, p->harts, 0, words, 1));
        TEST_ASSERT_TRUE(r.soc->write_memory(r.s, p->memory_bytes - 16, words, 4));
        TEST_ASSERT_FALSE(r.soc->write_memory(r.s, p->memory_bytes - 12, words, 4));
        TEST_ASSERT_FALSE(r.soc->write_memory(r.s, 1, words, 1));
        TEST_ASSERT_TRUE(r.soc->read_memory(r.s, p->memory_bytes - 16, back, 4));
        TEST_ASSERT_EQUAL_UINT32_ARRAY(words, back, 4);
        TEST_ASSERT_FALSE(r.soc->read_memory(r.s, p->memory_bytes, back, 1));
        TEST_ASSERT_EQUAL_UINT32(0, r.soc->counter(r.s, p->harts, 0));
        TEST_ASSERT_EQUAL_UINT32(0, r.soc->counter(r.s, 0, 1000));
        TEST_ASSERT_FALSE(r.soc->coverage(r.s, "/nowhere"));
        rig_close(&r);
    }
}

/* The last word of the code and of the memory can be used. */
static void test_memory_is_there_to_its_end(void)
{
    EVERY_KIND(n) {
        uint32_t end = kind(n)->parameters.memory_bytes, word, jump = rv_beq(ZERO, ZERO, -4096);
        code.count = 0;
        rig_li(&code, A0, MAP_MEMORY + end);
        emit(rv_lw(A1, A0, -4));
        emit(rv_addi(A1, A1, 1));
        emit(rv_sw(A1, A0, -4));
        emit(rv_addi(A2, A0, -4));
        emit(rv_flush(A2));
        emit(rv_mark(A1));
        rig_open(&r, kind(n));
        rig_reset(&r, &(struct soc_setup){ .model = SOC_TSO }, 0);
        rig_poke(&r, end - 4, 41);
        for (uint32_t h = 0; h < r.soc->parameters.harts; h++) {
            struct rig_code idle = { { rv_done() }, 1 };
            rig_load(&r, h, &idle);
        }
        uint32_t last = r.soc->parameters.code_bytes - 4;
        rig_li(&code, A4, last);
        emit(rv_i(0, A4, 0, ZERO, 0x67));
        rig_load(&r, 0, &code);
        TEST_ASSERT_TRUE(r.soc->write_code(r.s, 0, last, &jump, 1));
        TEST_ASSERT_TRUE(r.soc->write_code(r.s, 0, last - 4096, (uint32_t[]){ rv_done() }, 1));
        rig_run(&r, 20000);
        TEST_ASSERT_EQUAL_UINT32(42, rig_mark(&r, 0, 0));
        TEST_ASSERT_TRUE(r.soc->read_memory(r.s, end - 4, &word, 1));
        TEST_ASSERT_TRUE(word == 42 || word == 41); /* it may still be on its way */
        rig_close(&r);
    }
}

static void test_steps_are_counted_and_end_when_all_are_done(void)
{
    EVERY_KIND(n) {
        struct soc_hart state;
        code.count = 0;
        rig_li(&code, A0, 300);
        emit(rv_addi(A0, A0, -1));
        emit(rv_bne(A0, ZERO, -4));
        emit(rv_done());
        rig_open(&r, kind(n));
        rig_reset(&r, &(struct soc_setup){ .seed = 1 }, 0);
        load_all(&r);
        TEST_ASSERT_EQUAL_UINT64(0, r.soc->cycle(r.s));
        TEST_ASSERT_FALSE(r.soc->done(r.s));
        TEST_ASSERT_EQUAL_UINT64(0, r.soc->step(r.s, 0));
        TEST_ASSERT_EQUAL_UINT64(100, r.soc->step(r.s, 100));
        TEST_ASSERT_EQUAL_UINT64(100, r.soc->cycle(r.s));
        r.soc->hart(r.s, 0, &state);
        TEST_ASSERT_FALSE(state.done);
        TEST_ASSERT_TRUE(state.pc < 4 * code.count + 16);
        uint64_t made = r.soc->step(r.s, 1000000);
        TEST_ASSERT_TRUE(made > 0 && made < 100000);
        TEST_ASSERT_EQUAL_UINT64(100 + made, r.soc->cycle(r.s));
        TEST_ASSERT_EQUAL_UINT64(0, r.soc->step(r.s, 100));
        TEST_ASSERT_FALSE(r.soc->done(r.s)); /* its records have not been read yet */
        for (uint32_t h = 0; h < r.soc->parameters.harts; h++) {
            r.soc->hart(r.s, h, &state);
            TEST_ASSERT_TRUE(state.done);
            TEST_ASSERT_EQUAL_UINT32(1, state.waits);
            TEST_ASSERT_EQUAL_UINT32(2 + 600 + 1, state.instructions);
            if (r.soc->parameters.lean)
                continue; /* it counts nothing else */
            TEST_ASSERT_EQUAL_UINT32(2 + 600 + 1, rig_counter(&r, h, EVENT_INSTRUCTION));
            TEST_ASSERT_EQUAL_UINT32(299, rig_counter(&r, h, EVENT_BRANCH_TAKEN));
        }
        TEST_ASSERT_NULL(r.soc->assertion(r.s));
        rig_run(&r, 10);
        TEST_ASSERT_EQUAL_UINT64(r.soc->parameters.harts, r.records);
        TEST_ASSERT_TRUE(r.soc->done(r.s));
        rig_close(&r);
    }
}

/* Nobody reads the stream: the model stops, and loses nothing. Half a record is never given. */
static void test_a_full_stream_stops_the_model(void)
{
    EVERY_KIND(n) {
        uint32_t words[7];
        uint64_t last = 0;
        size_t taken, records = 0;
        code.count = 0;
        rig_li(&code, A0, MAP_MEMORY);
        rig_li(&code, A1, 6000);
        for (int i = 0; i < 8; i++)
            emit(rv_lw(A2, A0, 4 * i));
        emit(rv_addi(A1, A1, -1));
        emit(rv_bne(A1, ZERO, -36));
        emit(rv_done());
        rig_open(&r, kind(n));
        rig_reset(&r, &(struct soc_setup){ .seed = 1 }, 64);
        load_all(&r);
        uint64_t made = r.soc->step(r.s, 100000000);
        TEST_ASSERT_TRUE(made < 100000000);
        TEST_ASSERT_EQUAL_UINT64(0, r.soc->step(r.s, 100));
        TEST_ASSERT_EQUAL_UINT64(0, r.soc->read_capture(r.s, words, 1));
        while (records < 100 && (taken = r.soc->read_capture(r.s, words, 7)) > 0) {
            TEST_ASSERT_TRUE(taken == 2 || taken == 4); /* of four words, the last of two */
            records++;
        }
        last = r.soc->cycle(r.s);
        r.soc->step(r.s, 5);
        TEST_ASSERT_TRUE(r.soc->cycle(r.s) > last);
        rig_close(&r);
    }
}

/* ---- several at a time ---------------------------------------------------------------------- */

static void contend(void)
{
    code.count = 0;
    rig_li(&code, A0, MAP_MEMORY);
    rig_li(&code, A1, 200);
    emit(rv_addi(A2, ZERO, 1));
    emit(rv_amoadd(A3, A2, A0));
    emit(rv_sw(A3, A0, 64));
    emit(rv_lw(A4, A0, 128));
    emit(rv_addi(A1, A1, -1));
    emit(rv_bne(A1, ZERO, -16));
    emit(rv_mark(A3));
    emit(rv_done());
}

struct worker { struct rig rig; pthread_t thread; uint64_t cycles, sum; bool fine; };

static void *work(void *argument)
{
    struct worker *w = argument;
    const struct soc_interface *soc = w->rig.soc;
    uint32_t words[1024];
    size_t n;
    for (uint32_t turn = 0; turn < 20; turn++) { /* nothing of Unity here: it knows one thread */
        static const uint32_t zero[64];
        soc->reset(w->rig.s, &(struct soc_setup){ .model = turn % 4, .seed = turn, .delay = 2 });
        soc->write_memory(w->rig.s, 0, zero, 64);
        for (uint32_t h = 0; h < soc->parameters.harts; h++)
            soc->write_code(w->rig.s, h, 0, code.word, code.count);
        while (!soc->done(w->rig.s) && soc->cycle(w->rig.s) < 1000000) {
            soc->step(w->rig.s, 1000);
            while ((n = soc->read_capture(w->rig.s, words, 1024)) > 0)
                for (size_t i = 0; i < n; i++)
                    w->sum = w->sum * 31 + words[i];
        }
        w->fine = w->fine && soc->done(w->rig.s) && !soc->assertion(w->rig.s);
        w->cycles += soc->cycle(w->rig.s);
    }
    return NULL;
}

static void test_threads_with_a_machine_each(void)
{
    enum { WORKERS = 4 };
    static struct worker all[WORKERS];
    contend();
    for (int i = 0; i < WORKERS; i++) {
        all[i] = (struct worker){ .fine = true };
        rig_open(&all[i].rig, machine(i & 1 ? MACHINE_USUAL : MACHINE_SMALL));
    }
    for (int i = 0; i < WORKERS; i++)
        TEST_ASSERT_EQUAL(0, pthread_create(&all[i].thread, NULL, work, &all[i]));
    for (int i = 0; i < WORKERS; i++)
        pthread_join(all[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) {
        TEST_ASSERT_TRUE(all[i].fine);
        TEST_ASSERT_EQUAL_UINT64(all[i & 1].cycles, all[i].cycles);
        TEST_ASSERT_EQUAL_UINT64(all[i & 1].sum, all[i].sum);
        rig_close(&all[i].rig); /* in this thread, in another order than they were made by */
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_what_it_says_of_itself);
    RUN_TEST(test_places_outside_are_refused);
    RUN_TEST(test_memory_is_there_to_its_end);
    RUN_TEST(test_steps_are_counted_and_end_when_all_are_done);
    RUN_TEST(test_a_full_stream_stops_the_model);
    RUN_TEST(test_threads_with_a_machine_each);
    return UNITY_END();
}
