/* SPDX-License-Identifier: Apache-2.0 */
/* Commit logs: what becomes of each kind of instruction, which loads it depends on, what is refused
 * and where, and that executions which a model forbids are found in them. The instructions are what
 * an assembler made of the words beside them. */
#include <stdlib.h>
#include "traces.h"
#include "unity.h"

static struct ordeal *o;

void setUp(void) { o = ordeal_new(NULL); }

void tearDown(void)
{
    TEST_ASSERT_EQUAL_size_t(0, ordeal_memory_used(o));
    ordeal_free(o);
}

/* clang-format off */
#define T "ordeal 1\nmodel RVWMO\natomic 8\n"
#define PC "0x0000000080000000 "
#define A "0x0000000080002000"
#define CORE(N, INSTRUCTION) "core   " N ": 3 " PC "(" INSTRUCTION ") "
/* lw a2,0(a1) and sw a0,0(a1) */
#define LOAD(N, REGISTER, VALUE) CORE(N, "0x0005a603") REGISTER " 0x" VALUE " mem " A "\n"
#define STORE(N, VALUE) CORE(N, "0x00a5a023") "mem " A " 0x" VALUE "\n"

/* clang-format on */
static void becomes(const char *log, const char *text)
{
    struct ordeal_trace *t;
    enum ordeal_status status = trace_from(o, log, strlen(log), ORDEAL_FORMAT_GUESS, &t);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, status, ordeal_last_error(o)->reason);
    struct written w = trace_to(t, OUT_TEXT);
    TEST_ASSERT_EQUAL_STRING(text, w.bytes);
    free(w.bytes);
    ordeal_trace_free(t);
}

/* clang-format off */
static void accesses_have_the_size_of_their_instruction(void)
{
    becomes(LOAD("0", "x12", "0000000000000000"), T "P0 L[0x80002000]=0 >r1\n");
    becomes(CORE("3", "0x0035c603") "x12 0x00000000000000ff mem 0x0000000080002003\n" /* lbu */
            CORE("3", "0xe188") "mem " A " 0x1122334455667788\n"                      /* c.sd */
            CORE("3", "0xc188") "mem " A " 0x00000007\n"                              /* c.sw */
            CORE("3", "0x6602") "x12 0x0000000000000009 mem 0x0000000080002008\n",    /* c.ldsp */
            T "init 0x80002003/1=255\ninit 0x80002008/8=9\nP3 L[0x80002003/1]=255 >r1\n"
            "P3 S[0x80002000/8]#0x1122334455667788\nP3 S[0x80002000]#7\n"
            "P3 L[0x80002008/8]=9 >r2\n");
    /* A narrow load is extended with its sign, and one of a float with ones. */
    becomes(LOAD("0", "x12", "ffffffff80000001"), T "init 0x80002000=2147483649\n"
            "P0 L[0x80002000]=2147483649 >r1\n");
    becomes(CORE("0", "0x0005a507") "f10 0xffffffff00000005 mem " A "\n" /* flw */
            CORE("0", "0x00a5a027") "mem " A " 0x00000005\n",            /* fsw */
            T "init 0x80002000=5\nP0 L[0x80002000]=5 >r1\nP0 S[0x80002000]#5 <data:r1\n");
}

static void atomics_are_what_they_did(void)
{
    becomes(CORE("0", "0x1405a62f") "x12 0x0000000000000000 mem " A "\n" /* lr.w.aq */
            CORE("0", "0x1aa5a6af") "x13 0x0000000000000000 mem " A " 0x00000005\n" /* sc.w.rl */
            CORE("0", "0x18a5a6af") "x13 0x0000000000000001\n" /* sc.w */
            CORE("0", "0x0ea5a62f") "x12 0x0000000000000005 mem " A " mem " A " 0x00000006\n"
            CORE("0", "0x00a5a02f") "mem " A " mem " A " 0x00000008\n", /* to x0 */
            T "P0 LR.aq[0x80002000]=0 >r1\nP0 SC.rl[0x80002000]=0#5 >r2\n"
            "P0 SWAP.aqrl[0x80002000]=5#6 >r3\nP0 S[0x80002000]#8\n");
}

/* After one that failed, of another size, behind a store of its own to the place, of an LR that is left out. */
static void an_sc_without_its_lr_is_a_store(void)
{
    becomes(CORE("0", "0x1405a62f") "x12 0x0000000000000000 mem " A "\n"
            CORE("0", "0x18a5a6af") "x13 0x0000000000000001\n"
            CORE("0", "0x18a5a6af") "x13 0x0000000000000000 mem " A " 0x00000005\n",
            T "P0 LR.aq[0x80002000]=0 >r1\nP0 S[0x80002000]#5\n");
    becomes(CORE("0", "0x1405a62f") "x12 0x0000000000000000 mem " A "\n" STORE("0", "00000004")
            CORE("0", "0x18a5a6af") "x13 0x0000000000000000 mem " A " 0x00000005\n",
            T "P0 LR.aq[0x80002000]=0 >r1\nP0 S[0x80002000]#4\nP0 S[0x80002000]#5\n");
    becomes(CORE("0", "0x1005b62f") "x12 0x0000000000000000 mem " A "\n" /* lr.d */
            CORE("0", "0x1005a02f") "mem " A "\n"                        /* lr.w x0,(a1) */
            CORE("0", "0x18a5a6af") "x13 0x0000000000000000 mem " A " 0x00000005\n",
            T "P0 LR[0x80002000/8]=0 >r1\nP0 S[0x80002000]#5\n");
}

static void fences_are_those_of_memory(void)
{
    becomes(CORE("0", "0x0310000f") "\n" CORE("0", "0x8330000f") "\n" CORE("0", "0x0220000f") "\n"
            CORE("0", "0x0ff0000f") "\n" CORE("0", "0x0840000f") "\n" CORE("0", "0x0000100f") "\n",
            T "P0 MEMBAR.LS.SS\nP0 MEMBAR.LL.LS.SS\nP0 MEMBAR.LL\nP0 MEMBAR\n");
}

static void registers_are_followed_from_loads(void)
{
    /* add a4,a2,a5; then its value as data, and as an address */
    becomes(LOAD("0", "x12", "0000000000000000") CORE("0", "0x00f60733") "x14 0x0000000000000004\n"
            CORE("0", "0x00e5a023") "mem " A " 0x00000004\n"   /* sw a4,0(a1) */
            CORE("0", "0x00a72023") "mem " A " 0x00000009\n",  /* sw a0,0(a4) */
            T "P0 L[0x80002000]=0 >r1\nP0 S[0x80002000]#4 <data:r1\nP0 S[0x80002000]#9 <addr:r1\n");
    /* a branch by it, and what comes of it when the register is written by something else: lui */
    becomes(LOAD("0", "x12", "0000000000000000") CORE("0", "0xc201") "\n" STORE("0", "00000001")
            STORE("0", "00000002") CORE("0", "0x6605") "x12 0x0000000000001000\n"
            CORE("0", "0xc201") "\n" STORE("0", "00000003"),
            T "P0 L[0x80002000]=0 >r1\nP0 S[0x80002000]#1 <ctrl:r1\nP0 S[0x80002000]#2\n"
            "P0 S[0x80002000]#3\n");
    /* xor a4,a2,a2 depends all the same; registers are a hart's own */
    becomes(LOAD("0", "x12", "0000000000000000") CORE("0", "0x00c64733") "x14 0x0000000000000000\n"
            CORE("1", "0x00e5a023") "mem " A " 0x00000001\n"
            CORE("0", "0x00e5a023") "mem " A " 0x00000002\n",
            T "P0 L[0x80002000]=0 >r1\nP1 S[0x80002000]#1\nP0 S[0x80002000]#2 <data:r1\n");
    /* jalr ra,0(a2); of a value from a counter nothing is known: csrr a2,mcycle */
    becomes(LOAD("0", "x12", "0000000000000000") CORE("0", "0x000600e7") "x1  0x0000000080000004\n"
            STORE("0", "00000001") CORE("0", "0xb0002673") "x12 0x0000000000000077\n"
            CORE("0", "0x8602") "\n" STORE("0", "00000002"),
            T "P0 L[0x80002000]=0 >r1\nP0 S[0x80002000]#1 <ctrl:r1\nP0 S[0x80002000]#2\n");
}

static void what_nobody_saw_is_left_out(void)
{
    becomes(CORE("0", "0x0005a003") "mem " A "\n" STORE("0", "00000001"), T "P0 S[0x80002000]#1\n");
    becomes(CORE("0", "0x00a5a023") "mem 0x0000000010000000 0x00000041\n" STORE("0", "00000001"),
            T "P0 S[0x80002000]#1\n"); /* a device */
    becomes("memory 0x10000000 0x100\ndevice 0x80002000 4\n"
            CORE("0", "0x00a5a023") "mem 0x0000000010000000 0x00000041\n" STORE("0", "00000001"),
            T "P0 S[0x10000000]#65\n");
}

static void memory_held_at_first_what_is_seen_before_all_accesses(void)
{
    becomes(CORE("0", "0x0035c603") "x12 0x0000000000000005 mem 0x0000000080002003\n"
            CORE("0", "0x6190") "x12 0x0807060505030201 mem " A "\n" /* c.ld: the rest of it */
            STORE("1", "00000001") LOAD("0", "x12", "0000000000000001"),
            T "init 0x80002003/1=5\ninit 0x80002000/1=1\ninit 0x80002001/1=2\ninit 0x80002002/1=3\n"
            "init 0x80002004/1=5\ninit 0x80002005/1=6\ninit 0x80002006/1=7\ninit 0x80002007/1=8\n"
            "P0 L[0x80002003/1]=5 >r1\nP0 L[0x80002000/8]=0x807060505030201 >r2\n"
            "P1 S[0x80002000]#1\nP0 L[0x80002000]=1 >r3\n");
}

static void what_is_not_aligned_is_one_of_each_byte(void)
{
    becomes(CORE("0", "0x00a5a023") "mem 0x0000000080002001 0x04030201\n",
            T "P0 S[0x80002001/1]#1\nP0 S[0x80002002/1]#2\n"
            "P0 S[0x80002003/1]#3\nP0 S[0x80002004/1]#4\n");
}

static void other_lines_and_spellings(void)
{
    becomes("# a log\n\ncore   0: 0x0000000080000000 (0x00a5a023) sw a0, 0(a1)\n"
            STORE("0", "00000001")
            "core   0: exception trap_load_access_fault, epc 0x0000000080000004\n"
            "core   0:           tval 0x0000000000000000\ncore   0: >>>>  _start\n"
            CORE("0", "0x30529073") "c773_mtvec 0x0000000080000100\n"
            CORE("0", "0x0d057057") "e32 m1 l4\n",
            T "P0 S[0x80002000]#1\n");
    /* RV32, and the register of older versions */
    becomes("core 0: 3 0x80000000 (0x0005a603) x 2 0x00000000 mem 0x80002000\n",
            "ordeal 1\nmodel RVWMO\nP0 L[0x80002000]=0 >r1\n");
}
/* clang-format on */

static void errors_name_their_place(void)
{
    static const struct {
        const char *text;
        uint64_t line, column;
        const char *reason;
    } all[] = {
        { "core x: 3\n", 1, 6, "expected the number of a hart, found 'x:'" },
        { "core 4294967295: 3 0x0 (0x13)\n", 1, 6, "the number of a hart up to 4294967294" },
        { "core 0 3\n", 1, 7, "expected ':', found ' '" },
        { "core 0: 3 80000000\n", 1, 11, "expected the address of the instruction" },
        { "core 0: 3 0x80000000 0x13\n", 1, 22, "expected the instruction, as (0x00000013)" },
        { "core 0: 3 0x80000000 (0x13\n", 1, 27, "expected ')', found the end of the line" },
        { "core 0: 3 0x80000000 (0x100000013)\n", 1, 23, "an instruction of 16 or 32 bits" },
        { "core 0: 3 0x80000000 (0x13) x32 0x0\n", 1, 29, "x0 to x31 or f0 to f31" },
        { "core 0: 3 0x80000000 (0x13) x5\n", 1, 31, "expected the value of the register" },
        { "core 0: 3 0x80000000 (0x13) x5 0x\n", 1, 32, "expected hexadecimal digits after 0x" },
        { "core 0: 3 0x80000000 (0x13) =\n", 1, 29, "expected a register (x5 0x…) or an access" },
        { "core 0: 3 0x80000000 (0x13) mem\n", 1, 32, "expected the address of an access" },
        { "core 0: 3 0x80000000 (0x13) mem 0x80000000\n", 1, 1, "not known to have one" },
        { "core 0: 3 0x80000000 (0x5a603) x12 0x0\n", 1, 1, "expected the address of the access" },
        { "#\ncore 0: 3 0x80000000 (0xa5a023) mem 0x80000000 0x1 mem 0x80000004 0x1\n", 2, 56,
          "expected one access: an instruction with several is not known" },
        { "memory\n", 1, 7, "expected the first address of the range" },
        { "memory 0x0 0x10 x\n", 1, 17, "expected the end of the line, found 'x'" },
        { "core 0: 3 0x80000000 (0x13)\nx\n", 2, 1, "expected a line of a commit log" },
        { "core 0: 0x80000000 (0x13) nop\n", 2, 1, "found the end of the file" },
        { "core 0: 3 0x80000000 (0x5b603) x12 0x0 mem 0x80000000\n", 1, 1, /* ld of RV32 */
          "not known to have one" },
        { "core 0: 3 0x0000000080000000 (0x2ab5262f) x12 0x0 mem 0x80000000\n", 1, 1, /* amocas */
          "not known to have one" },
        { "core 0: 3 0x0 (0x13)\ncore 0: 3 0x4 (0xa5a023) mem 0x2000 0x1\n", 2, 1,
          "found only others, first to 0x2000: memory is at 0x80000000" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ordeal_trace *t;
        TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_BAD_INPUT,
                                  trace_from(o, all[i].text, strlen(all[i].text),
                                             ORDEAL_FORMAT_COMMITS, &t),
                                  all[i].text);
        const struct ordeal_error *e = ordeal_last_error(o);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e->reason, all[i].reason), e->reason);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(all[i].line, e->line, all[i].text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(all[i].column, e->column, all[i].text);
    }
}

static void cut_anywhere_it_is_an_error_or_a_trace(void)
{
    static const char log[] = "memory 0x80000000 0x1000000\n" LOAD("0", "x12", "0000000000000000")
        CORE("0", "0x0ea5a62f") "x12 0x0000000000000005 mem " A " mem " A " 0x00000006\n";
    for (size_t n = 0; n < sizeof log; n++) {
        struct ordeal_trace *t;
        enum ordeal_status status = trace_from(o, log, n, ORDEAL_FORMAT_COMMITS, &t);
        TEST_ASSERT_TRUE(status == ORDEAL_OK || status == ORDEAL_BAD_INPUT);
        ordeal_trace_free(t);
    }
    const char *fault = starve_reader(log, sizeof log - 1, ORDEAL_FORMAT_COMMITS);
    TEST_ASSERT_NULL_MESSAGE(fault, fault);
}

static enum ordeal_result verdict(const char *log)
{
    struct ordeal_trace *t;
    struct ordeal_verdict *v;
    struct ordeal_options options = { .model = ORDEAL_RVWMO };
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, trace_from(o, log, strlen(log), ORDEAL_FORMAT_GUESS, &t),
                              ordeal_last_error(o)->reason);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK, ordeal_check(t, &options, &v),
                              ordeal_last_error(o)->reason);
    enum ordeal_result result = ordeal_verdict_result(v);
    ordeal_verdict_free(v);
    ordeal_trace_free(t);
    return result;
}

/* clang-format off */
/* MP: the reader's second load has an address that comes from the first, or not. */
#define WRITER CORE("0", "0x00a5a023") "mem 0x0000000080002000 0x00000001\n" \
               CORE("0", "0x0310000f") "\n" \
               CORE("0", "0x00a5a023") "mem 0x0000000080002040 0x00000001\n"
#define FLAG CORE("1", "0x0005a603") "x12 0x0000000000000001 mem 0x0000000080002040\n"
#define DATA(I) CORE("1", I) "x13 0x0000000000000000 mem 0x0000000080002000\n"
#define FLAG_FIRST CORE("1", "0x0005a603") "x12 0x0000000000000000 mem 0x0000000080002040\n" \
                   CORE("1", "0x0005a603") "x12 0x0000000000000000 mem 0x0000000080002000\n"

static void violations_are_found(void)
{
    static const char by_address[] = FLAG_FIRST WRITER FLAG
        CORE("1", "0x00c64733") "x14 0x0000000000000000\n" 
        DATA("0x00072683"); /* xor a4,a2,a2; lw a3,0(a4) */
    static const char by_chance[] = FLAG_FIRST WRITER FLAG DATA("0x0005a683"); /* lw a3,0(a1) */
    /* clang-format on */
    TEST_ASSERT_EQUAL(ORDEAL_FAIL, verdict(by_address));
    TEST_ASSERT_EQUAL(ORDEAL_PASS, verdict(by_chance));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(accesses_have_the_size_of_their_instruction);
    RUN_TEST(atomics_are_what_they_did);
    RUN_TEST(an_sc_without_its_lr_is_a_store);
    RUN_TEST(fences_are_those_of_memory);
    RUN_TEST(registers_are_followed_from_loads);
    RUN_TEST(what_nobody_saw_is_left_out);
    RUN_TEST(memory_held_at_first_what_is_seen_before_all_accesses);
    RUN_TEST(what_is_not_aligned_is_one_of_each_byte);
    RUN_TEST(other_lines_and_spellings);
    RUN_TEST(errors_name_their_place);
    RUN_TEST(cut_anywhere_it_is_an_error_or_a_trace);
    RUN_TEST(violations_are_found);
    return UNITY_END();
}
