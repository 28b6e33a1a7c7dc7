/* SPDX-License-Identifier: Apache-2.0 */
/* What instruction tests share. A test is a program that all harts run, each on memory of its own;
 * it checks itself and says what came of it in marks: GOOD, or BAD, the line, what was found and
 * what should have been. Lines `// count EVENT n [models]` in it ask for events of each hart on
 * the real machine; `// harts n` for that many at least; `// tm` for transactions. LEAN: it is for rtl/lean/.
 *
 * s11: the hart; s10: its 4 KB of memory; s9: the same past the cache; s8: 4 KB common to all. t3
 * to t6 belong to the macros. */
#define GOOD 0x600d
#define BAD  0xbad
#define CSR_DONE 0x7c0
#define CSR_MARK 0x7c1
#define MAP_IPI 0x02000000
#define MAP_UNCACHED 0x40000000
#define MAP_MEMORY 0x80000000

#define TX_CONFLICT 1
#define TX_CAPACITY 2
#define TX_EXPLICIT 3
#define TX_INTERRUPT 4
#define TX_UNSUPPORTED 5

#define TX_BEGIN(status, target) .insn b 0x0b, 0, status, x0, target
#define TX_COMMIT .insn i 0x0b, 1, x0, x0, 0
#define TX_ABORT(code) .insn i 0x0b, 2, x0, x0, code
#define AMOCAS(rd, rs2, rs1) .insn r 0x2f, 2, 0x14, rd, rs1, rs2

/* A register other than t3 to t6 holds the value, or the test ends here. */
#define EXPECT(reg, value) \
    li t6, value; beq reg, t6, 9f; mv t4, reg; li t5, __LINE__; j fail; 9:
#define EXPECT_EQUAL(reg, other) \
    beq reg, other, 9f; mv t4, reg; mv t6, other; li t5, __LINE__; j fail; 9:
#define EXPECT_NOT(reg, value) \
    li t6, value; bne reg, t6, 9f; mv t4, reg; li t5, __LINE__; j fail; 9:
#define FAIL mv t4, zero; mv t6, zero; li t5, __LINE__; j fail

#define BEGIN \
    .globl _start; .option norvc; .option norelax; .text; _start: \
    csrr s11, mhartid; slli t3, s11, 12; li s10, MAP_MEMORY + 0x1000; add s10, s10, t3; \
    li s9, MAP_UNCACHED + 0x1000; add s9, s9, t3; li s8, MAP_MEMORY; \
    la t3, unexpected; csrw mtvec, t3; j begin; \
    unexpected: csrr t4, mcause; csrr t6, mepc; li t5, 0; \
    fail: li t3, BAD; csrw CSR_MARK, t3; csrw CSR_MARK, t5; csrw CSR_MARK, t4; \
    csrw CSR_MARK, t6; csrwi CSR_DONE, 1; 8: j 8b; \
    pass: li t3, GOOD; csrw CSR_MARK, t3; csrwi CSR_DONE, 1; 8: j 8b; \
    begin:

#define PASS j pass
