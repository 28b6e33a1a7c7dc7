/* SPDX-License-Identifier: Apache-2.0 */
/* Generated tests in which values are used: operations that depend on loads, what a CAS compares
 * with, and hints in transactions. */
#include "making.h"

void setUp(void) { making_open(); }
void tearDown(void) { making_close(); }

/* The register of an operation that is written, or is read; 0: none. */
static uint32_t register_of(size_t i, bool wanted)
{
    uint32_t number;
    bool written;
    for (size_t k = 0; ordeal_trace_register_of(t, i, k, &number, &written); k++)
        if (written == wanted)
            return number;
    return 0;
}

/* ---- dependencies -------------------------------------------------------------------------- */

enum { MOST = 16 };

/* Of each thread: accesses that take part, and at which of them a register was set last. */
struct history {
    uint32_t now, set[MOST];
};

struct found {
    uint64_t depending, all, farthest, registers;
    uint64_t atomics_depending, atomics; /* of them */
};

static struct found dependencies(void)
{
    struct history threads[8] = { 0 };
    struct found f = { 0 };
    for (size_t i = 0; i < length(); i++) {
        struct history *h = &threads[op(i)->thread];
        uint32_t read = register_of(i, false), written = register_of(i, true);
        TEST_ASSERT_TRUE(read < MOST && written < MOST);
        bool atomic = op(i)->kind == ORDEAL_SWAP || op(i)->kind == ORDEAL_AMO;
        bool takes_part = op(i)->kind <= ORDEAL_STORE || (atomic && b->dependencies_atomics);
        if (!takes_part || op(i)->size_log2 > 3 || written == 1) {
            TEST_ASSERT_EQUAL_UINT32(0, read);
            continue;
        }
        bool possible = false;
        h->now++;
        for (uint32_t r = 2; r < MOST; r++)
            possible |= h->set[r] && h->now - h->set[r] <= b->dependencies_distance;
        f.all += possible;
        f.atomics += possible && atomic;
        if (read) {
            f.atomics_depending += atomic;
            TEST_ASSERT_TRUE(h->set[read] > 0);
            uint32_t distance = h->now - h->set[read];
            f.farthest = distance > f.farthest ? distance : f.farthest;
            f.depending++;
        }
        if (written) {
            TEST_ASSERT_EQUAL(ORDEAL_LOAD, op(i)->kind);
            h->set[written] = h->now;
        }
        f.registers |= UINT64_C(1) << read | UINT64_C(1) << written;
    }
    return f;
}

static void as_many_depend_as_asked(void)
{
    make_only("threads=3 operations=5000 locations=1000 sizes.1=1 sizes.8=1 sizes.64=1 "
              "dependencies.share=40");
    is_sound(true);
    struct found f = dependencies();
    about(0.4 * (double)f.all, (double)f.depending, (double)f.all, 15, "depending");
    TEST_ASSERT_EQUAL_UINT64(8, f.farthest);
    TEST_ASSERT_EQUAL_HEX64(0x3d, f.registers); /* a few, for machines that have few */
    make_only("dependencies.share=100 distance=3");
    f = dependencies();
    TEST_ASSERT_EQUAL_UINT64(f.all, f.depending);
    TEST_ASSERT_EQUAL_UINT64(3, f.farthest);
    make_only("dependencies.share=0");
    TEST_ASSERT_EQUAL_UINT64(0, dependencies().depending);
}

static void swaps_and_amos_depend_as_asked(void)
{
    make_only("threads=3 operations=5000 locations=1000 load=50 store=20 swap=20 amo=20 "
              "dependencies.atomics=60");
    is_sound(true);
    struct found f = dependencies();
    about(0.6 * (double)f.atomics, (double)f.atomics_depending, (double)f.atomics, 15, "atomics");
    TEST_ASSERT_EQUAL_UINT64(f.depending, f.atomics_depending);
    TEST_ASSERT_EQUAL_UINT64(8, f.farthest);
    make_only("dependencies.share=100 dependencies.atomics=100");
    f = dependencies();
    TEST_ASSERT_EQUAL_UINT64(f.all, f.depending);
    TEST_ASSERT_TRUE(f.atomics > 1000);
    make_only("dependencies.atomics=0");
    TEST_ASSERT_EQUAL_UINT64(0, dependencies().atomics_depending);
}

static void they_go_with_all_the_rest(void)
{
    make_only(
        "threads=3 operations=600 locations=40 dependencies.share=50 atomics=50 loops.share=30 "
        "branches.share=30 transactions.share=30 abort=20 sb=5 cas=20 register=5 swap=9 amo=9");
    is_sound(true);
}

/* ---- CAS ----------------------------------------------------------------------------------- */

struct kinds {
    uint64_t own, older, value, zero, all;
};

/* A CAS compares with register 1, which the load just before it set; with another one; or with a
 * value that somebody wrote there. */
static struct kinds kinds_of_cas(void)
{
    struct kinds k = { 0 };
    for (size_t i = 0; i < length(); i++) {
        if (op(i)->kind != ORDEAL_CAS)
            continue;
        uint64_t compare = ordeal_trace_compare_of(t, i);
        k.all++;
        if (op(i)->flags & ORDEAL_COMPARE_REGISTER) {
            k.own += compare == 1;
            k.older += compare > 1;
            continue;
        }
        k.value++;
        k.zero += compare == 0;
        bool known = compare == 0;
        for (size_t j = 0; j < length() && !known; j++)
            known = is_write(op(j)) && op(j)->base == op(i)->base && op(j)->write == compare;
        TEST_ASSERT_TRUE(known);
        TEST_ASSERT_TRUE(compare != op(i)->write);
    }
    return k;
}

static void a_cas_compares_with_what_is_asked(void)
{
    make_only("operations=3000 locations=4 cas=30 own=5 register=3 cas.value=2");
    is_sound(true);
    struct kinds k = kinds_of_cas();
    about(0.5 * (double)k.all, (double)k.own, (double)k.all, 30, "own");
    about(0.3 * (double)k.all, (double)k.older, (double)k.all, 30, "register");
    about(0.2 * (double)k.all, (double)k.value, (double)k.all, 30, "value");
    make_only("own=0 register=0 cas.value=1 operations=5 locations=65536");
    k = kinds_of_cas();
    TEST_ASSERT_EQUAL_UINT64(k.all, k.zero); /* of a word that nobody has written */
}

static void it_needs_no_load_before_it(void)
{
    make_only(NOTHING " cas=1 own=0 cas.value=1 operations=50");
    for (size_t i = 0; i < length(); i++)
        TEST_ASSERT_EQUAL(ORDEAL_CAS, op(i)->kind);
    TEST_ASSERT_EQUAL_size_t(100, length());
    is_sound(true);
}

/* The load that set the register was not wider, so that the CAS can hold its value. */
static void it_compares_with_values_that_fit(void)
{
    uint64_t seen = 0;
    make_only("operations=3000 locations=100 cas=30 own=0 register=1 sizes.2=1 sizes.8=1");
    uint8_t size[2][MOST] = { 0 };
    for (size_t i = 0; i < length(); i++) {
        uint32_t written = register_of(i, true), thread = op(i)->thread;
        if (op(i)->kind == ORDEAL_CAS && op(i)->flags & ORDEAL_COMPARE_REGISTER) {
            TEST_ASSERT_TRUE(size[thread][ordeal_trace_compare_of(t, i)] <= op(i)->size_log2);
            seen++;
        }
        if (written)
            size[thread][written] = op(i)->size_log2;
    }
    TEST_ASSERT_GREATER_THAN_UINT64(500, seen);
    is_sound(true);
}

static void no_kind_of_cas(void)
{
    set("own=0");
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_NOT_NULL(strstr(e.reason, "cas.own = 0: no kind of CAS has a weight above 0"));
    set("cas=0");
    TEST_ASSERT_TRUE(bias_check(b, &e));
}

/* ---- hints --------------------------------------------------------------------------------- */

struct hints {
    uint64_t inside, outside;
};

static void count_flush(size_t i, const struct place *at, void *user)
{
    struct hints *h = user;
    if (op(i)->kind == ORDEAL_FLUSH)
        ++*(at->transaction ? &h->inside : &h->outside);
}

static void flushes_are_in_transactions_where_asked(void)
{
    struct hints h = { 0 };
    make_only("operations=2000 flush=20 transactions.share=50 hints=yes");
    walk(count_flush, &h);
    TEST_ASSERT_TRUE(h.inside > 100 && h.outside > 100);
    is_sound(true);
    h = (struct hints){ 0 };
    make_only("hints=no");
    walk(count_flush, &h);
    TEST_ASSERT_TRUE(h.inside == 0 && h.outside > 100);
    set(NOTHING " hints=yes");
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
    set("hints=no");
    TEST_ASSERT_FALSE(bias_check(b, &e));
}

/* ---- registers of idioms ------------------------------------------------------------------- */

static void idioms_have_so_many_registers(void)
{
    char text[64];
    for (int i = 0; i < 26; i++) {
        snprintf(text, sizeof text, "idiom a%d.test=P0 CAS[x]?r%d#1 <r%d", i, 100 + i, 100 + i);
        TEST_ASSERT_TRUE_MESSAGE(bias_set(b, text, &e), e.reason);
        snprintf(text, sizeof text, "idiom a%d.weight=9", i);
        TEST_ASSERT_TRUE(bias_set(b, text, &e));
    }
    set("dependencies.share=50 operations=2000 cas=9 register=1");
    start(1);
    make(0);
    is_sound(true);
    TEST_ASSERT_TRUE(bias_set(b, "idiom b.weight=1", &e));
    TEST_ASSERT_TRUE(bias_set(b, "idiom b.test=P0 CAS[x]?r99#1", &e));
    TEST_ASSERT_FALSE(bias_check(b, &e));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, "idiom b.weight = 1: the idioms have more than "
                                                  "26 registers together"),
                                 e.reason);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(as_many_depend_as_asked);
    RUN_TEST(swaps_and_amos_depend_as_asked);
    RUN_TEST(they_go_with_all_the_rest);
    RUN_TEST(a_cas_compares_with_what_is_asked);
    RUN_TEST(it_needs_no_load_before_it);
    RUN_TEST(it_compares_with_values_that_fit);
    RUN_TEST(no_kind_of_cas);
    RUN_TEST(flushes_are_in_transactions_where_asked);
    RUN_TEST(idioms_have_so_many_registers);
    return UNITY_END();
}
