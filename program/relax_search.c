/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle in a graph of all states: beside the state goes a watcher, which guesses at each access whether it
 * is one of the cycle's. An access has an instant at which it reads (of a load from the own buffer, that
 * at which the store which it saw reaches memory) and one at which it writes. One is before another at
 * their place (Relaxer, 3.2) if it wrote by the time at which that read, or wrote before that wrote, or
 * read before that wrote. */
#include <stdlib.h>
#include <string.h>

#include "relax_graph.h"

/* What is known of one event of the cycle. */
struct slot {
    uint32_t address;
    uint8_t thread, size;
    bool set, reads, writes;
    bool has_read, has_written;
    uint8_t waits;   /* until its store, or that which it saw, leaves the buffer */
    bool satisfied;  /* it came after the one that must be before it; of slots 0, 2, ... */
    uint8_t zero[3]; /* watchers are compared by their bytes */
};
struct watcher {
    struct slot slot[RELAX_LONGEST];
};
_Static_assert(sizeof(struct slot) == 16, "no bytes between");
struct node {
    uint32_t state, parent, edge;
    struct watcher w;
};
struct searching {
    const struct relax_graph *g;
    const struct relax_cycle *c;
    struct node *node;
    size_t nodes, capacity, most;
    uint32_t *slot; /* by hash: number + 1 */
    size_t slots;
    bool failed, full;
    uint32_t from, edge; /* which is followed */
    uint32_t goal;       /* its node + 1 */
};

enum { WATCHERS = 64 };
struct watchers {
    struct watcher w[WATCHERS];
    unsigned count;
};

/* ---- one watcher ------------------------------------------------------------------------- */

static uint32_t before_of(const struct relax_cycle *c, uint32_t i)
{
    return (i + c->length - 1) % c->length;
}

/* What follows slot `i` at its place, if that is known already. */
static bool possible(const struct relax_cycle *c, const struct watcher *w, uint32_t even)
{
    const struct slot *y = &w->slot[even], *x = &w->slot[before_of(c, even)];
    if (!y->set || y->satisfied)
        return true;
    if (x->set
        && (x->thread == y->thread || x->address >= y->address + y->size
            || y->address >= x->address + x->size || !(x->writes || y->writes)))
        return false;
    return !((!y->reads || y->has_read) && (!y->writes || y->has_written));
}

static bool all_possible(const struct relax_cycle *c, const struct watcher *w)
{
    for (uint32_t i = 0; i < c->length; i += 2)
        if (!possible(c, w, i))
            return false;
    return true;
}

/* An instant of slot `i`: is what must be before it? */
static void happens(const struct relax_cycle *c, struct watcher *w, uint32_t i, bool writes)
{
    struct slot *y = &w->slot[i];
    const struct slot *x = &w->slot[before_of(c, i)];
    if (i % 2 == 0 && x->set && (x->has_written || (writes && x->has_read)))
        y->satisfied = true;
    if (writes)
        y->has_written = true;
    else
        y->has_read = true;
}

static void leaves_buffer(const struct relax_cycle *c, struct watcher *w,
                          const struct relax_event *e)
{
    for (uint32_t i = 0; i < c->length; i++) {
        struct slot *s = &w->slot[i];
        if (s->set && s->waits && s->thread == e->thread && s->address == e->address
            && s->size == e->size && !--s->waits)
            happens(c, w, i, s->writes);
    }
}

static void take_slot(const struct relax_cycle *c, struct watcher *w, uint32_t i,
                      const struct relax_event *e)
{
    w->slot[i] = (struct slot){ .address = e->address,
                                .thread = e->thread,
                                .size = e->size,
                                .set = true,
                                .reads = e->reads,
                                .writes = e->writes,
                                .waits = e->waits };
    if (e->waits)
        return;
    if (e->reads)
        happens(c, w, i, false);
    if (e->writes)
        happens(c, w, i, true);
}

/* Whether the event may be that of slot `i`: its label, and one pair a thread. */
static bool fits(const struct relax_cycle *c, const struct watcher *w, uint32_t i,
                 const struct relax_event *e)
{
    if (c->label[i] != e->label || w->slot[i].set)
        return false;
    if (i % 2)
        return w->slot[i - 1].set && w->slot[i - 1].thread == e->thread;
    for (uint32_t k = 0; k < c->length; k += 2)
        if (w->slot[k].set && w->slot[k].thread == e->thread)
            return false;
    return true;
}

static bool is_done(const struct relax_cycle *c, const struct watcher *w)
{
    for (uint32_t i = 0; i < c->length; i++)
        if (!w->slot[i].set || (i % 2 == 0 && !w->slot[i].satisfied))
            return false;
    return true;
}

/* ---- an event ---------------------------------------------------------------------------- */

static void keep(struct searching *x, struct watchers *to, const struct watcher *w)
{
    if (!all_possible(x->c, w))
        return;
    if (to->count == WATCHERS)
        x->full = true;
    else
        to->w[to->count++] = *w;
}

/* It is none of the cycle's, or one, or both of a pair. */
static void guess(struct searching *x, const struct watcher *w, const struct relax_event *e,
                  struct watchers *to)
{
    keep(x, to, w);
    for (uint32_t i = 0; i < x->c->length; i++) {
        struct watcher with = *w;
        if (!fits(x->c, w, i, e))
            continue;
        take_slot(x->c, &with, i, e);
        keep(x, to, &with);
        if (i % 2 || !fits(x->c, &with, i + 1, e))
            continue;
        take_slot(x->c, &with, i + 1, e);
        keep(x, to, &with);
    }
}

static void follow_event(struct searching *x, struct watchers *from, const struct relax_event *e,
                         struct watchers *to)
{
    to->count = 0;
    for (unsigned i = 0; i < from->count; i++) {
        if (e->kind) {
            guess(x, &from->w[i], e, to);
        } else {
            leaves_buffer(x->c, &from->w[i], e);
            keep(x, to, &from->w[i]);
        }
    }
}

/* ---- nodes ------------------------------------------------------------------------------- */

static size_t hash(const struct node *n)
{
    const unsigned char *b = (const unsigned char *)&n->w;
    uint64_t h = n->state * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < sizeof n->w; i += 4) {
        uint32_t word;
        memcpy(&word, b + i, 4);
        h = (h ^ word) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return (size_t)h;
}

static uint32_t *place_of(const struct searching *x, const struct node *n)
{
    for (size_t at = hash(n);; at++) {
        uint32_t *slot = &x->slot[at % x->slots];
        const struct node *there = *slot ? &x->node[*slot - 1] : NULL;
        if (!there || (there->state == n->state && !memcmp(&there->w, &n->w, sizeof n->w)))
            return slot;
    }
}

static bool make_room(struct searching *x)
{
    if (x->nodes < x->capacity)
        return true;
    size_t capacity = x->capacity ? 2 * x->capacity : 1024;
    void *nodes = realloc(x->node, capacity * sizeof *x->node);
    if (nodes)
        x->node = nodes;
    uint32_t *slot = nodes ? calloc(2 * capacity, sizeof *slot) : NULL;
    x->failed = !slot;
    if (!slot)
        return false;
    free(x->slot);
    x->slot = slot;
    x->slots = 2 * capacity;
    x->capacity = capacity;
    for (uint32_t i = 0; i < x->nodes; i++)
        *place_of(x, &x->node[i]) = i + 1;
    return true;
}

static void add_node(struct searching *x, uint32_t state, const struct watcher *w)
{
    struct node n;
    memset(&n, 0, sizeof n);
    n = (struct node){ state, x->from, x->edge, *w };
    bool done = is_done(x->c, w);
    if (!make_room(x) || (!state && !done))
        return;
    uint32_t *slot = place_of(x, &n);
    if (*slot)
        return;
    x->node[x->nodes++] = n;
    *slot = (uint32_t)x->nodes;
    if (done)
        x->goal = (uint32_t)x->nodes;
    x->full |= x->nodes >= x->most;
}

static void follow_edge(struct searching *x, const struct relax_edge *e)
{
    struct watchers a, b, *now = &a, *next = &b;
    a.count = 1;
    a.w[0] = x->node[x->from].w;
    for (uint32_t i = 0; i < e->events; i++) {
        follow_event(x, now, &x->g->event[e->event + i], next);
        struct watchers *swap = now;
        now = next;
        next = swap;
    }
    for (unsigned i = 0; i < now->count && !x->goal && !x->failed; i++)
        add_node(x, e->to, &now->w[i]);
}

static void expand_node(struct searching *x, uint32_t number)
{
    uint32_t state = x->node[number].state;
    if (!state || state > x->g->states)
        return;
    x->from = number;
    for (uint32_t k = x->g->first[state]; k < x->g->first[state + 1] && !x->goal; k++) {
        x->edge = k;
        follow_edge(x, &x->g->edge[k]);
    }
}

/* ---- the path ---------------------------------------------------------------------------- */

static bool make_path(const struct searching *x, struct explore_path *path)
{
    const struct relax_graph *g = x->g;
    size_t steps = 0, choices = 0;
    for (uint32_t n = x->goal - 1; n; n = x->node[n].parent, steps++)
        choices += g->edge[x->node[n].edge].choices;
    path->step = calloc(steps + 1, sizeof *path->step);
    path->choice = calloc(choices + 1, sizeof *path->choice);
    path->steps = steps;
    if (!path->step || !path->choice)
        return false;
    for (uint32_t n = x->goal - 1; n; n = x->node[n].parent) {
        const struct relax_edge *e = &g->edge[x->node[n].edge];
        choices -= e->choices;
        path->step[--steps] = (struct explore_step){ e->thread, e->flush, (uint32_t)choices,
                                                     e->choices };
        for (uint32_t i = 0; i < e->choices; i++)
            path->choice[choices + i] = g->choice[e->choice + i];
    }
    return true;
}

bool relax_graph_search(const struct relax_graph *g, const struct relax_cycle *c, size_t most_nodes,
                        enum relax_answer *answer, struct explore_path *path)
{
    struct searching x = { .g = g, .c = c, .most = most_nodes };
    static const struct watcher none;
    *path = (struct explore_path){ .steps = 0 };
    add_node(&x, 1, &none);
    for (uint32_t i = 0; i < x.nodes && !x.goal && !x.full && !x.failed; i++)
        expand_node(&x, i);
    *answer = x.goal ? RELAX_FEASIBLE : x.full || g->why[0] ? RELAX_OPEN : RELAX_INFEASIBLE;
    bool fine = !x.failed && (!x.goal || make_path(&x, path));
    free(x.node);
    free(x.slot);
    return fine;
}
