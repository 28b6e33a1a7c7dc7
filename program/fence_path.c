/* SPDX-License-Identifier: Apache-2.0 */
/* Relaxations on the way to an error (section 5). What a thread has stored since nothing waited is
 * kept in the order of its program, as TSO would; a store that is written while an older one waits
 * overtook it. Where a loop was done any number of times, only one round of it is known here. */
#include <stdlib.h>
#include <string.h>

#include "exploration.h"
#include "fence_nodes.h"

struct waiting { /* of a thread */
    uint32_t *symbol;
    size_t count, capacity;
    uint32_t *stored; /* pcs of all its stores since nothing waited */
    size_t stores, store_capacity;
};
struct looking {
    struct fence_searching *x;
    struct waiting of[EXPLORE_THREADS];
    size_t latest_capacity, cover_capacity;
};

static void add_place(struct fence_place **list, size_t *count, size_t *capacity,
                      struct fence_place place, const struct program_code *code)
{
    for (size_t i = 0; i < *count; i++)
        if ((*list)[i].fence == place.fence && fence_same_place(code, (*list)[i].pc, place.pc)) {
            memmove(&(*list)[i], &(*list)[i + 1], (*count - i - 1) * sizeof **list);
            --*count;
            break;
        }
    *list = words_room(*list, *count, capacity, sizeof **list);
    (*list)[(*count)++] = place;
}

/* A relaxation: the fence that is nearest, and all that would do. */
static void relaxed(struct looking *l, uint32_t thread, uint32_t pc, uint8_t fence)
{
    struct fence_outcome *o = l->x->outcome;
    const struct program_code *code = l->x->machine->code;
    const struct waiting *w = &l->of[thread];
    add_place(&o->latest, &o->latests, &l->latest_capacity, (struct fence_place){ pc, fence },
              code);
    for (size_t i = 0; i < w->stores; i++)
        add_place(&o->cover, &o->covers, &l->cover_capacity,
                  (struct fence_place){ w->stored[i], fence }, code);
    add_place(&o->cover, &o->covers, &l->cover_capacity, (struct fence_place){ pc, fence }, code);
}

static void see_store(struct waiting *w, const struct fence_event *e)
{
    w->symbol = words_room(w->symbol, w->count, &w->capacity, sizeof *w->symbol);
    w->symbol[w->count++] = e->symbol;
    w->stored = words_room(w->stored, w->stores, &w->store_capacity, sizeof *w->stored);
    w->stored[w->stores++] = e->pc;
}

static void see_commit(struct looking *l, const struct fence_event *e)
{
    struct waiting *w = &l->of[e->thread];
    struct fence_store s = fence_store_of(l->x->machine, e->symbol);
    bool overtakes = false;
    size_t k = 0;
    for (; k < w->count && w->symbol[k] != e->symbol; k++)
        overtakes |= fence_store_of(l->x->machine, w->symbol[k]).address != s.address;
    if (overtakes)
        relaxed(l, e->thread, e->pc, FENCE_BEFORE_STORE);
    if (k < w->count)
        memmove(&w->symbol[k], &w->symbol[k + 1], (--w->count - k) * sizeof *w->symbol);
}

static void see_event(struct looking *l, const struct fence_event *e)
{
    struct waiting *w = &l->of[e->thread];
    bool pso = l->x->options->model == EXPLORE_PSO;
    switch (e->kind) {
    case FENCE_STORED: see_store(w, e); break;
    case FENCE_COMMITTED: see_commit(l, e); break;
    case FENCE_LOADED:
        if (w->stores && !pso)
            relaxed(l, e->thread, w->stored[w->stores - 1], FENCE_AFTER_STORE);
        break;
    case FENCE_WRITTEN: relaxed(l, e->thread, e->pc, FENCE_BEFORE_STORE); break;
    case FENCE_EMPTY: w->count = w->stores = 0; break;
    }
}

static void do_step(struct looking *l, uint32_t from, const struct fence_step *step)
{
    struct fence_searching *x = l->x;
    fence_restore(x, from);
    x->machine->events = 0;
    x->machine->watching = x->s->follows = true;
    fence_draw(x, step);
    if (step->flush)
        step_flush(x->s, step->thread, step->flush - 1u);
    else
        step_thread(x->s, step->thread);
    x->machine->watching = x->s->follows = false;
    state_undo(x->s);
    for (size_t i = 0; i < x->machine->events; i++)
        see_event(l, &x->machine->event[i]);
}

static void turn_round(struct fence_place *list, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct fence_place p = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = p;
    }
}

void fence_path_look(struct fence_searching *x)
{
    struct looking l = { .x = x };
    uint32_t depth = x->node[x->at].depth, last = x->at;
    uint32_t *way = words_resize(NULL, (depth + 1) * sizeof *way);
    for (uint32_t n = last, k = depth + 1; k--; n = x->node[n].parent)
        way[k] = n;
    for (uint32_t k = 1; k <= depth; k++)
        do_step(&l, way[k - 1], &x->node[way[k]].step);
    if (x->failed.thread != UINT16_MAX)
        do_step(&l, last, &x->failed);
    turn_round(x->outcome->latest, x->outcome->latests);
    for (uint32_t t = 0; t < EXPLORE_THREADS; t++) {
        free(l.of[t].symbol);
        free(l.of[t].stored);
    }
    free(way);
}
