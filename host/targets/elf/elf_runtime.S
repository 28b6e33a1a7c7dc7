/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up, barrier, iterations and the end of a test on bare RISC-V harts, in machine mode.
 *
 * test.S includes this file after the sizes and before the tables (header, threads, lines, finals,
 * skews, starts) and the code of the threads. Every address is relative to the program counter or comes
 * from the tables, so the program runs wherever the linker puts it.
 *
 * While a thread's code runs:
 *   sp  block of the hart: room of the trap handler, registers of the test that found no other
 *   gp  memory of the test + 2048, so that 4096 bytes of it are one offset away
 *   ra  progress of the hart in the signature
 *   tp  where its next value goes
 *   s0  LFSR of the branches       s1  times round the loop so far
 *   t0-t3  for one operation       all others: values seen, registers of the test
 * The code ends with a jump to thread_done and may leave s0, s1 and all t, a, s registers as it
 * likes. An interrupt may come at any time, and changes nothing. */

#if __riscv_xlen == 64
#define LX ld
#define SX sd
#define ADDRESS(x) .dword x
#else
#define LX lw
#define SX sw
#define ADDRESS(x) .word x, 0
#endif

#define BLOCK_SAVED    0    /* 2 registers, of the trap handler */
#define BLOCK_HART     16
#define BLOCK_ARRIVALS 20   /* arrivals at the barrier that let this hart through last */
#define BLOCK_SKEW     24   /* LFSR of the start skew */

#define PAUSE          .word 0x0100000f     /* a hint: nothing where it is not known */
#define MAY_FAULT      slti zero, zero, 1   /* a hint: the load before this may fault */

    .option norvc
    .option norelax

    .section .text.start, "ax"
    .globl _start
_start:
    csrw mie, zero
    csrr s2, mhartid
    li t0, FIRST_HART
    sub s2, s2, t0
    li t0, HARTS
    bgeu s2, t0, park
    la t0, trap
    csrw mtvec, t0

    la sp, blocks
    li t0, BLOCK_BYTES
    mul t0, t0, s2
    add sp, sp, t0
    la gp, memory + 2048
    la ra, begin_signature + HEADER_BYTES
    li t0, PROGRESS_BYTES
    mul t0, t0, s2
    add ra, ra, t0

    sw s2, BLOCK_HART(sp)
    sw zero, BLOCK_ARRIVALS(sp)
    la t0, skews
    slli t1, s2, 2
    add t0, t0, t1
    lw t0, 0(t0)
    sw t0, BLOCK_SKEW(sp)
    mv t0, ra
    addi t1, ra, PROGRESS_BYTES
1:  sw zero, 0(t0)
    addi t0, t0, 4
    bltu t0, t1, 1b

    bnez s2, 2f
    la t0, header
    la t1, begin_signature
    addi t2, t0, HEADER_BYTES
1:  lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
    bltu t0, t2, 1b
2:  jal t6, barrier             /* from here on a trap can be told */

#if INTERRUPTS
    li t0, CLINT
    csrr t1, mhartid
    slli t1, t1, 2
    add t0, t0, t1
    sw zero, 0(t0)
    li t0, 8
    csrw mie, t0
    csrs mstatus, t0
#endif

/* ---- one iteration: lines and slots as at first, all together, the thread's code ------- */

iterate:
    lw s1, PROGRESS_ITERATION(ra)
    lw s2, BLOCK_HART(sp)

    /* Line n is reset by hart n - iteration, modulo HARTS: caches start differently each time. And
     * before that it saves what the iteration before left there. */
    add s3, s1, s2
    li t0, HARTS
    remu s3, s3, t0
#if FINALS
    beqz s1, 3f
    la t0, finals
    li t1, FINALS * FINAL_RECORD
    add t1, t1, t0
    la t2, slots
    li t3, OUTCOME_BYTES
    mul t3, t3, s1
    add t2, t2, t3
    li t3, FINALS * 8
    sub t2, t2, t3
1:  lw t3, 8(t0)
    bne t3, s3, 2f
    LX t3, 0(t0)
    lw t4, 0(t3)
    lw t5, 4(t3)
    sw t4, 0(t2)
    sw t5, 4(t2)
2:  addi t0, t0, FINAL_RECORD
    addi t2, t2, 8
    bltu t0, t1, 1b
3:
#endif
    li t0, ITERATIONS
    bgeu s1, t0, finish

    li t1, LINE_RECORD
    mul t0, s3, t1
    la t2, lines
    add t0, t0, t2
    li t1, LINES * LINE_RECORD
    add t1, t1, t2
    j 3f
1:  LX t2, 0(t0)
    addi t3, t0, 8
    addi t4, t0, LINE_RECORD
2:  lw t5, 0(t3)
    sw t5, 0(t2)
    addi t2, t2, 4
    addi t3, t3, 4
    bltu t3, t4, 2b
    li t2, HARTS * LINE_RECORD
    add t0, t0, t2
3:  bltu t0, t1, 1b

    la t0, threads
    slli t1, s2, 4
    add t0, t0, t1
    LX s4, 0(t0)                /* code */
    lw t1, 8(t0)         /* bytes before its slots */
    lw t2, 12(t0)        /* bytes of its slots */
    la tp, slots
    li t0, OUTCOME_BYTES
    mul t0, t0, s1
    add tp, tp, t0
    add tp, tp, t1
    mv t0, tp
    add t1, tp, t2
    j 2f
1:  sw zero, 0(t0)
    addi t0, t0, 4
2:  bltu t0, t1, 1b

    jal t6, barrier

    li t0, OPERATION_NONE
    sw t0, PROGRESS_OPERATION(ra)
    addi t0, s1, 1
    sw t0, PROGRESS_ITERATION(ra)
#if BRANCHES
    la t0, starts
    li t1, HARTS
    mul t1, t1, s1
    add t1, t1, s2
    slli t1, t1, 2
    add t0, t0, t1
    lw s0, 0(t0)
#endif

    /* Start skew: up to 1023 times round, small ones as likely as large ones. */
    lw t0, BLOCK_SKEW(sp)
    lui t1, LFSR_TAPS >> 12
    andi t2, t0, 1
    neg t2, t2
    and t1, t1, t2
    slli t0, t0, __riscv_xlen - 32
    srli t0, t0, __riscv_xlen - 31
    xor t0, t0, t1
    sw t0, BLOCK_SKEW(sp)
    andi t1, t0, 1023
    srli t0, t0, 10
    andi t0, t0, 7
    srl t1, t1, t0
    j 2f
1:  addi t1, t1, -1
2:  bnez t1, 1b
    jr s4

thread_done:
    li t0, OPERATION_DONE
    sw t0, PROGRESS_OPERATION(ra)
#if INTERRUPTS
    fence o, w                  /* what it sent is there before it says that it is done */
#endif
    jal t6, barrier
#if INTERRUPTS
    /* What others sent is taken in the iteration in which it was: the trap takes it back. */
    li t0, CLINT
    csrr t1, mhartid
    slli t1, t1, 2
    add t0, t0, t1
1:  lw t1, 0(t0)
    bnez t1, 1b
#endif
    j iterate

/* Returns to t6 when all harts are here; changes t0 to t2. */
barrier:
    fence rw, rw
    lw t1, BLOCK_ARRIVALS(sp)
    addi t1, t1, HARTS
    sw t1, BLOCK_ARRIVALS(sp)
    la t0, arrivals
    li t2, 1
    amoadd.w.aqrl zero, t2, (t0)
1:  lw t2, 0(t0)
    sub t2, t2, t1
    slli t2, t2, __riscv_xlen - 32
    bgez t2, 2f
    PAUSE
    j 1b
2:  fence rw, rw
    jr t6

/* ---- the end --------------------------------------------------------------------------- */

finish:
    csrw mie, zero
    jal t6, barrier             /* from here on the signature does not change */
    lw s2, BLOCK_HART(sp)
    bnez s2, leave
    la t0, begin_signature
    li t1, STATE_FINISHED
    sw t1, HEADER_STATE(t0)
    /* FNV-1a over 32-bit words; the field of the checksum counts as the 0 that is still there. */
    la t1, end_signature
    li t2, CHECKSUM_START
    li t3, CHECKSUM_PRIME
1:  lw t4, 0(t0)
    xor t2, t2, t4
    mul t2, t2, t3
    addi t0, t0, 4
    bltu t0, t1, 1b
    la t0, begin_signature
    sw t2, HEADER_CHECKSUM(t0)
#if EVICT_BYTES
    jal t6, barrier             /* from here on it is in memory, or in the caches of this hart */
#endif
    li s2, 1                    /* exit status 0 */
exit:
    fence rw, rw
    jal t6, evict
    la t0, tohost
    sw s2, 0(t0)
    sw zero, 4(t0)
    fence rw, rw
    jal t6, evict
    j park

/* A hart whose part is done, but for what its caches have. */
leave:
#if EVICT_BYTES
    jal t6, evict
    jal t6, barrier
#endif
park:
    csrw mie, zero
1:  wfi
    j 1b

/* Returns to t6 when EVICT_BYTES of other memory have gone through the caches; changes t0 to t2. */
evict:
#if EVICT_BYTES
    la t0, conflicts
    li t1, EVICT_BYTES
    add t1, t1, t0
1:  lw t2, 0(t0)
    addi t0, t0, 16
    bltu t0, t1, 1b
#endif
    jr t6

/* A software interrupt is taken back and counted. A load that may fault leaves its register as it
 * is, that is 0. Anything else ends the run. */
    .balign 4
trap:
    SX t0, BLOCK_SAVED(sp)
    SX t1, BLOCK_SAVED + 8(sp)
    csrr t0, mcause
    bltz t0, 1f
    li t1, 5                    /* load access fault */
    bne t0, t1, unexpected
    csrr t0, mepc
    lw t1, 4(t0)                /* the next instruction must be MAY_FAULT */
    addi t0, t0, 4
    csrw mepc, t0
    la t0, may_fault
    lw t0, 0(t0)
    beq t0, t1, 2f
    csrr t0, mepc
    addi t0, t0, -4
    csrw mepc, t0
    j unexpected
1:  li t0, CLINT
    csrr t1, mhartid
    slli t1, t1, 2
    add t0, t0, t1
    sw zero, 0(t0)
    lw t0, PROGRESS_INTERRUPTS(ra)
    addi t0, t0, 1
    sw t0, PROGRESS_INTERRUPTS(ra)
2:  LX t0, BLOCK_SAVED(sp)
    LX t1, BLOCK_SAVED + 8(sp)
    mret

unexpected:
    csrr t0, mcause
    sw t0, PROGRESS_CAUSE(ra)
    csrr t0, mepc
    SX t0, PROGRESS_PC(ra)
    la t0, begin_signature
    li t1, STATE_TRAPPED
    sw t1, HEADER_STATE(t0)
    li s2, 3                    /* exit status 1 */
    j exit

may_fault:
    MAY_FAULT

/* ---- what others look for; the linker script puts it one page after _start --------------- */

    .section .tohost, "aw"
    .balign 64
    .globl tohost, fromhost
tohost:
    .word 0, 0
    .balign 64
fromhost:
    .word 0, 0
    .balign 64
    ADDRESS(begin_signature)
    ADDRESS(end_signature)

    .data
    .balign 64
arrivals:
    .word 0
    .balign 64
blocks:
    .zero HARTS * BLOCK_BYTES

    .section .memory, "aw", @nobits
    .balign MEMORY_ALIGNMENT
memory:
    .zero MEMORY_BYTES
    .balign MEMORY_ALIGNMENT
conflicts:
    .zero CONFLICT_BYTES

    .section .signature, "aw", @nobits
    .balign 64
    .globl begin_signature, end_signature
begin_signature:
    .zero HEADER_BYTES
    .zero HARTS * PROGRESS_BYTES
slots:
#if OUTCOME_BYTES
    .zero ITERATIONS * OUTCOME_BYTES
#endif
    .balign 64
end_signature:
