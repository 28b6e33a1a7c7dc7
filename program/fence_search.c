/* SPDX-License-Identifier: Apache-2.0 */
#include "fence_search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exploration.h"
#include "fence_nodes.h"

double fence_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note(struct fence_searching *x, const char *text)
{
    if (!x->outcome->note[0])
        snprintf(x->outcome->note, sizeof x->outcome->note, "%s", text);
}

/* ---- nodes -------------------------------------------------------------------------------- */

void fence_restore(struct fence_searching *x, uint32_t node)
{
    packer_unpack(x->k, x->node[node].place);
    fence_buffers_read(x->machine, x->node[node].buffers, x->s->buffers);
}

static uint32_t *first_of(struct fence_searching *x, uint32_t place)
{
    while (x->firsts <= place) {
        x->first = words_room(x->first, x->firsts, &x->first_capacity, sizeof *x->first);
        x->first[x->firsts++] = NO_NODE;
    }
    return &x->first[place];
}

/* Some node has all that this one would; those that it has more than are covered by it. */
static bool is_known(struct fence_searching *x, uint32_t place, uint32_t buffers)
{
    for (uint32_t n = *first_of(x, place); n != NO_NODE; n = x->node[n].next)
        if (!x->node[n].covered && fence_buffers_include(x->machine, x->node[n].buffers, buffers))
            return true;
    for (uint32_t n = *first_of(x, place); n != NO_NODE; n = x->node[n].next)
        if (!x->node[n].covered && fence_buffers_include(x->machine, buffers, x->node[n].buffers)) {
            x->node[n].covered = true;
            x->covered++;
        }
    return false;
}

/* The step that is under way, with what was drawn in it. */
static struct fence_step step_now(struct fence_searching *x, uint32_t thread, uint32_t flush)
{
    const struct choices *c = &x->s->choices;
    struct fence_step step = { (uint16_t)thread, (uint16_t)flush, (uint32_t)x->choices, c->used };
    for (uint32_t i = 0; i < c->used; i++) {
        x->choice = words_room(x->choice, x->choices, &x->choice_capacity, sizeof *x->choice);
        x->choice[x->choices++] = c->drawn[i];
    }
    return step;
}

static void add_node(struct fence_searching *x, struct fence_node node)
{
    uint32_t *first = first_of(x, node.place), number = (uint32_t)x->nodes;
    node.next = *first;
    *first = number;
    if (node.depth > x->outcome->longest)
        x->outcome->longest = node.depth;
    x->outcome->accelerated += node.accelerated;
    x->node = words_room(x->node, x->nodes, &x->capacity, sizeof *x->node);
    x->node[x->nodes++] = node;
    if (x->options->depth_first) {
        x->stack = words_room(x->stack, x->stacked, &x->stack_capacity, sizeof *x->stack);
        x->stack[x->stacked++] = number;
    }
}

/* Ancestors from which this thread alone moved, by its program: is one of them the same place? Only
 * what is in the own buffers differs then. */
static bool accelerate(struct fence_searching *x, uint32_t thread, uint32_t place)
{
    bool grew = false;
    for (uint32_t n = x->at; n != NO_NODE; n = x->node[n].parent) {
        if (x->node[n].place == place) {
            fence_buffers_read(x->machine, x->node[n].buffers, x->ancestor);
            if (fence_accelerate(x->machine, thread, x->ancestor, x->s->buffers))
                grew = true;
        }
        if (grew || x->node[n].step.thread != thread || x->node[n].step.flush)
            break;
    }
    return grew;
}

static void store_successor(struct fence_searching *x, uint32_t thread, uint32_t flush)
{
    bool is_new;
    uint32_t place = packer_pack(x->k, &is_new);
    if (place == PACK_FULL) {
        x->full = true;
        return;
    }
    struct fence_node node = { .place = place, .parent = x->at, .depth = x->node[x->at].depth + 1 };
    struct fence_buffers *b = x->s->buffers;
    if (!is_new && !flush && b->threads > thread)
        node.accelerated = accelerate(x, thread, place);
    node.buffers = fence_buffers_number(x->machine, b);
    if (is_known(x, place, node.buffers))
        return;
    node.step = step_now(x, thread, flush);
    add_node(x, node);
}

/* ---- steps -------------------------------------------------------------------------------- */

static void found_error(struct fence_searching *x, enum explore_error error, uint32_t thread,
                        uint32_t pc, const char *text)
{
    struct fence_outcome *o = x->outcome;
    o->verdict = EXPLORE_FAIL;
    o->error = error;
    o->thread = thread;
    o->pc = pc;
    o->steps = x->node[x->at].depth + 1;
    snprintf(o->text, sizeof o->text, "%s", text);
}

static bool see_end_of_step(struct fence_searching *x, uint32_t thread, uint32_t flush)
{
    struct state *s = x->s;
    x->moved = x->moved || s->end != STEP_BLOCKED;
    if (s->end == STEP_DONE) {
        x->outcome->transitions++;
        store_successor(x, thread, flush);
    } else if (s->end == STEP_ERROR) {
        found_error(x, s->error, s->error_thread, s->error_pc, s->text);
        x->failed = step_now(x, thread, flush);
    } else if (s->end == STEP_TOO_LONG) {
        note(x, s->text);
    } else if (s->end == STEP_STRANGE) {
        note(x, "a thread knows another's memory by a pointer in disguise");
        x->outcome->strange = true;
    }
    return !x->full && x->outcome->verdict != EXPLORE_FAIL;
}

/* One step with all its choices; false: it ends here. */
static bool expand_step(struct fence_searching *x, uint32_t thread, uint32_t flush)
{
    struct state *s = x->s;
    bool goes_on = true;
    s->choices.known = 0;
    do {
        if (flush)
            step_flush(s, thread, flush - 1);
        else
            step_thread(s, thread);
        goes_on = see_end_of_step(x, thread, flush);
        state_undo(s);
    } while (goes_on && state_next_choices(s));
    return goes_on;
}

static bool expand_all(struct fence_searching *x)
{
    struct state *s = x->s;
    bool goes_on = !s->exited;
    for (uint32_t t = 0; goes_on && t < s->threads; t++)
        if (s->thread[t].status == THREAD_RUNS || s->thread[t].status == THREAD_WOKEN)
            goes_on = expand_step(x, t, 0);
    for (uint32_t t = 0; goes_on && t < s->threads; t++) {
        uint32_t moves = s->model->moves(s, t);
        for (uint32_t k = 0; goes_on && k < moves; k++)
            goes_on = expand_step(x, t, k + 1);
    }
    return goes_on;
}

/* Nothing waits where all threads have ended. */
static void see_final(struct fence_searching *x)
{
    const struct explore_options *o = x->options;
    uint32_t row[64];
    if (!o->outcomes || o->outcomes > 64 || !state_has_ended(x->s))
        return;
    for (size_t i = 0; i < o->outcomes; i++) {
        const uint8_t *place = state_peek(x->s, o->outcome_address[i], o->outcome_size[i], false);
        row[i] = place ? state_get(place, o->outcome_size[i]) : 0;
    }
    word_table_add(&x->outcome->rows, row, (uint32_t)o->outcomes);
    if (x->machine->wrong && x->machine->wrong(x->machine->user, row)) {
        found_error(x, EXPLORE_REACHED, 0, 0, "final values");
        x->failed.thread = UINT16_MAX;
    }
}

static void expand_node(struct fence_searching *x, uint32_t node)
{
    do {
        x->full = false;
        if (pieces_want_to_grow(&x->pieces) && !pieces_grow(&x->pieces)) {
            note(x, "no memory for more states");
            return;
        }
        x->at = node;
        x->moved = false;
        fence_restore(x, node);
        see_final(x);
        expand_all(x);
    } while (x->full);
    if (!x->moved && !x->machine->robust && x->outcome->verdict != EXPLORE_FAIL
        && state_is_deadlocked(x->s)) {
        found_error(x, EXPLORE_DEADLOCK, 0, 0, "threads wait for ever");
        x->failed.thread = UINT16_MAX;
    }
}

void fence_draw(struct fence_searching *x, const struct fence_step *step)
{
    struct choices *c = &x->s->choices;
    c->known = step->choice_count;
    if (c->known)
        memcpy(c->drawn, x->choice + step->choices, c->known * sizeof *c->drawn);
    memset(c->of, 0, c->known * sizeof *c->of);
}

/* ---- the search --------------------------------------------------------------------------- */

static bool make(struct fence_searching *x, const struct program_code *code)
{
    if (!pieces_new(&x->pieces, false))
        return false;
    x->s = state_new(code, x->options);
    x->k = x->s ? packer_new(x->s, &x->pieces) : NULL;
    x->ancestor = calloc(1, sizeof *x->ancestor);
    return x->k && x->ancestor;
}

static void finish(struct fence_searching *x)
{
    if (x->k)
        packer_free(x->k);
    state_free(x->s);
    pieces_free(&x->pieces);
    free(x->node);
    free(x->first);
    free(x->choice);
    free(x->stack);
    free(x->ancestor);
}

static void store_first(struct fence_searching *x)
{
    bool is_new;
    state_begin(x->s);
    uint32_t place = packer_pack_whole(x->k, &is_new);
    while (place == PACK_FULL && pieces_grow(&x->pieces))
        place = packer_pack_whole(x->k, &is_new);
    state_mark(x->s);
    add_node(x, (struct fence_node){
                    .place = place,
                    .buffers = fence_buffers_number(x->machine, x->s->buffers),
                    .parent = NO_NODE,
                    .step = { .thread = UINT16_MAX },
                });
}

static size_t bytes_of(const struct fence_searching *x)
{
    return pieces_bytes(&x->pieces) + x->nodes * sizeof *x->node + fence_machine_bytes(x->machine);
}

/* Limits, and what somebody who watches wants; now and then. */
static void watch(struct fence_searching *x, size_t frontier, const struct explore_progress *before,
                  double began)
{
    const struct explore_options *o = x->options;
    char text[80];
    struct explore_progress p = {
        .states = before->states + x->nodes - x->covered,
        .transitions = before->transitions + x->outcome->transitions,
        .frontier = frontier,
        .depth = x->outcome->longest,
        .seconds = fence_now() - began,
        .bytes = bytes_of(x),
    };
    if (o->progress && o->progress(o->user, &p))
        note(x, "interrupted");
    if (o->most_seconds > 0 && p.seconds > o->most_seconds) {
        snprintf(text, sizeof text, "the limit of %g seconds", o->most_seconds);
        note(x, text);
    }
    if (o->most_bytes && p.bytes > o->most_bytes) {
        snprintf(text, sizeof text, "the limit of %zu MB", o->most_bytes >> 20);
        note(x, text);
    }
    if (o->most_states && p.states >= o->most_states) {
        snprintf(text, sizeof text, "the limit of %llu states", (unsigned long long)o->most_states);
        note(x, text);
    }
}

static void run(struct fence_searching *x, const struct explore_progress *before, double began)
{
    struct fence_outcome *o = x->outcome;
    uint32_t next = 0;
    for (uint32_t turns = 0; o->verdict != EXPLORE_FAIL && !o->note[0]; turns++) {
        size_t frontier = x->options->depth_first ? x->stacked : x->nodes - next;
        if (!frontier)
            break;
        if (turns % 64 == 0)
            watch(x, frontier, before, began);
        uint32_t node = x->options->depth_first ? x->stack[--x->stacked] : next++;
        if (!x->node[node].covered && !o->note[0])
            expand_node(x, node);
    }
    o->states = x->nodes - x->covered;
    if (o->verdict != EXPLORE_FAIL && o->note[0])
        o->verdict = EXPLORE_UNDECIDED;
}

bool fence_search(const struct explore_options *options, const struct explore_progress *before,
                  double began, struct fence_outcome *outcome)
{
    struct fence_searching x = { .options = options,
                                 .machine = options->symbolic,
                                 .outcome = outcome };
    *outcome = (struct fence_outcome){ .verdict = EXPLORE_PASS };
    word_table_new(&outcome->rows);
    bool made = make(&x, options->symbolic->code);
    if (made) {
        store_first(&x);
        run(&x, before, began);
        if (outcome->verdict == EXPLORE_FAIL)
            fence_path_look(&x);
    }
    finish(&x);
    return made;
}

void fence_outcome_free(struct fence_outcome *o)
{
    word_table_free(&o->rows);
    free(o->latest);
    free(o->cover);
    o->latest = o->cover = NULL;
}
