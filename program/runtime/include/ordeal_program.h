/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can tell `ordeal explore`. */
#ifndef ORDEAL_PROGRAM_H
#define ORDEAL_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* At most one thread is between these two: it is an error of the program if a second one gets there.
 * Neither accesses memory nor is a barrier. */
void __ordeal_critical_begin(void);
void __ordeal_critical_end(void);

/* What `ordeal fence --apply` puts behind stores and before them: a fence that lets nothing pass, and one
 * that keeps earlier stores before later ones. */
#ifdef __riscv
#define __ordeal_mfence() __asm__ __volatile__("fence rw, rw" : : : "memory")
#define __ordeal_sfence() __asm__ __volatile__("fence w, w" : : : "memory")
#else
#define __ordeal_mfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __ordeal_sfence() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* SV-COMP's words. */
void __VERIFIER_assume(int condition); /* other executions do not count */
void __VERIFIER_atomic_begin(void);    /* no other thread moves until ... */
void __VERIFIER_atomic_end(void);
void reach_error(void); /* is an error of the program */
/* Each value of --nondet is tried that the type has. */
#ifdef __cplusplus
bool __VERIFIER_nondet_bool(void);
#else
_Bool __VERIFIER_nondet_bool(void);
#endif
char __VERIFIER_nondet_char(void);
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);

#ifdef __cplusplus
}
#endif

#endif
