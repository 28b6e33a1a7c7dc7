/* SPDX-License-Identifier: Apache-2.0 */
/* A FAIL in words: numbered steps, each with its rule, the steps it rests on and the lines of the
 * trace it speaks of, so that a designer can follow it without knowing how it was found.
 *
 * No step says what one before it said, within the same suppositions; each is needed by a later one
 * or is the last. What the programs and the values seen say by themselves comes in chains, several
 * edges a step. */
#ifndef HOST_EXPLAIN_H
#define HOST_EXPLAIN_H

#include "base/list.h"
#include "naming.h"
#include "proof.h"
#include "wording.h"

enum step_kind {
    STEP_ORDER,      /* what is before what, by a rule: one edge, or a chain of them */
    STEP_SAW,        /* which store a load saw */
    STEP_VALUE,      /* which stores a load can have seen */
    STEP_GROUP,      /* operations of one transaction */
    STEP_SUPPOSE,    /* what a later step refutes */
    STEP_CASE,       /* one of two, both of which are impossible */
    STEP_IMPOSSIBLE, /* the end of a case */
    STEP_SO,         /* what follows from a supposition that was impossible, or from a choice */
    STEP_END         /* there is no legal order */
};
#define CASE_WORDS "Case: " /* how a STEP_CASE begins */
const char *step_kind_name(enum step_kind kind);

struct numbers {
    unsigned *data;
    size_t count, capacity;
};

struct explained {
    enum step_kind kind;
    unsigned depth;            /* how many suppositions it stands under */
    unsigned branch;           /* 1, 2: within the first or second of the two cases; 0: neither */
    char *text;
    const char *rule;       /* NULL: none, or a chain, whose text has them */
    struct numbers because; /* numbers of steps, from 1 */
    struct numbers edges;   /* that it says: numbers in explanation.edges, from 1 */
    struct numbers circle;  /* such numbers, in order: what would be before itself */
    LIST(uint32_t) lines;   /* of the trace, as its operations are named */
};

/* An edge of the violation's graph: which step says it, and within how many suppositions. */
struct explained_edge {
    struct ordeal_edge edge;
    const char *rule;          /* NULL: none */
    unsigned step, depth;
    bool holds; /* while it is explained: its suppositions still stand */
};

struct explanation {
    LIST(struct explained) steps;
    LIST(struct explained_edge) edges;
    LIST(char *) story; /* a few lines for those who want no more */
};

/* False: out of memory. */
bool explain(struct explanation *out, const struct proof *p, struct naming *n,
             enum ordeal_model model);
void explanation_free(struct explanation *e);

#endif
