/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: what is refused and why, where lines lie, and traces from values. */
#include <stdlib.h>
#include <string.h>
#include <unity.h>

#include "checking.h"
#include "test/lfsr.h"
#include "test/program.h"
#include "targets/target.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }
void tearDown(void) { ordeal_free(o); }

static const struct machine_claims tso = { .model = ORDEAL_TSO, .atomic = 8 };

struct made { struct ordeal_trace *test; struct program p; };

static struct made make(const char *lines)
{
    struct made m = { .test = trace_of_lines(o, lines) };
    struct ordeal_error e = { 0 };
    if (!program_compile(&m.p, m.test, "x", &e))
        TEST_FAIL_MESSAGE(e.reason);
    return m;
}

static void unmake(struct made *m)
{
    program_free(&m->p);
    ordeal_trace_free(m->test);
}

static void refused(const char *lines, uint64_t line, const char *words)
{
    struct program p;
    struct ordeal_error e = { 0 };
    struct ordeal_trace *test = trace_of_lines(o, lines);
    TEST_ASSERT_FALSE_MESSAGE(program_compile(&p, test, "x", &e), lines);
    if (!strstr(e.reason, words))
        TEST_FAIL_MESSAGE(e.reason);
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(line, e.line, lines);
    TEST_ASSERT_EQUAL_STRING("x", e.file);
    ordeal_trace_free(test);
}

static void refuses_what_makes_no_sense(void)
{
    refused("P0 LOOP.BEGIN#2\nP0 LOOP.BEGIN#2\nP0 LOOP.END\nP0 LOOP.END\n", 3, "a loop inside a");
    refused("P0 LOOP.BEGIN#2\nP0 S[A]#1\n", 2, "does not end");
    refused("P0 S[A]#1\nP0 LOOP.END\n", 3, "did not begin");
    refused("P0 BRANCH.ELSE\n", 2, "did not begin");
    refused("P0 BRANCH.BEGIN\nP0 BRANCH.ELSE\nP0 BRANCH.ELSE\nP0 BRANCH.END\n", 4, "one BRANCH.ELSE");
    refused("P0 LOOP.BEGIN#2\nP0 TX.BEGIN\nP0 LOOP.END\nP0 TX.END\n", 4, "block inside it is open");
    refused("P0 S[A]#1+2\n", 2, "outside of a loop");
    refused("P0 LOOP.BEGIN#3\nP0 S[A/1]#100+100\nP0 LOOP.END\n", 3, "no longer fits");
    refused("fault Z\nP0 L[Z]\n", 3, "only NFL");
    refused("P0 IPI#7\n", 2, "no thread P7");
    refused("P0 L[A/16] >r1\n", 2, "at most 8 bytes");
    refused("place A=0 B=0\nP0 L[A]\nP0 L[B]\n", 0, "two lines are placed at 0x0");
    refused("place A=0x40000000\nP0 L[A]\n", 0, "apart");
    refused("init A=1\n", 0, "no operation");
    refused("P0 SC[A]#1\n", 2, "needs an LR");
    refused("P0 LR[A]\nP0 SC[A+4]#1\n", 3, "needs an LR");
    refused("P0 LR[A]\nP0 SC[A/8]#1\n", 3, "needs an LR");
    refused("P0 LR[A]\nP0 SC[A]#1\nP0 SC[A]#2\n", 4, "needs an LR");
    refused("P0 LR[A]\nP0 S[A+2/2]#1\nP0 SC[A]#2\n", 4, "needs an LR");
    refused("P0 LR[A]\nP0 LOOP.BEGIN#2\nP0 SC[A]#2\nP0 LOOP.END\n", 4, "needs an LR");
}

static void lines_lie_where_they_are_told_and_the_others_between(void)
{
    struct made m = make("place B=0 C=0x80\nP0 S[A+4]#1\nP0 S[B]#1\nP0 S[C]#1\nP0 S[D]#1\n"
                         "P0 S[A+64]#1\ninit A+4=7 C/8=0x0102030405060708\n");
    const uint64_t places[] = { 0x40, 0, 0x80, 0xc0, 0x100 };
    TEST_ASSERT_EQUAL(5, m.p.lines);
    for (int i = 0; i < 5; i++)
        TEST_ASSERT_EQUAL_HEX64(places[i], m.p.line[i].place);
    TEST_ASSERT_EQUAL_HEX64(0x140, m.p.memory);
    TEST_ASSERT_EQUAL(4, m.p.thread[0].code[0].offset);
    TEST_ASSERT_EQUAL(7, m.p.line[0].initial[4]);
    TEST_ASSERT_EQUAL(8, m.p.line[2].initial[0]);
    TEST_ASSERT_EQUAL(1, m.p.line[2].initial[7]);
    unmake(&m);

    m = make("P0 S[0x80001040]#1\nP0 S[0x80001100]#1\n");
    TEST_ASSERT_EQUAL_HEX64(0, m.p.line[0].place);
    TEST_ASSERT_EQUAL_HEX64(0xc0, m.p.line[1].place);
    unmake(&m);
}

static void threads_come_by_number(void)
{
    struct made m = make("P7 S[A]#1\nP2 L[A]\nP7 L[B]\nP2 IPI#7\n");
    TEST_ASSERT_EQUAL(2, m.p.threads);
    TEST_ASSERT_EQUAL(2, m.p.thread[0].number);
    TEST_ASSERT_EQUAL(7, m.p.thread[1].number);
    TEST_ASSERT_EQUAL(1, m.p.thread[0].code[1].count);
    TEST_ASSERT_EQUAL(2, m.p.slots);
    TEST_ASSERT_TRUE(m.p.asks.interrupts);
    unmake(&m);
}

/* The trace of what a machine told, compared with `expected` as text. */
static void tells_of(const struct made *m, uint64_t iteration, const uint64_t *values,
                     const struct machine_claims *claims, const char *expected)
{
    struct ordeal_trace *trace;
    TEST_ASSERT_EQUAL(ORDEAL_OK, program_trace(&m->p, iteration, values, claims, o, &trace));
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    TEST_ASSERT_EQUAL(ORDEAL_OK, ordeal_write_text(trace, stream));
    fclose(stream);
    TEST_ASSERT_EQUAL_STRING(expected, text);
    free(text);
    ordeal_trace_free(trace);
}

static void tells(const struct made *m, uint64_t iteration, const uint64_t *values,
                  const char *expected)
{
    tells_of(m, iteration, values, &tso, expected);
}

static void a_straight_program_tells_its_trace(void)
{
    struct made m = make("init A=9\nP1 S[A]#1\nP1 L[B]\nP0 SWAP[A]#2\nP0 NFL[B/8]\nP0 DELAY#3\n");
    tells(&m, 0, (uint64_t[]){ 1, 0x100000000, 5 },
          "ordeal 1\nmodel TSO\natomic 8\ninit A=9\nP0 SWAP[A]=1#2\nP0 NFL[B/8]=0x100000000\n"
          "P0 DELAY#3\nP1 S[A]#1\nP1 L[B]=5\n");
    tells(&m, 0, NULL, "ordeal 1\nmodel TSO\natomic 8\ninit A=9\nP0 SWAP[A]#2\nP0 NFL[B/8]\n"
                       "P0 DELAY#3\nP1 S[A]#1\nP1 L[B]\n");
    struct ordeal_trace *trace;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT,
                      program_trace(&m.p, 0, (uint64_t[]){ UINT64_C(1) << 32, 0, 0 }, &tso, o,
                                    &trace));
    unmake(&m);
}

static void loops_unroll_and_registers_carry(void)
{
    struct made m = make("P0 LOOP.BEGIN#3\nP0 S[A]#5+2\nP0 L[B] >r4\nP0 CAS[B]?r4#7+1\n"
                         "P0 LOOP.END\nP0 L[A]\n");
    TEST_ASSERT_EQUAL(7, m.p.slots);
    TEST_ASSERT_EQUAL_UINT64(10, m.p.operations);
    tells(&m, 0, (uint64_t[]){ 0, 0, 7, 3, 8, 8, 9 },
          "ordeal 1\nmodel TSO\natomic 8\n"
          "P0 S[A]#5\nP0 L[B]=0 >r4\nP0 CAS[B]=0?0#7 <r4\n"
          "P0 S[A]#7\nP0 L[B]=7 >r4\nP0 CAS[B]=3?7#8 <r4\n"
          "P0 S[A]#9\nP0 L[B]=8 >r4\nP0 CAS[B]=8?8#9 <r4\nP0 L[A]=9\n");
    unmake(&m);
}

static void wide_loads_take_several_values(void)
{
    struct made m = make("P0 S[A/16]#0x20000000000000003\nP0 L[A/16]\nP0 L[B/1]\n");
    TEST_ASSERT_EQUAL(3, m.p.slots);
    tells(&m, 0, (uint64_t[]){ 3, 2, 255 },
          "ordeal 1\nmodel TSO\natomic 8\nP0 S[A/16]#0x20000000000000003\n"
          "P0 L[A/16]=0x20000000000000003\nP0 L[B/1]=255\n");
    unmake(&m);
}

static void transactions_commit_fall_back_or_abort(void)
{
    struct made m = make("P0 TX.BEGIN#2\nP0 L[A]\nP0 S[A]#1\nP0 TX.END\n"
                         "P0 TX.BEGIN\nP0 L[A]\nP0 S[A]#2\nP0 TX.ABORT\nP0 L[A]\n");
    TEST_ASSERT_EQUAL(3, m.p.slots);
    tells(&m, 0, (uint64_t[]){ 4, 1, 5 },
          "ordeal 1\nmodel TSO\natomic 8\nP0 TX.BEGIN\nP0 L[A]=4\nP0 S[A]#1\nP0 TX.END\n"
          "P0 TX.BEGIN\nP0 L[A]\nP0 S[A]#2\nP0 TX.ABORT\nP0 L[A]=5\n");
    tells(&m, 0, (uint64_t[]){ 4, 0, 5 },
          "ordeal 1\nmodel TSO\natomic 8\nP0 L[A]=4\nP0 S[A]#1\n"
          "P0 TX.BEGIN\nP0 L[A]\nP0 S[A]#2\nP0 TX.ABORT\nP0 L[A]=5\n");
    struct ordeal_trace *trace;
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT,
                      program_trace(&m.p, 0, (uint64_t[]){ 4, 2, 5 }, &tso, o, &trace));
    unmake(&m);
}

static void branches_follow_the_lfsr(void)
{
    struct made m = make("seed 7\nP3 BRANCH.BEGIN\nP3 L[A]\nP3 L[B]\nP3 BRANCH.ELSE\nP3 L[C]\n"
                         "P3 BRANCH.END\nP3 L[D]\n");
    bool seen[2] = { false, false };
    TEST_ASSERT_EQUAL(3, m.p.slots);
    TEST_ASSERT_TRUE(m.p.branches);
    for (uint64_t iteration = 0; iteration < 20; iteration++) {
        uint32_t lfsr = lfsr_start(7, 3, iteration), bit = lfsr_step(&lfsr);
        seen[bit] = true;
        TEST_ASSERT_EQUAL(bit ? 3 : 2, program_slots_used(&m.p, 0, iteration));
        tells(&m, iteration, (uint64_t[]){ 1, 2, 3 },
              bit ? "ordeal 1\nmodel TSO\natomic 8\nseed 7\nP3 L[A]=1\nP3 L[B]=2\nP3 L[D]=3\n"
                  : "ordeal 1\nmodel TSO\natomic 8\nseed 7\nP3 L[C]=1\nP3 L[D]=2\n");
    }
    TEST_ASSERT_TRUE(seen[0] && seen[1]);
    unmake(&m);
}

static void the_lfsr_visits_all_states(void)
{
    /* Of a maximal one the state comes back after 2^32 - 1 steps and not after a divisor of it. */
    static const uint32_t primes[] = { 3, 5, 17, 257, 65537 };
    uint32_t column[33]; /* the linear map of a step, as images of the 32 unit states */
    for (int k = -1; k < 5; k++) {
        uint32_t exponent = k < 0 ? UINT32_MAX : UINT32_MAX / primes[k], x = 1, result = 1;
        for (int b = 0; b < 32; b++) {
            column[b] = UINT32_C(1) << b;
            lfsr_step(&column[b]);
        }
        for (result = x; exponent; exponent >>= 1) {
            uint32_t image = 0, squared[32];
            for (int b = 0; b < 32; b++) {
                if (result >> b & 1)
                    image ^= column[b];
                squared[b] = 0;
                for (int c = 0; c < 32; c++)
                    if (column[b] >> c & 1)
                        squared[b] ^= column[c];
            }
            if (exponent & 1)
                result = image;
            memcpy(column, squared, sizeof squared);
        }
        TEST_ASSERT_EQUAL(k < 0, result == x);
    }
}

static void identities_differ(void)
{
    static const char *const tests[] = {
        "P0 S[A]#1\n", "P0 S[A]#2\n", "P0 S[A/8]#1\n", "P0 S[A+4]#1\n", "P1 S[A]#1\nP0 L[A]\n",
        "P0 L[A]\n", "init A=1\nP0 S[A]#1\n", "seed 3\nP0 S[A]#1\n", "P0 NFL[A]\n",
        "place A=0x40\nP0 S[A]#1\n", "P0 S[A/16]#1\n", "P0 S[A/16]#2\n", "P0 L[A] >r1\n",
    };
    enum { TESTS = sizeof tests / sizeof *tests };
    uint64_t identity[TESTS];
    for (int i = 0; i < TESTS; i++) {
        struct made m = make(tests[i]);
        identity[i] = program_identity(&m.p);
        unmake(&m);
        for (int k = 0; k < i; k++)
            TEST_ASSERT_TRUE_MESSAGE(identity[k] != identity[i], tests[i]);
    }
    struct made again = make(tests[0]);
    TEST_ASSERT_EQUAL_HEX64(identity[0], program_identity(&again.p));
    unmake(&again);
}

static void refusals_name_everything_that_is_missing(void)
{
    struct made m = make("P0 TX.BEGIN\nP0 S[A/8]#1\nP0 TX.END\nP1 SWAP[A/1]#1\nP1 FLUSH[A]\n"
                         "P1 AMOADD[A/8]#1\n");
    char text[512];
    struct abilities all = { .threads = 256,
                             .registers = 32,
                             .load_sizes = 127,
                             .store_sizes = 127,
                             .swap_sizes = 15,
                             .cas_sizes = 15,
                             .amo_sizes = 15,
                             .transactions = true,
                             .interrupts = true,
                             .flush = true,
                             .uncached = true,
                             .nonfaulting = true,
                             .memory = 1 << 20 };
    TEST_ASSERT_EQUAL(0, target_refusal(&all, &m.p, text, sizeof text));
    TEST_ASSERT_EQUAL_STRING("", text);
    struct abilities few = { .threads = 1, .load_sizes = 4, .store_sizes = 4, .swap_sizes = 4,
                             .memory = 1 << 20 };
    TEST_ASSERT_GREATER_THAN(0, target_refusal(&few, &m.p, text, sizeof text));
    TEST_ASSERT_EQUAL_STRING(
        "the test takes 2 threads, it has 1; it has no store of 8 bytes; "
        "it has no swap of 1 byte; it has no AMO of 8 bytes; it has no transactions; "
        "it has no cache flush",
        text);
    struct why why = { "it cannot" };
    target_advise(&target_sim, &few, &m.p, true, "amos", &why);
    TEST_ASSERT_EQUAL_STRING(
        "it cannot; --harts makes a machine of more (profile amos; this makes tests that it can "
        "run: --set sizes.8=0; --set transactions.share=0; --set operations.flush=0; "
        "--set test.threads=1)",
        why.text);
    why_say(&why, "it cannot");
    target_advise(&target_model, &few, &m.p, false, NULL, &why);
    TEST_ASSERT_EQUAL_STRING("it cannot", why.text);
    unmake(&m);
}

/* ---- memory at the end ----------------------------------------------------------------------- */

static const struct machine_claims reads_memory = { .model = ORDEAL_SC,
                                                    .atomic = 4,
                                                    .final = true };

static void final_is(const struct made *m, uint32_t k, uint32_t line, uint32_t offset,
                     uint8_t divided, uint8_t written)
{
    const struct program_final *f = &m->p.final[k];
    TEST_ASSERT_EQUAL(line, f->line);
    TEST_ASSERT_EQUAL(offset, f->offset);
    TEST_ASSERT_EQUAL_HEX8(divided, f->divided);
    TEST_ASSERT_EQUAL_HEX8(written, f->written);
}

static void finals_are_the_words_that_may_be_written(void)
{
    struct made m = make("P0 L[A]\nP0 S[B+4]#1\nP1 S[B+17/1]#1\nP1 SWAP[B+16/2]#2\nP0 L[B+40]\n"
                         "P1 CAS[C/8]?1#2\nP0 S[D+32/32]#3\nP1 TX.BEGIN\nP1 S[E]#1\nP1 TX.ABORT\n");
    TEST_ASSERT_EQUAL(8, m.p.finals);
    final_is(&m, 0, 1, 0, 0x40, 0xf0);
    final_is(&m, 1, 1, 16, 0x51, 0x03);
    final_is(&m, 2, 2, 0, 0, 0xff);
    for (uint32_t k = 0; k < 4; k++)
        final_is(&m, 3 + k, 3, 32 + 8 * k, 0, 0xff);
    final_is(&m, 7, 4, 0, 0x40, 0x0f);
    TEST_ASSERT_EQUAL(m.p.slots, program_telling_words(&m.p, &tso));
    TEST_ASSERT_EQUAL(m.p.slots + 8, program_telling_words(&m.p, &reads_memory));
    unmake(&m);
}

/* In pieces as they are written; what nobody writes only when it changed. */
static void final_values_are_told_behind_the_slots(void)
{
    struct made m =
        make("init A+4=7\nP0 S[A]#1\nP0 L[B]\nP1 S[B+2/2]#2\nP1 S[C/8]#3\nP1 S[0x48]#4\n");
    uint64_t words[] = { 5, UINT64_C(7) << 32 | 1, 2 << 16, 9, 4 };
    TEST_ASSERT_EQUAL(5, program_words(&m.p, &reads_memory));
#define REST "P0 S[A]#1\nP0 L[B]=5\nP1 S[B+2/2]#2\nP1 S[C/8]#3\nP1 S[0x48]#4\n"
    tells_of(&m, 0, words, &reads_memory,
             "ordeal 1\nmodel SC\ninit A+4=7\nfinal A=1\n"
             "final B+2/2=2\nfinal C/8=9\nfinal 0x48=4\n" REST);
    words[1] = 0;
    words[2] = UINT64_C(0x100000002) << 16 | 3;
    tells_of(&m, 0, words, &reads_memory,
             "ordeal 1\nmodel SC\ninit A+4=7\nfinal A=0\nfinal A+4=0\n"
             "final B/2=3\nfinal B+2/2=2\nfinal B+4=65536\nfinal C/8=9\nfinal 0x48=4\n" REST);
#undef REST
    tells_of(&m, 0, NULL, &reads_memory,
             "ordeal 1\nmodel SC\ninit A+4=7\nfinal A/8=0\nfinal B/8=0\n"
             "final C/8=0\nfinal 0x48/8=0\nP0 S[A]#1\nP0 L[B]\nP1 S[B+2/2]#2\nP1 S[C/8]#3\n"
             "P1 S[0x48]#4\n");
    unmake(&m);
}

static void final_values_come_before_what_became_visible(void)
{
    const struct machine_claims claims = {
        .model = ORDEAL_SC, .atomic = 4, .final = true, .visible = true, .cycles = true
    };
    struct made m = make("P0 S[A]#1\nP1 S[A]#2\nP1 L[A]\n");
    const uint64_t words[] = { 2, 1, 2, 1, 0, 3, 4, 5 };
    TEST_ASSERT_EQUAL(8, program_words(&m.p, &claims));
    TEST_ASSERT_EQUAL(5, program_telling_words(&m.p, &claims));
    tells_of(&m, 0, words, &claims,
             "ordeal 1\nmodel SC\norder A 2 1\nfinal A=1\nP0 S[A]#1 @3:\n"
             "P1 S[A]#2 @4:\nP1 L[A]=2 @5:\n");
    unmake(&m);
}

/* ---- more than software can see -------------------------------------------------------------- */

#define CYCLES(begin, end) ((uint64_t)(begin) | (uint64_t)(end) << 32)

static void cycles_come_after_the_values(void)
{
    const struct machine_claims claims = { .model = ORDEAL_SC, .atomic = 4, .cycles = true };
    struct made m = make("P0 S[A]#1\nP0 MEMBAR\nP0 L[B]\nP1 SWAP[B]#2\nP1 DELAY#5\nP1 L[A]\n");
    const uint64_t words[] = { 2, 0, 1,
                               CYCLES(10, 0), CYCLES(20, 31), CYCLES(12, 12), CYCLES(0, 0) };
    TEST_ASSERT_EQUAL(7, program_words(&m.p, &claims));
    TEST_ASSERT_EQUAL(3, program_telling_words(&m.p, &claims));
    tells_of(&m, 0, words, &claims,
             "ordeal 1\nmodel SC\nP0 S[A]#1 @10:\nP0 MEMBAR\nP0 L[B]=2 @20:31\n"
             "P1 SWAP[B]=0#2 @12:12\nP1 DELAY#5\nP1 L[A]=1\n");
    unmake(&m);
}

static void stores_in_the_order_they_became_visible(void)
{
    const struct machine_claims claims = { .model = ORDEAL_SC, .atomic = 4, .visible = true };
    struct made m = make("P0 S[A]#1\nP0 S[B]#1\nP0 CAS[A]?9#2\nP1 S[A]#3\nP1 S[B]#4\nP1 L[A]\n");
    const uint64_t words[] = { 3, 3, 2, 3, 0, 1, 4, 0 };
    TEST_ASSERT_EQUAL(8, program_telling_words(&m.p, &claims));
    tells_of(&m, 0, words, &claims,
             "ordeal 1\nmodel SC\norder A 3 1\norder B 1 4\nP0 S[A]#1\nP0 S[B]#1\n"
             "P0 CAS[A]=3?9#2\nP1 S[A]#3\nP1 S[B]#4\nP1 L[A]=3\n");
    unmake(&m);
}

/* One number a store does not say when its halves became visible; equal values cannot be told. */
static void no_order_is_told_that_is_not_known(void)
{
    const struct machine_claims claims = { .model = ORDEAL_SC, .atomic = 4, .visible = true };
    struct made m = make("P0 S[A/8]#0x100000001\nP0 S[B/1]#1\nP0 S[C]#5\nP0 S[D]#0\nP0 S[E]#7\n"
                         "P1 S[A]#2\nP1 S[B]#2\nP1 S[C]#5\nP1 S[D]#6\nP1 S[E]#8\n");
    const uint64_t words[] = { 1, 3, 5, 7, 10, 2, 4, 6, 8, 9 };
    tells_of(&m, 0, words, &claims,
             "ordeal 1\nmodel SC\norder E 8 7\nP0 S[A/8]#0x100000001\nP0 S[B/1]#1\nP0 S[C]#5\n"
             "P0 S[D]#0\nP0 S[E]#7\nP1 S[A]#2\nP1 S[B]#2\nP1 S[C]#5\nP1 S[D]#6\nP1 S[E]#8\n");
    unmake(&m);
}

static void stores_that_were_taken_back_have_no_place(void)
{
    const struct machine_claims claims = { .model = ORDEAL_SC, .atomic = 4, .visible = true,
                                           .cycles = true };
    struct made m = make("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.ABORT\nP0 S[A]#2\n");
    const uint64_t words[] = { 1, 2, CYCLES(3, 4), CYCLES(5, 6) };
    tells_of(&m, 0, words, &claims,
             "ordeal 1\nmodel SC\norder A 2\nP0 TX.BEGIN\nP0 S[A]#1 @3:4\nP0 TX.ABORT\n"
             "P0 S[A]#2 @5:6\n");
    unmake(&m);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(refuses_what_makes_no_sense);
    RUN_TEST(lines_lie_where_they_are_told_and_the_others_between);
    RUN_TEST(threads_come_by_number);
    RUN_TEST(a_straight_program_tells_its_trace);
    RUN_TEST(loops_unroll_and_registers_carry);
    RUN_TEST(wide_loads_take_several_values);
    RUN_TEST(transactions_commit_fall_back_or_abort);
    RUN_TEST(branches_follow_the_lfsr);
    RUN_TEST(the_lfsr_visits_all_states);
    RUN_TEST(identities_differ);
    RUN_TEST(refusals_name_everything_that_is_missing);
    RUN_TEST(finals_are_the_words_that_may_be_written);
    RUN_TEST(final_values_are_told_behind_the_slots);
    RUN_TEST(final_values_come_before_what_became_visible);
    RUN_TEST(cycles_come_after_the_values);
    RUN_TEST(stores_in_the_order_they_became_visible);
    RUN_TEST(no_order_is_told_that_is_not_known);
    RUN_TEST(stores_that_were_taken_back_have_no_place);
    return UNITY_END();
}
