/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of calls.def do. Arguments are in x[10] and up; a result goes to x[10]. */
#ifndef PROGRAM_CALL_H
#define PROGRAM_CALL_H

#include "step.h"

enum { CALL_AGAIN = 11, CALL_BUSY = 16, CALL_SEARCH = 3, CALL_DEADLOCK = 35 }; /* errno's */

/* The thread waits: nothing of the call is done. */
void call_blocks(struct run *r);

void call_mutex_lock(struct run *r);
void call_mutex_trylock(struct run *r);
void call_mutex_unlock(struct run *r);
void call_mutex_destroy(struct run *r);
void call_cond_wait(struct run *r);
void call_cond_signal(struct run *r);
void call_cond_broadcast(struct run *r);

void call_thread_create(struct run *r);
void call_thread_exit(struct run *r);
void call_thread_join(struct run *r);
void call_thread_detach(struct run *r);

void call_print(struct run *r);
void call_format(struct run *r);

/* A string of the program, by run_peek() or run_read_byte(); cut where it is longer than the buffer. */
typedef uint8_t call_byte(struct run *r, uint32_t address);
void call_string(struct run *r, call_byte *byte, uint32_t address, char *buffer, size_t size);

/* A store by a call, at once. */
void call_store(struct run *r, uint32_t address, uint8_t size, uint32_t value);

#endif
