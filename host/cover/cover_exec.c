/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_exec.h"

#include "exec_parts.h"

struct cover_exec *cover_exec_new(void)
{
    struct cover_exec *x = calloc(1, sizeof *x);
    if (x)
        exec_shape_table(x->shape);
    return x;
}

void cover_exec_free(struct cover_exec *x)
{
    if (!x)
        return;
    LIST_FREE(&x->accesses);
    LIST_FREE(&x->first);
    LIST_FREE(&x->transactions);
    LIST_FREE(&x->places);
    LIST_FREE(&x->beyond);
    LIST_FREE(&x->cells);
    LIST_FREE(&x->held);
    LIST_FREE(&x->visits);
    LIST_FREE(&x->by_cell);
    LIST_FREE(&x->facts);
    LIST_FREE(&x->next);
    LIST_FREE(&x->next_at);
    LIST_FREE(&x->edges);
    LIST_FREE(&x->out);
    LIST_FREE(&x->in);
    LIST_FREE(&x->back);
    LIST_FREE(&x->scratch);
    LIST_FREE(&x->times);
    LIST_FREE(&x->marks);
    free(x);
}

bool cover_exec_look(struct cover_exec *x, const struct ordeal_trace *t, struct cover_hits *hits)
{
    x->trace = t;
    x->hits = hits;
    return exec_gather(x) && exec_edges(x) && exec_meet(x) && exec_shape(x);
}
