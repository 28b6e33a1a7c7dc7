/* SPDX-License-Identifier: Apache-2.0 */
/* What counts of a test of which a runner and several checkers have something to say, in whatever
 * order they come to it. */
#include <stdlib.h>

#include "pipeline_parts.h"

void finding_free(struct finding *f)
{
    free(f->values);
    free(f->text);
    *f = (struct finding){ .kind = FOUND_NOTHING };
}

/* What decides is more than what does not; of two alike the first is told. */
static bool counts_more(const struct finding *a, const struct finding *b)
{
    if (a->kind == FOUND_NOTHING || b->kind == FOUND_NOTHING)
        return b->kind == FOUND_NOTHING;
    if (finding_decides(a) != finding_decides(b))
        return finding_decides(a);
    return a->iteration < b->iteration;
}

void note_finding(struct pipeline *p, struct test *t, struct finding *f)
{
    pthread_mutex_lock(&p->lock);
    if (counts_more(f, &t->finding)) {
        struct finding less = t->finding;
        p->ends += (f->kind == FOUND_END) - (less.kind == FOUND_END);
        if (!p->ends)
            pthread_cond_broadcast(&p->for_runners);
        t->finding = *f;
        t->decided = finding_decides(f);
        *f = less;
    }
    pthread_mutex_unlock(&p->lock);
    finding_free(f);
}
