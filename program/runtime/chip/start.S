/* SPDX-License-Identifier: Apache-2.0 */
/* Under a program on the multiprocessor of rtl/: where harts begin, and where `ecall` and exceptions go.
 * A call that is no barrier does not touch memory here, so that it neither adds to the store buffer nor
 * empties it. */
#define CALL(number, name, barrier, arguments) .equ ORDEAL_##name, number;
#include "../../calls.def"
#undef CALL
#include "../../chip.h"

#define MARK 0x7c1
#define DONE 0x7c0

/* struct chip_thread */
#define THREADS 32
#define THREAD_LOG 6
#define STACK_END 8

.macro mark value
    li t0, \value
    csrw MARK, t0
.endm

/* The frame of this hart to t0; changes tp. */
.macro frame
    csrr t0, mhartid
    slli t0, t0, CHIP_FRAME_LOG
    li tp, CHIP_FRAMES
    add t0, t0, tp
.endm

.macro registers do
    .irp number, 1, 2, 6, 7, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    \do x\number, \number * 4(t0)
    .endr
.endm

.macro branch_if call, to
    li t0, ORDEAL_\call
    beq a7, t0, \to
.endm

    .section .chip.start, "ax", @progbits
    .globl __ordeal_chip_begin
__ordeal_chip_begin:
    la t0, trap
    csrw mtvec, t0
    li t0, 8                /* software interrupts, of which `wfi` alone takes notice */
    csrw mie, t0
    frame
    addi sp, t0, 1 << CHIP_FRAME_LOG
    csrr t0, mhartid
    bnez t0, idle
    call __ordeal_chip_first
    la a0, _start
    li a1, 0
    li ra, 0
    j run

/* A hart that has no thread. */
idle:
    call __ordeal_chip_wait /* a0: function, a1: argument */
    la ra, __ordeal_thread_end
run:
    csrw mepc, a0
    mark CHIP_BEGIN
    csrw MARK, a0
    csrw MARK, a1
    mv a0, a1
    csrr t0, mhartid
    slli t0, t0, THREAD_LOG
    li t1, CHIP_MEMORY + THREADS + STACK_END
    add t0, t0, t1
    lw sp, 0(t0)
    .irp number, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, \
                 27, 28, 29, 30, 31
    li x\number, 0
    .endr
    fence rw, rw
    mret

    .balign 4
trap:
    csrw mscratch, t0
    csrr t0, mcause
    addi t0, t0, -11
    bnez t0, exception
    branch_if CRITICAL_BEGIN, quiet
    branch_if CRITICAL_END, quiet
    branch_if THREAD_YIELD, quiet
    branch_if THREAD_SELF, self
    branch_if PRINT, nothing
    branch_if ASSUME, assume
    branch_if EXIT, exit
    branch_if ASSERT_FAILED, stop
    branch_if REACH_ERROR, stop
    branch_if ABORT, stop
    branch_if NOT_THERE, stop

    csrw mtval, tp
    fence rw, rw
    frame
    registers sw
    csrr tp, mtval
    sw tp, 16(t0)
    csrr tp, mscratch
    sw tp, 20(t0)
    addi sp, t0, 1 << CHIP_FRAME_LOG
    call __ordeal_chip_call
    frame
    registers lw
    lw tp, 20(t0)
    csrw mscratch, tp
    lw tp, 16(t0)
    fence rw, rw
    j quiet                 /* what comes after the mark is the program's */

self:
    csrr a0, mhartid
    j quiet
assume:
    beqz a0, stop
nothing:
    li a0, 0
quiet:
    mark CHIP_RETURN
    csrw MARK, a0
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    csrr t0, mscratch
    mret

exit:
    fence rw, rw
stop:
    mark CHIP_STOP
halt:
    csrwi DONE, 1
    j halt

exception:
    mark CHIP_TRAP
    csrr t0, mcause
    csrw MARK, t0
    csrr t0, mepc
    csrw MARK, t0
    csrr t0, mtval
    csrw MARK, t0
    j halt

/* Of a thread that has ended. */
    .globl __ordeal_chip_idle
__ordeal_chip_idle:
    frame
    addi sp, t0, 1 << CHIP_FRAME_LOG
    j idle

    .globl __ordeal_chip_halt
__ordeal_chip_halt:
    csrw MARK, a0
    j halt
