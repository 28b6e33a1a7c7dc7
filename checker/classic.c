/* SPDX-License-Identifier: Apache-2.0 */
#include "classic.h"

#include "clocks.h"

struct recipe {
    bool sort;
    struct topo_options options;
    const char *undecided;
};

static const struct recipe recipes[ORDEAL_ALGORITHMS] = {
    [ORDEAL_BASELINE] = { false, { false, false }, "no cycle found by R1 to R7; not complete" },
    [ORDEAL_HEU] = { true, { false, false }, "the topological sort got stuck; not complete" },
    [ORDEAL_DERIV] = { true, { true, false }, "the topological sort got stuck; not complete" },
    [ORDEAL_HEU_BACK] = { true, { false, true }, "" },
    [ORDEAL_DERIV_BACK] = { true, { true, true }, "" },
};

static enum ordeal_status run(const struct graph *g, const struct recipe *recipe,
                              struct classic_result *r)
{
    assert(g->x->unique && !refuted_by_value(g->x)); /* every load has one candidate */
    struct clocks *c;
    enum ordeal_status status = clocks_build(g, &c);
    if (status == ORDEAL_OK)
        status = clocks_baseline(c);
    if (status == ORDEAL_OK) {
        r->result = c->cyclic ? ORDEAL_FAIL : ORDEAL_UNDECIDED;
        if (recipe->sort && !c->cyclic)
            status = topo_sort(c, recipe->options, r);
        if (r->result == ORDEAL_UNDECIDED)
            snprintf(r->note, sizeof r->note, "%s", recipe->undecided);
    }
    clocks_free(c);
    return status;
}

enum ordeal_status classic_check(const struct graph *g, enum ordeal_algorithm a,
                                 struct classic_result *r)
{
    *r = (struct classic_result){ .result = ORDEAL_UNDECIDED };
    return a == ORDEAL_CONFLICT ? conflict_check(g, r) : run(g, &recipes[a], r);
}
