/* SPDX-License-Identifier: Apache-2.0 */
/* Points of executions: each shape from a trace that a person can read, all points of random
 * executions by an oracle that tries everything. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cover/cover_exec.h"
#include "cover_oracle.h"
#include "random_execution.h"
#include "traces.h"
#include "unity.h"

static struct ordeal *o;
static struct cover_exec *exec;
static struct ordeal_trace *trace;
static struct cover_hits hits;
static struct cover_names names;

void setUp(void)
{
    o = ordeal_new(NULL);
    exec = cover_exec_new();
    memset(&hits, 0, sizeof hits);
    names.count = 0;
}

void tearDown(void)
{
    ordeal_trace_free(trace);
    trace = NULL;
    cover_exec_free(exec);
    ordeal_free(o);
}

/* The points of a trace, without its first line. */
static void look(const char *text)
{
    char whole[4096];
    int length = snprintf(whole, sizeof whole, "ordeal 1\n%s", text);
    ordeal_trace_free(trace);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK,
                              trace_from(o, whole, (size_t)length, ORDEAL_FORMAT_TEXT, &trace),
                              ordeal_last_error(o)->reason);
    memset(&hits, 0, sizeof hits);
    TEST_ASSERT_TRUE(cover_exec_look(exec, trace, &hits));
}

static bool is_hit(const char *name)
{
    uint32_t point = cover_point_find(name, strlen(name));
    TEST_ASSERT_LESS_THAN_MESSAGE(COVER_POINTS, point, name);
    return cover_is_hit(&hits, point);
}

#define HIT(name) TEST_ASSERT_TRUE_MESSAGE(is_hit(name), name)
#define NOT_HIT(name) TEST_ASSERT_FALSE_MESSAGE(is_hit(name), name)

/* Points of a group that were hit. */
static unsigned count_of(enum cover_group_number group)
{
    unsigned count = 0;
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        uint8_t at[COVER_AXES_OF_GROUP];
        count += cover_is_hit(&hits, p) && cover_point_at(p, at) == &cover_groups[group];
    }
    return count;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Executions as herd's catalogue has them, closed; and one of them with an edge turned round. What
 * is not said by values is said by lines of the trace. */
static const struct {
    const char *point, *text;
} shapes[] = {
    { "exec.shape.SB.po.po.closed", "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#2\nP1 L[A]=0\n" },
    { "exec.shape.SB.po.po.near", "P0 S[A]#1\nP0 L[B]=2\nP1 S[B]#2\nP1 L[A]=0\n" },
    { "exec.shape.SB.po.fence.closed",
      "P0 S[A]#1\nP0 MEMBAR.SL\nP0 L[B]=0\nP1 S[B]#2\nP1 L[A]=0\n" },
    { "exec.shape.SB.weak.rmw.closed",
      "P0 S[A]#1\nP0 MEMBAR.SS\nP0 L[B]=0\nP1 SWAP[B]=0#2\nP1 L[A]=0\n" },
    { "exec.shape.MP.po.po.closed", "P0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 L[A]=0\n" },
    { "exec.shape.MP.po.po.near", "P0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 L[A]=1\n" },
    { "exec.shape.MP.fence.dep.near",
      "P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#2\nP1 L[B]=2 >r1\nP1 L[A]=1 <r1\n" },
    { "exec.shape.LB.po.po.closed", "P0 L[A]=2\nP0 S[B]#1\nP1 L[B]=1\nP1 S[A]#2\n" },
    { "exec.shape.LB.po.po.near", "P0 L[A]=2\nP0 S[B]#1\nP1 L[B]=0\nP1 S[A]#2\n" },
    { "exec.shape.S.po.po.closed", "final A=1\nP0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 S[A]#3\n" },
    { "exec.shape.R.po.po.closed", "final B=3\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 L[A]=0\n" },
    { "exec.shape.2+2W.po.po.closed",
      "order A 4 1\nfinal B=3\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 S[A]#4\n" },
    { "exec.shape.WRC.po.po.closed", "P0 S[A]#1\nP1 L[A]=1\nP1 S[B]#2\nP2 L[B]=2\nP2 L[A]=0\n" },
    { "exec.shape.WRC.po.po.near", "P0 S[A]#1\nP1 L[A]=0\nP1 S[B]#2\nP2 L[B]=2\nP2 L[A]=0\n" },
    { "exec.shape.WWC.po.po.closed",
      "order A 3 1\nP0 S[A]#1\nP1 L[A]=1\nP1 S[B]#2\nP2 L[B]=2\nP2 S[A]#3\n" },
    { "exec.shape.RWC.po.po.closed", "P0 S[A]#1\nP1 L[A]=1\nP1 L[B]=0\nP2 S[B]#2\nP2 L[A]=0\n" },
    { "exec.shape.WRR+2W.po.po.closed",
      "order A 3 1\nP0 S[A]#1\nP1 L[A]=1\nP1 L[B]=0\nP2 S[B]#2\nP2 S[A]#3\n" },
    { "exec.shape.WRW+WR.po.po.closed",
      "order B 2 3\nP0 S[A]#1\nP1 L[A]=1\nP1 S[B]#2\nP2 S[B]#3\nP2 L[A]=0\n" },
    { "exec.shape.WRW+2W.po.po.closed",
      "order A 4 1\norder B 2 3\nP0 S[A]#1\nP1 L[A]=1\nP1 S[B]#2\nP2 S[B]#3\nP2 S[A]#4\n" },
    { "exec.shape.IRIW.po.po.closed",
      "P0 S[A]#1\nP1 L[A]=1\nP1 L[B]=0\nP2 S[B]#2\nP3 L[B]=2\nP3 L[A]=0\n" },
    { "exec.shape.IRIW.po.po.near",
      "P0 S[A]#1\nP1 L[A]=1\nP1 L[B]=0\nP2 S[B]#2\nP3 L[B]=2\nP3 L[A]=1\n" },
    { "exec.shape.IRRWIW.po.po.closed",
      "order A 3 1\nP0 S[A]#1\nP1 L[A]=1\nP1 L[B]=0\nP2 S[B]#2\nP3 L[B]=2\nP3 S[A]#3\n" },
    { "exec.shape.IRWIW.po.po.closed",
      "order A 3 1\norder B 4 2\nP0 S[A]#1\nP1 L[A]=1\nP1 S[B]#4\nP2 S[B]#2\nP3 L[B]=2\n"
      "P3 S[A]#3\n" },
    { "exec.shape3.ISA2.po.po.po.closed",
      "P0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 S[C]#3\nP2 L[C]=3\nP2 L[A]=0\n" },
    { "exec.shape3.ISA2.kept.po.tx.near",
      "P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#2\nP1 L[B]=2\nP1 S[C]#3\n"
      "P2 TX.BEGIN\nP2 L[C]=3\nP2 L[A]=1\nP2 TX.END\n" },
    { "exec.shape3.3.SB.po.po.po.closed",
      "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#2\nP1 L[C]=0\nP2 S[C]#3\nP2 L[A]=0\n" },
    { "exec.shape3.3.SB.po.po.kept.closed",
      "P0 S[A]#1\nP0 L[B]=0\nP1 S[B]#2\nP1 MEMBAR\nP1 L[C]=0\nP2 S[C]#3\nP2 L[A]=0\n" },
    { "exec.shape3.3.LB.po.po.po.closed",
      "P0 L[A]=3\nP0 S[B]#1\nP1 L[B]=1\nP1 S[C]#2\nP2 L[C]=2\nP2 S[A]#3\n" },
    { "exec.shape3.W+RWC.po.po.po.closed",
      "P0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 L[C]=0\nP2 S[C]#3\nP2 L[A]=0\n" },
    { "exec.shape3.3.2W.po.po.po.closed",
      "order A 6 1\norder B 2 3\norder C 4 5\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 S[C]#4\n"
      "P2 S[C]#5\nP2 S[A]#6\n" },
    { "exec.shape3.Z6.0.po.po.po.closed",
      "order C 3 4\nP0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 S[C]#3\nP2 S[C]#4\nP2 L[A]=0\n" },
    { "exec.shape3.Z6.1.po.po.po.closed",
      "order A 5 1\norder B 2 3\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 S[C]#4\nP2 L[C]=4\n"
      "P2 S[A]#5\n" },
    { "exec.shape3.Z6.2.po.po.po.closed",
      "order A 4 1\nP0 S[A]#1\nP0 S[B]#2\nP1 L[B]=2\nP1 S[C]#3\nP2 L[C]=3\nP2 S[A]#4\n" },
    { "exec.shape3.Z6.3.po.po.po.closed",
      "order B 2 3\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 S[C]#4\nP2 L[C]=4\nP2 L[A]=0\n" },
    { "exec.shape3.Z6.4.po.po.po.closed",
      "order B 2 3\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 L[C]=0\nP2 S[C]#4\nP2 L[A]=0\n" },
    { "exec.shape3.Z6.5.po.po.po.closed",
      "order B 2 3\norder C 4 5\nP0 S[A]#1\nP0 S[B]#2\nP1 S[B]#3\nP1 S[C]#4\nP2 S[C]#5\n"
      "P2 L[A]=0\n" },
    { "exec.coherence.CoRR.po.closed", "P0 S[A]#1\nP1 L[A]=1\nP1 L[A]=0\n" },
    { "exec.coherence.CoRR.po.between", "P0 S[A]#1\nP1 L[A]=0\nP1 L[A]=1\n" },
    { "exec.coherence.CoRR.fence.beside", "P0 S[A]#1\nP1 L[A]=0\nP1 MEMBAR.LL\nP1 L[A]=0\n" },
    { "exec.coherence.CoRW.po.closed", "order A 2 1\nP0 S[A]#1\nP1 L[A]=1\nP1 S[A]#2\n" },
    { "exec.coherence.CoWR.po.between", "P0 S[A]#1\nP1 S[A]#2\nP1 L[A]=1\n" },
    { "exec.coherence.CoWW.po.between", "order A 2 1 3\nP0 S[A]#1\nP1 S[A]#2\nP1 S[A]#3\n" },
};

static void test_shapes_are_told_by_their_names(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        look(shapes[i].text);
        HIT(shapes[i].point);
        if (strncmp(shapes[i].point, "exec.coherence", 14) != 0) /* the edges make one shape */
            TEST_ASSERT_EQUAL_MESSAGE(1,
                                      count_of(COVER_GROUP_SHAPE2) + count_of(COVER_GROUP_SHAPE3),
                                      shapes[i].point);
    }
}

/* Every name of a shape is that of some trace above. */
static void test_there_is_a_trace_of_every_shape(void)
{
    static const enum cover_group_number groups[] = { COVER_GROUP_SHAPE2, COVER_GROUP_SHAPE3,
                                                      COVER_GROUP_COHERENCE };
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        const struct cover_group *g = &cover_groups[groups[k]];
        for (int w = 0; w < g->size[0]; w++) {
            char prefix[64];
            bool found = false;
            snprintf(prefix, sizeof prefix, "%s.%s.", g->name, g->words[0][w]);
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                found |= strncmp(shapes[i].point, prefix, strlen(prefix)) == 0;
            TEST_ASSERT_TRUE_MESSAGE(found, prefix);
        }
    }
}

static void test_pairs_that_are_far_apart_make_no_shape(void)
{
    look(
        "P0 S[A]#1\nP0 L[N1]=0\nP0 L[N2]=0\nP0 L[N3]=0\nP0 L[N4]=0\nP0 L[N5]=0\nP0 L[N6]=0\nP0 L[N7]=0\n"
        "P0 L[B]=0\nP1 S[B]#2\nP1 L[A]=0\n");
    HIT("exec.shape.SB.po.po.closed");
    look(
        "P0 S[A]#1\nP0 L[N1]=0\nP0 L[N2]=0\nP0 L[N3]=0\nP0 L[N4]=0\nP0 L[N5]=0\nP0 L[N6]=0\nP0 L[N7]=0\n"
        "P0 L[N8]=0\nP0 L[B]=0\nP1 S[B]#2\nP1 L[A]=0\n");
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_SHAPE2));
    look("P0 S[A]#1\nP0 L[N1]=0\nP0 L[N2]=0\nP0 L[N3]=0\nP0 L[B]=0\nP1 S[B]#2\nP1 L[C]=0\n"
         "P2 S[C]#3\nP2 L[A]=0\n");
    HIT("exec.shape3.3.SB.po.po.po.closed");
    look(
        "P0 S[A]#1\nP0 L[N1]=0\nP0 L[N2]=0\nP0 L[N3]=0\nP0 L[N4]=0\nP0 L[B]=0\nP1 S[B]#2\nP1 L[C]=0\n"
        "P2 S[C]#3\nP2 L[A]=0\n");
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_SHAPE3));
}

/* Of a store that takes place in parts the first may be seen long before the second. */
static void test_one_store_of_a_cycle_happens_at_once(void)
{
    static const char wide[] =
        "P0 S[A/8]#0x200000001\nP1 L[A]=1\nP1 S[B]#2\nP2 L[B]=2\nP2 L[A+4]=0\n";
    char atomic[200];
    look(wide);
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_SHAPE2));
    snprintf(atomic, sizeof atomic, "atomic 8\n%s", wide);
    look(atomic);
    HIT("exec.shape.WRC.po.po.closed");
}

/* What is written too late to be looked at may have been seen all the same. */
static void test_stores_that_are_left_out_make_nothing_sure(void)
{
    enum { OPERATIONS = 1 << 13 };
    static char text[OPERATIONS * 16];
    for (int late = 0; late < 2; late++) {
        int used = sprintf(text, "ordeal 1\nP1 L[A]=0\nP1 L[B]=7\nP1 L[A]=%d\n", late ? 1 : 0);
        for (int i = 0; i < OPERATIONS; i++)
            used += sprintf(text + used, "P0 S[%s]#%d\n", i == 0 ? "B" : "C", 7 + i);
        used += sprintf(text + used, "P0 S[%s]#1\n", late ? "A" : "C");
        ordeal_trace_free(trace);
        TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, text, (size_t)used, ORDEAL_FORMAT_TEXT, &trace));
        memset(&hits, 0, sizeof hits);
        TEST_ASSERT_TRUE(cover_exec_look(exec, trace, &hits));
        TEST_ASSERT_EQUAL(!late, is_hit("exec.initial.load4.cached"));
        HIT("exec.meet.rf.store4.load4");
    }
}

/* ---- reads ----------------------------------------------------------------------------------- */

static void test_reads_tell_what_they_saw(void)
{
    look(
        "final A=0x99030201\nP0 S[A]#0x04030201\nP0 L[A+1/1]=0x02\nP0 MEMBAR.SL\nP0 L[A]=0x04030201\n"
        "P1 L[B]=0\nP1 S[A+3/1]#0x99\nP2 L[A]=0x99030201\n");
    HIT("exec.own.store4.load1");
    HIT("exec.own.store4.load4");
    HIT("exec.forward.1.none.outside");
    HIT("exec.forward.2.sl.outside");
    HIT("exec.initial.load4.cached");
    HIT("exec.torn.load4.cached");
    HIT("exec.meet.rf.store1.load4");
    HIT("exec.meet.rf.store4.load4");
    HIT("exec.meet.co.store4.store1");
    NOT_HIT("exec.meet.co.store1.store4");
    NOT_HIT("exec.own.store1.load4");
}

static void test_fences_and_transactions_around_a_message(void)
{
    look("P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#2\nP1 L[B]=2\nP1 MEMBAR.LL\nP1 MEMBAR.LS\nP1 L[C]=0\n"
         "P2 TX.BEGIN\nP2 L[A]=1\nP2 S[C]#4\nP2 L[C]=4\nP2 TX.END\n");
    HIT("exec.sync.ss.mixed");
    HIT("exec.pass.behind-4.outside.cached");
    HIT("exec.pass.level.into-tx.cached");
    HIT("exec.forward.1.none.same-tx");
    HIT("exec.tx.commit.4.2");
}

static void test_what_aborted_did_not_happen(void)
{
    look("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.ABORT\nP1 L[A]=0\n");
    HIT("exec.tx.abort.1.alone");
    HIT("exec.initial.load4.cached");
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_MEET));
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_TROUBLE)); /* for no commit */
}

/* Five aborted for the one that committed, and two threads met it. */
static void test_trouble_is_counted_for_each_commit(void)
{
    look("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\nP1 L[A]=1\nP2 L[A]=1\n"
         "P1 TX.BEGIN\nP1 L[B]\nP1 TX.ABORT\nP1 TX.BEGIN\nP1 L[B]\nP1 TX.ABORT\n"
         "P1 TX.BEGIN\nP1 L[B]\nP1 TX.ABORT\nP1 TX.BEGIN\nP1 L[B]\nP1 TX.ABORT\n"
         "P1 TX.BEGIN\nP1 L[B]\nP1 TX.ABORT\n");
    HIT("exec.per-commit.aborted.16");
    HIT("exec.per-commit.met.4");
    TEST_ASSERT_EQUAL(2, count_of(COVER_GROUP_TROUBLE));
    look("P0 TX.BEGIN\nP0 S[A]#1\nP0 TX.END\n");
    HIT("exec.per-commit.aborted.none");
    HIT("exec.per-commit.met.none");
}

/* A value that two stores wrote tells nothing, unless it may be one's own. */
static void test_reads_of_nobody_knows_which_store_are_left_out(void)
{
    look("P0 S[A]#1\nP1 S[A]#1\nP2 L[A]=1\n");
    TEST_ASSERT_EQUAL(0, count_of(COVER_GROUP_PASS) + count_of(COVER_GROUP_OWN));
    look("P0 S[A]#1\nP1 S[A]#1\nP1 L[A]=1\n");
    HIT("exec.own.store4.load4");
    look("P0 L[A]=7\n");
    TEST_ASSERT_EQUAL(0, cover_hits_count(&hits));
}

static void test_interleaving_by_values_and_by_cycles(void)
{
    look("P0 S[A]#1 @1:2\nP0 L[B]=2 @3:8\nP1 S[B]#2 @1:4\nP1 L[A]=1 @5:6\n");
    HIT("exec.interleave.needed.P2.1");
    HIT("exec.interleave.seen.P2.1");
    look("P0 S[A]#1\nP0 L[B]=0\nP0 L[B]=0\nP0 L[B]=0\nP1 S[B]#2\nP1 L[A]=1\nP1 L[A]=1\n"
         "P1 L[A]=1\nP1 L[A]=1\n");
    HIT("exec.interleave.needed.P2.1/8");
    NOT_HIT("exec.interleave.needed.P2.1/16");
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static void compare_with_oracle(const char *what, uint64_t seed)
{
    char message[160], name[COVER_NAME_SIZE];
    uint32_t found = 0;
    memset(&hits, 0, sizeof hits);
    names.count = 0;
    TEST_ASSERT_TRUE(cover_exec_look(exec, trace, &hits));
    cover_oracle(trace, &names);
    for (size_t i = 0; i < names.count; i++) {
        snprintf(message, sizeof message, "%s %llu: oracle alone: %s", what,
                 (unsigned long long)seed, names.name[i]);
        TEST_ASSERT_TRUE_MESSAGE(is_hit(names.name[i]), message);
    }
    for (uint32_t p = 0; p < COVER_POINTS; p++) {
        if (!cover_is_hit(&hits, p))
            continue;
        found++;
        cover_point_name(p, name);
        bool known = false;
        for (size_t i = 0; i < names.count; i++)
            known |= strcmp(names.name[i], name) == 0;
        snprintf(message, sizeof message, "%s %llu: not by the oracle: %s", what,
                 (unsigned long long)seed, name);
        TEST_ASSERT_TRUE_MESSAGE(known, message);
    }
    TEST_ASSERT_EQUAL(names.count, found);
}

/* The same trace with cycles, random ones, at every access; now and then one has none. */
static void add_cycles(uint64_t seed)
{
    struct written text = trace_to(trace, OUT_TEXT);
    char *timed = NULL;
    size_t size = 0;
    struct random chance;
    FILE *out = open_memstream(&timed, &size);
    random_seed(&chance, seed, 0);
    for (char *rest = text.bytes, *line; (line = strsep(&rest, "\n")) && rest;) {
        const char *action = *line == 'P' ? strchr(line, ' ') + 1 : "";
        bool access = *action && strchr("LSCA", *action) && strchr(line, '[');
        if (access && random_below(&chance, 30))
            fprintf(out, "%s @:%" PRIu32 "\n", line, random_below(&chance, 20));
        else
            fprintf(out, "%s\n", line);
    }
    fclose(out);
    ordeal_trace_free(trace);
    TEST_ASSERT_EQUAL(ORDEAL_OK, trace_from(o, timed, size, ORDEAL_FORMAT_TEXT, &trace));
    free(timed);
    free(text.bytes);
}

static uint32_t compare_random(const struct random_shape *shape, uint64_t seeds)
{
    struct cover_hits all = { { 0 } };
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        static struct oracle_execution x;
        random_execution(shape, seed, &x);
        ordeal_trace_free(trace);
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, &x, seed, &trace));
        compare_with_oracle("random", seed);
        cover_hits_add(&all, &hits);
        add_cycles(seed);
        compare_with_oracle("timed", seed);
        cover_hits_add(&all, &hits);
    }
    return cover_hits_count(&all);
}

static void test_random_executions_have_the_points_of_the_oracle(void)
{
    const struct random_shape words = { 4, 3, 8, 16, RANDOM_ALL & ~RANDOM_MIXED };
    const struct random_shape bytes = { 3, 2, 8, 14, RANDOM_ALL };
    const struct random_shape crowd = { 2, 1, 8, 14, RANDOM_CROWDED };
    TEST_ASSERT_GREATER_THAN(500, compare_random(&words, 2000));
    TEST_ASSERT_GREATER_THAN(400, compare_random(&bytes, 600));
    TEST_ASSERT_GREATER_THAN(60, compare_random(&crowd, 200));
}

/* ---- no cycle that the machine did not close -------------------------------------------------- */

/* Which pairs of accesses the models keep in order, whatever is between them; all of them keep what
 * a fence or a transaction orders, TSO what an atomic access does. Under PC stores are not there for
 * all at once, so nothing is said of its cycles. */
static bool is_kept(enum oracle_model model, const char *pair, const char *bond)
{
    bool load_first = pair[0] == 'R', two_stores = strcmp(pair, "WW") == 0;
    if (strcmp(bond, "fence") == 0 || strcmp(bond, "tx") == 0)
        return true;
    return model == ORACLE_SC || (load_first && model != ORACLE_RMO)
        || (model == ORACLE_TSO && (two_stores || strcmp(bond, "rmw") == 0));
}

/* Pairs of each shape, of the literature. */
static const struct {
    const char *name, *pair[3];
} pairs_of[] = {
    { "2+2W", { "WW", "WW" } },       { "R", { "WW", "WR" } },
    { "S", { "WW", "RW" } },          { "MP", { "WW", "RR" } },
    { "SB", { "WR", "WR" } },         { "LB", { "RW", "RW" } },
    { "WRC", { "RW", "RR" } },        { "WWC", { "RW", "RW" } },
    { "WRW+WR", { "RW", "WR" } },     { "WRW+2W", { "RW", "WW" } },
    { "RWC", { "RR", "WR" } },        { "WRR+2W", { "RR", "WW" } },
    { "IRIW", { "RR", "RR" } },       { "IRRWIW", { "RR", "RW" } },
    { "IRWIW", { "RW", "RW" } },      { "3.2W", { "WW", "WW", "WW" } },
    { "3.SB", { "WR", "WR", "WR" } }, { "3.LB", { "RW", "RW", "RW" } },
    { "ISA2", { "WW", "RW", "RR" } }, { "Z6.0", { "WW", "RW", "WR" } },
    { "Z6.1", { "WW", "WW", "RW" } }, { "Z6.2", { "WW", "RW", "RW" } },
    { "Z6.3", { "WW", "WW", "RR" } }, { "Z6.4", { "WW", "WR", "WR" } },
    { "Z6.5", { "WW", "WW", "WR" } }, { "W+RWC", { "WW", "RR", "WR" } },
};

/* All pairs of it are kept: the machine of the model cannot have closed it. Of three pairs nothing
 * but fences and transactions counts, for `kept` may be either. */
static bool is_forbidden(enum oracle_model model, const struct cover_group *g, const uint8_t *at)
{
    bool three = g == &cover_groups[COVER_GROUP_SHAPE3];
    const char *name = g->words[0][at[0]];
    if (strcmp(g->words[three ? 4 : 3][at[three ? 4 : 3]], "closed") != 0)
        return false;
    for (size_t i = 0; i < sizeof pairs_of / sizeof *pairs_of; i++) {
        bool kept = strcmp(pairs_of[i].name, name) == 0;
        for (int k = 0; kept && k < (three ? 3 : 2); k++) {
            const char *bond = g->words[1 + k][at[1 + k]];
            kept = is_kept(model, pairs_of[i].pair[k], strcmp(bond, "kept") == 0 ? "rmw" : bond);
        }
        if (kept)
            return true;
    }
    return false;
}

/* Two loads of a word may change places under RMO. */
static bool is_incoherent(enum oracle_model model, const struct cover_group *g, const uint8_t *at)
{
    return g == &cover_groups[COVER_GROUP_COHERENCE] && strcmp(g->words[2][at[2]], "closed") == 0
        && !(model == ORACLE_RMO && strcmp(g->words[0][at[0]], "CoRR") == 0);
}

/* Closed cycles of the execution in hand; none is one that its machine cannot close. */
static unsigned closed_cycles(enum oracle_model model, uint64_t seed)
{
    unsigned closed = 0;
    memset(&hits, 0, sizeof hits);
    TEST_ASSERT_TRUE(cover_exec_look(exec, trace, &hits));
    for (uint32_t p = 0; p < COVER_FIRST_INTERLEAVE; p++) {
        char name[COVER_NAME_SIZE], message[200];
        uint8_t at[COVER_AXES_OF_GROUP];
        if (p < COVER_FIRST_COHERENCE || !cover_is_hit(&hits, p))
            continue;
        const struct cover_group *g = cover_point_at(p, at);
        cover_point_name(p, name);
        snprintf(message, sizeof message, "model %d, seed %" PRIu64 ": %s", (int)model, seed, name);
        closed += strstr(name, ".closed") != NULL;
        TEST_ASSERT_FALSE_MESSAGE(is_incoherent(model, g, at), message);
        TEST_ASSERT_FALSE_MESSAGE(g != &cover_groups[COVER_GROUP_COHERENCE] && model != ORACLE_PC
                                      && is_forbidden(model, g, at),
                                  message);
    }
    return closed;
}

/* Transactions in one another are not looked at: no test has them. */
static bool has_nested(const struct oracle_execution *x)
{
    unsigned depth[ORACLE_THREADS] = { 0 };
    bool nested = false;
    for (unsigned i = 0; i < x->ops; i++) {
        depth[x->op[i].thread] += x->op[i].kind == ORACLE_TX_BEGIN;
        nested |= depth[x->op[i].thread] > 1;
        depth[x->op[i].thread] -= x->op[i].kind == ORACLE_TX_END
                               || x->op[i].kind == ORACLE_TX_ABORT;
    }
    return nested;
}

static unsigned run_machines(enum oracle_model model, const struct random_shape *shape,
                             uint64_t seeds)
{
    static const enum ordeal_model claims[] = { ORDEAL_SC, ORDEAL_TSO, ORDEAL_PSO, ORDEAL_PC,
                                                ORDEAL_RMO };
    unsigned closed = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        static struct oracle_execution x;
        random_run(shape, seed, model, &x);
        if (has_nested(&x))
            continue;
        ordeal_trace_free(trace);
        TEST_ASSERT_EQUAL(ORDEAL_OK, execution_trace(o, &x, seed, &trace));
        ordeal_trace_claim(trace, claims[model]);
        closed += closed_cycles(model, seed);
    }
    return closed;
}

/* Legal executions of every kind, by machines that share nothing with what looks at them: what such
 * a machine forbids is never closed, and what it allows is. */
static void test_no_machine_closes_what_its_model_forbids(void)
{
    static const struct random_shape shapes_of_runs[] = {
        { 2, 2, 10, 20, 0 }, /* loads and stores alone */
        { 2, 2, 10, 20, RANDOM_FINAL | RANDOM_INITIAL | RANDOM_MEMBARS },
        { 4, 3, 12, 24, RANDOM_ALL & ~RANDOM_MIXED },
        { 3, 2, 10, 20, RANDOM_ALL },
        { 3, 2, 10, 20, RANDOM_MIXED | RANDOM_FINAL },
        { 3, 1, 10, 16, RANDOM_CROWDED | RANDOM_FINAL | RANDOM_SWAPS },
    };
    for (enum oracle_model model = ORACLE_SC; model < ORACLE_MODELS; model++) {
        unsigned closed = 0;
        for (size_t i = 0; i < sizeof shapes_of_runs / sizeof *shapes_of_runs; i++) {
            struct random_shape shape = shapes_of_runs[i];
            if (model == ORACLE_PC)
                shape.features &= ~(unsigned)RANDOM_TRANSACTIONS;
            closed += run_machines(model, &shape, 1500);
        }
        if (model == ORACLE_SC)
            TEST_ASSERT_EQUAL(0, closed);
        else
            TEST_ASSERT_GREATER_THAN(100, closed);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_shapes_are_told_by_their_names);
    RUN_TEST(test_there_is_a_trace_of_every_shape);
    RUN_TEST(test_pairs_that_are_far_apart_make_no_shape);
    RUN_TEST(test_one_store_of_a_cycle_happens_at_once);
    RUN_TEST(test_stores_that_are_left_out_make_nothing_sure);
    RUN_TEST(test_reads_tell_what_they_saw);
    RUN_TEST(test_fences_and_transactions_around_a_message);
    RUN_TEST(test_what_aborted_did_not_happen);
    RUN_TEST(test_trouble_is_counted_for_each_commit);
    RUN_TEST(test_reads_of_nobody_knows_which_store_are_left_out);
    RUN_TEST(test_interleaving_by_values_and_by_cycles);
    RUN_TEST(test_random_executions_have_the_points_of_the_oracle);
    RUN_TEST(test_no_machine_closes_what_its_model_forbids);
    return UNITY_END();
}
