/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program begins and a thread ends, and the functions that are one call of the engine each:
 * they have no frame. */
#define CALL(number, name, barrier, arguments) .equ ORDEAL_##name, number;
#include "../calls.def"
#undef CALL

.macro function name
    .section .text.\name, "ax", @progbits
    .weak \name
    .type \name, @function
\name:
.endm
.macro finish name
    .size \name, . - \name
.endm

/* Arguments are already where the engine wants them. */
.macro calls name, call
    function \name
    li a7, ORDEAL_\call
    ecall
    ret
    finish \name
.endm

    function _start
    call __ordeal_begin     /* constructors */
    .irp register, a0, a1, a2, a3, a4, a5, a6, a7
    li \register, 0         /* what is left there would be alive up to the first printf */
    .endr
    call main
    call exit
    finish _start

/* What a thread returns to. */
    function __ordeal_thread_end
    li a7, ORDEAL_THREAD_EXIT
    ecall
    finish __ordeal_thread_end

/* pthread_create(word, attributes, function, argument), of a thread that can be joined. */
    function __ordeal_thread_create
    mv a1, a2
    mv a2, a3
    li a7, ORDEAL_THREAD_CREATE
    ecall
    ret
    finish __ordeal_thread_create

calls _Exit, EXIT
calls _exit, EXIT
calls quick_exit, EXIT
calls pthread_exit, THREAD_EXIT
calls pthread_join, THREAD_JOIN
calls pthread_self, THREAD_SELF
calls pthread_detach, THREAD_DETACH
calls sched_yield, THREAD_YIELD
calls pthread_yield, THREAD_YIELD
calls pthread_mutex_lock, MUTEX_LOCK
calls pthread_mutex_trylock, MUTEX_TRYLOCK
calls pthread_mutex_unlock, MUTEX_UNLOCK
calls pthread_mutex_destroy, MUTEX_DESTROY
calls pthread_spin_lock, MUTEX_LOCK
calls pthread_spin_trylock, MUTEX_TRYLOCK
calls pthread_spin_unlock, MUTEX_UNLOCK
calls pthread_spin_destroy, MUTEX_DESTROY
calls pthread_cond_wait, COND_WAIT
calls pthread_cond_signal, COND_SIGNAL
calls pthread_cond_broadcast, COND_BROADCAST
calls free, FREE
calls cfree, FREE
calls abort, ABORT
calls __assert_fail, ASSERT_FAILED
calls reach_error, REACH_ERROR
calls __VERIFIER_error, REACH_ERROR
calls __VERIFIER_assume, ASSUME
calls __VERIFIER_atomic_begin, ATOMIC_BEGIN
calls __VERIFIER_atomic_end, ATOMIC_END
calls __ordeal_critical_begin, CRITICAL_BEGIN
calls __ordeal_critical_end, CRITICAL_END
