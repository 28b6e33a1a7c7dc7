/* SPDX-License-Identifier: Apache-2.0 */
/* Executes each step once, with a recorder, and makes of its events what the walk and the monitor ask
 * for. Every visible action is a step of its own (options.no_reduction). */
#include "sc_graph.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "grow.h"
#include "pack.h"
#include "record.h"
#include "step.h"

/* What is no memory, but orders threads. */
enum space { SPACE_MEMORY, SPACE_CONDITION, SPACE_CREATE, SPACE_END, SPACE_HEAP, SPACE_CRITICAL };

struct thread_steps {
    uint32_t first, count;
};
struct node {
    uint32_t slots; /* of its threads; plus one, 0: it was not expanded */
    uint8_t threads;
    uint32_t ended; /* set of those that have, or loop for ever */
};
struct key {
    uint64_t what;
    uint32_t location; /* plus one; 0: free */
    uint32_t size;     /* of the accesses that have it */
};

struct sc_graph {
    struct program_code code;
    struct explore_options options;
    struct pieces pieces;
    struct state *s;
    struct packer *k;
    struct event_recorder recorder;
    struct intern chunks, folds; /* of a thread's own state */
    struct intern_cursor chunk_cursor, fold_cursor;
    ROW(struct node) nodes;
    ROW(struct thread_steps) slots;
    ROW(struct sc_step) steps;
    ROW(struct sc_touch) touches;
    ROW(struct sc_access) accesses;
    ROW(uint32_t) locations; /* of accesses */
    struct key *keys;
    uint32_t key_room, location_count;
    bool bytes, mixed, no_memory;
    enum sc_trouble trouble;
    char note[256];
};

/* ---- making it ----------------------------------------------------------------------------- */

static bool make_tables(struct sc_graph *g)
{
    g->key_room = 1 << 10;
    g->keys = calloc(g->key_room, sizeof *g->keys);
    return g->keys && pieces_new(&g->pieces, false)
        && intern_new(&g->chunks, CHUNK_BYTES, 1 << 12, 1 << 24, false)
        && intern_new(&g->folds, 8, 1 << 12, 1 << 24, false);
}

struct sc_graph *sc_graph_new(const struct image *image, const struct explore_options *options,
                              bool bytes, struct ordeal_error *error)
{
    struct sc_graph *g = calloc(1, sizeof *g);
    bool is_new, fine = g && program_code_new(&g->code, image, error);
    if (fine) {
        g->options = *options;
        g->bytes = bytes;
        g->options.model = EXPLORE_SC;
        g->options.no_reduction = true;
        g->s = state_new(&g->code, &g->options);
        fine = g->s && make_tables(g);
    }
    g->k = fine ? packer_new(g->s, &g->pieces) : NULL;
    if (!g->k) {
        if (error->status == ORDEAL_OK)
            *error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY, .reason = "out of memory" };
        sc_graph_free(g);
        return NULL;
    }
    state_begin(g->s);
    packer_pack_whole(g->k, &is_new);
    g->s->recorder = &g->recorder;
    return g;
}

void sc_graph_free(struct sc_graph *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->steps.count; i++)
        free(g->steps.data[i].text);
    if (g->k)
        packer_free(g->k);
    state_free(g->s);
    pieces_free(&g->pieces);
    intern_free(&g->chunks);
    intern_free(&g->folds);
    explore_events_free(&g->recorder.list);
    ROW_FREE(&g->nodes);
    ROW_FREE(&g->slots);
    ROW_FREE(&g->steps);
    ROW_FREE(&g->touches);
    ROW_FREE(&g->accesses);
    ROW_FREE(&g->locations);
    free(g->keys);
    program_code_free(&g->code);
    free(g);
}

/* ---- locations ----------------------------------------------------------------------------- */

static struct key *find_key(struct sc_graph *g, uint64_t what)
{
    uint32_t at = (uint32_t)((what * 0x9e3779b97f4a7c15u) >> 40) & (g->key_room - 1);
    while (g->keys[at].location && g->keys[at].what != what)
        at = (at + 1) & (g->key_room - 1);
    return &g->keys[at];
}

static bool grow_keys(struct sc_graph *g)
{
    struct key *old = g->keys, *more = calloc(2 * (size_t)g->key_room, sizeof *more);
    uint32_t room = g->key_room;
    if (!more)
        return false;
    g->keys = more;
    g->key_room *= 2;
    for (uint32_t i = 0; i < room; i++)
        if (old[i].location)
            *find_key(g, old[i].what) = old[i];
    free(old);
    return true;
}

static uint32_t location_of(struct sc_graph *g, enum space space, uint32_t address)
{
    uint64_t what = (uint64_t)space << 32 | address;
    if (2 * g->location_count > g->key_room && !grow_keys(g))
        g->no_memory = true;
    struct key *key = find_key(g, what);
    if (!key->location)
        *key = (struct key){ .what = what, .location = ++g->location_count };
    return key->location - 1;
}

/* ---- what a step does ---------------------------------------------------------------------- */

static void add_touch(struct sc_graph *g, struct sc_step *step, uint32_t location, uint8_t how)
{
    for (uint32_t i = 0; i < step->touches; i++)
        if (g->touches.data[step->touch + i].location == location) {
            g->touches.data[step->touch + i].how |= how;
            return;
        }
    g->no_memory |= !ROW_ADD(&g->touches, ((struct sc_touch){ location, how }));
    step->touches++;
}

static void add_access(struct sc_graph *g, struct sc_step *step, uint8_t kind, uint32_t thread,
                       uint32_t pc)
{
    struct sc_access a = { kind, thread, pc, (uint32_t)g->locations.count, 0 };
    g->no_memory |= !ROW_ADD(&g->accesses, a);
    step->accesses++;
}

static void add_location(struct sc_graph *g, struct sc_step *step, enum space space,
                         uint32_t address, uint8_t how)
{
    uint32_t location = location_of(g, space, address);
    add_touch(g, step, location, how);
    g->no_memory |= !ROW_ADD(&g->locations, location);
    g->accesses.data[g->accesses.count - 1].locations++;
}

/* Words, or the bytes of an access. */
static void add_memory(struct sc_graph *g, struct sc_step *step, uint32_t address, uint32_t size,
                       uint8_t how)
{
    if (size < 4 && !g->bytes)
        g->trouble = SC_WANTS_BYTES;
    if (!g->bytes)
        add_location(g, step, SPACE_MEMORY, address & ~3u, how);
    for (uint32_t k = 0; g->bytes && k < size; k++) {
        add_location(g, step, SPACE_MEMORY, address + k, how);
        struct key *key = find_key(g, (uint64_t)SPACE_MEMORY << 32 | (address + k));
        g->mixed |= key->size && key->size != size;
        key->size = size;
    }
}

/* An atomic on a thing that is no memory. */
static void add_order(struct sc_graph *g, struct sc_step *step, const struct program_event *e,
                      uint32_t thread, enum space space, uint32_t which)
{
    add_access(g, step, MONITOR_LOCKED, thread, e->pc);
    add_location(g, step, space, which, TOUCH_READ | TOUCH_WRITE | TOUCH_CHANGE);
}

struct making {
    struct sc_step step;
    bool in_call, in_section;
    uint32_t thread;
};

static uint8_t atomic_kind(const struct sc_graph *g, const struct making *m,
                           const struct program_event *e)
{
    const struct instruction *i = image_instruction(g->code.image, e->pc);
    bool ordered = g->options.locked_atomics || m->in_call || m->in_section || !i
                || i->aq_rl & ORDER_RELEASE;
    return ordered ? MONITOR_LOCKED : MONITOR_ATOMIC;
}

/* Not what it wrote: another has that value before. */
static bool changes(const struct sc_graph *g, const struct program_event *e)
{
    const uint8_t *place = state_peek(g->s, e->address, e->size, false);
    return !place || state_get(place, e->size) != e->written;
}

static void see_atomic(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    uint8_t kind = atomic_kind(g, m, e);
    m->step.access = m->step.always = true;
    if (e->wrote) {
        add_access(g, &m->step, kind, m->thread, e->pc);
        add_memory(g, &m->step, e->address, e->size,
                   TOUCH_READ | TOUCH_WRITE | (e->read != e->written ? TOUCH_CHANGE : 0));
        return;
    }
    if (kind == MONITOR_LOCKED)
        add_access(g, &m->step, MONITOR_FENCE, m->thread, e->pc);
    add_access(g, &m->step, MONITOR_LOAD, m->thread, e->pc);
    add_memory(g, &m->step, e->address, e->size, TOUCH_READ);
}

static void see_access(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    if (e->private_access) {
        uint32_t own = stack_top(m->thread) - STATE_PART;
        m->step.resets |= e->kind == EVENT_STORE && e->address - own >= STATE_PART;
        return;
    }
    if (e->kind == EVENT_ATOMIC) {
        see_atomic(g, m, e);
        return;
    }
    bool store = e->kind == EVENT_STORE;
    m->step.access = true;
    add_access(g, &m->step,
               !store                        ? MONITOR_LOAD
               : m->in_call || m->in_section ? MONITOR_LOCKED
                                             : MONITOR_STORE,
               m->thread, e->pc);
    add_memory(g, &m->step, e->address, e->size,
               !store          ? TOUCH_READ
               : changes(g, e) ? TOUCH_WRITE | TOUCH_CHANGE
                               : TOUCH_WRITE);
}

static void see_fence(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    if (fence_drains(e->fence))
        add_access(g, &m->step, MONITOR_FENCE, m->thread, e->pc);
    else if (fence_orders(e->fence, 1, 1))
        add_access(g, &m->step, MONITOR_STORE_FENCE, m->thread, e->pc);
    m->step.access |= fence_drains(e->fence);
    m->step.always |= fence_drains(e->fence);
}

/* The memory that is freed is nobody's any more. */
static void see_free(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    uint32_t address = e->argument[0], owner = (address - STATE_HEAPS) / STATE_PART;
    int o = address && owner < EXPLORE_THREADS ? heap_find(g->s, owner, address) : -1;
    if (o < 0)
        return;
    add_order(g, &m->step, e, m->thread, SPACE_HEAP, owner);
    uint32_t size = g->s->heap[owner].object[o].size & ~(uint32_t)HEAP_SHARED;
    for (uint32_t k = 0; k < size; k += g->bytes ? 1 : 4)
        add_location(g, &m->step, SPACE_MEMORY, address + k,
                     TOUCH_READ | TOUCH_WRITE | TOUCH_CHANGE);
}

static void see_mutex(struct sc_graph *g, struct making *m, const struct program_event *e,
                      uint32_t mutex, enum sc_role role)
{
    m->step.role = role;
    m->step.access = m->step.always = true;
    if (role == SC_PLAIN) { /* it may fail, and then only looks */
        add_access(g, &m->step, MONITOR_FENCE, m->thread, e->pc);
        add_access(g, &m->step, MONITOR_LOAD, m->thread, e->pc);
        add_memory(g, &m->step, mutex, 4, TOUCH_READ);
    } else {
        add_access(g, &m->step, MONITOR_LOCKED, m->thread, e->pc);
        add_memory(g, &m->step, mutex, 4, TOUCH_READ | TOUCH_WRITE | TOUCH_CHANGE);
    }
}

static void see_wait(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    bool woken = g->s->thread[m->thread].status == THREAD_WOKEN;
    see_mutex(g, m, e, e->argument[1], woken ? SC_TAKES : SC_GIVES);
    if (!woken)
        add_order(g, &m->step, e, m->thread, SPACE_CONDITION, e->argument[0]);
}

static void see_call(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    m->in_call = true;
    switch (e->call) {
    case PROGRAM_CALL_MUTEX_LOCK: see_mutex(g, m, e, e->argument[0], SC_TAKES); break;
    case PROGRAM_CALL_MUTEX_UNLOCK: see_mutex(g, m, e, e->argument[0], SC_GIVES); break;
    case PROGRAM_CALL_MUTEX_TRYLOCK:
    case PROGRAM_CALL_MUTEX_DESTROY: see_mutex(g, m, e, e->argument[0], SC_PLAIN); break;
    case PROGRAM_CALL_COND_WAIT: see_wait(g, m, e); break;
    case PROGRAM_CALL_COND_SIGNAL:
    case PROGRAM_CALL_COND_BROADCAST:
        add_order(g, &m->step, e, m->thread, SPACE_CONDITION, e->argument[0]);
        m->step.access = m->step.always = true;
        break;
    case PROGRAM_CALL_CRITICAL_BEGIN:
    case PROGRAM_CALL_CRITICAL_END:
        add_touch(g, &m->step, location_of(g, SPACE_CRITICAL, 0), TOUCH_READ | TOUCH_WRITE);
        break;
    case PROGRAM_CALL_ALLOCATE: add_order(g, &m->step, e, m->thread, SPACE_HEAP, m->thread); break;
    case PROGRAM_CALL_FREE: see_free(g, m, e); break;
    case PROGRAM_CALL_ATOMIC_BEGIN: m->in_section = true; break;
    case PROGRAM_CALL_THREAD_DETACH:
        add_order(g, &m->step, e, m->thread, SPACE_END, e->argument[0]);
        break;
    case PROGRAM_CALL_ATOMIC_END: break;
    default: return;
    }
}

/* A thread that begins knows what was before; its first access comes after that. */
static void see_create(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    add_order(g, &m->step, e, m->thread, SPACE_CREATE, e->other);
    add_order(g, &m->step, e, e->other, SPACE_CREATE, e->other);
    m->step.created = e->other + 1;
}

static void see_event(struct sc_graph *g, struct making *m, const struct program_event *e)
{
    bool access = e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_ATOMIC;
    bool lock = m->in_call && m->step.role != SC_PLAIN; /* is known already */
    if (access && e->thread == m->thread && !lock)
        see_access(g, m, e);
    switch (e->kind) {
    case EVENT_FENCE: see_fence(g, m, e); break;
    case EVENT_CALL: see_call(g, m, e); break;
    case EVENT_CREATE: see_create(g, m, e); break;
    case EVENT_EXIT: add_order(g, &m->step, e, m->thread, SPACE_END, m->thread); break;
    case EVENT_JOIN:
        add_order(g, &m->step, e, m->thread, SPACE_END, e->other);
        m->step.role = SC_JOINS;
        break;
    default: break;
    }
}

/* ---- a thread's own state ------------------------------------------------------------------ */

static uint32_t fold(struct sc_graph *g, uint32_t number, const uint32_t words[CHUNK_WORDS])
{
    bool is_new;
    if ((intern_wants_to_grow(&g->chunks) && !intern_grow(&g->chunks))
        || (intern_wants_to_grow(&g->folds) && !intern_grow(&g->folds)))
        g->no_memory = true;
    uint32_t chunk = intern_add(&g->chunks, &g->chunk_cursor, words,
                                intern_hash(words, CHUNK_BYTES), &is_new);
    uint64_t pair = (uint64_t)number << 32 | chunk;
    return intern_add(&g->folds, &g->fold_cursor, &pair, intern_hash(&pair, 8), &is_new);
}

static uint32_t local_number(struct sc_graph *g, uint32_t thread)
{
    const struct thread *t = &g->s->thread[thread];
    uint32_t number = thread, words[CHUNK_WORDS] = { t->status, t->flags, t->pc, t->condition };
    number = fold(g, number, words);
    number = fold(g, number, t->x);
    number = fold(g, number, t->x + CHUNK_WORDS);
    uint32_t from = t->x[2] & ~3u, bytes = stack_top(thread) - from;
    if (t->status == THREAD_FREE || t->status == THREAD_ENDED)
        return number;
    for (uint32_t at = 0; at < bytes; at += CHUNK_BYTES) {
        uint32_t left = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;
        memset(words, 0, sizeof words);
        memcpy(words, g->s->stacks + (from - (uint32_t)STATE_STACKS) + at, left);
        number = fold(g, number, words);
    }
    return number;
}

/* ---- expanding ----------------------------------------------------------------------------- */

static void tell_end(struct sc_graph *g, struct sc_step *step)
{
    struct state *s = g->s;
    bool is_new;
    switch (s->end) {
    case STEP_DONE: step->end = s->exited ? SC_STOPS : SC_GOES_ON; break;
    case STEP_DISCARDED: step->end = SC_STOPS; break;
    case STEP_BLOCKED: step->end = SC_WAITS; break;
    case STEP_ERROR:
        step->end = SC_ERROR;
        step->error = s->error;
        step->pc = s->error_pc;
        step->text = strdup(s->text);
        break;
    case STEP_STRANGE:
        g->trouble = SC_STRANGE;
        step->end = SC_UNKNOWN;
        break;
    case STEP_TOO_LONG:
        step->end = SC_UNKNOWN;
        snprintf(g->note, sizeof g->note, "%s", s->text);
        break;
    }
    if (step->end == SC_GOES_ON)
        step->next = packer_pack(g->k, &is_new);
    if (step->end == SC_GOES_ON && step->next == PACK_FULL)
        g->trouble = SC_NO_MEMORY;
}

static void add_step(struct sc_graph *g, uint32_t thread)
{
    struct making m = { .thread = thread,
                        .step = { .touch = (uint32_t)g->touches.count,
                                  .access_first = (uint32_t)g->accesses.count } };
    m.step.local = local_number(g, thread);
    tell_end(g, &m.step);
    state_undo(g->s);
    for (size_t i = 0; i < g->recorder.list.count; i++)
        see_event(g, &m, &g->recorder.list.event[i]);
    if (m.step.created || m.step.role == SC_JOINS)
        m.step.access = m.step.always =
            false; /* what it writes is the number of a thread, or its value */
    g->no_memory |= !ROW_ADD(&g->steps, m.step);
}

static void forget_events(struct sc_graph *g)
{
    for (size_t i = 0; i < g->recorder.list.count; i++)
        free((char *)g->recorder.list.event[i].text);
    g->recorder.list.count = 0;
}

static void add_steps(struct sc_graph *g, uint32_t thread)
{
    struct state *s = g->s;
    struct thread_steps steps = { (uint32_t)g->steps.count, 0 };
    if (s->thread[thread].status == THREAD_RUNS || s->thread[thread].status == THREAD_WOKEN) {
        s->choices.known = 0;
        do {
            forget_events(g);
            step_thread(s, thread);
            add_step(g, thread);
            steps.count++;
        } while (state_next_choices(s));
    }
    g->no_memory |= !ROW_ADD(&g->slots, steps);
}

static bool reserve_node(struct sc_graph *g, uint32_t state)
{
    while (g->nodes.count <= state)
        if (!ROW_ADD(&g->nodes, ((struct node){ .slots = 0 })))
            return false;
    return true;
}

static void expand(struct sc_graph *g, uint32_t state)
{
    struct state *s = g->s;
    if ((pieces_want_to_grow(&g->pieces) && !pieces_grow(&g->pieces)) || !reserve_node(g, state)) {
        g->trouble = SC_NO_MEMORY;
        return;
    }
    packer_unpack(g->k, state);
    struct node *node = &g->nodes.data[state];
    node->slots = (uint32_t)g->slots.count + 1;
    node->threads = (uint8_t)s->threads;
    for (uint32_t t = 0; t < s->threads; t++) {
        uint32_t status = s->thread[t].status;
        if (status == THREAD_FREE || status == THREAD_ENDED || status == THREAD_LOOPS)
            node->ended |= 1u << t;
    }
    for (uint32_t t = 0, count = s->threads; t < count; t++)
        add_steps(g, t);
    if (g->no_memory || g->recorder.failed)
        g->trouble = SC_NO_MEMORY;
}

static const struct node *node_of(struct sc_graph *g, uint32_t state)
{
    if (state >= g->nodes.count || !g->nodes.data[state].slots)
        expand(g, state);
    return &g->nodes.data[state];
}

const struct sc_step *sc_steps(struct sc_graph *g, uint32_t state, uint32_t thread, uint32_t *count)
{
    const struct node *node = node_of(g, state);
    *count = 0;
    if (g->trouble || thread >= node->threads)
        return NULL;
    const struct thread_steps *steps = &g->slots.data[node->slots - 1 + thread];
    *count = steps->count;
    return steps->count ? &g->steps.data[steps->first] : NULL;
}

uint32_t sc_threads(struct sc_graph *g, uint32_t state) { return node_of(g, state)->threads; }

bool sc_ended(struct sc_graph *g, uint32_t state, uint32_t thread)
{
    const struct node *node = node_of(g, state);
    return thread >= node->threads || node->ended >> thread & 1;
}

const struct sc_touch *sc_touches(const struct sc_graph *g) { return g->touches.data; }
const struct sc_access *sc_accesses(const struct sc_graph *g) { return g->accesses.data; }
const uint32_t *sc_locations(const struct sc_graph *g) { return g->locations.data; }
uint32_t sc_location_count(const struct sc_graph *g) { return g->location_count; }

uint32_t sc_choices(struct sc_graph *g, uint32_t state, uint32_t thread, uint32_t which,
                    uint32_t *drawn, uint32_t most)
{
    struct state *s = g->s;
    packer_unpack(g->k, state);
    s->choices.known = 0;
    for (;;) {
        forget_events(g);
        step_thread(s, thread);
        state_undo(s);
        if (!which--)
            break;
        state_next_choices(s);
    }
    uint32_t used = s->choices.used < most ? s->choices.used : most;
    memcpy(drawn, s->choices.drawn, used * sizeof *drawn);
    return used;
}

enum sc_trouble sc_trouble(const struct sc_graph *g) { return g->trouble; }
const char *sc_graph_note(const struct sc_graph *g) { return g->note; }
bool sc_graph_mixed(const struct sc_graph *g) { return g->mixed; }
uint64_t sc_graph_states(const struct sc_graph *g) { return g->nodes.count; }

size_t sc_graph_bytes(const struct sc_graph *g)
{
    return pieces_bytes(&g->pieces) + intern_bytes(&g->chunks) + intern_bytes(&g->folds)
         + g->steps.room * sizeof *g->steps.data + g->touches.room * sizeof *g->touches.data
         + g->accesses.room * sizeof *g->accesses.data + g->nodes.room * sizeof *g->nodes.data;
}
