/* SPDX-License-Identifier: Apache-2.0 */
#include "wording.h"

#include <stdio.h>

/* @f, @t, @v: the edge's from, to and via; @F, @T: the same with the memory they land in, where
 * that matters (PC); @m: the model. Plain rules need no more than their name. */
static const struct {
    const char *words;
    bool plain;
} wording[RULE_GROUP + 1] = {
    [ORDEAL_RULE_R1] = { "@F is before @T: a load is performed before what follows it", true },
    [ORDEAL_RULE_R2] = { "@F is before @T: a thread's stores are performed in program order",
                         true },
    [ORDEAL_RULE_R3] = { "@F is before @T: a membar stands between", true },
    [ORDEAL_RULE_PO] = { "@F is before @T: @m keeps this program order", true },
    [ORDEAL_RULE_SAME] = { "@F is before @T: they access the same word in program order", true },
    [ORDEAL_RULE_DEP] = { "@F is before @T, which depends on it", true },
    [ORDEAL_RULE_T2] = { "@F is before @T: a transaction comes after all that its thread did "
                         "before it",
                         true },
    [ORDEAL_RULE_T3] = { "@F is before @T: a transaction comes before all that its thread does "
                         "after it",
                         true },
    [ORDEAL_RULE_R4] = { "@F is before @T, which saw it", true },
    [ORDEAL_RULE_R5] = { "@F is before @T: @v, later in the program, saw the latter", false },
    [ORDEAL_RULE_R7] = { "@F is before @T: it saw @v, which the latter overwrites", false },
    [ORDEAL_RULE_INIT] = { "@F is before @T: it is there from the start", true },
    [ORDEAL_RULE_ORDER] = { "@F is before @T: the trace says so", true },
    [ORDEAL_RULE_TIME] = { "@F is before @T: it ended before the other began", true },
    [ORDEAL_RULE_CO] = { "@F is before @T", false },
    [ORDEAL_RULE_FINAL] = { "@F is before @T: in the end memory holds the value of @t", false },
    [ORDEAL_RULE_ATOMIC] = { "@F is before @T: no store comes between the halves of a swap, "
                             "or an LR and its SC",
                             false },
    [ORDEAL_RULE_ACQUIRE] = { "@F is before @T: what follows an acquire stays behind it", true },
    [ORDEAL_RULE_RELEASE] = { "@F is before @T: a release stays behind what is before it", true },
    [ORDEAL_RULE_MARKED] = { "@F is before @T: atomics that acquire or release stay in order",
                             true },
    [ORDEAL_RULE_PAIR] = { "@F is before @T: an SC is performed behind its LR", true },
    [ORDEAL_RULE_MEMORY] = { "@F is before @T: an atomic's store is seen in memory alone", true },
    [ORDEAL_RULE_APART] = { "@F is before @T: they load one word, and saw different stores", true },
    [RULE_GROUP] = { "@F and @T are in one transaction: what is before the one is before the other",
                     false },
};

bool rule_is_plain(unsigned rule) { return wording[rule].plain; }

static const char *fill_in(const struct ordeal_edge *e, char which, struct naming *n,
                           enum ordeal_model model)
{
    switch (which) {
    case 'f': return name_event(n, e->from, ORDEAL_NONE);
    case 't': return name_event(n, e->to, ORDEAL_NONE);
    case 'F': return name_event(n, e->from, e->from_view);
    case 'T': return name_event(n, e->to, e->to_view);
    case 'v': return name_event(n, e->via, ORDEAL_NONE);
    default: return ordeal_model_name(model);
    }
}

void explain_edge(const struct ordeal_edge *e, struct naming *n, enum ordeal_model model,
                  char *buffer, size_t size)
{
    const char *words = wording[e->rule].words;
    size_t used = 0;
    for (const char *p = words ? words : "@F is before @T"; *p && used < size; p++)
        if (*p == '@')
            used += (size_t)snprintf(buffer + used, size - used, "%s", fill_in(e, *++p, n, model));
        else
            used += (size_t)snprintf(buffer + used, size - used, "%c", *p);
}

int word_literal(struct ordeal_literal l, struct naming *n, char *buffer, size_t size)
{
    l = literal_plain(l);
    const char *a = name_event(n, l.a, ORDEAL_NONE), *b = name_event(n, l.b, ORDEAL_NONE);
    if (!l.reads)
        return snprintf(buffer, size, "%s is before %s", a, b);
    return snprintf(buffer, size, l.negated ? "%s did not see %s" : "%s saw %s", a, b);
}

void word_literals(const struct ordeal_literal *literals, size_t count, bool negate,
                   const char *joint, struct naming *n, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t k = 0; k < count && used < size; k++) {
        struct ordeal_literal l = negate ? literal_negate(literals[k]) : literals[k];
        if (k > 0)
            used += (size_t)snprintf(buffer + used, size - used, "%s", joint);
        if (used < size)
            used += (size_t)word_literal(l, n, buffer + used, size - used);
    }
}

void explain_shortly(const struct proof *p, struct naming *n, char *buffer, size_t size)
{
    enum { SHOWN = 6 };
    const struct inference *last = &p->inferences.data[p->inferences.count - 1];
    if (last->kind != BY_CYCLE) {
        snprintf(buffer, size, "every order of the stores leads to a contradiction");
        return;
    }
    size_t used = 0, count = last->edges.count;
    for (size_t k = 0; k <= count && used < size; k++) {
        const char *joint = k == 0 ? "" : " < ";
        if (k == SHOWN && count > SHOWN) {
            k = count - 1;
            joint = " < ... < ";
        }
        const struct ordeal_edge *e = &p->edges.data[last->edges.first + k % count].edge;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", joint,
                                 name_event(n, e->from, e->from_view));
    }
}
