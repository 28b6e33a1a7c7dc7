/* SPDX-License-Identifier: Apache-2.0 */
#include "relax_graph.h"

#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "exploration.h"
#include "record.h"

struct building {
    struct relax_graph *g;
    const struct relax_labels *labels;
    struct explorer e;
    struct exploration x;
    struct event_recorder recorder;
    size_t first_capacity;
    uint32_t live; /* while events of a step are read */
};

static bool room(struct relax_graph *g, void **data, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 1024;
    void *moved = realloc(*data, more * size);
    if (!moved) {
        g->failed = true;
        return false;
    }
    *data = moved;
    *capacity = more;
    return true;
}

static void say_why(struct relax_graph *g, const char *why)
{
    if (!g->why[0])
        snprintf(g->why, sizeof g->why, "%s", why);
}

/* ---- events of a step -------------------------------------------------------------------- */

static bool is_access(const struct program_event *e)
{
    return e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_ATOMIC;
}

static bool same_place(const struct program_event *a, const struct program_event *b)
{
    return a->thread == b->thread && a->address == b->address && a->size == b->size;
}

/* How many stores to the place of event `i` were in its thread's buffer behind it: those there now, but for
 * what came since. */
static uint32_t waiting_at(const struct building *b, size_t i)
{
    const struct event_list *l = &b->recorder.list;
    const struct program_event *e = &l->event[i];
    const struct buffer *own = &buffers_of(b->e.s)->of[e->thread];
    uint32_t n = 0;
    for (uint32_t k = 0; k < own->count; k++)
        n += own->entry[k].address == e->address && own->entry[k].size == e->size;
    for (size_t k = i + 1; k < l->count; k++) {
        const struct program_event *later = &l->event[k];
        if (!same_place(later, e))
            continue;
        n += later->kind == EVENT_COMMIT;
        n -= later->kind == EVENT_STORE && later->buffered && n;
    }
    return n;
}

static bool is_of_call(const struct building *b, uint32_t pc)
{
    const struct program_code *c = &b->x.code;
    uint32_t k = (pc - c->base) / 4;
    return k < (c->end - c->base) / 4 && c->at[k].operation == OPERATION_ECALL;
}

static struct relax_event as_event(const struct program_event *e)
{
    return (struct relax_event){
        .address = e->address,
        .size = e->size,
        .thread = (uint8_t)e->thread,
        .kind = e->kind == EVENT_LOAD   ? RELAX_LOAD
              : e->kind == EVENT_STORE  ? RELAX_STORE
              : e->kind == EVENT_ATOMIC ? RELAX_ATOMIC
                                        : 0,
        .reads = e->kind == EVENT_LOAD || e->kind == EVENT_ATOMIC,
        .writes = e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote),
    };
}

static uint32_t label_of(const struct relax_labels *l, const struct program_event *e)
{
    uint32_t label = relax_label(l, e->pc);
    for (uint32_t i = 0; i < EVENT_CALLERS && e->caller[i] && !label; i++)
        label = relax_label(l, e->caller[i] - 4);
    return label;
}

static void add_event(struct building *b, size_t i)
{
    struct relax_graph *g = b->g;
    const struct program_event *e = &b->recorder.list.event[i];
    struct relax_event event = as_event(e);
    if (e->private_access || (event.kind && (b->live < 2 || is_of_call(b, e->pc))))
        return;
    event.label = event.kind ? label_of(b->labels, e) : 0;
    if (event.kind && !event.label)
        return;
    if (e->buffered || e->forwarded) {
        uint32_t n = waiting_at(b, i);
        event.waits = n < 255 ? (uint8_t)n : 255;
        if (!n || n > 255)
            say_why(g, "a load sees a store of another size in its buffer");
    }
    if (room(g, (void **)&g->event, &g->event_capacity, g->events, sizeof *g->event))
        g->event[g->events++] = event;
}

static uint32_t running(const struct state *s)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < s->threads; t++)
        n += s->thread[t].status != THREAD_FREE && s->thread[t].status != THREAD_ENDED;
    return n;
}

static void add_events(struct building *b)
{
    const struct event_list *l = &b->recorder.list;
    b->live = running(b->e.s);
    for (size_t i = 0; i < l->count; i++) {
        b->live -= l->event[i].kind == EVENT_CREATE;
        b->live += l->event[i].kind == EVENT_EXIT;
    }
    for (size_t i = 0; i < l->count; i++) {
        b->live += l->event[i].kind == EVENT_CREATE;
        b->live -= l->event[i].kind == EVENT_EXIT;
        if (is_access(&l->event[i]) || l->event[i].kind == EVENT_COMMIT)
            add_event(b, i);
    }
}

static void forget(struct building *b)
{
    struct event_list *l = &b->recorder.list;
    while (l->count)
        free((char *)l->event[--l->count].text);
}

/* ---- states ------------------------------------------------------------------------------ */

static void add_edge(struct building *b, struct step_taken taken, uint32_t to)
{
    struct relax_graph *g = b->g;
    const struct choices *c = &b->e.s->choices;
    size_t events = g->events, choices = g->choices;
    add_events(b);
    for (uint32_t i = 0; i < c->used; i++)
        if (room(g, (void **)&g->choice, &g->choice_capacity, g->choices, sizeof *g->choice))
            g->choice[g->choices++] = c->drawn[i];
    if (room(g, (void **)&g->edge, &g->edge_capacity, g->edges, sizeof *g->edge))
        g->edge[g->edges++] = (struct relax_edge){
            to,      (uint32_t)events,       (uint32_t)(g->events - events), (uint32_t)choices,
            c->used, (uint16_t)taken.thread, (uint16_t)taken.flush
        };
}

static uint32_t number_of(struct building *b)
{
    bool is_new;
    uint32_t to;
    while ((to = packer_pack(b->e.k, &is_new)) == PACK_FULL && !b->g->failed)
        b->g->failed = !pieces_grow(&b->x.pieces);
    return to;
}

static bool visit(struct explorer *e, struct step_taken taken, void *user)
{
    struct building *b = user;
    enum step_end end = e->s->end;
    if (end == STEP_DONE || end == STEP_ERROR)
        add_edge(b, taken, end == STEP_DONE ? number_of(b) : 0);
    else if (end == STEP_TOO_LONG)
        say_why(b->g, e->s->text);
    forget(b);
    return !b->g->failed;
}

static bool expand_all(struct building *b, uint32_t most, bool (*stop)(void *), void *user)
{
    struct relax_graph *g = b->g;
    for (uint32_t s = 1; s <= g->states && !g->failed; s++) {
        if (!room(g, (void **)&g->first, &b->first_capacity, s + 1, sizeof *g->first))
            break;
        g->first[s] = (uint32_t)g->edges;
        if (s % 256 == 0 && stop && stop(user))
            return false;
        if (s <= most)
            expand(&b->e, s, visit, b);
        uint32_t known = atomic_load(&b->x.pieces.states.count) - 1;
        if (known > most)
            say_why(g, "the limit of states was reached");
        g->states = known < most ? known : most;
        if (pieces_want_to_grow(&b->x.pieces))
            g->failed |= !pieces_grow(&b->x.pieces);
    }
    if (room(g, (void **)&g->first, &b->first_capacity, g->states + 2, sizeof *g->first))
        g->first[g->states + 1] = (uint32_t)g->edges;
    return !g->failed;
}

static bool begin(struct building *b)
{
    bool is_new;
    if (!pieces_new(&b->x.pieces, false) || !explorer_init(&b->e, &b->x))
        return false;
    state_begin(b->e.s);
    while (packer_pack_whole(b->e.k, &is_new) == PACK_FULL)
        if (!pieces_grow(&b->x.pieces))
            return false;
    state_mark(b->e.s);
    b->e.s->recorder = &b->recorder;
    b->g->states = 1;
    return true;
}

bool relax_graph_make(struct relax_graph *g, const struct image *image,
                      const struct relax_options *options, uint32_t buffers, uint32_t most_states,
                      bool (*stop)(void *user), void *user)
{
    struct ordeal_error error;
    *g = (struct relax_graph){ .how = { .model = options->model,
                                        .plain_flush = true,
                                        .buffers = buffers,
                                        .local = EXPLORE_LOCAL_STATIC,
                                        .locked_atomics = options->locked_atomics,
                                        .jobs = 1,
                                        .nondet_low = options->nondet_low,
                                        .nondet_high = options->nondet_high } };
    struct building b = { .g = g, .labels = options->labels, .x = { .options = &g->how } };
    if (!program_code_new(&b.x.code, image, &error))
        return false;
    bool fine = begin(&b) && expand_all(&b, most_states, stop, user);
    forget(&b);
    free(b.recorder.list.event);
    explorer_finish(&b.e);
    pieces_free(&b.x.pieces);
    program_code_free(&b.x.code);
    return fine && !b.recorder.failed;
}

void relax_graph_free(struct relax_graph *g)
{
    free(g->first);
    free(g->edge);
    free(g->event);
    free(g->choice);
    *g = (struct relax_graph){ 0 };
}
