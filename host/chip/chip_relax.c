/* SPDX-License-Identifier: Apache-2.0 */
#include "chip_relax.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/random.h"
#include "image.h"
#include "program/relax_trace.h"

enum { SP = 2, S0 = 8, SMALLEST_SCALE = 32, SCALES = 7, CYCLES_OF_ROUND = 3 };

/* ---- what happened --------------------------------------------------------------------------- */

struct reading {
    const struct on_chip_verdict *v;
    const struct image *image;
    const struct relax_labels *labels;
    const struct event_list *events;
    struct relax_run *run;
    LIST(struct relax_access) access;
    uint64_t *done; /* of each event that writes; 0: not yet */
    uint64_t clock;
    uint32_t live;
};

static bool is_call(const struct reading *r, uint32_t pc)
{
    const struct instruction *i = image_instruction(r->image, pc);
    return i && i->operation == OPERATION_ECALL;
}

/* Of its own line, or of the innermost caller that is no library. */
static uint32_t label_of(const struct reading *r, const struct program_event *e)
{
    uint32_t label = relax_label(r->labels, e->pc);
    for (size_t i = 0; !label && i < EVENT_CALLERS && e->caller[i]; i++)
        label = relax_label(r->labels, e->caller[i] - 4);
    return label;
}

static bool add_access(struct reading *r, const struct program_event *e, uint32_t event)
{
    uint32_t label = label_of(r, e);
    if (r->live < 2 || !label || is_call(r, e->pc) || !on_chip_is_shared(r->v, event))
        return true;
    struct relax_access a = {
        .thread = e->thread,
        .label = label,
        .address = e->address,
        .event = event,
        .size = e->size,
        .kind = e->kind == EVENT_LOAD  ? RELAX_LOAD
              : e->kind == EVENT_STORE ? RELAX_STORE
                                       : RELAX_ATOMIC,
        .reads = e->kind != EVENT_STORE,
        .writes = e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote),
        .done = r->clock,
    };
    return LIST_PUSH(&r->access, a);
}

static bool see(struct reading *r, uint32_t event)
{
    const struct program_event *e = &r->events->event[event];
    bool access = e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_ATOMIC;
    if (e->kind == EVENT_CREATE)
        r->live++;
    if (e->kind == EVENT_EXIT)
        r->live--;
    if (e->kind == EVENT_ATOMIC && e->wrote)
        r->done[event] = ++r->clock;
    if (e->kind == EVENT_COMMIT)
        r->done[e->cause] = ++r->clock;
    return !access || add_access(r, e, event);
}

/* Stores that nobody saw leave their buffer left it at the end. */
static void settle(struct reading *r)
{
    for (size_t i = 0; i < r->events->count; i++)
        if (r->events->event[i].kind == EVENT_STORE && !r->done[i])
            r->done[i] = ++r->clock;
    for (size_t i = 0; i < r->access.count; i++) {
        struct relax_access *a = &r->access.data[i];
        uint32_t from = a->reads ? on_chip_seen(r->v, a->event) : ACCOUNT_NONE;
        if (a->writes)
            a->done = r->done[a->event];
        a->seen = a->seen_last = from == ACCOUNT_NONE ? 0 : r->done[from];
    }
}

bool chip_relax_run(const struct on_chip_verdict *v, const struct image *image,
                    const struct relax_labels *labels, struct relax_run *run)
{
    enum explore_model model;
    size_t shown;
    struct reading r = { .v = v, .image = image, .labels = labels, .run = run, .live = 1 };
    r.events = on_chip_events(v, &model);
    *run = (struct relax_run){ .error = on_chip_error(v, &shown), .ended = true };
    r.done = calloc(r.events->count + 1, sizeof *r.done);
    bool good = r.done;
    for (uint32_t i = 0; good && i < r.events->count; i++)
        good = see(&r, i);
    if (good)
        settle(&r);
    free(r.done);
    run->access = r.access.data;
    run->accesses = r.access.count;
    return good;
}

/* ---- steering -------------------------------------------------------------------------------- */

typedef LIST(struct steer_point) point_list;

bool chip_relax_is_private(const struct instruction *i) { return i->rs1 == SP || i->rs1 == S0; }

/* Is it an access that others may notice, and that can be put elsewhere? */
static const struct instruction *steerable(const struct image *image, uint32_t pc)
{
    const struct instruction *i = image_instruction(image, pc);
    bool plain = i && i->operation >= OPERATION_LB && i->operation <= OPERATION_SW;
    bool amo = i && i->operation > OPERATION_SC;
    return (plain && !chip_relax_is_private(i)) || amo ? i : NULL;
}

static bool is_store(const struct instruction *i)
{
    return i->operation >= OPERATION_SB && i->operation <= OPERATION_SW;
}

static uint16_t up_to(struct random *chance, uint32_t cycles, uint32_t most)
{
    uint32_t n = (uint32_t)random_below(chance, cycles) + 1;
    return (uint16_t)(n < most ? n : most);
}

/* One place on one hart. The delays of odd labels come with P = 0.5, as in Figures 7 to 9. */
static struct steer_point draw_point(struct random *chance, uint32_t scale,
                                     const struct instruction *i, uint32_t position)
{
    struct steer_point p = { 0 };
    bool odd = position % 2 == 0, late = random_below(chance, 2);
    if (odd && late && is_store(i))
        p.hold = (uint16_t)(scale + up_to(chance, scale, STEER_MOST_HOLD - scale) - 1);
    else if (odd && late)
        p.pause = up_to(chance, scale / CYCLES_OF_ROUND, STEER_MOST_PAUSE);
    if (random_below(chance, 4) == 0)
        p.pause = up_to(chance, scale / CYCLES_OF_ROUND, STEER_MOST_PAUSE);
    return p;
}

static bool draw_points(const struct chip_relax *r, const struct relax_cycle *c, uint64_t seed,
                        point_list *points)
{
    const struct relax_labels *l = &r->plan.labels->of;
    struct random chance;
    random_seed(&chance, seed, 0);
    uint32_t scale = (uint32_t)SMALLEST_SCALE << random_below(&chance, SCALES);
    for (uint32_t k = 0; k < l->count; k++)
        for (uint32_t i = 0; l->of[k] && i < c->length; i++) {
            uint32_t pc = l->base + 4 * k;
            const struct instruction *at = l->of[k] == c->label[i] ? steerable(r->plan.image, pc)
                                                                   : NULL;
            for (uint32_t h = 0; at && h < chip_try_harts(r->machine); h++) {
                struct steer_point p = draw_point(&chance, scale, at, i);
                p.hart = h;
                p.pc = pc;
                if ((p.hold || p.pause) && !LIST_PUSH(points, p))
                    return false;
            }
        }
    return true;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static uint64_t iteration_of(const struct chip_relax *r, uint64_t trial, uint64_t execution)
{
    return (trial - 1) * r->plan.repeat + execution - 1;
}

/* That the machine is none of sequential consistency here, and one of its model, as the checker sees it. */
static bool proves(const struct chip_relax *r, const struct on_chip_verdict *v,
                   struct chip_relaxed *out, bool *memory)
{
    enum { PATIENCE = 20 }; /* seconds */
    struct relax_trace t = { 0 };
    struct ordeal_error why = { 0 };
    enum explore_model model;
    const struct event_list *events = on_chip_events(v, &model);
    *memory = relax_trace_make(&t, r->plan.image, events, model);
    bool proved = *memory && relax_trace_judge(&t, PATIENCE, &why) == ACCOUNT_CONFIRMED;
    out->unproved += *memory && !proved;
    relax_trace_free(&t);
    return proved;
}

bool chip_relax_is_sound(const struct on_chip_verdict *v, bool *machine_wrong, bool *bad,
                         struct why *why)
{
    const char *reason, *broke = on_chip_broke(v);
    enum on_chip_result result = on_chip_result(v, &reason);
    *machine_wrong = *broke;
    *bad = result == ON_CHIP_FULL || result == ON_CHIP_BAD;
    if (*machine_wrong)
        why_say(why, "%s", broke);
    else if (*bad)
        why_say(why, "%s",
                result == ON_CHIP_FULL ? "it has more threads at a time than the machine has harts"
                                       : reason);
    return !*machine_wrong && !*bad;
}

static void note(struct chip_relaxed *out, struct on_chip_verdict *v, struct relax_witness w)
{
    struct relax_tried *t = &out->tried;
    t->confirmed++;
    t->buggy += w.error != EXPLORE_NO_ERROR;
    w.there = true;
    if (t->witness.there && (t->witness.error || !w.error)) {
        on_chip_verdict_free(v);
        return;
    }
    on_chip_verdict_free(out->run);
    out->run = v;
    t->witness = w;
}

/* One execution. True: it has the cycle, and the trial is over. */
static bool execute(const struct chip_relax *r, const struct relax_cycle *c, struct relax_witness w,
                    struct chip_relaxed *out, bool *memory)
{
    uint32_t access[RELAX_LONGEST];
    struct relax_run run = { .error = EXPLORE_NO_ERROR };
    struct on_chip_verdict *v = NULL;
    point_list points = { 0 };
    *memory = draw_points(r, c, w.seed, &points);
    if (*memory)
        out->end = chip_try_run(r->machine, points.data, points.count,
                                iteration_of(r, w.trial, w.execution), &v, &out->why);
    bool had = false;
    if (v && chip_relax_is_sound(v, &out->machine_wrong, &out->bad, &out->why)) {
        out->tried.executions++;
        *memory = chip_relax_run(v, r->plan.image, &r->plan.labels->of, &run);
        *memory = *memory && relax_created(&run, c, access, &had);
        had = *memory && had && proves(r, v, out, memory);
        out->tried.others += !had && run.error;
        w.error = run.error;
    }
    if (had)
        note(out, v, w);
    else
        on_chip_verdict_free(v);
    free(run.access);
    LIST_FREE(&points);
    return had;
}

static bool goes_on(const struct chip_relax *r, struct chip_relaxed *out)
{
    if (r->plan.progress && r->plan.progress(r->plan.user, "phase II", out->tried.executions))
        out->tried.stopped = true;
    return !out->tried.stopped && out->end == CHIP_TRY_DONE && !out->machine_wrong && !out->bad;
}

bool chip_relax(const struct chip_relax *r, const struct relax_cycle *c, uint64_t first,
                uint64_t last, struct chip_relaxed *out)
{
    bool memory = true, more = true;
    *out = (struct chip_relaxed){ .end = CHIP_TRY_DONE };
    for (uint64_t t = first; memory && more && t <= last; t++) {
        bool had = false;
        for (uint64_t i = 1; memory && more && !had && i <= r->plan.repeat; i++) {
            uint64_t seed = relax_seed(&r->plan, c, r->model, t, i);
            had = execute(r, c, (struct relax_witness){ .trial = t, .execution = i, .seed = seed },
                          out, &memory);
            more = goes_on(r, out);
        }
        out->tried.trials += more || had;
    }
    return memory;
}

void chip_relaxed_free(struct chip_relaxed *out)
{
    on_chip_verdict_free(out->run);
    out->run = NULL;
}

bool chip_relax_waves(const struct chip_relax *r, const struct relax_cycle *c,
                      const struct relax_witness *w, const char *fst, struct why *why)
{
    point_list points = { 0 };
    bool good = draw_points(r, c, w->seed, &points) || why_say(why, "out of memory");
    good = good
        && chip_try_waves(r->machine, points.data, points.count,
                          iteration_of(r, w->trial, w->execution), fst, why);
    LIST_FREE(&points);
    return good;
}
