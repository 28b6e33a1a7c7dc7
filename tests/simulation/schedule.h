/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, time and ^C by a seed. The program is linked so that the calls of WRAPPED in the Makefile
 * come here. Of all threads one runs at a time; wherever it takes or gives a lock, waits, wakes, asks
 * for the time or says schedule_point(), the seed draws who goes on. Time is made up: it passes a
 * little at each look at the clock, and jumps to the next deadline when nobody else can run. So a
 * seed is a run, whatever this computer does, and the same seed is the same run again.
 *
 * When nobody can run and nobody waits for a moment, or a run does not come to an end, it is told who
 * waits where, and how to do it again, and the program ends. */
#ifndef SIMULATION_SCHEDULE_H
#define SIMULATION_SCHEDULE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The calling thread is the first; `again` is the command that does this seed again. */
void schedule_begin(uint64_t seed, const char *again);
/* All others must have ended. The sum tells runs apart that did not do the same. */
uint64_t schedule_end(void);

void schedule_point(void);
void schedule_sleep(double seconds);
/* By the seed, for whoever plays a part in the run: less than `n`. */
uint32_t schedule_draw(uint32_t n);
void schedule_press(uint64_t step); /* ^C, when so many points are passed from now on */
void schedule_cores(int count);

/* A thread beside all this, for what a story needs itself: its calls are the real ones, and nobody in the
 * run may notice it. */
pthread_t schedule_beside(void *(*main)(void *), void *user);
void schedule_beside_end(pthread_t thread);

void schedule_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
