/* SPDX-License-Identifier: Apache-2.0 */
/* What litmus tests can do under RISC-V's models, against random programs whose outcomes follow
 * from the axioms alone; the shapes that everybody knows; what is read, and what is refused
 * where.
 *
 * test_litmus [--count N] [--seed S]: N programs from seed S on; a single one is always printed. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "litmus/litmus_condition.h"
#include "litmus/litmus_tell.h"
#include "litmus_program.h"
#include "unity.h"

static uint64_t first_seed = 1, count = 300;

void setUp(void) {}
void tearDown(void) {}

/* ---- running ------------------------------------------------------------------------------ */

static const struct litmus_run_options usual = { .threads = { .unroll = 2, .most = 20000 } };

static char told[1 << 18];

/* The report, in herd7's words, goes to `told`; false: refused, with the reason. */
static bool report(const char *text, enum ordeal_model model, struct ordeal_error *e)
{
    struct litmus test;
    struct litmus_result result = { 0 };
    struct litmus_run_options how = usual;
    struct ordeal *o = ordeal_new(NULL);
    how.model = model;
    *e = (struct ordeal_error){ 0 };
    bool fine = litmus_read(&test, text, strlen(text), "t", e)
             && litmus_run(&test, &how, "t", o, &result, e);
    if (fine) {
        FILE *f = fmemopen(told, sizeof told, "w");
        litmus_tell(&test, &result, f);
        fclose(f);
    }
    litmus_result_free(&result);
    litmus_free(&test);
    TEST_ASSERT_EQUAL_UINT(0, ordeal_memory_used(o));
    ordeal_free(o);
    return fine;
}

static void sure_report(const char *text, enum ordeal_model model)
{
    struct ordeal_error e;
    if (!report(text, model, &e)) {
        printf("%s%" PRIu64 ":%" PRIu64 ": %s\n", text, e.line, e.column, e.reason);
        TEST_FAIL_MESSAGE("it is refused");
    }
}

/* The states of a report, a line each, between its second line and "Ok". */
static char *states(void)
{
    char *begin = strstr(told, "States ");
    begin = strchr(begin, '\n') + 1;
    char *end = strstr(begin - 1, "\nOk\n");
    TEST_ASSERT_NOT_NULL_MESSAGE(end, told);
    end[1] = '\0';
    return begin;
}

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    return false;
}

static unsigned lines(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- random programs ---------------------------------------------------------------------- */

static char *program_text(const struct program *p)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    program_write(p, f);
    fclose(f);
    return text;
}

static void differ(const char *text, const char *found, const struct program_states *s,
                   uint64_t seed)
{
    printf("%s\ntold:\n%sby the axioms:\n", text, found);
    for (unsigned i = 0; i < s->count; i++)
        printf("%s\n", s->line[i]);
    printf("--seed %" PRIu64 " --count 1\n", seed);
}

static void compare(uint64_t seed, unsigned total[2])
{
    static const enum ordeal_model models[] = { ORDEAL_RVWMO, ORDEAL_RVTSO };
    static struct program_states axioms;
    struct program p;
    program_draw(&p, seed);
    char *text = program_text(&p);
    for (int m = 0; m < 2; m++) {
        sure_report(text, models[m]);
        char *begin = states();
        program_states(&p, models[m] == ORDEAL_RVTSO, &axioms);
        bool same = lines(begin) == axioms.count;
        for (unsigned i = 0; i < axioms.count; i++)
            same &= has_line(begin, axioms.line[i]);
        if (!same || count == 1)
            differ(text, begin, &axioms, seed);
        TEST_ASSERT_TRUE_MESSAGE(same, ordeal_model_name(models[m]));
        total[m] += axioms.count;
    }
    free(text);
}

static void test_random_programs(void)
{
    unsigned total[2] = { 0 };
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++)
        compare(seed, total);
    printf("%" PRIu64 " programs, states under RVWMO %u, under RVTSO %u\n", count, total[0],
           total[1]);
    if (count >= 100)
        TEST_ASSERT_GREATER_THAN_UINT(total[1] + count / 20, total[0]);
}

/* ---- shapes that everybody knows ------------------------------------------------------------ */

#define TWO "{ 0:x6=x; 0:x8=y; 1:x6=x; 1:x8=y; 0:x5=1; 1:x5=1; 0:x4=2; 1:x4=2 }\n P0 | P1 ;\n"
#define FOUR "{ 0:x6=x; 1:x6=y; 2:x6=x; 2:x8=y; 3:x6=y; 3:x8=x; 0:x5=1; 1:x5=1 }\n P0|P1|P2|P3;\n"

/* clang-format off */
static const struct {
    const char *name, *text;
    bool rvwmo, rvtso, sc; /* is the outcome allowed? */
} shapes[] = {
    { "MP", TWO "sw x5,0(x6) | lw x10,0(x8);\nsw x5,0(x8) | lw x11,0(x6);\n"
      "exists (1:x10=1 /\\ 1:x11=0)", true, false, false },
    { "MP+fence.w.w+addr", TWO "sw x5,0(x6)|lw x10,0(x8);\nfence w,w|xor x7,x10,x10;\n"
      "sw x5,0(x8)|add x9,x6,x7;\n|lw x11,0(x9);\n"
      "exists (1:x10=1 /\\ 1:x11=0)", false, false, false },
    { "MP+fence.w.w+ctrl", TWO "sw x5,0(x6)|lw x10,0(x8);\nfence w,w|bne x10,x0,L;\n"
      "sw x5,0(x8)|L: lw x11,0(x6);\nexists (1:x10=1 /\\ 1:x11=0)", true, false, false },
    { "MP+fence.w.w+ctrlfencei", TWO "sw x5,0(x6)|lw x10,0(x8);\nfence w,w|bne x10,x0,L;\n"
      "sw x5,0(x8)|L: fence.i;\n|lw x11,0(x6);\nexists (1:x10=1 /\\ 1:x11=0)", true, false, false },
    { "MP+rel+acq", TWO "sw x5,0(x6)|lw.aq x10,0(x8);\nsw.rl x5,0(x8)|lw x11,0(x6);\n"
      "exists (1:x10=1 /\\ 1:x11=0)", false, false, false },
    { "MP+amoswap.rl+amoor.aq", TWO "sw x5,0(x6)|amoor.w.aq x10,x0,(x8);\n"
      "amoswap.w.rl x0,x5,(x8)|lw x11,0(x6);\nexists (1:x10=1 /\\ 1:x11=0)", false, false, false },
    { "SB", TWO "sw x5,0(x6)|sw x5,0(x8);\nlw x10,0(x8)|lw x10,0(x6);\n"
      "exists (0:x10=0 /\\ 1:x10=0)", true, true, false },
    { "SB+fence.rw.rws", TWO "sw x5,0(x6)|sw x5,0(x8);\nfence rw,rw|fence;\n"
      "lw x10,0(x8)|lw x10,0(x6);\n"
      "exists (0:x10=0 /\\ 1:x10=0)", false, false, false },
    { "SB+fence.tsos", TWO "sw x5,0(x6)|sw x5,0(x8);\nfence.tso|fence.tso;\n"
      "lw x10,0(x8)|lw x10,0(x6);\n"
      "exists (0:x10=0 /\\ 1:x10=0)", true, true, false },
    { "SB+amoswap.aqrls", TWO "amoswap.w.aqrl x0,x5,(x6)|amoswap.w.aq.rl x0,x5,(x8);\n"
      "lr.w.aqrl x10,(x8)|lr.w.aq.rl x10,(x6);\n"
      "exists (0:x10=0 /\\ 1:x10=0)", false, false, false },
    { "LB", TWO "lw x10,0(x6)|lw x10,0(x8);\nsw x5,0(x8)|sw x5,0(x6);\n"
      "exists (0:x10=1 /\\ 1:x10=1)", true, false, false },
    { "LB+datas", TWO "lw x10,0(x6)|lw x10,0(x8);\nandi x7,x10,0|and x7,x10,x0;\n"
      "ori x7,x7,1|ori x7,x7,1;\n"
      "sw x7,0(x8)|sw x7,0(x6);\nexists (0:x10=1 /\\ 1:x10=1)", false, false, false },
    { "LB+data+po", TWO "lw x10,0(x6)|lw x10,0(x8);\nsw x10,0(x8)|sw x5,0(x6);\n"
      "exists (0:x10=1 /\\ 1:x10=1)", true, false, false },
    { "LB+ctrls", TWO "lw x10,0(x6)|lw x10,0(x8);\nbeq x10,x0,L|beqz x10,L;\nL:|L:;\n"
      "sw x5,0(x8)|sw x5,0(x6);\nexists (0:x10=1 /\\ 1:x10=1)", false, false, false },
    { "S+fence.w.w+data", TWO "sw x4,0(x6)|lw x10,0(x8);\nfence w,w|xor x7,x10,x10;\n"
      "sw x5,0(x8)|ori x7,x7,1;\n|sw x7,0(x6);\nexists (1:x10=1 /\\ x=2)", false, false, false },
    { "S", TWO "sw x4,0(x6)|lw x10,0(x8);\nsw x5,0(x8)|sw x5,0(x6);\n"
      "exists (1:x10=1 /\\ [x]=2)", true, false, false },
    { "R", TWO "sw x5,0(x6)|sw x4,0(x8);\nsw x5,0(x8)|lw x10,0(x6);\n"
      "exists (y=2 /\\ 1:x10=0)", true, true, false },
    { "2+2W", TWO "sw x4,0(x6)|sw x4,0(x8);\nsw x5,0(x8)|sw x5,0(x6);\n"
      "exists (x=2 /\\ y=2)", true, false, false },
    { "2+2W+fence.w.ws", TWO "sw x4,0(x6)|sw x4,0(x8);\nfence w,w|fence w,w;\n"
      "sw x5,0(x8)|sw x5,0(x6);\nexists (x=2 /\\ y=2)", false, false, false },
    { "CoRR", TWO "sw x5,0(x6)|lw x10,0(x6);\n|lw x11,0(x6);\nexists (1:x10=1 /\\ 1:x11=0)",
      false, false, false },
    { "IRIW", FOUR "sw x5,0(x6)|sw x5,0(x6)|lw x10,0(x6)|lw x10,0(x6);\n"
      "||lw x11,0(x8)|lw x11,0(x8);\n"
      "exists (2:x10=1 /\\ 2:x11=0 /\\ 3:x10=1 /\\ 3:x11=0)", true, false, false },
    { "IRIW+fence.r.rs", FOUR "sw x5,0(x6)|sw x5,0(x6)|lw x10,0(x6)|lw x10,0(x6);\n"
      "||fence r,r|fence r,r;\n"
      "||lw x11,0(x8)|lw x11,0(x8);\nexists (2:x10=1 /\\ 2:x11=0 /\\ 3:x10=1 /\\ 3:x11=0)",
      false, false, false },
    { "WRC+data+addr", "{ 0:x6=x; 1:x6=x; 1:x8=y; 2:x6=x; 2:x8=y; 0:x5=1 }\n P0|P1|P2;\n"
      "sw x5,0(x6)|lw x10,0(x6)|lw x10,0(x8);\n|sw x10,0(x8)|xor x7,x10,x10;\n||add x9,x6,x7;\n"
      "||lw x11,0(x9);\nexists (1:x10=1 /\\ 2:x10=1 /\\ 2:x11=0)", false, false, false },
    { "LR/SC is atomic", TWO "lr.w x10,(x6)|sw x4,0(x6);\nsc.w x11,x5,(x6)|;\n"
      "exists (0:x10=0 /\\ 0:x11=0 /\\ x=1 /\\ false \\/ 0:x11=0 /\\ 0:x10=0 /\\ not (x=1"
      " \\/ x=2))",
      false, false, false },
    { "an SC fails after an LR elsewhere", TWO "lr.w x10,(x6)|;\nsc.w x11,x5,(x8)|;\n"
      "exists (0:x11=0)", false, false, false },
    { "two AMOs count", TWO "amoadd.w x10,x5,(x6)|amoadd.w x10,x5,(x6);\n"
      "exists (0:x10=1:x10 \\/ x<>2)", false, false, false },
};
/* clang-format on */

static void test_shapes(void)
{
    static const enum ordeal_model models[] = { ORDEAL_RVWMO, ORDEAL_RVTSO, ORDEAL_SC };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int m = 0; m < 3; m++) {
            char text[2048];
            bool allowed = m == 0 ? shapes[i].rvwmo : m == 1 ? shapes[i].rvtso : shapes[i].sc;
            snprintf(text, sizeof text, "RISCV %s\n%s\n", shapes[i].name, shapes[i].text);
            sure_report(text, models[m]);
            if (!strstr(told, allowed ? "\nOk\n" : "\nNo\n"))
                printf("%s under %s:\n%s", shapes[i].name, ordeal_model_name(models[m]), told);
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(told, allowed ? "\nOk\n" : "\nNo\n"),
                                         shapes[i].name);
        }
}

/* ---- reports, word for word ------------------------------------------------------------------ */

/* clang-format off */
static const struct {
    const char *text;
    enum ordeal_model model;
    const char *told;
} reports[] = {
    { "RISCV one\n\"a text,\nover two lines\"\nCom=Rf Fr\n(* and (* nested *) comments *)\n"
      "{ int x = -3; uint64_t y=0xffffffffffffffff; 0:t0=x; 0:x6=y; 1:fp=7 }\n P0 | P1 ;\n"
      " lw a0,0(t0) | ; // here, too\n ld a1,(x6) | nop ;\n",
      ORDEAL_RVWMO,
      "Test one Required\nStates 1\n\nOk\nWitnesses\nPositive: 1 Negative: 0\n"
      "Condition forall (true)\nObservation one Always 1 0\n\n" },
    { "RISCV two\n{ int x = -3; uint64_t y=0xffffffffffffffff; 0:t0=x; 0:x6=y; }\n P0 ;\n"
      " lw a0,0(t0) ;\n ld a1,(x6) ;\n lwu a2,(t0);\nlocations [y; x; 0:t0; 0:x12;]\n"
      "forall (0:a0=-3 /\\ (0:a1=-1 \\/ 0:x5=y) /\\ (true => 0:x31=0))",
      ORDEAL_RVWMO,
      "Test two Required\nStates 1\n0:x5=x; 0:x10=-3; 0:x11=-1; 0:x12=4294967293; 0:x31=0; "
      "[x]=-3; [y]=18446744073709551615;\nOk\nWitnesses\nPositive: 1 Negative: 0\n"
      "Condition forall (0:x10=-3 /\\ (0:x11=-1 \\/ 0:x5=y) /\\ (true => 0:x31=0))\n"
      "Observation two Always 1 0\n\n" },
    { "RISCV three\n{ 0:x6=x; 1:x6=x; }\n P0 | P1 ;\n li x5,1 | lw x5,0(x6) ;\n sw x5,0(x6) |;\n"
      "filter (1:x5=1)\n~exists (x=0)\n",
      ORDEAL_RVWMO,
      "Test three Forbidden\nStates 1\n[x]=1;\nOk\nWitnesses\nPositive: 1 Negative: 0\n"
      "Condition ~exists ([x]=0)\nObservation three Never 0 1\n\n" },
    { "RISCV loop\n{ 0:x6=x; 1:x6=x; }\n P0 | P1 ;\n li x5,1 | L: lw x5,0(x6) ;\n"
      " sw x5,0(x6) | beq x5,x0,L ;\nexists (1:x5=1)",
      ORDEAL_RVWMO,
      "Test loop Allowed\nStates 1\n1:x5=1;\nLoop Ok\nWitnesses\nPositive: 1 Negative: 0\n"
      "Condition exists (1:x5=1)\nObservation loop Always 1 0\n\n" },
    { "RISCV sizes\n{ uint32_t x; 0:x1=x; 0:x2=0x13121110; 0:x3=0x22 }\n P0 ;\n sw x2,0(x1) ;\n"
      " sb x3,2(x1) ;\n lw x4,0(x1) ; (* of two stores *)\n lbu x5,3(x1);\n"
      "exists (0:x4=0x13221110 /\\ 0:x5=0x13)",
      ORDEAL_RVWMO,
      "Test sizes Allowed\nStates 1\n0:x4=320999696; 0:x5=19;\nOk\nWitnesses\n"
      "Positive: 1 Negative: 0\nCondition exists (0:x4=320999696 /\\ 0:x5=19)\n"
      "Observation sizes Always 1 0\n\n" },
    { "X86 SB+mfence+xchg\n{ x=0; y=0; 1:EAX=1 }\n P0 | P1 ;\n MOV [x],$1 | XCHG [y],EAX ;\n"
      " MFENCE | MOV EAX,[x] ;\n MOV EAX,[y] | ;\nexists (0:EAX=0 /\\ 1:EAX=0)",
      ORDEAL_TSO,
      "Test SB+mfence+xchg Allowed\nStates 3\n0:EAX=0; 1:EAX=1;\n0:EAX=1; 1:EAX=0;\n"
      "0:EAX=1; 1:EAX=1;\nNo\nWitnesses\nPositive: 0 Negative: 3\n"
      "Condition exists (0:EAX=0 /\\ 1:EAX=0)\nObservation SB+mfence+xchg Never 0 3\n\n" },
    { "X86_64 cas\n{ 0:rbx=1; 1:rbx=2; 1:rdi=x }\n P0 | P1 ;\n"
      " lock cmpxchgl %ebx,(x) | movl (%rdi),%ecx ;\n"
      " jne L0 | ;\n incl (y) | ;\n L0: | lock ; addl $4,(x) ;\nexists (y=1 /\\ x=5)",
      ORDEAL_TSO,
      "Test cas Allowed\nStates 2\n[x]=4; [y]=0;\n[x]=5; [y]=1;\nOk\nWitnesses\n"
      "Positive: 1 Negative: 1\nCondition exists ([y]=1 /\\ [x]=5)\n"
      "Observation cas Sometimes 1 1\n\n" },
};
/* clang-format on */

static void test_reports(void)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        sure_report(reports[i].text, reports[i].model);
        TEST_ASSERT_EQUAL_STRING(reports[i].told, told);
    }
}

/* ---- what is refused, and where -------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *text;
    unsigned line, column;
    const char *reason;
} refused[] = {
    { "AArch64 MP\n{}\n", 1, 1, "RISCV, X86 or X86_64" },
    { "RISCV\n{}\n", 1, 6, "the name of the test" },
    { "RISCV a\nnonsense\n{}\n", 2, 1, "key=value" },
    { "RISCV a\n\"text\n{}\n", 2, 1, "never ends" },
    { "RISCV a\n(* (* *)\n{}\n", 2, 1, "comment never ends" },
    { "RISCV a\n{ 0:x5=x; int y[2]; }\n P0;\n", 2, 15, "arrays" },
    { "RISCV a\n{ float y; }\n P0;\n", 2, 3, "a type" },
    { "RISCV a\n{ 0:x40=1; }\n P0;\n", 2, 5, "a register, found 'x40'" },
    { "RISCV a\n{ 0:x5=1; 0:t0=2; }\n P0;\n", 2, 11, "set twice" },
    { "RISCV a\n{ 1:x5=1; }\n P0;\n", 2, 3, "no thread 1" },
    { "RISCV a\n{ 0:x5=18446744073709551616; }\n P0;\n", 2, 8, "64 bits" },
    { "RISCV a\n{ x=1 y=2 }\n P0;\n", 2, 7, "';' or '}'" },
    { "RISCV a\n{ }\n P1;\n", 3, 2, "'P0'" },
    { "RISCV a\n{ }\n P0 | P1;\n nop ;\n", 4, 6, "2 threads" },
    { "RISCV a\n{ }\n P0;\n nop | nop ;\n", 4, 6, "';'" },
    { "RISCV a\n{ }\n P0;\n auipc x5,2;\n", 4, 2, "'auipc' is no instruction" },
    { "RISCV a\n{ }\n P0;\n add.aq x5,x6,x7;\n", 4, 2, "'add.aq' is no instruction" },
    { "RISCV a\n{ }\n P0;\n lw x5,x6;\n", 4, 8, "a number, found 'x6'" },
    { "RISCV a\n{ }\n P0;\n lr.w x5,4(x6);\n", 4, 10, "no offset" },
    { "RISCV a\n{ }\n P0;\n fence x,r;\n", 4, 8, "a set" },
    { "RISCV a\n{ }\n P0;\n beq x5,x6,L1;\n", 4, 12, "no label 'L1'" },
    { "RISCV a\n{ }\n P0;\n L: nop;\n L: nop;\n", 5, 2, "twice" },
    { "RISCV a\n{ }\n P0;\n lw x5,0(x6);\n", 4, 2, "address 0x0, where there is no location" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n lw x5,2(x6);\n", 4, 2, "not aligned" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n lr.w x5,(x6);\n sw x5,(x6);\n sc.w x5,x5,(x6);\n", 6, 2,
      "between this SC and its LR" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nexists (0:x5=)\n", 5, 14, "a number or a location" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nexists (0:x5=1 0:x6=1)\n", 5, 16, "')'" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nexists (3:x5=1)\n", 5, 13, "no thread 3" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nexists (x[1]=1)\n", 5, 9, "arrays" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nexists (x=1) more\n", 5, 14, "the end of the file" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop;\nlocations [x y]\n", 5, 14, "a type" },
    { "RISCV a\n{ 0:x6=x }\n P0;\n nop?;\n", 4, 5, "'?'" },
    { "X86_64 a\n{ }\n P0;\n mov $1,(x);\n", 4, 2, "how wide" },
    { "X86_64 a\n{ }\n P0;\n movl (x),(y);\n", 4, 2, "two operands in memory" },
    { "X86_64 a\n{ }\n P0;\n movl %rax,(y);\n", 4, 2, "not as wide" },
    { "X86_64 a\n{ }\n P0;\n lock movl %eax,(y);\n", 4, 2, "'lock'" },
    { "X86 a\n{ }\n P0;\n ADD EAX,$1;\n JLE L;\n L:;\n", 5, 2, "carry or overflow" },
};
/* clang-format on */

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct ordeal_error e;
        bool fine = report(refused[i].text, ORDEAL_RVWMO, &e);
        TEST_ASSERT_FALSE_MESSAGE(fine, refused[i].text);
        if (!strstr(e.reason, refused[i].reason) || e.line != refused[i].line
            || e.column != refused[i].column)
            printf("%s%" PRIu64 ":%" PRIu64 ": %s\n", refused[i].text, e.line, e.column, e.reason);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(e.reason, refused[i].reason), refused[i].text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(refused[i].line, e.line, refused[i].text);
        TEST_ASSERT_EQUAL_UINT64_MESSAGE(refused[i].column, e.column, refused[i].text);
    }
}

/* What a model has not is told by its checker, and what takes too long by the limit. */
static void test_limits(void)
{
    struct ordeal_error e;
    TEST_ASSERT_FALSE(report("RISCV a\n{ 0:x6=x }\n P0;\n lw.aq x5,0(x6);\n", ORDEAL_PC, &e));
    TEST_ASSERT_EQUAL(ORDEAL_BAD_INPUT, e.status);
    TEST_ASSERT_NOT_NULL(strstr(e.reason, "PC has no acquire"));
    char text[8192] = "RISCV a\n{ 0:x6=x; 1:x6=x; 1:x5=1 }\n P0 | P1;\n";
    for (int i = 0; i < 40; i++)
        strcat(text, "lw x5,0(x6) | amoadd.w x7,x5,(x6);\n");
    TEST_ASSERT_FALSE(report(text, ORDEAL_RVWMO, &e));
    TEST_ASSERT_EQUAL(ORDEAL_LIMIT, e.status);
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "count", required_argument, NULL, 'c' },
                                             { "seed", required_argument, NULL, 's' },
                                             { 0 } };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == '?')
            return 2;
        *(c == 'c' ? &count : &first_seed) = strtoull(optarg, NULL, 0);
    }
    UNITY_BEGIN();
    RUN_TEST(test_shapes);
    RUN_TEST(test_reports);
    RUN_TEST(test_refusals);
    RUN_TEST(test_limits);
    RUN_TEST(test_random_programs);
    return UNITY_END();
}
