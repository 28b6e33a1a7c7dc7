/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: level by level, each takes some states of the level, expands them, and waits for the
 * others at its end, or where tables have to grow. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "exploration.h"

enum { GRAIN = 16 }; /* states that a worker takes at a time */

bool explorer_init(struct explorer *e, struct exploration *x)
{
    e->x = x;
    e->s = state_new(&x->code, x->options);
    if (e->s)
        e->s->contention = x->contention;
    e->k = e->s ? packer_new(e->s, &x->pieces) : NULL;
    return e->k != NULL;
}

void explorer_finish(struct explorer *e)
{
    packer_free(e->k);
    state_free(e->s);
    free(e->stack.item);
}

void exploration_note(struct exploration *x, const char *format, ...)
{
    va_list list;
    pthread_mutex_lock(&x->lock);
    if (!*x->note) {
        va_start(list, format);
        vsnprintf(x->note, sizeof x->note, format, list);
        va_end(list);
    }
    pthread_mutex_unlock(&x->lock);
}

static bool earlier(const struct found *a, const struct found *b)
{
    if (a->depth != b->depth)
        return a->depth < b->depth;
    return a->rank != b->rank ? a->rank < b->rank : a->step < b->step;
}

/* Keeps the earliest; with all_errors that of each kind and place. */
static void keep(struct exploration *x, const struct found *f)
{
    for (size_t i = 0; i < x->founds; i++) {
        struct found *other = &x->found[i];
        if (x->options->all_errors && (other->error != f->error || other->pc != f->pc))
            continue;
        if (earlier(f, other))
            *other = *f;
        return;
    }
    struct found *more = realloc(x->found, (x->founds + 1) * sizeof *more);
    if (!more) {
        x->no_memory = true;
        return;
    }
    x->found = more;
    x->found[x->founds++] = *f;
}

void exploration_found(struct explorer *e, enum explore_error error, uint32_t thread, uint32_t pc,
                       const char *text)
{
    struct exploration *x = e->x;
    bool ranked = x->options->jobs > 1 && !x->options->depth_first;
    uint64_t rank = ranked ? ranks_of(&x->ranks, e->state) : e->state;
    struct found f = { error,    thread,  pc,   "",
                       e->state, e->step, rank, x->options->depth_first ? e->depth : x->depth };
    snprintf(f.text, sizeof f.text, "%s", text);
    pthread_mutex_lock(&x->lock);
    keep(x, &f);
    if (x->options->depth_first && !x->options->all_errors)
        atomic_store(&x->stop, true);
    pthread_mutex_unlock(&x->lock);
}

/* ---- working together --------------------------------------------------------------------- */

/* A search that is wrong about some words goes on until it has twice the states, for it will meet
 * others. All of it is at ends of levels, and the same with any number of workers. */
bool exploration_has_learned(struct exploration *x)
{
    enum { FIRST = 1000 };
    uint32_t count = atomic_load(&x->pieces.states.count);
    if (exploration_is_worth(x))
        return false;
    if (!x->surprised_at)
        x->surprised_at = count;
    return count > 2 * x->surprised_at + FIRST;
}

/* When all workers are done with a level. What is told to stop within one is not: `over` changes
 * here alone, so that all go on or none. */
void exploration_next_level(struct exploration *x)
{
    x->over = atomic_load(&x->stop);
    if (x->over)
        return;
    for (uint32_t i = 0; i < x->options->jobs; i++)
        x->skipped += packer_skip_numbers(x->explorer[i].k);
    x->transitions_before = atomic_load(&x->transitions);
    x->low = x->high;
    x->high = atomic_load(&x->pieces.states.count);
    atomic_store(&x->next, x->low);
    x->complete = x->low == x->high;
    if (x->options->jobs > 1 && x->low > 1
        && !ranks_next_level(&x->ranks, x->low, x->high, x->parent))
        x->no_memory = true;
    if (!x->complete)
        x->depth++;
    x->over = x->complete || x->no_memory || exploration_has_learned(x)
           || (x->founds && !x->options->all_errors);
}

static void save(struct exploration *x)
{
    if (exploration_is_worth(x) && checkpoint_write(x, x->save_failed, sizeof x->save_failed))
        *x->save_failed = 0;
    atomic_store(&x->save, false);
}

static void grow(struct exploration *x)
{
    if (atomic_load(&x->save))
        save(x);
    if (!pieces_grow(&x->pieces)) {
        if (!*x->note)
            snprintf(x->note, sizeof x->note, "no memory for more states");
        atomic_store(&x->limited, true);
        atomic_store(&x->stop, true);
    }
    atomic_store(&x->grow, false);
}

void exploration_rest(struct exploration *x)
{
    if (x->parked) {
        grow(x);
        x->growths++;
        x->active = x->parked;
        x->parked = 0;
    } else if (x->options->depth_first) {
        x->over = true;
        x->complete = !atomic_load(&x->stop);
    } else {
        exploration_next_level(x);
        x->levels++;
        x->active = x->options->jobs;
    }
    pthread_cond_broadcast(&x->changed);
}

/* The last worker that comes here does what all wait for. */
static void wait_for_others(struct exploration *x, bool growth)
{
    pthread_mutex_lock(&x->lock);
    uint32_t *count = growth ? &x->growths : &x->levels, before = *count;
    x->parked += growth;
    if (--x->active == 0)
        exploration_rest(x);
    while (*count == before)
        pthread_cond_wait(&x->changed, &x->lock);
    pthread_mutex_unlock(&x->lock);
}

static bool exists(const struct exploration *x, uint32_t state)
{
    return *(const uint64_t *)intern_get(&x->pieces.states, state) != 0;
}

static void check_limits(struct exploration *x)
{
    uint64_t most = x->options->most_states;
    uint64_t count = atomic_load(&x->pieces.states.count) - x->skipped;
    if (x->options->depth_first && exploration_has_learned(x))
        atomic_store(&x->stop, true);
    if (!most || count <= most)
        return;
    exploration_note(x, "the limit of %llu states", (unsigned long long)most);
    atomic_store(&x->limited, true);
    atomic_store(&x->stop, true);
}

bool explorer_store_one(struct explorer *e, uint32_t state)
{
    struct exploration *x = e->x;
    for (;;) {
        if (atomic_load_explicit(&x->stop, memory_order_relaxed))
            return false;
        if (atomic_load_explicit(&x->grow, memory_order_relaxed))
            wait_for_others(x, true);
        if (explorer_store(e, state))
            break;
        atomic_store(&x->grow, true);
    }
    if (pieces_want_to_grow(&x->pieces))
        atomic_store(&x->grow, true);
    atomic_fetch_add_explicit(&x->transitions, e->transitions, memory_order_relaxed);
    e->transitions = 0;
    check_limits(x);
    return true;
}

static void work_on_level(struct explorer *e)
{
    struct exploration *x = e->x;
    for (;;) {
        uint32_t from = atomic_fetch_add(&x->next, GRAIN), to = from + GRAIN;
        if (from >= x->high || atomic_load(&x->stop))
            return;
        for (uint32_t n = from; n < to && n < x->high; n++)
            if (exists(x, n))
                explorer_store_one(e, n); /* else it was taken and not used */
    }
}

void *explorer_main(void *explorer)
{
    struct explorer *e = explorer;
    struct exploration *x = e->x;
    if (x->options->depth_first)
        explorer_depth_first(e);
    while (!x->over) {
        work_on_level(e);
        wait_for_others(x, false);
    }
    pthread_mutex_lock(&x->lock);
    x->finished++;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return NULL;
}
