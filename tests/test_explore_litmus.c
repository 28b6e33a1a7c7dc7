/* SPDX-License-Identifier: Apache-2.0 */
/* Litmus tests with answers known from the literature: first of the plain machines of tests/support,
 * then of the engine in all its settings. Registers and words that an outcome does not name may have
 * any value. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"
#include "tiny_explore.h"
#include "unity.h"

void setUp(void) {}
void tearDown(void) {}

/* The models that allow the outcome: none, or all from one on, or (of PSLO) that alone. */
enum {
    NONE = 0,
    PSLO = 1 << TINY_PSLO,
    PSO = PSLO | 1 << TINY_PSO,
    TSO = PSO | 1 << TINY_TSO,
    ALL = TSO | 1 << TINY_SC
};

static const struct litmus {
    const char *name, *program, *outcome;
    unsigned allowed;
} litmus[] = {
    { "SB", "x = 1; r0 = y | y = 1; r0 = x", "0:r0=0 1:r0=0", TSO },
    { "SB+fences", "x = 1; fence; r0 = y | y = 1; fence; r0 = x", "0:r0=0 1:r0=0", NONE },
    { "SB+wr", "x = 1; fence wr; r0 = y | y = 1; fence wr; r0 = x", "0:r0=0 1:r0=0", NONE },
    { "SB+tso", "x = 1; fence rr rw ww; r0 = y | y = 1; fence rr rw ww; r0 = x", "0:r0=0 1:r0=0",
      TSO },
    { "SB+one fence", "x = 1; fence; r0 = y | y = 1; r0 = x", "0:r0=0 1:r0=0", TSO },
    { "SB+swaps", "r1 = swap x 1; r0 = y | r1 = swap y 1; r0 = x", "0:r0=0 1:r0=0", PSLO },
    { "SB+swaps.aq", "r1 = swap.aq x 1; r0 = y | r1 = swap.aq y 1; r0 = x", "0:r0=0 1:r0=0", NONE },
    { "SB+other swaps", "x = 1; r1 = swap.aqrl z 1; r0 = y | y = 1; r1 = swap.aqrl z 2; r0 = x",
      "0:r0=0 1:r0=0", NONE },
    { "SB+other swap, no rl", "x = 1; r1 = swap.aq z 1; r0 = y | y = 1; r1 = swap.aq z 2; r0 = x",
      "0:r0=0 1:r0=0", PSO },
    { "SB+own reads", "x = 1; r0 = x; r1 = y | y = 1; r0 = y; r1 = x",
      "0:r0=1 0:r1=0 1:r0=1 1:r1=0", TSO },
    { "SB+failed cas", "x = 1; r1 = cas z 5 -> 6; r0 = y | y = 1; r1 = cas z 5 -> 6; r0 = x",
      "0:r0=0 1:r0=0", PSO },
    { "MP", "x = 1; y = 1 | r0 = y; r1 = x", "1:r0=1 1:r1=0", PSO },
    { "MP+ww", "x = 1; fence ww; y = 1 | r0 = y; r1 = x", "1:r0=1 1:r1=0", PSLO },
    { "MP+ww+rr", "x = 1; fence ww; y = 1 | r0 = y; fence rr; r1 = x", "1:r0=1 1:r1=0", NONE },
    { "MP+swap.rl", "x = 1; r0 = swap.rl y 1 | r0 = y; fence rr; r1 = x", "1:r0=1 1:r1=0", NONE },
    { "MP+swap", "x = 1; r0 = swap y 1 | r0 = y; fence rr; r1 = x", "1:r0=1 1:r1=0", PSO },
    { "MP+ww+swap", "x = 1; fence ww; r0 = swap y 1 | r0 = y; fence rr; r1 = x", "1:r0=1 1:r1=0",
      NONE },
    { "MP+one word", "x = 1; x = 2 | r0 = x; r1 = x", "1:r0=2 1:r1=1", NONE },
    { "LB", "r0 = x; y = 1 | r0 = y; x = 1", "0:r0=1 1:r0=1", NONE },
    { "S", "x = 2; y = 1 | r0 = y; x = 1", "1:r0=1 x=2", PSO },
    { "S+ww", "x = 2; fence ww; y = 1 | r0 = y; x = 1", "1:r0=1 x=2", NONE },
    { "R", "x = 1; y = 1 | y = 2; r0 = x", "1:r0=0 y=2", TSO },
    { "R+fences", "x = 1; fence ww; y = 1 | y = 2; fence; r0 = x", "1:r0=0 y=2", NONE },
    { "2+2W", "x = 1; y = 2 | y = 1; x = 2", "x=1 y=1", PSO },
    { "2+2W+ww", "x = 1; fence ww; y = 2 | y = 1; fence ww; x = 2", "x=1 y=1", NONE },
    { "2+2W+one ww", "x = 1; fence ww; y = 2 | y = 1; x = 2", "x=1 y=1", PSO },
    { "IRIW", "x = 1 | y = 1 | r0 = x; r1 = y | r0 = y; r1 = x", "2:r0=1 2:r1=0 3:r0=1 3:r1=0",
      PSLO },
    { "IRIW+rr", "x = 1 | y = 1 | r0 = x; fence rr; r1 = y | r0 = y; fence rr; r1 = x",
      "2:r0=1 2:r1=0 3:r0=1 3:r1=0", NONE },
    { "WRC", "x = 1 | r0 = x; y = 1 | r0 = y; r1 = x", "1:r0=1 2:r0=1 2:r1=0", PSLO },
    { "WRC+rr", "x = 1 | r0 = x; y = 1 | r0 = y; fence rr; r1 = x", "1:r0=1 2:r0=1 2:r1=0", NONE },
    { "RWC", "x = 1 | r0 = x; r1 = y | y = 1; r0 = x", "1:r0=1 1:r1=0 2:r0=0", TSO },
    { "CoRR", "x = 1 | r0 = x; r1 = x", "1:r0=1 1:r1=0", NONE },
    { "CoWR", "x = 1; r0 = x | x = 2", "0:r0=0", NONE },
    { "CoRW", "r0 = x; x = 1 | x = 2", "0:r0=2 x=2", NONE },
    { "CoWW", "x = 1; x = 2", "x=1", NONE },
    { "CoWR, other's", "x = 1; r0 = x | x = 2", "0:r0=2 x=1", NONE },
    { "an increment lost", "r0 = x; x = 1 + r0 | r0 = x; x = 1 + r0", "x=1", ALL },
    { "no increment lost", "r0 = add x 1 | r0 = add x 1", "x=1", NONE },
    { "half a word", "x = 0x102 | r0 = x+0/1; r1 = x+1/1", "1:r0=2 1:r1=0", NONE },
    { "half a word, other way", "x = 0x102 | r0 = x+1/1; r1 = x+0/1", "1:r0=1 1:r1=0", NONE },
    { "bytes forwarded", "x+0/1 = 1; r0 = x; r1 = y | y = 1; r0 = x", "0:r0=1 0:r1=0 1:r0=0", TSO },
    { "MP+section", "enter; x = 1; y = 1; leave | r0 = y; fence rr; r1 = x", "1:r0=1 1:r1=0",
      NONE },
    { "2+2W+section", "enter; x = 1; y = 2; leave | enter; y = 1; x = 2; leave", "x=1 y=1", NONE },
    { "a store before a section", "x = 1 | enter; x = 2; leave", "x=2", ALL },
    { "a store after a section", "x = 1 | enter; x = 2; leave", "x=1", ALL },
    { "a store within a section", "x = 0x102 | enter; x+0/1 = 3; x+1/1 = 4; leave", "x=1027",
      ALL }, /* 0x403 */
    { "a load behind a store within a section",
      "x = 0x102 | x+0/1 = 3 | enter; x+1/1 = 4; r0 = x; leave", "2:r0=22 2:r1=4 x=1026",
      ALL }, /* r0 is 0x402, that is 4 * 251 + 22 */
    { "a store within a section that its load misses",
      "x = 0x102 | x+0/1 = 3 | enter; x+1/1 = 4; r0 = x; leave", "2:r0=2 2:r1=0", NONE },
    { "half a store within a section", "x = 0x102 | enter; x+0/1 = 3; x+1/1 = 4; leave", "x=1026",
      NONE },
    /* Section 3.1 of Štill and Barnat as printed gives this. */
    { "delayed", "y = 1; z = 2; r1 = z | z = 3; y = 4; r2 = y", "0:r1=3 1:r2=1", PSO },
    { "delayed, S", "x = 2; y = 1 | r0 = y; x = 1; r1 = x", "1:r0=1 1:r1=1 x=2", PSO },
};
enum { LITMUS = sizeof litmus / sizeof *litmus };

/* "0:r1=3" or "x=2": does the row have it? */
static bool holds(const char *condition, const uint32_t *row)
{
    unsigned thread, reg;
    uint32_t value;
    if (sscanf(condition, "%u:r%u=%" SCNu32, &thread, &reg, &value) == 3) {
        uint32_t rest = row[thread];
        while (reg-- > 0)
            rest /= 251;
        return rest % 251 == value;
    }
    TEST_ASSERT_EQUAL_INT(1, sscanf(condition + 1, "=%" SCNu32, &value));
    return row[TINY_THREADS + (*condition - 'x')] == value;
}

static bool all_hold(const char *outcome, const uint32_t *row)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", outcome);
    for (char *condition; (condition = strsep(&rest, " "));)
        if (!holds(condition, row))
            return false;
    return true;
}

static bool seen(const struct litmus *l, const struct tiny_outcomes *o)
{
    for (size_t i = 0; i < o->rows; i++)
        if (all_hold(l->outcome, o->row[i]))
            return true;
    return false;
}

static void judge(const struct litmus *l, enum tiny_model m, struct tiny_outcomes *o)
{
    TEST_ASSERT_TRUE_MESSAGE(o->rows > 0, l->name);
    char message[128];
    snprintf(message, sizeof message, "%s under %s", l->name, explore_model_names[m]);
    TEST_ASSERT_EQUAL_INT_MESSAGE(l->allowed >> m & 1, seen(l, o), message);
    tiny_outcomes_free(o);
}

static struct tiny_program program_of(const struct litmus *l)
{
    struct tiny_program p;
    TEST_ASSERT_TRUE_MESSAGE(tiny_parse(&p, l->program), l->name);
    return p;
}

static void test_machines(void)
{
    for (unsigned i = 0; i < LITMUS; i++) {
        struct tiny_program p = program_of(&litmus[i]);
        for (unsigned m = 0; m < TINY_MODELS; m++) {
            struct tiny_outcomes o;
            TEST_ASSERT_TRUE(tiny_outcomes(&p, (enum tiny_model)m, (struct tiny_limits){ 0 }, &o));
            judge(&litmus[i], (enum tiny_model)m, &o);
        }
    }
}

static void all_settings(const struct litmus *l, enum tiny_model m)
{
    struct tiny_program p = program_of(l);
    for (unsigned k = 0; k < 32; k++) {
        struct tiny_setting s = {
            .model = m,
            .plain = k & 1,
            .no_reduction = k & 2,
            .depth_first = k & 4,
            .local = k >> 3,
            .jobs = 1 + k % 2,
        };
        struct tiny_outcomes o;
        if (!tiny_setting_sensible(&s))
            continue;
        tiny_explore(&p, &s, &o);
        judge(l, m, &o);
    }
}

static void test_engine(void)
{
    for (unsigned i = 0; i < LITMUS; i++)
        for (unsigned m = 0; m < TINY_MODELS; m++)
            all_settings(&litmus[i], (enum tiny_model)m);
}

/* What a failing test prints can be given to tiny_parse. */
static void test_text_comes_back(void)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct tiny_program p, again;
        tiny_random(&p, seed);
        char *text[2] = { NULL, NULL };
        size_t length;
        for (int k = 0; k < 2; k++) {
            FILE *stream = open_memstream(&text[k], &length);
            TEST_ASSERT_NOT_NULL(stream);
            tiny_print(k ? &again : &p, stream);
            fclose(stream);
            TEST_ASSERT_TRUE_MESSAGE(k || tiny_parse(&again, text[0]), text[0]);
        }
        TEST_ASSERT_EQUAL_STRING(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_text_comes_back);
    RUN_TEST(test_machines);
    RUN_TEST(test_engine);
    return UNITY_END();
}
