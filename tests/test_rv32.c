/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder of RV32 instructions against the GNU assembler: every one of its table, operands at
 * random and at the ends of their ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "targets/soc/rv32.h"
#include "unity.h"

enum { TIMES = 12, MOST = RV32_NAMES * TIMES };
#define ASSEMBLER "riscv64-unknown-elf-"

void setUp(void) {}
void tearDown(void) {}

/* How the assembler takes it: d rd, s rs1, t rs2, i immediate, u unsigned, c CSR, z 5-bit operand,
 * f fence, b distance. What binutils 2.40 does not know is an .insn. */
/* clang-format off */
static const char *const syntax[RV32_NAMES] = {
    [RV_LUI] = "lui d, u", [RV_AUIPC] = "auipc d, u", [RV_JAL] = "jal d, b",
    [RV_JALR] = "jalr d, i(s)", [RV_BEQ] = "beq s, t, b", [RV_BNE] = "bne s, t, b",
    [RV_BLT] = "blt s, t, b", [RV_BGE] = "bge s, t, b", [RV_BLTU] = "bltu s, t, b",
    [RV_BGEU] = "bgeu s, t, b", [RV_LB] = "lb d, i(s)", [RV_LH] = "lh d, i(s)",
    [RV_LW] = "lw d, i(s)", [RV_LBU] = "lbu d, i(s)", [RV_LHU] = "lhu d, i(s)",
    [RV_SB] = "sb t, i(s)", [RV_SH] = "sh t, i(s)", [RV_SW] = "sw t, i(s)",
    [RV_ADDI] = "addi d, s, i", [RV_SLTI] = "slti d, s, i", [RV_SLTIU] = "sltiu d, s, i",
    [RV_XORI] = "xori d, s, i", [RV_ORI] = "ori d, s, i", [RV_ANDI] = "andi d, s, i",
    [RV_SLLI] = "slli d, s, i", [RV_SRLI] = "srli d, s, i", [RV_SRAI] = "srai d, s, i",
    [RV_ADD] = "add d, s, t", [RV_SUB] = "sub d, s, t", [RV_SLL] = "sll d, s, t",
    [RV_SLT] = "slt d, s, t", [RV_SLTU] = "sltu d, s, t", [RV_XOR] = "xor d, s, t",
    [RV_SRL] = "srl d, s, t", [RV_SRA] = "sra d, s, t", [RV_OR] = "or d, s, t",
    [RV_AND] = "and d, s, t", [RV_MUL] = "mul d, s, t", [RV_MULH] = "mulh d, s, t",
    [RV_MULHSU] = "mulhsu d, s, t", [RV_MULHU] = "mulhu d, s, t", [RV_DIV] = "div d, s, t",
    [RV_DIVU] = "divu d, s, t", [RV_REM] = "rem d, s, t", [RV_REMU] = "remu d, s, t",
    [RV_FENCE] = "fence f", [RV_ECALL] = "ecall", [RV_EBREAK] = "ebreak", [RV_MRET] = "mret",
    [RV_WFI] = "wfi", [RV_CSRRW] = "csrrw d, c, s", [RV_CSRRS] = "csrrs d, c, s",
    [RV_CSRRC] = "csrrc d, c, s", [RV_CSRRWI] = "csrrwi d, c, z", [RV_CSRRSI] = "csrrsi d, c, z",
    [RV_CSRRCI] = "csrrci d, c, z", [RV_LR] = "lr.w d, (s)", [RV_SC] = "sc.w d, t, (s)",
    [RV_AMOSWAP] = "amoswap.w d, t, (s)", [RV_AMOADD] = "amoadd.w d, t, (s)",
    [RV_AMOXOR] = "amoxor.w d, t, (s)", [RV_AMOAND] = "amoand.w d, t, (s)",
    [RV_AMOOR] = "amoor.w d, t, (s)", [RV_AMOMIN] = "amomin.w d, t, (s)",
    [RV_AMOMAX] = "amomax.w d, t, (s)", [RV_AMOMINU] = "amominu.w d, t, (s)",
    [RV_AMOMAXU] = "amomaxu.w d, t, (s)", [RV_AMOCAS] = ".insn r 0x2f, 2, 0x14, d, s, t",
    [RV_CBO_FLUSH] = "cbo.flush (s)", [RV_PREFETCH_R] = "prefetch.r 0(s)",
    [RV_PREFETCH_W] = "prefetch.w 0(s)", [RV_TX_BEGIN] = ".insn b 0x0b, 0, s, t, b",
    [RV_TX_COMMIT] = ".insn i 0x0b, 1, x0, x0, 0", [RV_TX_ABORT] = ".insn i 0x0b, 2, d, s, i",
};
/* clang-format on */

struct sample { enum rv32_name name; uint32_t rd, rs1, rs2; int32_t immediate; };
static struct sample samples[MOST];
static uint32_t words[MOST];

static bool has(const char *text, char letter)
{
    const char *operands = strpbrk(text, " ");
    for (const char *c = operands; c && *c; c++)
        if (*c == letter && (c[1] == ',' || c[1] == '(' || c[1] == ')' || !c[1]))
            return true;
    return false;
}

/* One that fits, the largest and the smallest among them. */
static int32_t some_immediate(struct random *r, enum rv32_name name, int turn)
{
    for (int bits = 31; turn < 2 && bits >= 0; bits--)
        for (int32_t step = 0; step < 2; step++) {
            int32_t x = turn ? -(INT32_C(1) << bits % 31) : (INT32_C(1) << bits % 31) - 1 - step;
            if (rv32_fits(name, x))
                return x;
        }
    for (;;) {
        int32_t x = (int32_t)((uint32_t)random_next(r) << random_below(r, 32))
                    >> random_below(r, 32);
        if (rv32_fits(name, x))
            return x;
        if (random_below(r, 1000) == 0)
            return 0;
    }
}

static void print(FILE *f, const struct sample *s)
{
    const char *text = syntax[s->name], *operands = strpbrk(text, " ");
    static const char *const sets[16] = { "0", "w", "r", "rw", "o", "ow", "or", "orw",
                                          "i", "iw", "ir", "irw", "io", "iow", "ior", "iorw" };
    for (const char *c = text; *c; c++) {
        bool alone = operands && c > operands && (c[-1] == ' ' || c[-1] == '(')
                     && (c[1] == ',' || c[1] == '(' || c[1] == ')' || !c[1]);
        switch (alone ? *c : 0) {
        case 'd': fprintf(f, "x%u", s->rd); break;
        case 's': fprintf(f, "x%u", s->rs1); break;
        case 't': fprintf(f, "x%u", s->rs2); break;
        case 'z': fprintf(f, "%u", s->rs1); break;
        case 'i':
        case 'u':
        case 'c': fprintf(f, "%d", s->immediate); break;
        case 'b': fprintf(f, ".%+d", s->immediate); break;
        case 'f': fprintf(f, "%s, %s", sets[s->immediate >> 4], sets[s->immediate & 15]); break;
        default: fputc(*c, f);
        }
    }
    fputc('\n', f);
}

static void choose(void)
{
    struct random r;
    random_seed(&r, 4, 0);
    for (int n = 0; n < MOST; n++) {
        enum rv32_name name = (enum rv32_name)(n / TIMES);
        TEST_ASSERT_NOT_NULL_MESSAGE(syntax[name], "an instruction without its syntax");
        struct sample s = { name, random_below(&r, 32), random_below(&r, 32), random_below(&r, 32),
                            some_immediate(&r, name, n % TIMES) };
        if (!has(syntax[name], 'i') && !has(syntax[name], 'u') && !has(syntax[name], 'c')
            && !has(syntax[name], 'b') && !has(syntax[name], 'f'))
            s.immediate = 0;
        if (name == RV_FENCE && (s.immediate >> 4 == 0 || (s.immediate & 15) == 0))
            s.immediate = 0x33; /* the assembler does not know an empty set */
        if (!has(syntax[name], 'd'))
            s.rd = 0;
        if (!has(syntax[name], 's') && !has(syntax[name], 'z'))
            s.rs1 = 0;
        if (!has(syntax[name], 't'))
            s.rs2 = 0;
        samples[n] = s;
    }
}

/* The assembler's words. */
static void assemble(void)
{
    char directory[] = "/tmp/test-rv32-XXXXXX", command[1024], file[64];
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/test.S", directory);
    FILE *f = fopen(file, "w");
    TEST_ASSERT_NOT_NULL(f);
    fprintf(f, ".option norvc\n.option norelax\n");
    for (int n = 0; n < MOST; n++)
        print(f, &samples[n]);
    fclose(f);
    snprintf(command, sizeof command, "cd %s && " ASSEMBLER "as -march=rv32ima_zicsr_zicbom_zicbop "
             "-mno-relax -mno-arch-attr test.S -o test.o && " ASSEMBLER "ld -melf32lriscv -Ttext=0 "
             "--no-relax -e 0 test.o -o test.elf && " ASSEMBLER "objcopy -O binary test.elf "
             "test.bin", directory);
    TEST_ASSERT_EQUAL_MESSAGE(0, system(command), command);
    snprintf(file, sizeof file, "%s/test.bin", directory);
    TEST_ASSERT_NOT_NULL(f = fopen(file, "rb"));
    TEST_ASSERT_EQUAL(MOST, fread(words, sizeof *words, MOST, f));
    fclose(f);
    snprintf(command, sizeof command, "rm -r %s", directory);
    TEST_ASSERT_EQUAL(0, system(command));
}

static void test_every_instruction(void)
{
    choose();
    assemble();
    for (int n = 0; n < MOST; n++) {
        const struct sample *s = &samples[n];
        char text[128];
        snprintf(text, sizeof text, "%s rd %u rs1 %u rs2 %u immediate %d", syntax[s->name], s->rd,
                 s->rs1, s->rs2, s->immediate);
        TEST_ASSERT_EQUAL_HEX32_MESSAGE(words[n],
                                        rv32(s->name, s->rd, s->rs1, s->rs2, s->immediate), text);
    }
}

/* What the one or two instructions leave in the register. */
static uint32_t run_constant(const uint32_t *code, uint32_t count)
{
    uint32_t x = 0;
    for (uint32_t i = 0; i < count; i++)
        if ((code[i] & 0x7f) == 0x37)
            x = code[i] & ~UINT32_C(0xfff);
        else
            x = (code[i] >> 15 & 31 ? x : 0) + (uint32_t)((int32_t)code[i] >> 20);
    return x;
}

static void test_constants(void)
{
    static const uint32_t ends[] = { 0, 1, 2047, 2048, 2049, 4095, 4096, 0x7fffffff, 0x80000000,
                                     0xffffffff, 0xfffff800, 0xfffff7ff, 0x7ffff800, 0x7ffff7ff };
    struct random r;
    random_seed(&r, 5, 0);
    for (int n = 0; n < 10000; n++) {
        uint32_t value = n < (int)(sizeof ends / sizeof *ends)
                             ? ends[n] : (uint32_t)random_next(&r) >> random_below(&r, 32);
        uint32_t code[2], count = rv32_constant(7, value, code);
        TEST_ASSERT_TRUE(count == 1 || count == 2);
        TEST_ASSERT_EQUAL_HEX32(value, run_constant(code, count));
        TEST_ASSERT_EQUAL_HEX32(value, (rv32_upper(value) << 12) + (uint32_t)rv32_lower(value));
    }
}

static void test_ranges(void)
{
    TEST_ASSERT_TRUE(rv32_fits(RV_ADDI, 2047) && rv32_fits(RV_ADDI, -2048));
    TEST_ASSERT_FALSE(rv32_fits(RV_ADDI, 2048) || rv32_fits(RV_ADDI, -2049));
    TEST_ASSERT_TRUE(rv32_fits(RV_BEQ, 4094) && rv32_fits(RV_BEQ, -4096));
    TEST_ASSERT_FALSE(rv32_fits(RV_BEQ, 4096) || rv32_fits(RV_BEQ, -4098) || rv32_fits(RV_BEQ, 3));
    TEST_ASSERT_TRUE(rv32_fits(RV_JAL, 1048574) && rv32_fits(RV_JAL, -1048576));
    TEST_ASSERT_FALSE(rv32_fits(RV_JAL, 1048576));
    TEST_ASSERT_FALSE(rv32_fits(RV_SLLI, 32) || rv32_fits(RV_CSRRW, 4096) || rv32_fits(RV_ADD, 1));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_instruction);
    RUN_TEST(test_constants);
    RUN_TEST(test_ranges);
    return UNITY_END();
}
