/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold inside the library whatever it is given. A value that breaks it would corrupt
 * silently, and a wrong verdict is worse than none: the program ends there. Bad input never comes
 * to that, it is an error; nor does memory that runs out, or a witness that lies.
 *
 * assert() is for what costs nothing one could measure, and is in every build. Of the hot ones,
 * assert_hot() stands in inner loops, and check_hot() calls a checker of a whole structure between
 * two phases; they are in all builds but `make RELEASE=1`, and `make bench` says what they cost.
 * None of them has an effect: no memory taken, no limit asked, no error set. */
#ifndef ORDEAL_INVARIANT_H
#define ORDEAL_INVARIANT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef ORDEAL_RELEASE
#define assert_hot(condition) ((void)(0 && (condition)))
#define check_hot(call) (0 ? (call) : (void)0)
#else
#define assert_hot assert
#define check_hot(call) (call)
#endif

/* A checker takes as long as its structure is large. In a loop it runs each time if that is small,
 * else a few times in all. */
enum { SMALL_ENOUGH = 256 };
static inline bool now_and_then(uint64_t round) { return (round & (round - 1)) == 0; }

/* Each asserts all that is known of the structure, and returns if that holds. */
struct ordeal_trace;
struct execution;
struct graph;
struct clocks;
struct loom;
struct ordeal_replay;
void trace_check(const struct ordeal_trace *t);
void execution_check(const struct execution *x);
void graph_check(const struct graph *g);
/* The topological order; the chains, given the nodes chain by chain; clocks that are closed. */
void clocks_check_order(const struct clocks *c);
void clocks_check_chains(const struct clocks *c, const uint32_t *sorted);
void clocks_check(const struct clocks *c);
/* Between performing and taking back; `still`: nothing can go on. */
void loom_check(const struct loom *m, bool still);
void replay_check(const struct ordeal_replay *r);

#endif
