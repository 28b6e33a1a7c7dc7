/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of a FAIL, made ready to be told: only the steps that matter, each with what it rests
 * on. The explanation words it, the picture draws it.
 *
 * An inference concludes a clause: one fact, several of which one must hold, or nothing at all (the
 * contradiction). Facts found on the way make later clauses shorter, so `conclusion` holds only
 * what is still open when the inference is made. */
#ifndef HOST_PROOF_H
#define HOST_PROOF_H

#include <stdbool.h>

#include "base/list.h"
#include "ordeal.h"

enum inference_kind {
    BY_VALUE,     /* a load saw one of the stores with its value, and only one */
    BY_CYCLE,     /* were the conclusion false, the edges would run in a circle */
    BY_CASES,     /* supposing it false, the trail leads to a contradiction */
    BY_RULING_OUT /* all else in an earlier clause, which is not BY_CYCLE, is known to be false */
};

enum support {
    GIVEN,       /* follows from the trace alone */
    KNOWN,       /* rests on facts of earlier inferences */
    SUPPOSED     /* rests on a literal of the conclusion being false */
};

struct range { size_t first, count; };

struct proof_edge {
    struct ordeal_edge edge;
    enum support support;
    struct range facts;               /* in proof.facts: the inferences it rests on */
    struct range needs; /* in proof.literals: what of facts and suppositions it needs */
};

/* One move of a case distinction: `clause` forces `literal`; the last has no literal left. */
struct proof_move { struct ordeal_literal literal; bool contradiction; size_t clause; };

struct inference {
    enum inference_kind kind;
    struct range conclusion;          /* in proof.literals */
    struct range edges;               /* in proof.edges; BY_CYCLE */
    struct range trail;               /* in proof.moves; BY_CASES */
    struct range facts;               /* in proof.facts: inferences that made the clause shorter */
    size_t clause;                    /* BY_RULING_OUT: the inference of the clause */
    bool used;                        /* the contradiction rests on it */
    size_t uses;                      /* of its clause, by inferences that are used */
};

struct proof {
    LIST(struct inference) inferences; /* the last one is the contradiction */
    LIST(struct ordeal_literal) literals;
    LIST(struct proof_edge) edges;
    LIST(struct proof_move) moves;
    LIST(size_t) facts;
};

/* False: out of memory. A proof without inferences (an unwritten value) is empty. */
bool proof_read(struct proof *p, const struct ordeal_verdict *v);
void proof_free(struct proof *p);

/* `store a is before store b` without a negation: the other way round instead. */
struct ordeal_literal literal_plain(struct ordeal_literal l);
struct ordeal_literal literal_negate(struct ordeal_literal l);
bool literal_equal(struct ordeal_literal a, struct ordeal_literal b);
#endif
