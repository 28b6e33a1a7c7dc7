/* SPDX-License-Identifier: Apache-2.0 */
/* The SAT solver CaDiCaL, without its exceptions: it is C++, and throws where memory is out, through
 * callers that are C. Afterwards nothing is asked of it any more, nor given back: it does not promise
 * to be in order then. */
#ifndef CHECKER_SOLVER_H
#define CHECKER_SOLVER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct solver;

enum solver_answer { SOLVER_UNKNOWN = 0, SOLVER_SATISFIED = 10, SOLVER_REFUTED = 20 };

struct solver *solver_new(void); /* NULL: out of memory */
void solver_free(struct solver *s);
bool solver_failed(const struct solver *s); /* out of memory, some time ago */
void solver_option(struct solver *s, const char *name, int value);
void solver_on_terminate(struct solver *s, void *user, int (*stop)(void *user));
void solver_on_learn(struct solver *s, void *user, int most,
                     void (*learnt)(void *user, int *clause));
void solver_add(struct solver *s, int literal);
enum solver_answer solver_solve(struct solver *s); /* unknown also where memory is out */
int solver_value(struct solver *s, int literal);

#ifdef __cplusplus
}
#endif

#endif
