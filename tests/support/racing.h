/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs for several harts that race: a setting with barriers, naps and common lines, and
 * the same race over offsets, delays and models with its events counted. One at a time in a
 * process. */
#ifndef TESTS_RACING_H
#define TESTS_RACING_H

#include "rig.h"
#include "rv.h"

enum { RACING_STRONG = 3, RACING_ANY = 15 }; /* models that keep loads and stores in order; all */

extern struct rig racing;             /* the machine at hand */
extern uint32_t racing_harts;
extern char racing_context[256];      /* of the run, for messages */

void racing_open(uint32_t machine);
void racing_close(void);              /* also if it is not open */

/* One run: `body` makes the program of each hart. */
void racing_run(void (*body)(uint32_t hart, uint32_t k), uint32_t k, const struct soc_setup *setup);
/* All offsets k below `offsets`, under the models of the mask. `events` ends with RIG_EVENTS: each
 * must have happened in some run. */
void racing_race(uint32_t machine, uint32_t models, uint32_t offsets,
                 void (*body)(uint32_t hart, uint32_t k), void (*check)(uint32_t k),
                 const uint32_t *events);
#define RACING_EVENTS(...) (const uint32_t[]){ __VA_ARGS__, RIG_EVENTS }

void racing_expect(uint32_t hart, uint32_t mark, uint32_t value);

/* What bodies are made of. S10 points to memory, S9 is 1; T3, T4, A0, A1 are used here. Lines are
 * 256 bytes apart, thus in one set of the usual cache. */
enum { RACING_LINE = 256, RACING_FREE = 0x8800 }; /* at RACING_FREE and above: memory without use */
void racing_emit(uint32_t word);
void racing_meet(uint32_t n);         /* all harts wait for one another, past the caches; n < 256 */
void racing_nap(uint32_t turns);      /* of a loop */
int32_t racing_at(uint32_t line, uint32_t word);
void racing_address(uint32_t rd, uint32_t line, uint32_t word);
void racing_store(uint32_t line, uint32_t word, uint32_t value);
void racing_load(uint32_t line, uint32_t word); /* and mark */
void racing_set(uint32_t rd, uint32_t value);
uint32_t racing_loop(uint32_t counter, uint32_t turns);
void racing_again(uint32_t counter, uint32_t top);
uint32_t racing_here(void);
void racing_jump_back(uint32_t branch, uint32_t to); /* a branch without its offset */

#endif
