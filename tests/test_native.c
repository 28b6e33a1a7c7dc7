/* SPDX-License-Identifier: Apache-2.0 */
/* The host's CPU as a target: what every operation does, which outcomes are seen and which never,
 * and what happens when a test hangs, crashes, or the whole is interrupted. */
#include "targets/target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "checking.h"
#include "test/generate.h"
#include "targets/native/native.h"
#include "targets/native/native_code.h"
#include "unity.h"

static struct ordeal *o;
static void *machine;
static struct why why;
static struct ordeal_trace *test;
static struct program p;

static void open_machine(double timeout)
{
    struct target_options options = { .seed = 1, .timeout = timeout, .quiet = true };
    why.text[0] = '\0';
    TEST_ASSERT_TRUE_MESSAGE(target_native.open(&options, &machine, &why), why.text);
}

static void close_machine(void)
{
    if (machine)
        target_native.close(machine);
    machine = NULL;
    /* No process is left, not even as a zombie. */
    TEST_ASSERT_EQUAL(-1, waitpid(-1, NULL, WNOHANG));
    TEST_ASSERT_EQUAL(ECHILD, errno);
}

static void drop_test(void)
{
    program_free(&p);
    ordeal_trace_free(test);
    test = NULL;
}

void setUp(void)
{
    o = ordeal_new(NULL);
    open_machine(60);
}

void tearDown(void)
{
    drop_test();
    ordeal_free(o);
    close_machine();
}

static void compile(const char *lines)
{
    struct ordeal_error e;
    drop_test();
    test = trace_of_lines(o, lines);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, test, "test", &e), e.reason);
}

static void assert_runs(uint64_t first, uint64_t count, bool (*outcome)(void *, uint64_t,
                        const uint64_t *), void *user)
{
    struct target_sink sink = { outcome, user };
    enum target_result result = target_native.run(machine, &p, first, count, &sink, &why);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, result, why.text);
}

/* ---- what operations do ------------------------------------------------------------------ */

static bool expect_values(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)iteration;
    TEST_ASSERT_EQUAL_HEX64_ARRAY((const uint64_t *)user, values, p.slots);
    return true;
}

/* One thread alone: its values, in every iteration, are these. */
#define ALONE(lines, ...) \
    do { \
        static const uint64_t expected_[] = { __VA_ARGS__ }; \
        compile(lines); \
        TEST_ASSERT_EQUAL_MESSAGE(sizeof expected_ / sizeof *expected_, p.slots, lines); \
        assert_runs(0, 300, expect_values, (void *)expected_); \
    } while (0)

/* What memory holds when one thread, or two that write different words, are done. */
static bool expect_finals(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)iteration;
    TEST_ASSERT_EQUAL_HEX64_ARRAY((const uint64_t *)user, values + p.slots, p.finals);
    return true;
}

static void test_memory_at_the_end(void)
{
    static const uint64_t expected[] = { 0x0000000700000009, 0x3, 0x5500, 5 };
    compile("init A+4=7\nP0 S[A]#1\nP0 L[A]\nP0 S[A]#9\nP0 S[B]#2\nP0 SWAP[B]#3\n"
            "P1 S[C+1/1]#0x55\nP1 CAS[C+8/8]?4#6\nP1 CAS[C+8/8]?0#5\nP1 L[B]\n");
    TEST_ASSERT_EQUAL(4, p.finals);
    assert_runs(0, 5000, expect_finals, (void *)expected);
}

/* So many values that they are not gathered. */
static void test_memory_at_the_end_of_a_long_test(void)
{
    static const uint64_t expected[] = { 100, 1 };
    compile("P0 LOOP.BEGIN#100\nP0 S[A]#1+1\nP0 L[B]\nP0 LOOP.END\nP1 S[B]#1\nP1 L[A]\n");
    assert_runs(0, 5000, expect_finals, (void *)expected);
}

static void test_sizes(void)
{
    ALONE("init A/8=0x8182838485868788\n"
          "P0 L[A/1]\nP0 L[A+1/1]\nP0 L[A+2/2]\nP0 L[A+4/4]\nP0 L[A/8]\nP0 L[A+8/8]\n",
          0x88, 0x87, 0x8586, 0x81828384, 0x8182838485868788, 0);
    ALONE("init A/8=0xffffffffffffffff\n"
          "P0 S[A/1]#0x12\nP0 S[A+2/2]#0x3456\nP0 S[A+4/4]#0x89abcdef\nP0 L[A/8]\n"
          "P0 S[A/8]#0x80\nP0 L[A/8]\nP0 S[A/8]#0xffffffff80000000\nP0 L[A/8]\n"
          "P0 S[A/8]#0x80000000\nP0 L[A/8]\nP0 S[A/8]#0x1122334455667788\nP0 L[A/8]\n",
          0x89abcdef3456ff12, 0x80, 0xffffffff80000000, 0x80000000, 0x1122334455667788);
}

static void test_swaps(void)
{
    ALONE("init A/8=0x8182838485868788\n"
          "P0 SWAP[A/1]#0xf1\nP0 SWAP[A+2/2]#0xf2f3\nP0 SWAP[A+4/4]#0xf4f5f6f7\n"
          "P0 SWAP[A/8]#0xa1a2a3a4a5a6a7a8\nP0 SWAP[A/8]#3\nP0 L[A/8]\n",
          0x88, 0x8586, 0x81828384, 0xf4f5f6f7f2f387f1, 0xa1a2a3a4a5a6a7a8, 3);
}

static void test_amos(void)
{
    ALONE("init A/8=0x8182838485868788\n"
          "P0 AMOADD[A/1]#0x88\nP0 AMOADD[A+2/2]#0xffff\nP0 AMOADD[A+4/4]#0x80000000\n"
          "P0 AMOADD[A/8]#0xfffffffffffffff0\nP0 L[A/8]\n",
          0x88, 0x8586, 0x81828384, 0x0182838485858710, 0x0182838485858700);
    ALONE("init A/8=0x8182838485868788\n"
          "P0 AMOAND[A/8]#0xff00ff00ff00ff00\nP0 AMOOR[A+2/2]#0x0ff0\nP0 AMOXOR[A/1]#0xff\n"
          "P0 AMOXOR[A+4]#0xffffffff\nP0 L[A/8]\n",
          0x8182838485868788, 0x8500, 0, 0x81008300, 0x7eff7cff8ff087ff);
    ALONE("init A=0x7f80\n"
          "P0 AMOMIN[A/1]#0x7f\nP0 AMOMAX[A/1]#0x7f\nP0 AMOMINU[A/1]#0x80\nP0 AMOMAXU[A/1]#0x80\n"
          "P0 AMOMAX[A/2]#0x8000\nP0 AMOMIN[A/2]#0x8000\nP0 AMOMINU[A]#0xffffffff\n"
          "P0 AMOMIN[A]#0xffffffff\nP0 AMOMAXU[A/8]#5\nP0 AMOMAX[A/8]#0x8000000000000000\n"
          "P0 AMOMIN[A/8]#0x8000000000000000\nP0 L[A/8]\n",
          0x80, 0x80, 0x7f, 0x7f, 0x7f80, 0x7f80, 0x8000, 0x8000, 0xffffffff, 0xffffffff,
          0xffffffff, 0x8000000000000000);
    ALONE("P0 LOOP.BEGIN#4\nP0 AMOADD[A]#1+1 >r1\nP0 AMOXOR[B]#3+5 <r1 >r2\nP0 LOOP.END\n"
          "P0 L[A]\nP0 CAS[B]?r2#9\nP0 L[B]\n",
          0, 0, 1, 3, 3, 11, 6, 6, 10, 20, 20);
}

static void test_cas(void)
{
    ALONE("init A/8=0x8182838485868788\n"
          "P0 CAS[A/1]?0x88#0xf1\nP0 CAS[A/1]?0x88#0xf2\nP0 CAS[A+2/2]?0x8586#0xf2f3\n"
          "P0 CAS[A+2/2]?0#1\nP0 CAS[A+4/4]?0x81828384#0xf4f5f6f7\nP0 CAS[A+4/4]?5#6\n"
          "P0 CAS[A/8]?0xf4f5f6f7f2f387f1#0xa1a2a3a4a5a6a7a8\nP0 CAS[A/8]?1#2\nP0 L[A/8]\n",
          0x88, 0xf1, 0x8586, 0xf2f3, 0x81828384, 0xf4f5f6f7, 0xf4f5f6f7f2f387f1,
          0xa1a2a3a4a5a6a7a8, 0xa1a2a3a4a5a6a7a8);
    /* With what a load saw; of one that saw more bytes the lowest count. */
    ALONE("init A/8=0x8182838485868788\n"
          "P0 L[A/8] >r1\nP0 CAS[A/4]?r1#5\nP0 CAS[A/4]?r1#6\nP0 L[A/8] >r1\nP0 CAS[A/8]?r1#7\n"
          "P0 L[A/8]\nP0 CAS[A/2]?r9#8\nP0 L[A/8]\n",
          0x8182838485868788, 0x85868788, 5, 0x8182838400000005, 0x8182838400000005, 7, 7, 7);
}

/* More registers than the CPU has to spare, each set in turn and compared with later. */
static void test_registers(void)
{
    char lines[4096] = "";
    uint64_t expected[96];
    for (int r = 0; r < 32; r++) {
        sprintf(lines + strlen(lines), "init A%d=%d\nP0 L[A%d] >r%d\n", r, 100 + r, r, 7 * r);
        expected[r] = 100 + (uint64_t)r;
    }
    for (int r = 0; r < 32; r++) {
        sprintf(lines + strlen(lines), "P0 CAS[A%d]?r%d#%d <r%d\n", r, 7 * r, 200 + r,
                7 * ((r + 5) % 32));
        expected[32 + r] = 100 + (uint64_t)r;
    }
    for (int r = 0; r < 32; r++) {
        sprintf(lines + strlen(lines), "P0 L[A%d] <r%d <r0\n", r, 7 * r);
        expected[64 + r] = 200 + (uint64_t)r;
    }
    compile(lines);
    assert_runs(0, 300, expect_values, expected);
}

static void test_blocks(void)
{
    ALONE("P0 S[A/16]#0x1f1e1d1c1b1a19181716151413121110\nP0 L[A/16]\nP0 L[A+8/8]\n"
          "P0 S[A+32/32]#0x3f3e3d3c3b3a393837363534333231302f2e2d2c2b2a29282726252423222120\n"
          "P0 S[A+16/8]#9\nP0 L[A/64]\n"
          "P0 S[B/64]#1\nP0 S[B+60/4]#2\nP0 L[B+32/32]\n",
          0x1716151413121110, 0x1f1e1d1c1b1a1918, 0x1f1e1d1c1b1a1918,
          0x1716151413121110, 0x1f1e1d1c1b1a1918, 9, 0,
          0x2726252423222120, 0x2f2e2d2c2b2a2928, 0x3736353433323130, 0x3f3e3d3c3b3a3938,
          0, 0, 0, 0x200000000);
}

/* Many more results than there are registers, of all sizes in turn. */
static void test_results_beyond_the_registers(void)
{
    static const struct { const char *access; unsigned slots; uint64_t value; } loads[] = {
        { "A/8", 1, 0x8182838485868788 }, { "A/4", 1, 0x85868788 }, { "A/1", 1, 0x88 },
        { "A/16", 2, 0x8182838485868788 }, { "A+2/2", 1, 0x8586 },
        { "A/64", 8, 0x8182838485868788 },
    };
    char lines[8192] = "init A/8=0x8182838485868788\n";
    uint64_t expected[1024] = { 0 }, chance = 1;
    unsigned slots = 0;
    for (int i = 0; i < 300; i++) {
        chance = chance * 6364136223846793005 + 1442695040888963407;
        unsigned which = (unsigned)(chance >> 33) % (i % 100 < 50 ? 2 : 6);
        sprintf(lines + strlen(lines), "P0 L[%s]\n", loads[which].access);
        expected[slots] = loads[which].value;
        slots += loads[which].slots;
    }
    compile(lines);
    TEST_ASSERT_EQUAL(slots, p.slots);
    assert_runs(0, 300, expect_values, expected);
}

static void test_loads_without_memory(void)
{
    ALONE("fault Z Y\ninit A/8=7\n"
          "P0 NFL[A/8]\nP0 NFL[Z/1]\nP0 NFL[Z+2/2]\nP0 NFL[Y/4]\nP0 NFL[Z+8/8] >r3\nP0 L[A]\n"
          "P0 NFL[Z/16]\nP0 NFL[Y/64]\nP0 NFL[A/16]\nP0 CAS[A]?r3#5\n"
          "P0 L[A]\nP0 L[A]\nP0 L[A]\nP0 L[A]\nP0 NFL[Z]\nP0 NFL[Y/8]\nP0 NFL[A]\n",
          7, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 7, 7, 7, 7, 7, 0, 0, 7);
}

static void test_loops(void)
{
    ALONE("P0 L[B]\nP0 LOOP.BEGIN#3\nP0 S[A]#7+3\nP0 L[A]\nP0 LOOP.END\nP0 L[A]\n",
          0, 7, 10, 13, 13);
    ALONE("P0 LOOP.BEGIN#3\nP0 S[A/1]#250+2\nP0 L[A/1]\nP0 SWAP[B/8]#0x100000000+0x200000000\n"
          "P0 CAS[C]?0#1+1\nP0 LOOP.END\n",
          250, 0, 0, 252, 0x100000000, 1, 254, 0x300000000, 1);
    /* Nothing is loaded inside: what was loaded before waits in registers meanwhile. */
    ALONE("init A=5\nP0 L[A]\nP0 LOOP.BEGIN#100\nP0 S[A]#6+1\nP0 LOOP.END\nP0 L[A]\n", 5, 105);
    ALONE("P0 LOOP.BEGIN#2\nP0 S[A/8]#0x7fffffff+1\nP0 L[A/8]\nP0 S[A/8]#0x80000000+1\nP0 L[A/8]\n"
          "P0 LOOP.END\n", 0x7fffffff, 0x80000000, 0x80000000, 0x80000001);
}

/* What has no effect on values has none, and spoils no result that waits in a register. */
static void test_silent_operations(void)
{
    ALONE("init A=5 B=6\n"
          "P0 L[A]\nP0 L[B]\nP0 L[A]\nP0 L[B]\nP0 L[A]\n"
          "P0 MEMBAR\nP0 MEMBAR.LL\nP0 MEMBAR.SS\nP0 MEMBAR.LS\nP0 MEMBAR.SL\nP0 MEMBAR.LL.SS\n"
          "P0 PREFETCH[A]\nP0 FLUSH[A]\nP0 EVICT[B]\nP0 DELAY#1000\nP0 DELAY#0\nP0 IPI#0\n"
          "P0 L[A]\nP0 L[B]\n", 5, 6, 5, 6, 5, 5, 6);
}

/* ---- iterations, branches ---------------------------------------------------------------- */

struct branched { uint64_t next; unsigned filled[4]; };

static bool expect_branched(void *user, uint64_t iteration, const uint64_t *values)
{
    struct branched *b = user;
    struct ordeal_trace *t;
    struct machine_claims claims = target_native.claims(machine);
    TEST_ASSERT_EQUAL_UINT64(b->next++, iteration);
    uint32_t used = program_slots_used(&p, 0, iteration);
    for (uint32_t k = used; k < p.slots; k++)
        TEST_ASSERT_EQUAL_HEX64(0, values[k]);
    b->filled[used]++;
    TEST_ASSERT_EQUAL(ORDEAL_OK, program_trace(&p, iteration, values, &claims, o, &t));
    /* One thread alone: there is one legal value for each load. */
    TEST_ASSERT_EQUAL(ORDEAL_PASS, result_of(o, t, ORDEAL_SC, ORDEAL_AUTO));
    ordeal_trace_free(t);
    return true;
}

static void test_branches_follow_the_lfsr_of_the_iteration(void)
{
    struct branched b = { .next = 12345 };
    compile("seed 99\ninit A=9\n"
            "P3 BRANCH.BEGIN\nP3 S[A]#1\nP3 L[A]\nP3 BRANCH.ELSE\nP3 S[A]#2\nP3 BRANCH.END\n"
            "P3 BRANCH.BEGIN\nP3 S[A]#3\nP3 BRANCH.END\nP3 L[A]\n"
            "P3 BRANCH.BEGIN\nP3 L[A]\nP3 BRANCH.END\n");
    assert_runs(12345, 1000, expect_branched, &b);
    TEST_ASSERT_EQUAL_UINT64(13345, b.next);
    for (int used = 1; used <= 3; used++)
        TEST_ASSERT_GREATER_THAN(100, b.filled[used]);
}

struct stop { uint64_t seen, at; };

static bool stop_at(void *user, uint64_t iteration, const uint64_t *values)
{
    struct stop *s = user;
    (void)iteration;
    (void)values;
    return ++s->seen < s->at;
}

static void test_the_sink_may_stop(void)
{
    struct stop s = { 0, 1000 };
    compile("P0 S[A]#1\nP1 L[A]\n");
    enum target_result r = target_native.run(machine, &p, 0, UINT64_MAX,
                                             &(struct target_sink){ stop_at, &s }, &why);
    TEST_ASSERT_EQUAL(TARGET_STOPPED, r);
    TEST_ASSERT_EQUAL_UINT64(1000, s.seen);
}

/* Lines lie apart, side by side, and elsewhere from job to job; what is in them goes with them. */
static void test_places(void)
{
    static const uint64_t expected[] = { 1, 2, 3, 4, 11, 12 };
    compile("place A=0x100000 B=0 C=0x1040 D=0x3ffc0\ninit A=1 B=2 C=3 D=4\n"
            "P0 L[A]\nP0 L[B]\nP0 L[C]\nP0 L[D]\nP0 S[A+4]#11\nP0 S[D+60]#12\nP0 L[A+4]\n"
            "P0 L[D+60]\n");
    assert_runs(0, 100000, expect_values, (void *)expected);
}

/* ---- two and more threads: litmus tests -------------------------------------------------- */

struct watch { const uint64_t *forbidden; uint64_t seen; bool stop_when_seen; };

static bool watch_outcome(void *user, uint64_t iteration, const uint64_t *values)
{
    struct watch *w = user;
    (void)iteration;
    bool is = memcmp(values, w->forbidden, p.slots * sizeof *values) == 0;
    w->seen += is;
    return !(is && w->stop_when_seen);
}

/* How often the outcome is seen; with `until` at most once. */
static uint64_t times_seen(const char *lines, const uint64_t *outcome, uint64_t count, bool until)
{
    struct watch w = { outcome, 0, until };
    compile(lines);
    enum target_result r = target_native.run(machine, &p, 0, count,
                                             &(struct target_sink){ watch_outcome, &w }, &why);
    TEST_ASSERT_TRUE_MESSAGE(r == TARGET_DONE || (until && r == TARGET_STOPPED), why.text);
    return w.seen;
}

#define TIMES(lines, count, until, ...) \
    times_seen(lines, (const uint64_t[]){ __VA_ARGS__ }, count, until)

static bool two_cores(void) { return sysconf(_SC_NPROCESSORS_ONLN) >= 2; }

static void test_the_store_buffer_is_seen(void)
{
    static const char sb[] = "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n";
    if (!two_cores())
        TEST_IGNORE_MESSAGE("one core alone cannot show its store buffer");
    TEST_ASSERT_EQUAL_UINT64(1, TIMES(sb, 50000000, true, 0, 0));
    /* And sequential outcomes, both ways round. */
    TEST_ASSERT_EQUAL_UINT64(1, TIMES(sb, 50000000, true, 0, 1));
    TEST_ASSERT_EQUAL_UINT64(1, TIMES(sb, 50000000, true, 1, 0));
}

static void test_what_tso_forbids_is_never_seen(void)
{
    enum { MANY = 300000 };
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 L[A]\nP0 S[B]#1\nP1 L[B]\nP1 S[A]#1\n", /* LB */
                                      MANY, false, 1, 1));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 S[A]#1\nP0 S[B]#1\nP1 L[B]\nP1 L[A]\n", /* MP */
                                      MANY, false, 1, 0));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 S[A]#1\nP1 S[B]#1\nP2 L[A]\nP2 L[B]\nP3 L[B]\nP3 L[A]\n",
                                      MANY / 4, false, 1, 0, 1, 0)); /* IRIW */
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 S[A]#1\nP1 L[A]\nP1 L[A]\n", MANY, false, 1, 0));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 S[A]#1\nP0 MEMBAR.SL\nP0 L[B]\n" /* SB with barriers */
                                      "P1 S[B]#1\nP1 MEMBAR\nP1 L[A]\n", MANY, false, 0, 0));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 SWAP[A]#1\nP0 L[B]\nP1 SWAP[B]#1\nP1 L[A]\n", /* Dekker */
                                      MANY, false, 0, 0, 0, 0));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 SWAP[A]#1\nP1 SWAP[A]#2\n", MANY, false, 0, 0));
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 CAS[A]?0#1\nP1 CAS[A]?0#2\n", MANY, false, 0, 0));
}

static void test_interrupts_reach_other_threads(void)
{
    TEST_ASSERT_EQUAL_UINT64(0, TIMES("P0 S[A]#1\nP0 IPI#1\nP0 S[B]#1\n"
                                      "P1 L[B]\nP1 IPI#0\nP1 L[A]\n",
                                      3000, false, 1, 0));
}

/* ---- random tests ------------------------------------------------------------------------ */

static bool expect_tso(void *user, uint64_t iteration, const uint64_t *values)
{
    uint64_t *checked = user;
    struct ordeal_trace *t;
    struct machine_claims claims = target_native.claims(machine);
    TEST_ASSERT_EQUAL(ORDEAL_OK, program_trace(&p, iteration, values, &claims, o, &t));
    TEST_ASSERT_EQUAL(ORDEAL_PASS, result_of(o, t, ORDEAL_TSO, ORDEAL_AUTO));
    ordeal_trace_free(t);
    ++*checked;
    return true;
}

static void random_tests(const char *const *settings, uint64_t tests, uint64_t iterations)
{
    struct ordeal_error e = { 0 };
    uint64_t checked = 0;
    struct bias *b = bias_new();
    for (; *settings; settings++)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(b, *settings, &e), e.reason);
    TEST_ASSERT_TRUE_MESSAGE(bias_check(b, &e), e.reason);
    struct generator *g = generator_new(b, 7);
    for (uint64_t number = 0; number < tests; number++) {
        char refusal[256];
        drop_test();
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(g, number, o, &test));
        TEST_ASSERT_TRUE_MESSAGE(program_compile(&p, test, "test", &e), e.reason);
        struct abilities can = target_native.can(machine);
        TEST_ASSERT_EQUAL_MESSAGE(0, target_refusal(&can, &p, refusal, sizeof refusal), refusal);
        assert_runs(0, iterations, expect_tso, &checked);
    }
    generator_free(g);
    bias_free(b);
    TEST_ASSERT_EQUAL_UINT64(tests * iterations, checked);
}

#define RANDOM_TESTS(tests, iterations, ...) \
    random_tests((const char *const[]){ __VA_ARGS__, NULL }, tests, iterations)

static void test_random_tests_obey_tso(void)
{
    RANDOM_TESTS(60, 20, "test.threads=2", "test.operations=100", "test.locations=4");
    RANDOM_TESTS(30, 10, "test.threads=4", "test.operations=50", "placement.words_per_line=4");
    RANDOM_TESTS(3, 3, "test.threads=2", "test.operations=1000");
    RANDOM_TESTS(30, 20, "test.threads=4", "test.operations=50", "test.locations=2",
                 "operations.amo=50");
}

static void test_random_tests_of_everything_obey_tso(void)
{
    RANDOM_TESTS(60, 15, "test.threads=2", "test.operations=100", "test.locations=8",
                 "operations.prefetch=3", "operations.flush=3", "operations.evict=2",
                 "operations.nonfaulting=4", "operations.interrupt=1", "operations.delay=4",
                 "operations.amo=5", "membar.sl=1", "membar.ss=1", "membar.ll=1", "membar.ls=1",
                 "membar.mixed=1", "sizes.1=1", "sizes.2=1", "sizes.8=1", "sizes.64=1",
                 "placement.words_per_line=4", "placement.lines_per_set=2", "loops.share=20",
                 "branches.share=20");
}

/* One thread alone has one legal outcome, and so has every load of it. */
static void test_random_tests_of_one_thread(void)
{
    RANDOM_TESTS(100, 3, "test.threads=1", "test.operations=120", "test.locations=8",
                 "sizes.1=1", "sizes.2=1", "sizes.8=1", "sizes.64=1", "operations.cas=20",
                 "operations.nonfaulting=4", "placement.words_per_line=4", "loops.share=30",
                 "branches.share=30");
}

/* ---- what a machine cannot do ------------------------------------------------------------ */

static void test_uncached_memory_is_refused(void)
{
    char text[256];
    compile("uncached A\nP0 L[A]\n");
    struct abilities can = target_native.can(machine);
    TEST_ASSERT_GREATER_THAN(0, target_refusal(&can, &p, text, sizeof text));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "uncached"), text);
}

static unsigned count_bytes(const struct native_code *c, const char *bytes, size_t length)
{
    unsigned found = 0;
    for (const uint8_t *at = c->bytes; (at = memmem(at, (size_t)(c->bytes + c->length - at), bytes,
                                                     length)); at++)
        found++;
    return found;
}

/* A transaction with a limit, one without, one that aborts: their code, on any CPU. */
static void test_code_of_transactions(void)
{
    static uint8_t buffer[4096];
    static const uint32_t places[] = { 0, 64 };
    struct native_code c = { .bytes = buffer, .capacity = sizeof buffer };
    compile("P0 TX.BEGIN#3\nP0 S[A]#1\nP0 L[B]\nP0 TX.END\nP0 TX.BEGIN\nP0 S[A]#2\nP0 TX.END\n"
            "P0 TX.BEGIN#1\nP0 S[A]#3\nP0 TX.ABORT\n");
    TEST_ASSERT_TRUE(native_emit(&c, &p, places));
    TEST_ASSERT_EQUAL(3, count_bytes(&c, "\xc7\xf8", 2));
    TEST_ASSERT_EQUAL(2, count_bytes(&c, "\x0f\x01\xd5", 3));
    TEST_ASSERT_EQUAL(1, count_bytes(&c, "\xc6\xf8\x01", 3));
    /* The stores: twice where it may be done plainly, never plainly where it aborts. */
    TEST_ASSERT_EQUAL(2, count_bytes(&c, "\xc7\x07\x01\0\0\0", 6));
    TEST_ASSERT_EQUAL(1, count_bytes(&c, "\xc7\x07\x02\0\0\0", 6));
    TEST_ASSERT_EQUAL(1, count_bytes(&c, "\xc7\x07\x03\0\0\0", 6));
    native_code_free(&c);
}

/* Narrow loads come in both kinds, and a transaction that may be done plainly has each twice. */
static void test_code_of_narrow_loads(void)
{
    static uint8_t buffer[4096];
    static const uint32_t places[] = { 0 };
    struct native_code c = { .bytes = buffer, .capacity = sizeof buffer };
    unsigned by_sign = 0, by_zeros = 0;
    for (unsigned seed = 1; seed <= 16; seed++) {
        char lines[80];
        snprintf(lines, sizeof lines, "seed %u\nP0 L[A+32/1]\nP0 L[A+32/2]\nP0 L[A+32/4]\n", seed);
        compile(lines);
        TEST_ASSERT_TRUE(native_emit(&c, &p, places));
        by_sign += count_bytes(&c, "\x4c\x0f\xbe", 3) + count_bytes(&c, "\x4c\x0f\xbf", 3)
                 + count_bytes(&c, "\x4c\x63", 2);
        by_zeros += count_bytes(&c, "\x44\x0f\xb6", 3) + count_bytes(&c, "\x44\x0f\xb7", 3)
                  + count_bytes(&c, "\x44\x8b", 2);
        native_code_free(&c);
        c = (struct native_code){ .bytes = buffer, .capacity = sizeof buffer };
        drop_test();
    }
    TEST_ASSERT_EQUAL(48, by_sign + by_zeros);
    TEST_ASSERT_TRUE(by_sign > 10 && by_zeros > 10);
}

static bool expect_committed(void *user, uint64_t iteration, const uint64_t *values)
{
    uint64_t *commits = user;
    (void)iteration;
    TEST_ASSERT_EQUAL_UINT64(5, values[0]);
    TEST_ASSERT_LESS_OR_EQUAL(1, values[1]);
    TEST_ASSERT_EQUAL_UINT64(5, values[2]);
    *commits += values[1];
    return true;
}

/* Run where the CPU has them; where not, refused, and who runs them all the same is told. */
static void test_transactions(void)
{
    char text[256];
    uint64_t commits = 0;
    compile("init B=5\nP0 TX.BEGIN#30\nP0 S[A]#1\nP0 L[B]\nP0 TX.END\n"
            "P0 TX.BEGIN#3\nP0 S[B]#3\nP0 TX.ABORT\nP0 L[B]\n");
    struct abilities can = target_native.can(machine);
    if (can.transactions) {
        assert_runs(0, 1000, expect_committed, &commits);
        TEST_ASSERT_GREATER_THAN(0, commits);
        return;
    }
    TEST_ASSERT_GREATER_THAN(0, target_refusal(&can, &p, text, sizeof text));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "transactions"), text);
    if (!__builtin_cpu_supports("rtm")) { /* else it may just abort always */
        enum target_result r = target_native.run(
            machine, &p, 0, 1, &(struct target_sink){ expect_committed, &commits }, &why);
        TEST_ASSERT_EQUAL(TARGET_FAILED, r);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "P0 TX.BEGIN"), why.text);
    }
}

/* ---- hangs, crashes, ends ---------------------------------------------------------------- */

static void assert_still_works(void)
{
    ALONE("P0 S[A]#3\nP0 L[A]\n", 3);
}

static enum target_result run_once(void)
{
    struct stop s = { 0, UINT64_MAX };
    return target_native.run(machine, &p, 0, 1, &(struct target_sink){ stop_at, &s }, &why);
}

static void test_a_hang_is_named(void)
{
#ifdef __SANITIZE_THREAD__
    TEST_IGNORE_MESSAGE(
        "signals reach a thread when it calls what the sanitizer knows: not in a loop");
#endif
    close_machine();
    open_machine(2); /* long enough for all threads to come to it */
    compile("P0 S[A]#1\nP1 L[A]\nP1 LOOP.BEGIN#4000000000\nP1 MEMBAR\nP1 LOOP.END\n");
    TEST_ASSERT_EQUAL(TARGET_HUNG, run_once());
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "P1 hung"), why.text);
    TEST_ASSERT_TRUE_MESSAGE(strstr(why.text, "`P1 MEMBAR`, line 5")
                             || strstr(why.text, "`P1 LOOP.END`, line 6"), why.text);
    assert_still_works();
}

static void test_a_crash_is_named(void)
{
    compile("fault Z\nP0 S[A]#1\nP1 L[A]\nP1 NFL[Z]\nP1 S[A]#2\n");
    /* The load is made one that may not fault. */
    ((struct instruction *)p.thread[1].code)[1].flags = 0;
    TEST_ASSERT_EQUAL(TARGET_FAILED, run_once());
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "P1 crashed: Segmentation fault"), why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "operation 2 of 3 of P1"), why.text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "`P1 NFL[Z]`, line 5"), why.text);
    assert_still_works();
}

/* The machine's process; 0: there is none, or more than one. */
static pid_t child_of(pid_t parent)
{
    char path[64];
    long first = 0, second = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *f = fopen(path, "r");
    TEST_ASSERT_NOT_NULL(f);
    int found = fscanf(f, "%ld %ld", &first, &second);
    fclose(f);
    return found == 1 ? (pid_t)first : 0;
}

static bool kill_it(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)values;
    if (iteration == 0)
        kill(*(pid_t *)user, SIGKILL);
    return true;
}

static void test_a_lost_process_is_told_and_replaced(void)
{
    pid_t child = child_of(getpid());
    TEST_ASSERT_GREATER_THAN(0, child);
    compile("P0 S[A]#1\nP1 L[A]\n");
    enum target_result r = target_native.run(machine, &p, 0, 10000000,
                                             &(struct target_sink){ kill_it, &child }, &why);
    TEST_ASSERT_EQUAL(TARGET_FAILED, r);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "Killed"), why.text);
    assert_still_works();
    TEST_ASSERT_NOT_EQUAL(child, child_of(getpid()));
}

static void test_one_process_serves_many_programs(void)
{
    pid_t child = child_of(getpid());
    assert_still_works();
    test_the_sink_may_stop();
    assert_still_works();
    TEST_ASSERT_EQUAL(child, child_of(getpid()));
}

static bool press_interrupt(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user;
    (void)values;
    if (iteration == 0)
        raise(SIGINT);
    return true;
}

/* In a process of its own, for ^C is remembered for good. */
static int run_interrupted(void)
{
    interrupt_watch();
    enum target_result r = target_native.run(machine, &p, 0, UINT64_MAX,
                                             &(struct target_sink){ press_interrupt, NULL }, &why);
    target_native.close(machine);
    if (r != TARGET_STOPPED)
        return 1;
    return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 2;
}

static void test_interrupted(void)
{
    close_machine();
    compile("P0 S[A]#1\nP1 L[A]\n");
    pid_t pid = fork();
    if (pid == 0) {
        open_machine(60);
        _exit(run_interrupted());
    }
    int status;
    TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
    TEST_ASSERT_EQUAL(0, status);
}

/* Killed without a word: the process that runs the tests goes too, amid an endless one. */
static void test_nothing_outlives_a_killed_parent(void)
{
    close_machine();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    compile("P0 LOOP.BEGIN#4000000000\nP0 MEMBAR\nP0 LOOP.END\n");
    pid_t pid = fork();
    if (pid == 0) {
        open_machine(60);
        run_once();
        _exit(1);
    }
    while (!child_of(pid))
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    kill(pid, SIGKILL);
    TEST_ASSERT_EQUAL(pid, waitpid(pid, NULL, 0));
    TEST_ASSERT_GREATER_THAN(0, waitpid(-1, NULL, 0)); /* its child, ours now, has ended */
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_sizes);
    RUN_TEST(test_memory_at_the_end);
    RUN_TEST(test_memory_at_the_end_of_a_long_test);
    RUN_TEST(test_swaps);
    RUN_TEST(test_amos);
    RUN_TEST(test_cas);
    RUN_TEST(test_registers);
    RUN_TEST(test_blocks);
    RUN_TEST(test_results_beyond_the_registers);
    RUN_TEST(test_loads_without_memory);
    RUN_TEST(test_loops);
    RUN_TEST(test_silent_operations);
    RUN_TEST(test_branches_follow_the_lfsr_of_the_iteration);
    RUN_TEST(test_the_sink_may_stop);
    RUN_TEST(test_places);
    RUN_TEST(test_the_store_buffer_is_seen);
    RUN_TEST(test_what_tso_forbids_is_never_seen);
    RUN_TEST(test_interrupts_reach_other_threads);
    RUN_TEST(test_random_tests_obey_tso);
    RUN_TEST(test_random_tests_of_everything_obey_tso);
    RUN_TEST(test_random_tests_of_one_thread);
    RUN_TEST(test_uncached_memory_is_refused);
    RUN_TEST(test_code_of_narrow_loads);
    RUN_TEST(test_code_of_transactions);
    RUN_TEST(test_transactions);
    RUN_TEST(test_a_hang_is_named);
    RUN_TEST(test_a_crash_is_named);
    RUN_TEST(test_a_lost_process_is_told_and_replaced);
    RUN_TEST(test_one_process_serves_many_programs);
    RUN_TEST(test_interrupted);
    RUN_TEST(test_nothing_outlives_a_killed_parent);
    return UNITY_END();
}
