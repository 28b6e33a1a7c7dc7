/* SPDX-License-Identifier: Apache-2.0 */
/* Checkers of the search (loom.h): its trail, what waits, memory, facts, and what watches them. */
#undef NDEBUG
#include "loom.h"

static bool performed(const struct loom *m, uint32_t node) { return m->position[node] != NONE; }

/* A node is on the trail, or its state says what it waits for. */
static void check_trail(const struct loom *m, bool still)
{
    uint32_t real = 0;
    for (uint32_t n = 0; n < m->g->nodes; n++) {
        uint8_t state = m->state[n];
        assert(performed(m, n) == (state == DONE));
        if (performed(m, n))
            assert(m->position[n] < m->trail.count && m->trail.data[m->position[n]] == n);
        assert(!performed(m, n) || m->wait[n] == 0);
        assert(!still || state != QUEUED);
        assert(!still || state != IDLE || m->wait[n] || !performed(m, 0));
        real += performed(m, n) && m->g->kind.data[n] == NODE_REAL;
        assert(!m->tainted[n] && m->walked[n] == NONE);
    }
    assert(m->performed == real && real <= m->real);
    assert(!still || m->stack.count + m->heap.count == 0);
    for (size_t i = 1; i < m->heap.count; i++)
        assert(m->key[m->heap.data[(i - 1) / 2]] <= m->key[m->heap.data[i]]);
}

/* `wait` counts predecessors not performed, by edges and by links; these hang on both ends. */
static void check_waits(const struct loom *m)
{
    const struct graph *g = m->g;
    size_t in = 0, out = 0;
    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t wait = 0;
        for (uint32_t i = g->pred_first[n]; i < g->pred_first[n + 1]; i++)
            wait += !performed(m, g->pred[i]);
        for (uint32_t l = m->in[n]; l != NONE; l = m->links.data[l].next_in) {
            assert(l < m->links.count && m->links.data[l].to == n && in < m->links.count);
            in++;
            wait += !performed(m, m->links.data[l].from);
        }
        for (uint32_t l = m->out[n]; l != NONE; l = m->links.data[l].next_out, out++)
            assert(l < m->links.count && m->links.data[l].from == n && out < m->links.count);
        assert(m->wait[n] == wait);
    }
    assert(in == out && in >= m->lasting_links);
}

static void check_parked(const struct loom *m)
{
    uint32_t parked = 0;
    for (uint32_t n = 0; n < m->g->nodes; n++)
        parked += m->state[n] == PARKED;
    for (uint32_t c = 0; c < m->g->cell_first[m->x->locations]; c++)
        for (uint32_t n = m->park[c]; n != NONE; n = m->park_next[n], parked--)
            assert(m->state[n] == PARKED && parked > 0);
    assert(parked == 0);
}

/* Readers still to come, by their number and their sum. */
static void check_pending(const struct loom *m)
{
    for (uint32_t id = 0; id < store_ids(m); id++) {
        struct pending pending = { 0, 0 };
        for (uint32_t i = m->reader_first[id]; i < m->reader_first[id + 1]; i++)
            if (!performed(m, m->reader[i])) {
                pending.count++;
                pending.sum ^= m->reader[i];
            }
        assert(m->pending[id].count == pending.count && m->pending[id].sum == pending.sum);
    }
}

/* A cell holds the store performed last; under views all follow one line of stores. */
static void check_memory(const struct loom *m)
{
    const struct graph *g = m->g;
    for (uint32_t n = 1; n < g->nodes; n++)
        for (uint32_t i = g->access_first[n]; performed(m, n) && i < g->access_first[n + 1]; i++) {
            struct access a = g->access[i];
            uint32_t active = m->active[cell_of(g, a)];
            if (!is_write(m, a))
                continue;
            assert(m->x->loc[active] == m->x->loc[a.event] && !is_initial(m->x, active));
            assert(m->position[n] <= m->position[node_of_store(g, active, a.slot)]);
        }
    for (uint32_t l = 0; has_views(m) && l < m->x->locations; l++)
        for (uint32_t c = g->cell_first[l]; c < g->cell_first[l + 1]; c++) {
            uint32_t index = m->line_index[c];
            assert(index <= m->line[l].count);
            assert(m->active[c] == (index ? m->line[l].data[index - 1] : l));
        }
}

static void check_facts(const struct loom *m)
{
    uint32_t guesses = 0;
    for (uint32_t id = 0; id < m->facts.count; id++) {
        const struct fact *f = &m->facts.data[id];
        if (f->link_first == NONE)
            continue;
        guesses += f->standing == GUESSED;
        assert(f->standing > TENTATIVE || f->clause < m->clauses.count);
        assert(f->since <= m->trail.count);
        for (uint32_t s = 0; s < cells_of(m->g, m->x->loc[f->before]); s++) {
            const struct link *l = &m->links.data[f->link_first + s];
            assert(f->link_first + s < m->links.count && l->fact == id);
            assert(l->reason == KNOT_ORDER && l->a == f->before && l->b == f->after);
        }
    }
    assert(m->guesses == guesses);
}

/* A list has the clauses that watch a literal with its store in front, and every clause of several
 * decisions is on two. */
static void check_watches(const struct loom *m)
{
    size_t watched = 0;
    for (size_t i = 0; i < m->clauses.count; i++) {
        const struct clause *c = &m->clauses.data[i];
        assert(c->decisions <= c->count && c->first + c->count <= m->literals.count);
        watched += c->decisions > 1 ? 2 : 0;
    }
    for (uint32_t e = 0; e < m->x->events; e++)
        for (uint32_t w = m->watch[e]; w != NONE; watched--) {
            assert(w >> 1 < m->clauses.count && watched > 0);
            const struct clause *c = &m->clauses.data[w >> 1];
            assert(c->decisions > 1 && m->literals.data[c->first + (w & 1)].a == e);
            w = c->watch_next[w & 1];
        }
    assert(watched == 0);
}

void loom_check(const struct loom *m, bool still)
{
    assert(m->undo.count == 0 && m->fresh.count == 0);
    check_trail(m, still);
    check_waits(m);
    check_parked(m);
    check_pending(m);
    check_memory(m);
    check_facts(m);
    check_watches(m);
}
