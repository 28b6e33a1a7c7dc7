/* SPDX-License-Identifier: Apache-2.0 */
/* Checkers of clocks: their topological order, their chains, and the clocks themselves. */
#undef NDEBUG
#include "clocks.h"

void clocks_check_order(const struct clocks *c)
{
    const struct graph *g = c->g;
    if (c->cyclic)
        return;
    for (uint32_t i = 0; i + 1 < g->nodes; i++)
        assert(c->at[i] != 0 && c->position[c->at[i]] == i);
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            assert(c->position[n] < c->position[g->succ[i]]);
}

/* Every real node but the root is in one, and a chain's nodes follow one another in time. */
void clocks_check_chains(const struct clocks *c, const uint32_t *sorted)
{
    const struct graph *g = c->g;
    uint32_t real = 0, before = NONE;
    for (uint32_t n = 1; n < g->nodes; n++) {
        assert((c->chain[n] == NONE) == (g->kind.data[n] != NODE_REAL));
        real += c->chain[n] != NONE;
    }
    for (uint32_t i = 0; i < real; i++) {
        uint32_t n = sorted[i];
        assert(n != NONE && c->chain[n] < c->chains);
        bool same = before != NONE && c->chain[before] == c->chain[n];
        assert(c->index[n] == (same ? c->index[before] + 1 : 0));
        assert(!same || c->position[before] < c->position[n]);
        before = n;
    }
}

/* Every edge is known by its end, and no node is before itself. */
void clocks_check(const struct clocks *c)
{
    const struct graph *g = c->g;
    if (c->cyclic)
        return;
    for (uint32_t n = 1; n < g->nodes; n++) {
        assert(c->chain[n] == NONE || !clocks_before(c, n, n));
        for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++)
            assert(c->chain[g->succ[i]] == NONE || clocks_before(c, n, g->succ[i]));
        for (uint32_t l = c->out[n]; l != NONE; l = c->links.data[l].next_out) {
            assert(l < c->links.count && c->links.data[l].from == n);
            assert(clocks_before(c, n, c->links.data[l].to));
        }
    }
}
