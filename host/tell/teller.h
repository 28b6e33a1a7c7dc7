/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of an explanation in the making, as in natural deduction: a step belongs to the
 * innermost supposition that it rests on, however deep the teller is when it is said, so what needs
 * no supposition is said before it and holds after it. Numbers of steps are provisional until
 * teller_finish(). Out of memory is noted, and told at the end. */
#ifndef HOST_TELLER_H
#define HOST_TELLER_H

#include "explain.h"

enum { DEEPEST = 4 };

/* A literal that is known or supposed, and the step that says so. */
struct holding {
    struct ordeal_literal literal;
    unsigned step, depth;
};

struct teller {
    struct explanation *out;
    const struct proof *proof;
    struct naming *names;
    enum ordeal_model model;
    LIST(struct explained) made;
    struct numbers pending[DEEPEST + 1], first_case; /* steps in their order, by depth */
    unsigned depth, branch;
    LIST(struct holding) holdings;
    unsigned *told; /* by inference: the step that says its clause; 0: none yet */
    bool *in_place; /* by inference: its clause is told where it is used */
    bool out_of_memory;
};

#define TELLER_PUSH(t, list, item) ((void)(LIST_PUSH(list, item) || ((t)->out_of_memory = true)))

/* Adds a step within `depth` suppositions and returns its number; 0 when memory is out. */
unsigned teller_say(struct teller *t, enum step_kind kind, unsigned depth, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Of the step said last. */
void teller_rule(struct teller *t, unsigned rule);
void teller_because(struct teller *t, unsigned step);
void teller_mentions(struct teller *t, uint32_t event);
/* It says this edge; the edge's number, or 0. */
unsigned teller_says(struct teller *t, const struct ordeal_edge *e, unsigned depth);
/* It says that these edges run in a circle, and rests on them. */
void teller_circle(struct teller *t, const struct numbers *edges);
/* It rests on these edges. */
void teller_because_edges(struct teller *t, const struct numbers *edges);

/* The edge that says of two stores what the literal does. */
struct ordeal_edge edge_of_literal(struct ordeal_literal l);
/* The number of an edge that was said and still holds, whatever its rule; 0: none. */
unsigned teller_find(const struct teller *t, const struct ordeal_edge *e);
unsigned teller_deepest(const struct teller *t, const struct numbers *edges);

/* The step says that the literal holds; of two stores it says that edge, by that rule. */
void teller_hold(struct teller *t, struct ordeal_literal l, unsigned step, unsigned depth,
                 const char *rule);
const struct holding *teller_holds(const struct teller *t, struct ordeal_literal l); /* NULL: no */

/* One supposition deeper, and out of it again: what rests on it is forgotten. */
void teller_open(struct teller *t);
void teller_close(struct teller *t);
/* The same for the first of two cases, whose steps wait until the second is closed. */
void teller_close_first_case(struct teller *t);
void teller_close_second_case(struct teller *t);

/* Puts the steps into their order and gives them their numbers. False: out of memory. */
bool teller_finish(struct teller *t);

#endif
