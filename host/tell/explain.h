/* SPDX-License-Identifier: Apache-2.0 */
/* A FAIL in words: numbered steps, each with its rule, the steps it rests on and the lines of the
 * trace it speaks of, so that a designer can follow it without knowing how it was found. */
#ifndef HOST_EXPLAIN_H
#define HOST_EXPLAIN_H

#include "base/list.h"
#include "naming.h"
#include "proof.h"

struct explained {
    unsigned depth;            /* how many suppositions it stands under */
    char *text;
    const char *rule;          /* NULL: none */
    LIST(unsigned) because;    /* numbers of steps, from 1 */
    LIST(uint32_t) lines;      /* of the trace, ascending */
};

struct explanation { LIST(struct explained) steps; };

/* False: out of memory. */
bool explain(struct explanation *out, const struct proof *p, struct naming *n,
             enum ordeal_model model);
void explanation_free(struct explanation *e);

/* One sentence for a verdict line; cut to fit. */
void explain_shortly(const struct proof *p, struct naming *n, char *buffer, size_t size);
/* One edge as a sentence, without its rule; cut to fit. */
void explain_edge(const struct ordeal_edge *e, struct naming *n, enum ordeal_model model,
                  char *buffer, size_t size);

#endif
