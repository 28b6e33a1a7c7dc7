/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_fence.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/random.h"
#include "chip_relax.h"
#include "image.h"
#include "program/fence_words.h"

enum { SMALLEST_HOLD = 16, HOLDS = 6 };

typedef LIST(struct steer_point) point_list;

/* ---- what an execution asks for -------------------------------------------------------------- */

/* Its accesses up to the error, by program order and by who was first at their place. */
struct asking {
    const struct relax_access *access;
    size_t count;
    const struct event_list *events;
    bool *reached;
    uint32_t *queue;
};

/* SC would have one of these before the other. */
static bool leads(const struct relax_access *a, const struct relax_access *b, bool later)
{
    return a->thread == b->thread ? later : relax_before(a, b);
}

/* All that the access at `from` leads to. */
static void reach(struct asking *x, uint32_t from)
{
    size_t first = 0, last = 0;
    memset(x->reached, 0, x->count * sizeof *x->reached);
    x->queue[last++] = from;
    while (first < last) {
        uint32_t at = x->queue[first++];
        for (uint32_t k = 0; k < x->count; k++)
            if (!x->reached[k] && leads(&x->access[at], &x->access[k], k > at)) {
                x->reached[k] = true;
                x->queue[last++] = k;
            }
    }
}

/* Was the store passed by what is behind it in the program? By its load: an mfence; by its store: an sfence. */
static bool passed(const struct relax_access *store, const struct relax_access *by)
{
    return store->kind == RELAX_STORE && store->thread == by->thread && by->done < store->done
        && !relax_overlap(store, by) && by->kind != RELAX_ATOMIC;
}

/* The latest access that passed a store on a cycle, and the latest such store; false: there is none. */
static bool find_place(struct asking *x, struct fence_place *place)
{
    for (uint32_t by = (uint32_t)x->count; by-- > 0;) {
        bool any = false;
        for (uint32_t s = 0; s < by; s++)
            any |= passed(&x->access[s], &x->access[by]);
        if (any)
            reach(x, by);
        for (uint32_t s = by; any && s-- > 0;) {
            if (!x->reached[s] || !passed(&x->access[s], &x->access[by]))
                continue;
            bool load = x->access[by].kind == RELAX_LOAD;
            uint32_t at = load ? s : by;
            *place = (struct fence_place){ x->events->event[x->access[at].event].pc,
                                           load ? FENCE_AFTER_STORE : FENCE_BEFORE_STORE };
            return true;
        }
    }
    return false;
}

/* False: no memory. */
static bool ask(const struct chip_fence *f, const struct on_chip_verdict *v,
                const struct relax_labels *all, struct fence_place *place, bool *found)
{
    struct relax_run run;
    struct asking x = { 0 };
    enum explore_model model;
    size_t shown;
    bool memory = chip_relax_run(v, f->image, all, &run);
    x.events = on_chip_events(v, &model);
    on_chip_error(v, &shown);
    x.access = run.access;
    while (memory && x.count < run.accesses && run.access[x.count].event < shown)
        x.count++;
    x.reached = calloc(x.count + 1, sizeof *x.reached);
    x.queue = calloc(x.count + 1, sizeof *x.queue);
    memory = memory && x.reached && x.queue;
    *found = memory && find_place(&x, place);
    free(x.reached);
    free(x.queue);
    free(run.access);
    return memory;
}

/* ---- fences and delays ----------------------------------------------------------------------- */

static bool put_fences(const struct chip_fence *f, const struct chip_fenced *out,
                       point_list *points)
{
    for (size_t i = 0; i < out->count; i++)
        for (uint32_t h = 0; h < chip_try_harts(f->machine); h++) {
            const struct fence_place *p = &out->asked[i].place;
            struct steer_point point = { .hart = h,
                                         .pc = p->pc,
                                         .mfence = p->fence == FENCE_AFTER_STORE,
                                         .sfence = p->fence == FENCE_BEFORE_STORE };
            if (!LIST_PUSH(points, point))
                return false;
        }
    return true;
}

/* In every second execution stores stay in their buffers for a while, and harts pause, by chance. */
static bool put_delays(const struct chip_fence *f, const struct relax_labels *all, uint64_t run,
                       point_list *points)
{
    struct random chance;
    random_seed(&chance, f->seed, run);
    uint32_t hold = (uint32_t)SMALLEST_HOLD << random_below(&chance, HOLDS);
    for (uint32_t k = 0; run % 2 == 0 && k < all->count; k++) {
        const struct instruction *i = image_instruction(f->image, all->base + 4 * k);
        if (!all->of[k] || !i || i->operation < OPERATION_LB || i->operation > OPERATION_SW
            || chip_relax_is_private(i))
            continue;
        for (uint32_t h = 0; h < chip_try_harts(f->machine); h++) {
            struct steer_point point = { .hart = h, .pc = all->base + 4 * k };
            if (i->operation >= OPERATION_SB && random_below(&chance, 2))
                point.hold = (uint16_t)(hold + random_below(&chance, hold));
            if (!random_below(&chance, 4))
                point.pause = (uint16_t)random_below(&chance, hold);
            if ((point.hold || point.pause) && !LIST_PUSH(points, point))
                return false;
        }
    }
    return true;
}

/* ---- executions ------------------------------------------------------------------------------ */

static bool add_asked(struct chip_fenced *out, struct chip_asked asked)
{
    struct chip_asked *more = realloc(out->asked, (out->count + 1) * sizeof *more);
    if (!more)
        return false;
    out->asked = more;
    out->asked[out->count++] = asked;
    return true;
}

static bool has(const struct chip_fenced *out, const struct fence_place *p)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->asked[i].place.pc == p->pc && out->asked[i].place.fence == p->fence)
            return true;
    return false;
}

/* It went wrong. False: no memory. */
static bool mend(const struct chip_fence *f, const struct on_chip_verdict *v,
                 const struct relax_labels *all, struct chip_fenced *out)
{
    struct fence_place place;
    size_t shown;
    bool found;
    enum explore_error error = on_chip_error(v, &shown);
    out->wrong++;
    if (!ask(f, v, all, &place, &found))
        return false;
    if (found && !has(out, &place))
        return add_asked(out, (struct chip_asked){ place, out->runs, error });
    out->no_fence = true;
    out->error = error;
    return true;
}

/* One execution; `right` says how it went. False: no memory. */
static bool execute(const struct chip_fence *f, const struct relax_labels *all,
                    struct chip_fenced *out, bool *right)
{
    point_list points = { 0 };
    struct on_chip_verdict *v = NULL;
    bool memory = put_fences(f, out, &points) && put_delays(f, all, out->runs, &points);
    *right = false;
    if (memory)
        out->end = chip_try_run(f->machine, points.data, points.count, out->runs, &v, &out->why);
    out->runs++;
    if (v && chip_relax_is_sound(v, &out->machine_wrong, &out->bad, &out->why)) {
        const char *why;
        *right = on_chip_result(v, &why) != ON_CHIP_FAIL;
        memory = *right || mend(f, v, all, out);
    }
    on_chip_verdict_free(v);
    LIST_FREE(&points);
    return memory;
}

static bool goes_on(const struct chip_fence *f, struct chip_fenced *out)
{
    if (f->progress && f->progress(f->user, out->runs, out->count))
        out->stopped = true;
    return !out->stopped && out->end == CHIP_TRY_DONE && !out->machine_wrong && !out->bad
        && !out->no_fence;
}

bool chip_fence(const struct chip_fence *f, struct chip_fenced *out)
{
    struct statement_labels labels;
    uint64_t in_a_row = 0;
    bool memory = statement_labels_find(&labels, f->image, f->source), more = true;
    while (memory && more && in_a_row < f->runs) {
        bool right;
        memory = execute(f, &labels.of, out, &right);
        more = goes_on(f, out);
        in_a_row = right ? in_a_row + 1 : 0;
    }
    out->right = memory && in_a_row >= f->runs;
    statement_labels_free(&labels);
    return memory;
}

void chip_fenced_free(struct chip_fenced *out)
{
    free(out->asked);
    out->asked = NULL;
    out->count = 0;
}

bool chip_fence_place(const struct image *from, const struct fence_place *place,
                      const struct image *to, struct fence_place *other)
{
    struct source_place here, there;
    const struct segment *s;
    size_t segments = image_segments(to, &s);
    uint32_t end = 0;
    if (!fence_words_place(from, place->pc, &here))
        return false;
    for (size_t i = 0; i < segments; i++)
        if (!s[i].writable && s[i].address + s[i].size > end)
            end = s[i].address + s[i].size;
    for (uint32_t pc = 0; pc < end; pc += 4) {
        const struct instruction *i = image_instruction(to, pc);
        bool store = i && i->operation >= OPERATION_SB && i->operation <= OPERATION_SW;
        if (!store || chip_relax_is_private(i) || !fence_words_place(to, pc, &there)
            || here.line != there.line || here.column != there.column
            || strcmp(here.file, there.file) != 0)
            continue;
        *other = (struct fence_place){ pc, place->fence };
        return true;
    }
    return false;
}
