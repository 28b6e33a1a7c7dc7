/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a weave: what has been performed, what waits, and what is known so far.
 *
 * Shared by loom.c (performing and taking back), knots.c (learning from a standstill) and weave.c
 * (setting up, running). */
#ifndef ORDEAL_LOOM_H
#define ORDEAL_LOOM_H

#include "weave.h"

enum node_state { IDLE, QUEUED, PARKED, DONE };

/* Not all of its literals hold. The first `decisions` of them come and go with the order; the first
 * two are watched: it is looked at when one of them comes to hold. */
struct clause { uint32_t first, count, decisions, knot, watch_next[2]; };

/* What makes a fact hold: nothing but its clause, other literals of its clause, or itself alone. */
enum standing { PROVED, TENTATIVE, GUESSED, ASSUMED };

struct fact {
    uint32_t before, after;      /* stores of one word */
    uint8_t standing;
    uint32_t clause;             /* why, for PROVED and TENTATIVE: the other literals hold */
    uint32_t since;              /* for GUESSED: the length of the trail then */
    uint32_t link_first;         /* its links, one a cell; NONE: no longer holds */
};

struct link {
    uint32_t from, to, next_out, next_in;
    uint8_t reason;
    uint32_t a, b, slot;
    uint32_t fact;               /* NONE: a link of the whole run */
};

/* A tentative fact rests on a literal a < b: entry of a's list. */
struct rest { uint32_t fact, clause, next; };

/* How many readers, and the sum (xor) of their nodes, which names the last one. */
struct pending { uint32_t count, sum; };

/* `to` waits for `from`. */
struct step { uint32_t from, to, a, b, slot, fact; uint8_t reason; bool decision; };

struct loom {
    struct ordeal *o;
    struct weave *w;
    const struct graph *g;
    const struct execution *x;

    /* Nodes. */
    uint32_t *wait;              /* predecessors not yet performed */
    uint32_t *position;          /* in the trail; NONE: not performed */
    uint8_t *state;
    uint32_t *out, *in;          /* heads of the lists of links */
    uint32_t *park_next;
    uint64_t *key;               /* guessed time */
    bool *flexible;              /* a load that may have seen several stores: it is performed as
                                  * soon as its value is there, whichever store put it there */
    uint32_t real, performed;

    /* Store ids: readers still to come. */
    struct pending *pending;
    uint32_t *overwrote;         /* the store it overwrote when performed */
    uint32_t *reader_first, *reader; /* nodes that read it */
    bool *counted;               /* by access: the node's first read of that store */

    /* Cells. */
    uint32_t *active;            /* the store last performed (event) */
    uint32_t *park;              /* nodes that wait for readers of it, or for their turn */
    /* Under views, by word: the order of stores so far, followed by every view. */
    struct { uint32_t *data; size_t count, capacity; } *line;
    uint32_t *line_index;        /* by cell: how far the view has followed */
    uint32_t *lead;              /* by event: the node that decided its place, or NONE */

    uint32_t *own;               /* by flexible load: the store of its thread before it, or NONE */

    /* The trail: nodes as performed. One taken back leaves its entry behind; an entry counts only
     * while the node's position names it. */
    VEC(uint32_t) trail;
    VEC(uint32_t) stack, heap;   /* nodes to try: at once, or in the order of their keys */
    VEC(uint32_t) undo;          /* nodes to be taken back */
    bool *tainted;               /* by node: rests on one of these */
    uint32_t *cell_taint;        /* by cell, or by word under views: round of taking back */
    uint32_t taint_round;

    VEC(struct link) links;
    uint32_t lasting_links;      /* those of the whole run */
    VEC(struct fact) facts;
    uint32_t guesses;            /* how many of them are guessed */
    VEC(struct rest) rests;
    uint32_t *rest_head;         /* by event */
    uint32_t rest_free;
    VEC(struct clause) clauses;
    VEC(struct knot_literal) literals;
    VEC(uint32_t) fresh;         /* stores that facts put before others: clauses to be looked at */
    uint32_t *watch;             /* by event a: clauses that watch a literal a < b */

    /* Learning. */
    uint32_t *stamp, now;        /* by node: the search that reached it */
    uint32_t *parent;            /* by node: the step that reached it */
    uint32_t *walked;            /* by node: its step in the way, or NONE */
    struct step walk;
    VEC(struct step) steps, cycle, way, best;
    VEC(uint32_t) queue, later, choice;
    VEC(struct knot_literal) conflict;
    uint64_t split;              /* circles that had several decisions */
    bool refuted;
};

static inline bool is_write(const struct loom *m, struct access a)
{
    return m->x->is_store[a.event];
}
static inline bool has_views(const struct loom *m) { return m->g->slot_thread != NULL; }
/* A store in one view. Without views the event does for it, and needs no look-up. */
static inline uint32_t store_id(const struct loom *m, uint32_t event, uint32_t slot)
{
    assert_hot(event < m->x->events && m->x->is_store[event]);
    return has_views(m) ? m->g->store_first[event] + slot : event;
}
static inline uint32_t store_ids(const struct loom *m)
{
    return has_views(m) ? m->g->stores : m->x->events;
}

/* The node that gave the store its place in the order of its word, or NONE. */
static inline uint32_t leading_node(const struct loom *m, uint32_t store)
{
    return has_views(m) ? m->lead[store] : m->x->group[store];
}
/* When that was; NONE: not yet. */
static inline uint32_t place(const struct loom *m, uint32_t store)
{
    uint32_t node = leading_node(m, store);
    return node == NONE ? NONE : m->position[node];
}
static inline bool holds(const struct loom *m, struct knot_literal l)
{
    return place(m, l.a) < place(m, l.b);
}
static inline bool same_literal(struct knot_literal p, struct knot_literal q)
{
    return p.a == q.a && p.b == q.b && p.reads == q.reads && p.negated == q.negated;
}

/* Performs all that is possible. All of these are false when out of memory or time. */
bool loom_advance(struct loom *m);
/* Takes back the nodes of m->undo and all that rests on them. */
bool loom_take_back(struct loom *m);
bool loom_add_link(struct loom *m, struct link l);
/* Makes the fact hold: what is after waits for what is before. */
bool loom_conclude(struct loom *m, struct fact f);
bool loom_revoke(struct loom *m, uint32_t fact);
/* Of the facts that rest on a literal with this store in front, those fall that no longer can
 * stand. */
bool loom_recheck(struct loom *m, uint32_t store);
void loom_trim(struct loom *m);
uint32_t loom_fact(const struct loom *m, uint32_t a, uint32_t b); /* that a < b, or NONE */
/* Decided by performing, or by a fact. */
bool loom_holds(const struct loom *m, struct knot_literal l);
/* What follows from the facts concluded since the last time. */
bool loom_propagate(struct loom *m);
void loom_watch(struct loom *m, uint32_t clause, uint32_t k);
void loom_unwatch(struct loom *m, uint32_t clause, uint32_t k);
/* What access i of the node would overwrite; what a view must take next, or NONE. */
uint32_t loom_overwritten(const struct loom *m, uint32_t node, uint32_t i);
uint32_t loom_next_in_line(const struct loom *m, uint32_t event, uint32_t slot);

/* Nothing can go on: learn why, and take back the mistake; or m->refuted. */
bool knots_resolve(struct loom *m);

#endif
