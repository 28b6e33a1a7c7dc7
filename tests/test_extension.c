/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that hold less than they could: what is above the value is looked at, told when it is
 * wrong, and taken off. What a register should hold is written down once more, in plain C. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checking.h"
#include "test/extension.h"
#include "test/kinds.h"
#include "test/program_walk.h"
#include "unity.h"

static struct ordeal *context;
static struct ordeal_trace *test;
static struct program p;
static struct extension x;
static struct why why;
static uint64_t values[64], plain[64];

void setUp(void)
{
    context = ordeal_new(NULL);
    test = NULL;
    p = (struct program){ 0 };
    x = (struct extension){ 0 };
}

void tearDown(void)
{
    extension_close(&x);
    program_free(&p);
    ordeal_trace_free(test);
    ordeal_free(context);
}

static void compile(const char *lines)
{
    struct ordeal_error e;
    test = trace_of_lines(context, lines);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, test, "test", &e), e.reason);
    TEST_ASSERT_TRUE(p.slots <= sizeof values / sizeof *values);
}

/* As a register of 64 or 32 bits holds what was read, `sign` if that is extended by its sign. */
static uint64_t in_register(unsigned bits, unsigned size, bool sign, uint64_t value)
{
    int64_t wide = size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
    if (size >= bits / 8 || !sign)
        return value;
    return bits == 32 ? (uint32_t)wide : (uint64_t)wide;
}

/* Every other value has its highest bit set. Returns how many of them are narrow loads by sign. */
static unsigned fill(unsigned bits, bool atomics_signed, uint64_t iteration)
{
    unsigned by_sign = 0;
    memset(values, 0, sizeof values);
    memset(plain, 0, sizeof plain);
    for (uint32_t t = 0; t < p.threads; t++) {
        struct walker w = program_walk(&p, t, iteration);
        uint32_t slot = p.thread[t].first_slot;
        for (const struct instruction *i; (i = program_step(&w));) {
            if (!kind_reads(i->kind))
                continue;
            unsigned size = 1u << i->size_log2;
            bool load = i->kind == ORDEAL_LOAD;
            bool sign = load ? extension_is_signed(&p, w.thread, i) : atomics_signed;
            uint64_t value = (slot % 2 ? UINT64_C(0x8182838485868788) : UINT64_C(0x11223344))
                           & (size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX);
            plain[slot] = value;
            values[slot++] = in_register(bits, size, sign, value);
            by_sign += load && sign && size < bits / 8;
        }
    }
    return by_sign;
}

static const char every_size[] =
    "P0 L[A/1]\nP0 L[A/1]\nP0 L[A/2]\nP0 L[A/2]\nP0 L[A/4]\nP0 L[A/4]\nP0 L[A/8]\nP0 L[A/8]\n"
    "P0 L[A+1/1]\nP0 L[A+3/1]\nP0 L[A+2/2]\nP0 L[A+4/2]\nP0 L[A+4/4]\nP0 L[A+8/4]\n"
    "P0 SWAP[A/4]#1\nP0 SWAP[A/4]#2\nP1 AMOADD[A/4]#1\nP1 CAS[A/4]?1#2\nP1 L[A/1]\nP1 L[A/1]\n";

static void comes_off(unsigned bits, bool atomics_signed)
{
    compile(every_size);
    TEST_ASSERT_TRUE(extension_open(&x, &p, bits, atomics_signed));
    TEST_ASSERT_TRUE(fill(bits, atomics_signed, 0) > 2);
    TEST_ASSERT_TRUE_MESSAGE(extension_take_off(&x, 0, values, &why), why.text);
    TEST_ASSERT_EQUAL_HEX64_ARRAY(plain, values, p.slots);
}

static void test_64_bits(void) { comes_off(64, false); }
static void test_64_bits_of_risc_v(void) { comes_off(64, true); }
static void test_32_bits(void) { comes_off(32, true); }

/* Any bit above any value. */
static void test_every_wrong_bit_is_found(void)
{
    compile(every_size);
    TEST_ASSERT_TRUE(extension_open(&x, &p, 64, true));
    for (uint32_t slot = 0; slot < p.slots; slot++) {
        fill(64, true, 0);
        uint64_t narrow = plain[slot] > UINT32_MAX || x.slot[slot] == 0 ? 64 : x.slot[slot] & 0x7f;
        for (unsigned bit = (unsigned)narrow; bit < 64; bit++) {
            fill(64, true, 0);
            values[slot] ^= UINT64_C(1) << bit;
            TEST_ASSERT_FALSE(extension_take_off(&x, 0, values, &why));
        }
    }
}

static void test_a_finding_names_the_load(void)
{
    compile("P0 S[A/1]#1\nP0 L[A/1]\nP1 L[A/8]\nP1 L[B/2]\nP1 L[A/1]\n");
    TEST_ASSERT_TRUE(extension_open(&x, &p, 64, false));
    fill(64, false, 0);
    bool sign = extension_is_signed(&p, &p.thread[1], &p.thread[1].code[1]);
    values[2] = UINT64_C(0x1223344);
    TEST_ASSERT_FALSE(extension_take_off(&x, 0, values, &why));
    char wanted[128];
    snprintf(wanted, sizeof wanted,
             "P1 L[B/2] (line 5 of the test) left 0x1223344 in its register: with %s above the "
             "0x3344 that it read that would be 0x3344",
             sign ? "signs" : "zeros");
    TEST_ASSERT_EQUAL_STRING(wanted, why.text);
}

/* What a slot holds depends on the way that the iteration went. */
static void test_branches(void)
{
    compile("seed 3\nP0 LOOP.BEGIN#6\nP0 BRANCH.BEGIN\nP0 L[A/1]\nP0 BRANCH.ELSE\nP0 L[A/8]\n"
            "P0 L[B/2]\nP0 BRANCH.END\nP0 LOOP.END\nP0 L[A/4]\n");
    TEST_ASSERT_TRUE(extension_open(&x, &p, 64, false));
    for (uint64_t iteration = 0; iteration < 40; iteration++) {
        fill(64, false, iteration);
        TEST_ASSERT_TRUE_MESSAGE(extension_take_off(&x, iteration, values, &why), why.text);
        TEST_ASSERT_EQUAL_HEX64_ARRAY(plain, values, p.slots);
    }
}

/* Chance decides, by the seed, and never where a CAS compares with the register. */
static void test_which_loads(void)
{
    unsigned signs = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        char lines[128];
        snprintf(lines, sizeof lines, "seed %u\nP0 L[A/1] >r1\nP0 L[A/1] >r2\nP0 CAS[A/4]?r2#1\n",
                 seed);
        compile(lines);
        signs += extension_is_signed(&p, &p.thread[0], &p.thread[0].code[0]);
        TEST_ASSERT_FALSE(extension_is_signed(&p, &p.thread[0], &p.thread[0].code[1]));
        program_free(&p);
        ordeal_trace_free(test);
    }
    TEST_ASSERT_TRUE(signs > 8 && signs < 32);
    p = (struct program){ 0 };
    test = NULL;
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_64_bits);
    RUN_TEST(test_64_bits_of_risc_v);
    RUN_TEST(test_32_bits);
    RUN_TEST(test_every_wrong_bit_is_found);
    RUN_TEST(test_a_finding_names_the_load);
    RUN_TEST(test_branches);
    RUN_TEST(test_which_loads);
    return UNITY_END();
}
