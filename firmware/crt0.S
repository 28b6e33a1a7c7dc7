/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to main. The watchdog may bring us here again: all that changes is in .bss, and
 * cleared. An exception can only be a mistake of ours: wait for the watchdog. */
    .section .text.start
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, stack_top
    la      t0, trap
    csrw    mtvec, t0
    la      t0, bss_start
    la      t1, bss_end
1:  sw      zero, 0(t0)
    addi    t0, t0, 4
    bltu    t0, t1, 1b
    call    main
    .balign 4
trap:
    j       trap
