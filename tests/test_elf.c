/* SPDX-License-Identifier: Apache-2.0 */
/* The elf target: what each operation does on a hart, races on four, refusals, hangs, and that
 * nothing is left behind. Needs QEMU and the RISC-V compiler; tests/support/simulator stands for
 * somebody's simulator. ORDEAL in the environment names the program. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "checking.h"
#include "targets/elf/elf_assembly.h"
#include "targets/elf/elf_build.h"
#include "targets/elf/elf_machine.h"
#include "test/generate.h"
#include "test/lfsr.h"
#include "targets/elf/signature.h"
#include "unity.h"

static char directory[64];           /* TMPDIR of this test; must be empty at its end */
static struct ordeal *context;
static struct program program;
static struct ordeal_trace *test;
static struct why why;

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *d = opendir(path);
    while (d && readdir(d))
        count++;
    if (d)
        closedir(d);
    return count - 2; /* . and .. */
}

void setUp(void)
{
    strcpy(directory, "/tmp/test-elf-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    setenv("TMPDIR", directory, 1);
    context = ordeal_new(NULL);
    program = (struct program){ 0 };
    test = NULL;
    why = (struct why){ "" };
}

void tearDown(void)
{
    program_free(&program);
    ordeal_trace_free(test);
    ordeal_free(context);
    TEST_ASSERT_EQUAL_MESSAGE(0, entries(directory), "a file was left behind");
    TEST_ASSERT_EQUAL(0, rmdir(directory));
    TEST_ASSERT_TRUE_MESSAGE(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
                             "a process was left behind");
}

/* ---- running --------------------------------------------------------------------------- */

struct outcomes {
    uint64_t *values;
    uint32_t count, most, checked;
    enum ordeal_model model;
    const uint64_t *finals; /* what memory holds in the end each time; NULL: what is legal */
};

static bool keep(void *user, uint64_t iteration, const uint64_t *values)
{
    struct outcomes *o = user;
    struct machine_claims claims = { .model = o->model, .atomic = 4, .final = true };
    struct ordeal_trace *trace = NULL;
    TEST_ASSERT_TRUE(o->count < o->most);
    TEST_ASSERT_EQUAL(iteration, o->count);
    if (program.slots)
        memcpy(o->values + (size_t)o->count * program.slots, values,
               program.slots * sizeof *values);
    o->count++;
    if (o->finals)
        TEST_ASSERT_EQUAL_HEX64_ARRAY(o->finals, values + program.slots, program.finals);
    TEST_ASSERT_EQUAL_MESSAGE(ORDEAL_OK,
                              program_trace(&program, iteration, values, &claims, context, &trace),
                              ordeal_last_error(context)->reason);
    TEST_ASSERT_EQUAL(ORDEAL_PASS, result_of(context, trace, o->model, ORDEAL_AUTO));
    ordeal_trace_free(trace);
    return true;
}

static void *open_target(const struct target_options *options)
{
    void *machine = NULL;
    TEST_ASSERT_TRUE_MESSAGE(target_elf.open(options, &machine, &why), why.text);
    return machine;
}

static void compile(const char *lines)
{
    struct ordeal_error e;
    test = trace_of_lines(context, lines);
    TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, "test", &e), e.reason);
}

static enum target_result run(const struct target_options *options, uint32_t iterations,
                              struct outcomes *o)
{
    void *machine = open_target(options);
    struct abilities can = target_elf.can(machine);
    char refusal[256];
    TEST_ASSERT_EQUAL_MESSAGE(0, target_refusal(&can, &program, refusal, sizeof refusal), refusal);
    *o = (struct outcomes){ .most = iterations,
                            .model = target_elf.claims(machine).model,
                            .finals = o->finals };
    o->values = calloc((size_t)iterations * program.slots + 1, sizeof *o->values);
    struct target_sink sink = { keep, o };
    enum target_result result = target_elf.run(machine, &program, 0, iterations, &sink, &why);
    target_elf.close(machine);
    return result;
}

static struct target_options on_qemu(const char *isa)
{
    return (struct target_options){ .machine = "qemu", .isa = isa, .timeout = 60, .seed = 5 };
}

/* One hart, or several that have nothing to do with each other: the values are certain. */
static void expect(const char *isa, const char *lines, const uint64_t *values, uint32_t count)
{
    struct target_options options = on_qemu(isa);
    struct outcomes o = { 0 };
    options.model_given = true;
    options.model = ORDEAL_SC;
    compile(lines);
    TEST_ASSERT_EQUAL(count, program.slots);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 3, &o), why.text);
    TEST_ASSERT_EQUAL(3, o.count);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < count; k++)
            TEST_ASSERT_EQUAL_HEX64(values[k], o.values[i * count + k]);
    free(o.values);
    program_free(&program);
    program = (struct program){ 0 };
    ordeal_trace_free(test);
    test = NULL;
}

#define EXPECT_BOTH(LINES, ...) \
    do { \
        static const uint64_t values[] = { __VA_ARGS__ }; \
        expect("rv64ima", LINES, values, sizeof values / sizeof *values); \
        expect("rv32ima", LINES, values, sizeof values / sizeof *values); \
    } while (0)

/* ---- every kind of operation ----------------------------------------------------------- */

static void test_loads_and_stores_of_every_size(void)
{
    EXPECT_BOTH("init A=0x11223344 A+4=0x85667788 A+8=0x99aabbcc A+12=0xfeedf00d\n"
                "place A=0x40 B=0x30080\n"
                "P0 L[A/1]\nP0 L[A+7/1]\nP0 L[A+2/2]\nP0 L[A+4/2]\nP0 L[A+4]\nP0 L[A/8]\n"
                "P0 L[A/16]\n"
                "P0 S[B+3/1]#0x99\nP0 S[B+4/2]#0xabcd\nP0 S[B+8]#0x80000001\n"
                "P0 S[B+16/8]#0x8877665544332211\nP0 L[B/8]\nP0 L[B+8/8]\nP0 L[B+16/8]\n"
                "P0 S[B/16]#0xffeeddccbbaa99887766554433221100\nP0 L[B/16]\n",
                0x44, 0x85, 0x1122, 0x7788, 0x85667788, 0x8566778811223344,
                0x8566778811223344, 0xfeedf00d99aabbcc,
                0x0000abcd99000000, 0x80000001, 0x8877665544332211,
                0x7766554433221100, 0xffeeddccbbaa9988);
}

static void test_blocks_fill_all_registers(void)
{
    EXPECT_BOTH("P0 S[A/64]#0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212"
                "22324252627" "28292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f\n"
                "P0 L[A/64]\nP0 L[A/64]\nP0 L[A/32]\nP0 L[A]\n",
                0x38393a3b3c3d3e3f, 0x3031323334353637, 0x28292a2b2c2d2e2f, 0x2021222324252627,
                0x18191a1b1c1d1e1f, 0x1011121314151617, 0x08090a0b0c0d0e0f, 0x0001020304050607,
                0x38393a3b3c3d3e3f, 0x3031323334353637, 0x28292a2b2c2d2e2f, 0x2021222324252627,
                0x18191a1b1c1d1e1f, 0x1011121314151617, 0x08090a0b0c0d0e0f, 0x0001020304050607,
                0x38393a3b3c3d3e3f, 0x3031323334353637, 0x28292a2b2c2d2e2f, 0x2021222324252627,
                0x3c3d3e3f);
}

static void test_swap_and_cas(void)
{
    EXPECT_BOTH("init A=3\nplace A=0x1000\n"
                "P0 SWAP[A]#0xfffffff0\nP0 SWAP[A]#5 >r1\nP0 CAS[A]?0xfffffff0#6\n"
                "P0 L[A] >r2\nP0 CAS[A]?r2#0xf0000006\nP0 CAS[A]?0xf0000006#8 >r3\n"
                "P0 SWAP[A]#9 <r3\nP0 CAS[A]?r3#10\nP0 CAS[A]?9#11\nP0 L[A]\n",
                3, 0xfffffff0, 5, 5, 5, 0xf0000006, 8, 9, 9, 11);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* The instructions of a test, to be freed. */
static char *code_of(const char *text)
{
    char *code = NULL;
    size_t size = 0;
    struct elf_platform platform = { 0 };
    compile(text);
    TEST_ASSERT_TRUE_MESSAGE(elf_platform_parse(&platform, "rv64ima", NULL, &why), why.text);
    FILE *out = open_memstream(&code, &size);
    elf_assembly_write(out, &program, &platform, 0, 1, 1);
    fclose(out);
    program_free(&program);
    program = (struct program){ 0 };
    ordeal_trace_free(test);
    test = NULL;
    return code;
}

/* By address, by data, by a branch, as the test says; something between LR and SC of a CAS now and
 * then; all with the values that they must bring. */
static void test_dependences(void)
{
    static const char lines[] =
        "init A=4\nP0 L[A] >r1\nP0 S[B]#7 <data:r1\nP0 S[B+8/8]#9 <data:r1\n"
        "P0 SWAP[D]#8 <data:r1\nP0 AMOADD[D]#2 <r1\n"
        "P0 L[C] >r20 <ctrl:r1\nP0 S[B+16/1]#3 <ctrl:r1 <addr:r20\n"
        "P0 CAS[A]?r1#5 <ctrl:r20\n"
        "P0 L[B]\nP0 L[B+8/8]\nP0 L[B+16/1]\nP0 L[A]\n";
    static const uint64_t values[] = { 4, 0, 8, 0, 4, 7, 9, 3, 5 };
    int between = 0;
    for (int seed = 0; seed < 24; seed++) {
        char text[512];
        snprintf(text, sizeof text, "seed %d\n%s", seed, lines);
        char *code = code_of(text);
        TEST_ASSERT_EQUAL(3, count_of(code, "add t2, t2, t1"));
        TEST_ASSERT_EQUAL(3, count_of(code, "add t0, t0, t1")); /* AMOADD, S, CAS */
        TEST_ASSERT_EQUAL(3, count_of(code, ", 1f\n1:\n"));
        between += count_of(code, "xor t3, t2, t1");
        free(code);
        if (seed < 4)
            expect(seed % 2 ? "rv32ima" : "rv64ima", text, values, 9);
    }
    TEST_ASSERT_TRUE(between > 4 && between < 20);
}

static void test_what_riscv_has(void)
{
    static const char lines[] = "init A=3\nP0 LR.aq[A] >r1\nP0 SC.rl[A]#5 <data:r1 >r2\n"
                                "P0 SWAP.aqrl[A]#6 <ctrl:r2\nP0 AMOADD.rl[A]#2\nP0 LR[A]\n"
                                "P0 MEMBAR r,rw\nP0 MEMBAR w,w\nP0 MEMBAR.tso\nP0 MEMBAR.LL.SS\n"
                                "P0 SC[A]#9\nP0 CAS.aq[A]?9#10\nP0 L[A]\n";
    static const char *const instructions[] = {
        "lr.w.aq a0, (t0)",
        "sc.w.rl a1, t2, (t0)",
        "amoswap.w.aqrl a2, t2, (t0)",
        "amoadd.w.rl a3, t2, (t0)",
        "lr.w a4, (t0)",
        "fence r, rw",
        "fence w, w",
        "fence.tso",
        "fence r, r",
        "sc.w a5, t2, (t0)",
        "lr.w.aq a6, (t0)",
        "sc.w.aqrl t3, t2, (t0)",
    };
    char *code = code_of(lines), *at = code;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        at = strstr(at, instructions[i]);
        TEST_ASSERT_NOT_NULL_MESSAGE(at, instructions[i]);
    }
    free(code);
    EXPECT_BOTH(lines, 3, 0, 5, 6, 8, 0, 9, 10);
}

static void test_what_it_claims(void)
{
    static const struct {
        const char *isa;
        bool given;
        enum ordeal_model model;
    } claims[] = {
        { "rv64ima", false, ORDEAL_RVWMO },      { "rv32ima", false, ORDEAL_RVWMO },
        { "rv64ima_ztso", false, ORDEAL_RVTSO }, { "rv32ima_zicbom_ztso", false, ORDEAL_RVTSO },
        { "rv64ima_ztso", true, ORDEAL_RMO },
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct target_options options = { .emit = "claims",
                                          .isa = claims[i].isa,
                                          .model = ORDEAL_RMO,
                                          .model_given = claims[i].given };
        void *machine = open_target(&options);
        TEST_ASSERT_EQUAL(claims[i].model, target_elf.claims(machine).model);
        target_elf.close(machine);
    }
    rmdir("claims");
}

static void test_amos(void)
{
    EXPECT_BOTH("init A=0xfffffffe\nplace A=0x1000\n"
                "P0 AMOADD[A]#5\nP0 AMOXOR[A]#0xff >r1\nP0 AMOAND[A]#0xf3 <r1\n"
                "P0 AMOOR[A]#0x80000000\nP0 AMOMAX[A]#7\nP0 AMOMIN[A]#0xfffffff0\n"
                "P0 AMOMAXU[A]#1\nP0 AMOMINU[A]#2\nP0 AMOMAX[A]#1 >r2\nP0 AMOMIN[A]#5\n"
                "P0 AMOMINU[A]#0x80000000\nP0 AMOMAXU[A]#0x80000000\nP0 CAS[A]?r2#4\n",
                0xfffffffe, 3, 0xfc, 0xf0, 0x800000f0, 7, 0xfffffff0, 0xfffffff0, 2, 2, 2, 2,
                0x80000000);
    static const uint64_t values[] = { 0, 0x8000000000000001, 0x8000000000000001, 5, 5, 6 };
    expect("rv64ima",
           "P0 AMOADD[A/8]#0x8000000000000001\nP0 AMOMAXU[A/8]#5\nP0 AMOMAX[A/8]#5\n"
           "P0 AMOMIN[A/8]#6\nP0 AMOXOR[A/8]#3\nP0 L[A/8]\n",
           values, 6);
}

static void test_swap_and_cas_of_8_bytes(void)
{
    static const uint64_t values[] = { 0, 0xffffffff00000001, 0xffffffff00000001, 7, 0x80000000,
                                       0x80000000, 13 };
    expect("rv64ima", "P0 SWAP[A/8]#0xffffffff00000001\nP0 CAS[A/8]?1#5\n"
                      "P0 CAS[A/8]?0xffffffff00000001#7\nP0 SWAP[A/8]#0x80000000\n"
                      "P0 L[A] >r1\nP0 CAS[A/8]?r1#13\nP0 L[A/8]\n", values, 7);
}

/* More registers than the machine has to spare: some of them live in memory. */
static void test_many_registers(void)
{
    char lines[4096] = "init A=1 A+8=2 A+16=3\nP0 CAS[B]?r20#77\nP0 CAS[B+4]?r3#78\n";
    uint64_t values[2 + 24 + 24 + 1] = { 0, 0 };
    for (int i = 0; i < 24; i++) {
        sprintf(lines + strlen(lines), "P0 L[A+%d] >r%d\n", i % 3 * 8, i);
        values[2 + i] = (uint64_t)(i % 3 + 1);
    }
    for (int i = 0; i < 24; i++) {
        sprintf(lines + strlen(lines), "P0 CAS[A+%d]?r%d#%d <r%d\n", i % 3 * 8, i % 3 ? i : 1,
                100 + i, 23 - i);
        values[26 + i] = i < 3 || i % 3 == 0 ? (uint64_t)(i % 3 + 1) : (uint64_t)(100 + i % 3);
    }
    strcat(lines, "P0 L[B]\n");
    values[50] = 77;
    expect("rv64ima", lines, values, 51);
    expect("rv32ima", lines, values, 51);
}

/* Saved by whoever resets a line next, with more lines than harts and more harts than lines. */
static void test_memory_at_the_end(void)
{
    static const uint64_t expected[] = { UINT64_C(3) << 32 | 1, 0x5500, 0x8000000000000002, 9, 4 };
    static const char *const isas[] = { "rv32ima", "rv64ima" };
    for (int i = 0; i < 2; i++) {
        struct target_options options = on_qemu(isas[i]);
        struct outcomes o = { .finals = expected };
        compile("init A+4=7 E=4\nfault Z\nP0 NFL[Z]\nP0 S[A]#1\nP1 SWAP[A+4]#3\nP2 S[B+1/1]#0x55\n"
                "P2 S[C/8]#0x8000000000000002\nP1 S[D]#8\nP1 CAS[D]?8#9\nP2 CAS[E]?5#6\nP0 L[E]\n");
        TEST_ASSERT_EQUAL(5, program.finals);
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 7, &o), why.text);
        free(o.values);
        program_free(&program);
        ordeal_trace_free(test);
        test = NULL;
    }
}

static void test_loops_and_steps(void)
{
    EXPECT_BOTH("P0 LOOP.BEGIN#4\nP0 S[A]#100+7\nP0 S[A+8/8]#0xffffffff+0x100000001\n"
                "P0 SWAP[A+16]#9+1\nP0 CAS[A+20]?0#5+1\nP0 S[A+24/1]#240+3\n"
                "P0 L[A]\nP0 L[A+8/8]\nP0 L[A+24/1]\nP0 LOOP.END\nP0 L[A]\n",
                0, 0, 100, 0xffffffff, 240, 9, 5, 107, 0x200000000, 243,
                10, 5, 114, 0x300000001, 246, 11, 5, 121, 0x400000002, 249, 121);
}

static void test_nonfaulting_loads_and_what_has_no_effect(void)
{
    EXPECT_BOTH("fault Z\ninit A=7\n"
                "P0 NFL[A]\nP0 NFL[Z]\nP0 NFL[Z+8/8]\nP0 NFL[Z+63/1]\nP0 NFL[A]\n"
                "P0 MEMBAR\nP0 MEMBAR.LL\nP0 MEMBAR.LS.SL\nP0 MEMBAR.SS\nP0 PREFETCH[A]\n"
                "P0 EVICT[A]\nP0 DELAY#100\nP0 DELAY#0\nP0 DELAY#1\nP0 L[A]\n",
                7, 0, 0, 0, 7, 7);
}

/* Which way they went is the LFSR's; program_trace() knows it, and SC of one hart leaves no
 * choice. Here: both ways were taken, loops around and inside. */
static void test_branches(void)
{
    struct target_options options = on_qemu(NULL);
    struct outcomes o = { 0 };
    uint32_t taken = 0, other = 0;
    options.model_given = true;
    options.model = ORDEAL_SC;
    compile("seed 9\nP0 LOOP.BEGIN#9\nP0 BRANCH.BEGIN\nP0 SWAP[A]#1+1\nP0 BRANCH.ELSE\n"
            "P0 SWAP[B]#1+1\nP0 SWAP[B]#1001+1\nP0 BRANCH.END\nP0 LOOP.END\n"
            "P0 BRANCH.BEGIN\nP0 LOOP.BEGIN#3\nP0 L[A]\nP0 LOOP.END\nP0 BRANCH.END\nP0 L[B]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 40, &o), why.text);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t used = program_slots_used(&program, 0, i);
        if (used < program.slots)
            TEST_ASSERT_EQUAL_HEX64(0, o.values[(i + 1) * program.slots - 1]);
        taken += used != program_slots_used(&program, 0, 0);
        other += used == program_slots_used(&program, 0, 0);
    }
    TEST_ASSERT_TRUE(taken > 0 && other > 0);
    free(o.values);
}

static uint32_t word_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void test_interrupts_arrive(void)
{
    struct elf_platform platform;
    struct elf_job job = { .p = &program, .f = &platform, .directory = directory, .timeout = 60 };
    struct signature s;
    compile("P0 LOOP.BEGIN#10\nP0 IPI#1\nP0 DELAY#2000\nP0 LOOP.END\nP0 L[A]\n"
            "P1 DELAY#40000\nP1 LOOP.BEGIN#20\nP1 SWAP[A]#1+1\nP1 LOOP.END\n");
    TEST_ASSERT_TRUE(elf_platform_parse(&platform, "rv64ima", NULL, &why));
    TEST_ASSERT_EQUAL(TARGET_DONE, elf_build(directory, &program, &platform, 0, 8, 1, &why));
    job.signature_length = signature_length(&program, 8);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, elf_qemu_run(&job, &why), why.text);
    TEST_ASSERT_TRUE_MESSAGE(signature_open(&s, job.bytes, job.length, &program, &why), why.text);
    const uint8_t *progress = job.bytes + HEADER_BYTES;
    TEST_ASSERT_EQUAL(0, word_at(progress + PROGRESS_INTERRUPTS));
    TEST_ASSERT_TRUE(word_at(progress + PROGRESS_BYTES + PROGRESS_INTERRUPTS) >= 8);
    TEST_ASSERT_TRUE_MESSAGE(signature_interrupts(&s, &program, &why), why.text);
    free(job.bytes);
    for (const char *const *file = (const char *const[]){ "test.S", "runtime.S", "link.ld",
             "test.elf", "run.log", NULL }; *file; file++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", directory, *file);
        TEST_ASSERT_EQUAL(0, unlink(path));
    }
}

/* ---- several harts ---------------------------------------------------------------------- */

static void race(const char *isa, const char *lines, uint32_t iterations)
{
    struct target_options options = on_qemu(isa);
    struct outcomes o = { 0 };
    compile(lines);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, iterations, &o), why.text);
    TEST_ASSERT_EQUAL(iterations, o.count);
    uint32_t different = 0;
    for (uint32_t i = 1; i < iterations; i++)
        different += memcmp(o.values, o.values + i * program.slots, program.slots * 8) != 0;
    TEST_ASSERT_TRUE_MESSAGE(different > 0, "every iteration went the same way");
    free(o.values);
}

static const char store_buffering[] = "P0 S[A]#1\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n"
                                      "P2 L[A] >r1\nP2 L[B] <r1\nP3 L[B]\nP3 L[A]\n";

static void test_store_buffering_on_four_harts(void) { race("rv64ima", store_buffering, 100); }

static void test_message_passing_on_four_harts(void)
{
    race("rv32ima", "P0 S[A]#1\nP0 MEMBAR.SS\nP0 S[B]#1\nP1 L[B] >r1\nP1 L[A] <r1\n"
                    "P2 L[B]\nP2 MEMBAR.LL\nP2 L[A]\nP3 L[A/8]\nP3 S[A/8]#0x500000005\n", 100);
}

/* Swaps and CAS that succeeded are one chain of values read and written, or the checker says no. */
static void test_contended_cas_and_swap(void)
{
    race("rv64ima", "P0 LOOP.BEGIN#25\nP0 SWAP[A]#1000+1\nP0 LOOP.END\nP0 L[A]\n"
                    "P1 LOOP.BEGIN#25\nP1 SWAP[A]#2000+1\nP1 LOOP.END\n"
                    "P2 LOOP.BEGIN#25\nP2 L[A] >r1\nP2 CAS[A]?r1#3000+1\nP2 LOOP.END\n"
                    "P3 LOOP.BEGIN#25\nP3 L[A+4]\nP3 SWAP[A+4]#4000+1\nP3 S[A+8]#5000+1\n"
                    "P3 LOOP.END\nP3 L[A/16]\n", 8);
}

/* Both harts' SCs may fail, and none of them twice in a row forever: what stored is one chain. */
static void test_contended_reservations(void)
{
    race("rv64ima",
         "P0 LOOP.BEGIN#30\nP0 LR.aq[A] >r1\nP0 SC.rl[A]#100+1 <ctrl:r1\nP0 LOOP.END\n"
         "P1 LOOP.BEGIN#30\nP1 LR[A]\nP1 SC[A]#200+1 >r1\nP1 S[B]#1+1 <data:r1\n"
         "P1 LOOP.END\nP2 LOOP.BEGIN#30\nP2 SWAP.aqrl[A]#300+1\nP2 L[B]\nP2 LOOP.END\n",
         8);
}

static void test_generated_tests(void)
{
    struct target_options options = on_qemu("rv64ima");
    struct bias *bias = bias_new();
    struct ordeal_error e;
    static const char *const settings[] = {
        "test.threads=4",      "test.operations=60",    "operations.amo=10",
        "operations.lrsc=10",  "marks.rmw=50",          "membar.tso=3",
        "membar.sets=5",       "dependencies.share=40", "dependencies.atomics=40",
        "dependencies.data=1", "dependencies.control=1"
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TEST_ASSERT_TRUE_MESSAGE(bias_set(bias, settings[i], &e), e.reason);
    struct generator *generator = generator_new(bias, 11);
    uint32_t ran = 0;
    for (uint64_t n = 0; n < 24; n++) {
        struct outcomes o = { 0 };
        options.isa = n % 2 ? "rv32ima" : "rv64ima";
        TEST_ASSERT_EQUAL(ORDEAL_OK, generator_make(generator, n, context, &test));
        TEST_ASSERT_TRUE_MESSAGE(program_compile(&program, test, "test", &e), e.reason);
        void *machine = open_target(&options);
        struct abilities can = target_elf.can(machine);
        char refusal[256];
        bool able = target_refusal(&can, &program, refusal, sizeof refusal) == 0;
        target_elf.close(machine);
        if (able) {
            TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 4, &o), why.text);
            free(o.values);
            ran++;
        }
        program_free(&program);
        program = (struct program){ 0 };
        ordeal_trace_free(test);
        test = NULL;
    }
    generator_free(generator);
    bias_free(bias);
    TEST_ASSERT_TRUE(ran >= 20);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refused(struct target_options options, const char *part)
{
    void *machine;
    TEST_ASSERT_FALSE(target_elf.open(&options, &machine, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, part), why.text);
}

static void test_options_are_refused(void)
{
    refused((struct target_options){ 0 }, "--machine qemu");
    refused((struct target_options){ .machine = "qemu", .emit = "x" }, "exclude");
    refused((struct target_options){ .machine = "spike" }, "there is no machine 'spike'");
    refused((struct target_options){ .machine = "qemu", .isa = "rv64gc" }, "rv64gc");
    refused((struct target_options){ .machine = "qemu", .isa = "rv64ima_zicbom" }, "flush");
    refused((struct target_options){ .machine = "qemu", .platform = "ram=0x1000" }, "0x80000000");
    refused((struct target_options){ .machine = "qemu", .platform = "rom=1" }, "clint");
    refused((struct target_options){ .machine = "qemu", .platform = "way=96" }, "multiple of 64");
    refused((struct target_options){ .machine = "qemu", .platform = "way=192" }, "power of two");
    refused((struct target_options){ .machine = "qemu", .platform = "clint=x" }, "multiple of 4");
    refused((struct target_options){ .machine = "qemu", .isa = "rv32ima",
                                     .platform = "fault=0x100000000" }, "32-bit");
    refused((struct target_options){ .command = "true {elf}" }, "{signature}");
    refused((struct target_options){ .command = "true 'x" }, "closing");
    refused((struct target_options){ .command = " " }, "empty");
    refused((struct target_options){ .command = "no-such {elf} {signature}" }, "PATH");
    refused((struct target_options){ .emit = "/proc/nothing" }, "/proc/nothing");
}

static void test_missing_tools_are_named(void)
{
    char *path = strdup(getenv("PATH")), link[128], compiler[512];
    setenv("PATH", directory, 1);
    refused(on_qemu(NULL), "gcc-riscv64-unknown-elf");
    setenv("PATH", path, 1);
    FILE *which = popen("command -v riscv64-unknown-elf-gcc", "r");
    TEST_ASSERT_NOT_NULL(fgets(compiler, sizeof compiler, which));
    pclose(which);
    compiler[strcspn(compiler, "\n")] = '\0';
    snprintf(link, sizeof link, "%s/riscv64-unknown-elf-gcc", directory);
    TEST_ASSERT_EQUAL(0, symlink(compiler, link));
    setenv("PATH", directory, 1);
    refused(on_qemu(NULL), "qemu-system-misc");
    setenv("PATH", path, 1);
    unlink(link);
    free(path);
}

static void test_programs_are_refused(void)
{
    static const struct {
        const char *lines, *part;
    } cases[] = {
        { "P0 TX.BEGIN\nP0 L[A]\nP0 TX.END\n", "transactions" },
        { "P0 FLUSH[A]\n", "flush" },
        { "uncached A\nP0 L[A]\n", "uncached" },
        { "P0 SWAP[A/1]#1\n", "swap of 1 byte" },
        { "P0 SWAP[A/8]#1\n", "swap of 8 bytes" },
        { "P0 CAS[A/8]?1#1\n", "CAS of 8 bytes" },
        { "P0 AMOADD[A/8]#1\n", "AMO of 8 bytes" },
    };
    struct target_options options = on_qemu("rv32ima");
    void *machine = open_target(&options);
    struct abilities can = target_elf.can(machine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        compile(cases[i].lines);
        TEST_ASSERT_TRUE(target_refusal(&can, &program, text, sizeof text) > 0);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, cases[i].part), text);
        program_free(&program);
        program = (struct program){ 0 };
        ordeal_trace_free(test);
        test = NULL;
    }
    target_elf.close(machine);
}

/* ---- what goes wrong while it runs --------------------------------------------------------- */

static void ends(struct target_options options, enum target_result result, const char *part)
{
    struct outcomes o = { 0 };
    TEST_ASSERT_EQUAL_MESSAGE(result, run(&options, 2, &o), why.text);
    TEST_ASSERT_EQUAL(0, o.count);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, part), why.text);
    free(o.values);
}

static const char endless[] = "P0 S[A]#1\nP3 CAS[A]?9#2\nP3 DELAY#4294967294\nP3 DELAY#4294967294\n"
                              "P3 DELAY#4294967294\nP3 DELAY#4294967294\n";

static void test_a_hang_is_named(void)
{
    struct target_options options = on_qemu(NULL);
    options.timeout = 0.5;
    compile(endless);
    ends(options, TARGET_BROKE,
         "the machine hangs: the program on the target did not come to its "
         "end; P3 last seen in iteration 0 at P3 CAS[A]?9#2 (line 3 of the test)");
    TEST_ASSERT_NULL_MESSAGE(strstr(why.text, "P0"), why.text);
}

/* There is no CLINT at 0: clearing the interrupt is an exception, and its cause is 7. */
static void test_an_exception_is_named(void)
{
    struct target_options options = on_qemu(NULL);
    options.platform = "clint=0";
    compile("P0 IPI#1\nP1 L[A]\n");
    ends(options, TARGET_BROKE, "trapped with cause 7");
}

static void test_commands_that_fail(void)
{
    compile(store_buffering);
    struct target_options options = { .timeout = 10 };
    options.command = "sh -c 'echo out of paper; exit 4' {elf} {signature}";
    ends(options, TARGET_FAILED, "sh ended with status 4: out of paper");
    options.command = "true {elf} {signature}";
    ends(options, TARGET_FAILED, "wrote no signature");
    options.command = "sh -c 'cat $0 > $1' {elf} {signature}";
    ends(options, TARGET_FAILED, "no signature");
    options.command = "sh -c 'kill -9 $$' {elf} {signature}";
    ends(options, TARGET_FAILED, "signal 9");
    options.timeout = 0.2;
    options.command = "sh -c 'sleep 1000' {elf} {signature}";
    ends(options, TARGET_BROKE,
         "the machine hangs, as it seems: the command did not end within 0.2 s");
}

/* Whatever lies where the signature should be, it is not waited for, and not read for ever. */
static void test_signatures_without_an_end(void)
{
    compile(store_buffering);
    struct target_options options = { .timeout = 10 };
    options.command = "sh -c 'mkfifo $1' {elf} {signature}";
    ends(options, TARGET_FAILED, "it is not a file");
    options.command = "sh -c 'ln -s /dev/zero $1' {elf} {signature}";
    ends(options, TARGET_FAILED, "it is not a file");
    options.command = "sh -c 'truncate -s 20G $1' {elf} {signature}";
    ends(options, TARGET_FAILED, "no signature: it begins neither");
    options.command = "sh -c 'printf 0 > $1; truncate -s 20G $1' {elf} {signature}";
    ends(options, TARGET_FAILED, "a signature has 448 at most");
    options.command = "sh -c 'mkfifo $1; sleep 1000' {elf} {signature}";
    options.timeout = 0.5;
    ends(options, TARGET_BROKE, "did not end within 0.5 s");
}

/* A simulator that prints and prints: it goes on when what it printed has been cut. */
static void test_output_without_an_end(void)
{
    compile(store_buffering);
    struct target_options options = { .timeout = 60 };
    options.command = "sh -c 'log=${1%/*}/run.log; seq 2400000; "
                      "while [ $(stat -c %s $log) -gt 16777216 ]; do sleep 0.01; done; "
                      "printf \"the \\033[31mend\\n\"; exit 4' {elf} {signature}";
    ends(options, TARGET_FAILED, "status 4: the \\x1b[31mend");
    options.command = "sh -c 'log=${1%/*}/run.log; rm $log; mkfifo $log; exit 4' {elf} {signature}";
    ends(options, TARGET_FAILED, "status 4");
}

static void test_interrupted_by_the_user(void)
{
    struct target_options options = on_qemu(NULL);
    compile(endless);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct target_sink sink = { keep, NULL };
        void *machine;
        interrupt_watch();
        bool fine = target_elf.open(&options, &machine, &why);
        fine = fine && target_elf.run(machine, &program, 0, 2, &sink, &why) == TARGET_STOPPED;
        if (fine)
            target_elf.close(machine);
        fine = fine && waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
        _exit(fine ? 0 : 1);
    }
    while (entries(directory) == 0) /* it has begun */
        usleep(1000);
    usleep(300000);
    TEST_ASSERT_EQUAL(0, kill(child, SIGINT));
    int status;
    TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL(0, status);
}

/* ---- simulators, files, and back ------------------------------------------------------------- */

static void test_a_simulator(void)
{
    static const char *const commands[] = {
        "tests/support/simulator raw {elf} {signature} {harts} {isa}",
        "bash \"tests/support/simulator\" 4 '{elf}' {signature} {harts} {isa}",
        "tests/support/simulator 8 {elf} {signature} {harts} {isa}",
    };
    compile(store_buffering);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct target_options options = { .command = commands[i], .timeout = 60,
                                          .isa = i % 2 ? "rv32ima" : "rv64ima" };
        struct outcomes o = { 0 };
        TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 5, &o), why.text);
        TEST_ASSERT_EQUAL(5, o.count);
        free(o.values);
    }
}

/* A simulator that says how the program ended, and leaves a signature of one that did not. */
static void test_a_simulator_that_tells_of_a_trap(void)
{
    struct target_options options = {
        .command = "sh -c 'tests/support/simulator raw \"$0\" \"$1\" {harts} {isa}; exit 1' {elf} "
                   "{signature}",
        .platform = "clint=0",
        .timeout = 60,
    };
    compile("P0 IPI#1\nP1 L[A]\n");
    ends(options, TARGET_BROKE, "trapped with cause 7");
    program_free(&program);
    ordeal_trace_free(test);
    options.platform = NULL;
    compile(store_buffering);
    ends(options, TARGET_FAILED, "sh ended with status 1");
}

/* Runs a command in `directory`, keeps what it prints; its exit status. */
static char printed[65536];
static int shell(const char *format, const char *a, const char *b)
{
    char command[1024];
    int n = snprintf(command, sizeof command, "root=$PWD; cd %s; ", directory);
    snprintf(command + n, sizeof command - (size_t)n, format, a, b);
    FILE *out = popen(command, "r");
    size_t got = fread(printed, 1, sizeof printed - 1, out);
    printed[got] = '\0';
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void name_program(char *path)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(getenv("ORDEAL"), "ORDEAL must name the program");
    TEST_ASSERT_NOT_NULL(realpath(getenv("ORDEAL"), path));
}

/* What stands in {} is what the symbols of the program and the command line say. */
static void test_all_that_a_command_can_be_told(void)
{
    char path[PATH_MAX];
    name_program(path);
    TEST_ASSERT_EQUAL(0, shell("printf 'ordeal 1\\nP0 S[A]#1\\nP2 L[A]\\n' > %s%s", "t.test", ""));
    shell("%s run --target elf --isa rv32ima --platform ram=0x40000000 --seed 77 --check --command "
          "'sh -c \"cp {elf} e; cp {hex} h; echo {harts} {isa} {seed} {tohost} {begin} {end} > l; "
          "exit 9; {signature}\"' t.test 2>&1",
          path, "");
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "sh ended with status 9"), printed);
    TEST_ASSERT_EQUAL(0, shell("nm=riscv64-unknown-elf-nm; a() { echo 0x$($nm e | "
                               "sed -n \"s/^\\(0*\\)\\([0-9a-f]*\\) . $1\\$/\\2/p\"); }; "
                               "echo 2 rv32ima 77 $(a tohost) $(a begin_signature) "
                               "$(a end_signature) | diff l - >&2%s%s",
                               "", ""));
    /* each byte of the program is where it belongs */
    TEST_ASSERT_EQUAL(
        0, shell("riscv64-unknown-elf-objcopy -O binary e e.bin; "
                 "od -An -v -tx1 -w1 e.bin | awk '$1 != \"00\" "
                 "{ print NR + 1073741823, $1 }' > want; "
                 "awk 'function hex(s) { v = 0; for (i = 1; i <= length(s); i++) "
                 "v = v * 16 + index(\"123456789ABCDEF\", substr(s, i, 1)); "
                 "return v } BEGIN { RS = \"[ \\r\\n]+\" } "
                 "/@/ { at = hex(substr($1, 2)); next } "
                 "{ if ($1 != \"00\" && $1 != \"\") print at, tolower($1); at++ }' h > got; "
                 "test -s want && cmp want got >&2%s%s",
                 "", ""));
    TEST_ASSERT_EQUAL(0, shell("rm e h l want got e.bin t.test%s%s", "", ""));
}

/* The same test and seed: the same bytes, whatever the folder. */
static void test_programs_are_the_same_again(void)
{
    char path[PATH_MAX];
    name_program(path);
    TEST_ASSERT_EQUAL(0, shell("%s gen --target elf --seed 3 -n 1 -o t.test; for i in one two; do "
                               "%s run --target elf --seed 5 --emit $i t.test || exit; done; "
                               "cmp one/test-1/test.elf two/test-1/test.elf",
                               path, path));
    TEST_ASSERT_EQUAL(0, shell("! riscv64-unknown-elf-readelf -s one/test-1/test.elf | "
                               "grep 'FILE.*[.]o$'%s%s",
                               "", ""));
    TEST_ASSERT_EQUAL(0, shell("rm -r one two t.test%s%s", "", ""));
}

/* What a machine breaks by is told, kept, run again, made small, and the run goes on; on two
 * machines at a time, too. */
static void test_breaks_are_findings(void)
{
    char path[PATH_MAX];
    name_program(path);
    TEST_ASSERT_EQUAL(0, shell("printf 'ordeal 1\\nP1 L[B]\\nP0 S[B]#1\\nP0 IPI#1\\n' > %s; "
                               "printf 'ordeal 1\\nP1 L[B]\\nP0 S[B]#1\\n' > %s",
                               "t.test", "p.test"));
    const char *run = "%s run --target elf --machine qemu --platform clint=0 --check --keep-going "
                      "-i 2 --shrink -J 2 t.test p.test t.test p.test%s";
    TEST_ASSERT_EQUAL_MESSAGE(1, shell(run, path, ""), printed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "pass=2 fail=2"), printed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "FAIL t.test#0 model=RVWMO broke=yes"), printed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "small=2"), printed);
    TEST_ASSERT_EQUAL(1, shell("ORDEAL=%s ordeal-failures/test-000002/replay%s", path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "trapped with cause 7"), printed);
    TEST_ASSERT_EQUAL(1, shell("ORDEAL=%s ordeal-failures/test-000000/small/replay%s", path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "trapped with cause 7"), printed);
    TEST_ASSERT_EQUAL(2, shell("%s run --target elf --emit lab -J 2 t.test 2>&1%s", path, ""));
    TEST_ASSERT_EQUAL(0, shell("rm -r t.test p.test ordeal-failures%s%s", "", ""));
}

/* Every hart loads as much as was asked for, from memory that nobody writes, and says so after
 * that; results are as without. */
static void test_eviction_at_the_end(void)
{
    struct target_options options = on_qemu("rv32ima");
    struct outcomes o = { 0 };
    options.platform = "evict=131072";
    compile(store_buffering);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 20, &o), why.text);
    TEST_ASSERT_EQUAL(20, o.checked ? o.checked : o.count);
    free(o.values);
}

static void test_emitted_programs_and_their_signatures(void)
{
    char folder[96], program_path[512];
    struct outcomes o = { 0 };
    TEST_ASSERT_NOT_NULL_MESSAGE(getenv("ORDEAL"), "ORDEAL must name the program");
    TEST_ASSERT_NOT_NULL(realpath(getenv("ORDEAL"), program_path));
    snprintf(folder, sizeof folder, "%s/lab", directory);
    struct target_options options = { .emit = folder, .isa = "rv32ima", .seed = 3 };
    compile("seed 5\n" "P0 BRANCH.BEGIN\nP0 S[A]#1\nP0 BRANCH.END\nP0 L[B]\nP1 S[B]#1\nP1 L[A]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 6, &o), why.text);
    TEST_ASSERT_EQUAL(0, o.count);
    free(o.values);
    TEST_ASSERT_EQUAL(TARGET_FAILED, run(&options, 6, &o)); /* the folder is there */
    free(o.values);
    TEST_ASSERT_NOT_NULL(strstr(why.text, "lab/test-1"));

    TEST_ASSERT_EQUAL(0, shell("$root/tests/support/simulator %s lab/test-1/test.elf s 2 rv32ima",
                               "4", ""));
    TEST_ASSERT_EQUAL(0, shell("%s check --signature s lab/test-1/test.test", program_path, ""));
    TEST_ASSERT_EQUAL(0, strncmp(printed, "PASS lab/test-1/test.test model=RVWMO", 37));
    TEST_ASSERT_NOT_NULL(strstr(printed, "\nPASS lab/test-1/test.test#6 "));
    TEST_ASSERT_NULL(strstr(printed, "#7 "));

    TEST_ASSERT_EQUAL(0, shell("printf 'ordeal 1\\nP0 L[A]\\nP1 L[A]\\n' > %s", "other.test", ""));
    TEST_ASSERT_EQUAL(2, shell("%s check --signature s other.test", program_path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "ERROR s: a signature of another test"), printed);
    TEST_ASSERT_EQUAL(2, shell("head -n -1 s > t; %s check --signature t lab/test-1/test.test",
                               program_path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "ERROR t: cut short"), printed);
    TEST_ASSERT_EQUAL(2, shell("%s check --signature nothing lab/test-1/test.test", program_path,
                               ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "ERROR nothing: No such file"), printed);
    TEST_ASSERT_EQUAL(2, shell("%s check --signature s s s 2>&1", program_path, ""));
    TEST_ASSERT_EQUAL(0, shell("rm -r lab s t other.test%s%s", "", ""));
}

/* The instructions with this opcode and width become those of another width; how many. */
static unsigned patch(const char *elf, uint32_t match, uint32_t mask, uint32_t change)
{
    char path[160];
    unsigned count = 0;
    uint32_t word;
    snprintf(path, sizeof path, "%s/%s", directory, elf);
    FILE *f = fopen(path, "r+");
    TEST_ASSERT_NOT_NULL(f);
    for (long at = 0; fseek(f, at, SEEK_SET) == 0 && fread(&word, sizeof word, 1, f) == 1; at += 4)
        if ((word & mask) == match) {
            word ^= change;
            fseek(f, at, SEEK_SET);
            TEST_ASSERT_EQUAL(1, fwrite(&word, sizeof word, 1, f));
            count++;
        }
    fclose(f);
    return count;
}

/* A hart that extends by zeros what it should by the sign, and the other way round: in loads of
 * all that is narrow, whose bytes are all 0xff. `lines` have one of each. */
static void extends_wrongly(const char *isa, uint32_t width, bool to_zeros, const char *size)
{
    enum { LOAD = 0x03, ZEROS = 4 << 12 };
    char folder[96], program_path[512], lines[512];
    struct outcomes o = { 0 };
    TEST_ASSERT_NOT_NULL_MESSAGE(getenv("ORDEAL"), "ORDEAL must name the program");
    TEST_ASSERT_NOT_NULL(realpath(getenv("ORDEAL"), program_path));
    snprintf(folder, sizeof folder, "%s/lab", directory);
    snprintf(lines, sizeof lines,
             "seed 5\ninit A/8=0xffffffffffffffff\nP0 L[A%s]\nP0 L[A%s]\nP0 L[A%s]\nP0 L[A%s]\n"
             "P0 L[A%s]\nP0 L[A%s]\nP0 L[A%s]\nP0 L[A%s]\n",
             size, size, size, size, size, size, size, size);
    struct target_options options = { .emit = folder, .isa = isa, .seed = 3 };
    compile(lines);
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 2, &o), why.text);
    free(o.values);
    TEST_ASSERT_EQUAL(0,
                      shell("$root/tests/support/simulator 4 lab/test-1/test.elf s 1 %s", isa, ""));
    TEST_ASSERT_EQUAL_MESSAGE(0,
                              shell("%s check --signature s lab/test-1/test.test", program_path,
                                    ""),
                              printed);
    /* into a0 to a5: those of the test */
    unsigned changed = patch("lab/test-1/test.elf",
                             LOAD | width << 12 | (to_zeros ? 0 : ZEROS) | 8 << 7,
                             0x7f | 7 << 12 | 0x18 << 7, ZEROS);
    TEST_ASSERT_TRUE_MESSAGE(changed > 0 && changed < 9, lines);
    TEST_ASSERT_EQUAL(0,
                      shell("$root/tests/support/simulator 4 lab/test-1/test.elf s 1 %s", isa, ""));
    TEST_ASSERT_EQUAL(1, shell("%s check --signature s lab/test-1/test.test", program_path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "FAIL lab/test-1/test.test broke"), printed);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, to_zeros ? "in its register: with signs above"
                                                          : "with zeros above"),
                                 printed);
    TEST_ASSERT_EQUAL(0, shell("rm -r lab s%s%s", "", ""));
    program_free(&program);
    program = (struct program){ 0 };
    ordeal_trace_free(test);
    test = NULL;
}

static void test_registers_extended_wrongly(void)
{
    extends_wrongly("rv64ima", 0, true, "/1");
    extends_wrongly("rv64ima", 1, false, "/2");
    extends_wrongly("rv64ima", 2, true, "/4");
    extends_wrongly("rv64ima", 2, false, "/4");
    extends_wrongly("rv32ima", 1, true, "/2");
    extends_wrongly("rv32ima", 0, false, "/1");
}

/* Interrupts that go nowhere: the harts do not send what the test says. */
static void test_lost_interrupts_are_found(void)
{
    enum { SEND = 0x0072A023 /* sw t2, 0(t0) */, NOP = 0x00000013 };
    char folder[96], program_path[512];
    struct outcomes o = { 0 };
    TEST_ASSERT_NOT_NULL_MESSAGE(getenv("ORDEAL"), "ORDEAL must name the program");
    TEST_ASSERT_NOT_NULL(realpath(getenv("ORDEAL"), program_path));
    snprintf(folder, sizeof folder, "%s/lab", directory);
    struct target_options options = { .emit = folder, .isa = "rv64ima", .seed = 3 };
    compile("P0 S[A]#1\nP0 IPI#1\nP1 L[A]\n");
    TEST_ASSERT_EQUAL_MESSAGE(TARGET_DONE, run(&options, 3, &o), why.text);
    free(o.values);
    TEST_ASSERT_EQUAL(0,
                      shell("$root/tests/support/simulator 4 lab/test-1/test.elf s 2 rv64ima%s%s",
                            "", ""));
    TEST_ASSERT_EQUAL_MESSAGE(0,
                              shell("%s check --signature s lab/test-1/test.test", program_path,
                                    ""),
                              printed);
    TEST_ASSERT_EQUAL(1, patch("lab/test-1/test.elf", SEND, ~UINT32_C(0), SEND ^ NOP));
    TEST_ASSERT_EQUAL(0,
                      shell("$root/tests/support/simulator 4 lab/test-1/test.elf s 2 rv64ima%s%s",
                            "", ""));
    TEST_ASSERT_EQUAL(1, shell("%s check --signature s lab/test-1/test.test", program_path, ""));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(printed, "hart 1 took 0 interrupts in 3 iterations, but 3 "
                                                 "were sent to it, in 3 of them"),
                                 printed);
    TEST_ASSERT_EQUAL(0, shell("rm -r lab s%s%s", "", ""));
}

/* ---- signatures, without a machine ------------------------------------------------------- */

static uint8_t *a_signature(uint32_t iterations, size_t *length)
{
    *length = signature_length(&program, iterations);
    uint8_t *bytes = calloc(1, *length);
    signature_header(&program, 64, 0, iterations, bytes);
    bytes[HEADER_STATE] = STATE_FINISHED;
    for (uint32_t t = 0; t < program.threads; t++)
        memset(bytes + HEADER_BYTES + t * PROGRESS_BYTES + PROGRESS_OPERATION, 0xff, 4);
    for (size_t i = HEADER_BYTES + program.threads * PROGRESS_BYTES; i < *length; i += 8)
        bytes[i] = (uint8_t)i;
    uint32_t sum = signature_checksum(bytes, *length);
    for (int i = 0; i < 4; i++)
        bytes[HEADER_CHECKSUM + i] = (uint8_t)(sum >> 8 * i);
    return bytes;
}

static void test_every_flipped_bit_and_every_cut_is_refused(void)
{
    struct signature s;
    size_t length;
    compile(store_buffering);
    uint8_t *bytes = a_signature(3, &length);
    TEST_ASSERT_TRUE_MESSAGE(signature_open(&s, bytes, length, &program, &why), why.text);
    TEST_ASSERT_EQUAL(3, s.iterations);
    for (size_t bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        why.text[0] = '\0';
        TEST_ASSERT_FALSE(signature_open(&s, bytes, length, &program, &why));
        TEST_ASSERT_TRUE(why.text[0] != '\0');
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < length; cut++) {
        TEST_ASSERT_FALSE(signature_open(&s, bytes, cut, &program, &why));
        TEST_ASSERT_EQUAL(0, strncmp(why.text, "cut short", 9));
    }
    free(bytes);
}

/* As text, `width` bytes a line. */
static char *as_text(const uint8_t *bytes, size_t length, size_t width, size_t *size)
{
    char *text = malloc(length * 3 + 1);
    *size = 0;
    for (size_t line = 0; line < length; line += width) {
        for (size_t b = width; b-- > 0; )
            *size += (size_t)sprintf(text + *size, "%02x", bytes[line + b]);
        *size += (size_t)sprintf(text + *size, "\n");
    }
    return text;
}

static void test_text_of_every_width(void)
{
    size_t length, size;
    compile(store_buffering);
    uint8_t *bytes = a_signature(2, &length);
    for (size_t width = 4; width <= 16; width *= 2) {
        char *text = as_text(bytes, length, width, &size);
        TEST_ASSERT_TRUE_MESSAGE(signature_raw((uint8_t *)text, &size, &why), why.text);
        TEST_ASSERT_EQUAL(length, size);
        TEST_ASSERT_EQUAL_MEMORY(bytes, text, length);
        free(text);
        text = as_text(bytes, length, width, &size);
        size -= 3;
        TEST_ASSERT_FALSE(signature_raw((uint8_t *)text, &size, &why));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "cut short"), why.text);
        free(text);
        text = as_text(bytes, length, width, &size);
        text[width * 2 + 3] = 'x';
        TEST_ASSERT_FALSE(signature_raw((uint8_t *)text, &size, &why));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "line 2"), why.text);
        free(text);
    }
    char odd[] = "123456\n", empty[] = "", none[] = "\n\n";
    size = 7;
    TEST_ASSERT_FALSE(signature_raw((uint8_t *)odd, &size, &why));
    size = 0;
    TEST_ASSERT_FALSE(signature_raw((uint8_t *)empty, &size, &why));
    size = 2;
    TEST_ASSERT_FALSE(signature_raw((uint8_t *)none, &size, &why));
    free(bytes);
}

/* Of 64 iterations, in each of which P1 is sent three, and one more, each as a branch says. */
static void test_interrupts_are_counted(void)
{
    uint32_t least = 0, most = 0;
    size_t length;
    struct signature s;
    compile("P0 BRANCH.BEGIN\nP0 LOOP.BEGIN#3\nP0 IPI#1\nP0 LOOP.END\nP0 BRANCH.END\n"
            "P0 BRANCH.BEGIN\nP0 IPI#1\nP0 BRANCH.END\nP1 L[A]\n");
    uint8_t *bytes = a_signature(64, &length);
    TEST_ASSERT_TRUE_MESSAGE(signature_open(&s, bytes, length, &program, &why), why.text);
    for (uint64_t i = 0; i < 64; i++) {
        uint32_t state = lfsr_start(program.seed, 0, i);
        uint32_t sent = lfsr_step(&state) ? 3 : 0;
        sent += lfsr_step(&state);
        least += sent > 0;
        most += sent;
    }
    TEST_ASSERT_TRUE(least > 16 && least < 64 && most > least + 16);
    for (uint32_t taken = least - 1; taken <= most + 1; taken++) {
        bytes[HEADER_BYTES + PROGRESS_BYTES + PROGRESS_INTERRUPTS] = (uint8_t)taken;
        TEST_ASSERT_EQUAL(taken >= least && taken <= most,
                          signature_interrupts(&s, &program, &why));
    }
    bytes[HEADER_BYTES + PROGRESS_BYTES + PROGRESS_INTERRUPTS] = (uint8_t)least;
    bytes[HEADER_BYTES + PROGRESS_INTERRUPTS] = 1; /* nobody sent P0 any */
    TEST_ASSERT_FALSE(signature_interrupts(&s, &program, &why));
    free(bytes);
}

static void test_an_unfinished_signature_names_the_harts(void)
{
    struct signature s;
    size_t length;
    compile(store_buffering);
    uint8_t *bytes = a_signature(2, &length);
    bytes[HEADER_STATE] = STATE_RUNNING;
    uint8_t *progress = bytes + HEADER_BYTES + 2 * PROGRESS_BYTES;
    memset(progress, 0, PROGRESS_BYTES);
    progress[PROGRESS_ITERATION] = 2;
    progress[PROGRESS_OPERATION] = 1;
    TEST_ASSERT_FALSE(signature_open(&s, bytes, length, &program, &why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why.text, "; P2 last seen in iteration 1 at P2 L[B]"),
                                 why.text);
    TEST_ASSERT_NULL_MESSAGE(strstr(why.text, "P1"), why.text);
    free(bytes);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_loads_and_stores_of_every_size);
    RUN_TEST(test_blocks_fill_all_registers);
    RUN_TEST(test_swap_and_cas);
    RUN_TEST(test_swap_and_cas_of_8_bytes);
    RUN_TEST(test_dependences);
    RUN_TEST(test_what_riscv_has);
    RUN_TEST(test_what_it_claims);
    RUN_TEST(test_amos);
    RUN_TEST(test_many_registers);
    RUN_TEST(test_memory_at_the_end);
    RUN_TEST(test_loops_and_steps);
    RUN_TEST(test_nonfaulting_loads_and_what_has_no_effect);
    RUN_TEST(test_branches);
    RUN_TEST(test_interrupts_arrive);
    RUN_TEST(test_store_buffering_on_four_harts);
    RUN_TEST(test_message_passing_on_four_harts);
    RUN_TEST(test_contended_cas_and_swap);
    RUN_TEST(test_contended_reservations);
    RUN_TEST(test_generated_tests);
    RUN_TEST(test_options_are_refused);
    RUN_TEST(test_missing_tools_are_named);
    RUN_TEST(test_programs_are_refused);
    RUN_TEST(test_a_hang_is_named);
    RUN_TEST(test_an_exception_is_named);
    RUN_TEST(test_commands_that_fail);
    RUN_TEST(test_signatures_without_an_end);
    RUN_TEST(test_output_without_an_end);
    RUN_TEST(test_interrupted_by_the_user);
    RUN_TEST(test_a_simulator);
    RUN_TEST(test_a_simulator_that_tells_of_a_trap);
    RUN_TEST(test_all_that_a_command_can_be_told);
    RUN_TEST(test_programs_are_the_same_again);
    RUN_TEST(test_breaks_are_findings);
    RUN_TEST(test_eviction_at_the_end);
    RUN_TEST(test_emitted_programs_and_their_signatures);
    RUN_TEST(test_registers_extended_wrongly);
    RUN_TEST(test_lost_interrupts_are_found);
    RUN_TEST(test_every_flipped_bit_and_every_cut_is_refused);
    RUN_TEST(test_text_of_every_width);
    RUN_TEST(test_interrupts_are_counted);
    RUN_TEST(test_an_unfinished_signature_names_the_harts);
    return UNITY_END();
}
