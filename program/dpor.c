/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: a stack of steps, taken and taken back. */
#include "dpor_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct frame *top(struct walk *w) { return &w->stack.data[w->stack.count - 1]; }

static void stop(struct walk *w, const char *why)
{
    if (!w->over)
        w->why = why;
    w->over = true;
}

/* ---- who may go on ------------------------------------------------------------------------- */

bool dpor_spins(const struct walk *w, uint32_t thread)
{
    uint32_t at = w->last[thread];
    const struct frame *last = at ? &w->stack.data[at - 1] : NULL;
    if (!last || last->thread != thread || !last->spins_from)
        return false;
    for (; at && at >= last->spins_from; at = w->stack.data[at - 1].before) {
        const struct sc_step *step = &w->stack.data[at - 1].step;
        for (uint32_t k = 0; k < step->touches; k++) {
            const struct sc_touch *touch = &sc_touches(w->g)[step->touch + k];
            if (touch->how & TOUCH_READ && w->places.data[touch->location].change > at)
                return false;
        }
    }
    return true;
}

static bool may_step(struct walk *w, const struct frame *f, uint32_t thread)
{
    uint32_t count;
    const struct sc_step *step = sc_steps(w->g, f->state, thread, &count);
    return step && step->end != SC_WAITS && !(f->stopped >> thread & 1) && !dpor_spins(w, thread);
}

/* What touches nothing is done at once, whoever does it: it commutes with all. */
static bool is_quiet(struct walk *w, uint32_t state, uint32_t thread)
{
    uint32_t count;
    const struct sc_step *step = sc_steps(w->g, state, thread, &count);
    return step && !step->touches;
}

static uint32_t cost(const struct frame *f, uint32_t thread)
{
    return thread != f->current && f->enabled >> f->current & 1;
}

static uint32_t affordable(struct walk *w, const struct frame *f)
{
    uint32_t set = 0;
    for (uint32_t left = f->enabled; left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        bool may = f->preemptions + cost(f, t) <= w->bound;
        set |= (uint32_t)may << t;
        w->beyond |= !may;
    }
    return set;
}

/* The frame's threads, and which of them are tried. */
static void look_around(struct walk *w, struct frame *f)
{
    uint32_t threads = sc_threads(w->g, f->state), quiet = 0;
    f->enabled = f->backtrack = 0;
    for (uint32_t t = 0; t < threads; t++)
        f->enabled |= (uint32_t)may_step(w, f, t) << t;
    for (uint32_t left = f->enabled; left && !quiet; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        quiet = is_quiet(w, f->state, t) ? 1u << t : 0;
    }
    uint32_t awake = f->enabled & ~f->sleep;
    if (quiet)
        f->backtrack = quiet;
    else if (w->o->bounded)
        f->backtrack = affordable(w, f);
    else if (awake >> f->current & 1)
        f->backtrack = 1u << f->current;
    else
        f->backtrack = awake & -awake;
}

/* ---- a step, and back ---------------------------------------------------------------------- */

static bool reserve_places(struct walk *w)
{
    while (w->places.count < sc_location_count(w->g))
        if (!ROW_ADD(&w->places, ((struct place_now){ 0, 0, 0 })))
            return false;
    return true;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    a ^= a >> 29;
    a *= 0xbf58476d1ce4e5b9u;
    return a ^ a >> 32;
}

static uint64_t name_of(const struct walk *w, uint32_t record)
{
    if (!record)
        return 0;
    const struct frame *f = &w->stack.data[w->records.data[record - 1].event];
    return (uint64_t)f->thread << 32 | f->ordinal;
}

/* A trace is which step of which thread comes after which, at each location: a sum over its steps. */
static void sign(const struct walk *w, const struct frame *f, uint64_t signature[2])
{
    uint64_t h = mix((uint64_t)f->thread << 32 | f->ordinal, f->which + 1);
    for (uint32_t k = 0; k < f->step.touches; k++) {
        const struct sc_touch *touch = &sc_touches(w->g)[f->step.touch + k];
        const struct place_now *at = &w->places.data[touch->location];
        uint64_t reads = 0;
        for (uint32_t r = touch->how & TOUCH_WRITE ? at->reads : 0; r;
             r = w->records.data[r - 1].next)
            reads += mix(name_of(w, r), 7);
        h = mix(mix(mix(h, touch->location), name_of(w, at->write)), reads);
    }
    signature[0] += mix(h, 1);
    signature[1] += mix(h, 2);
}

static void touch_all(struct walk *w, uint32_t event)
{
    const struct sc_step *step = &w->stack.data[event].step;
    for (uint32_t k = 0; k < step->touches; k++) {
        const struct sc_touch *touch = &sc_touches(w->g)[step->touch + k];
        struct place_now *at = &w->places.data[touch->location];
        struct record r = { .location = touch->location,
                            .event = event,
                            .how = touch->how,
                            .write = at->write,
                            .reads = at->reads,
                            .change = at->change };
        r.next = at->reads;
        w->no_memory |= !ROW_ADD(&w->records, r);
        uint32_t number = (uint32_t)w->records.count;
        if (touch->how & TOUCH_WRITE) {
            at->write = number;
            at->reads = 0;
        } else {
            at->reads = number;
        }
        if (touch->how & TOUCH_CHANGE)
            at->change = event + 1;
    }
}

/* Steps of the thread, from the last on, that came back to the state from which they began and changed
 * nothing: as long as nobody changes what they read, doing them again changes nothing. */
static uint32_t comes_back(const struct walk *w, uint32_t event)
{
    enum { FAR = 64 };
    const struct frame *all = w->stack.data, *last = &all[event];
    uint32_t from = event + 1;
    for (uint32_t far = 0; far < FAR; far++) {
        const struct frame *f = &all[from - 1];
        bool changes = f->step.resets || f->step.created;
        for (uint32_t k = 0; k < f->step.touches; k++)
            changes |= sc_touches(w->g)[f->step.touch + k].how & TOUCH_CHANGE;
        uint32_t before = f->before;
        if (changes || !before || all[before - 1].thread != last->thread)
            return 0;
        if (all[before - 1].step.local == last->step.local)
            return from;
        from = before;
    }
    return 0;
}

/* ---- the monitor --------------------------------------------------------------------------- */

static struct monitor_access access_of(const struct walk *w, uint32_t number)
{
    const struct sc_access *a = &sc_accesses(w->g)[number];
    return (struct monitor_access){ a->kind, a->thread, a->locations,
                                    sc_locations(w->g) + a->first };
}

static void feed(struct walk *w, uint32_t event, bool again)
{
    const struct sc_step step = w->stack.data[event].step;
    for (uint32_t k = 0; k < step.accesses; k++) {
        struct monitor_access access = access_of(w, step.access_first + k);
        struct monitor_finding finding;
        bool borderline = monitor_add(w->monitor, &access, &finding);
        if (again)
            continue;
        w->no_memory |= !ROW_ADD(&w->access_step, event);
        w->borderline += borderline;
        if (borderline)
            dpor_found(w, event, &finding);
    }
}

static bool fits(const struct walk *w, const struct sc_step *step)
{
    for (uint32_t k = 0; k < step->accesses; k++)
        if (sc_accesses(w->g)[step->access_first + k].thread >= w->monitor_threads)
            return false;
    return w->monitor && sc_location_count(w->g) <= w->monitor_locations;
}

/* A larger one, fed with all that was done before the last step. */
static void enlarge_monitor(struct walk *w)
{
    monitor_free(w->monitor);
    uint32_t state = top(w)->step.next ? top(w)->step.next : top(w)->state;
    w->monitor_threads = sc_threads(w->g, state);
    w->monitor_locations = 2 * sc_location_count(w->g) + 16;
    w->monitor = monitor_new(w->o->model, w->monitor_threads, w->monitor_locations);
    w->no_memory |= !w->monitor;
    for (uint32_t i = 0; w->monitor && i + 1 < w->stack.count; i++)
        feed(w, i, true);
}

static void watch(struct walk *w, uint32_t event)
{
    if (w->o->unmonitored)
        return;
    if (!fits(w, &w->stack.data[event].step))
        enlarge_monitor(w);
    if (w->monitor)
        feed(w, event, false);
}

/* ---- a step, and back ---------------------------------------------------------------------- */

/* What the thread knows before its step: what it knew after the last one, or its creator. */
static void start_clock(const struct walk *w, struct frame *f)
{
    memset(f->clock, 0, sizeof f->clock);
    if (w->last[f->thread])
        memcpy(f->clock, w->stack.data[w->last[f->thread] - 1].clock, sizeof f->clock);
}

/* `after` becomes the signature with it. */
static void do_step(struct walk *w, uint64_t after[2])
{
    uint32_t event = (uint32_t)w->stack.count - 1, count;
    struct frame *f = top(w);
    const struct sc_step *steps = sc_steps(w->g, f->state, f->thread, &count);
    f->choices = count;
    f->step = steps[f->which];
    w->no_memory |= !reserve_places(w);
    f->before = w->last[f->thread];
    f->ordinal = f->before ? w->stack.data[f->before - 1].ordinal + 1 : 0;
    memcpy(after, f->signature, sizeof f->signature);
    sign(w, f, after);
    f->records = (uint32_t)w->records.count;
    f->accesses = (uint32_t)w->access_step.count;
    f->borderline = w->borderline;
    start_clock(w, f);
    dpor_races(w, f->thread, &f->step, f->clock, true);
    f->clock[f->thread] = event + 1;
    touch_all(w, event);
    w->last[f->thread] = event + 1;
    if (f->step.created) {
        f->created_before = w->last[f->step.created - 1];
        w->last[f->step.created - 1] = event + 1;
    }
    f->spins_from = comes_back(w, event);
    watch(w, event);
    w->r->steps++;
}

static void undo_step(struct walk *w)
{
    struct frame *f = top(w);
    while (w->records.count > f->records) {
        const struct record *r = &w->records.data[--w->records.count];
        w->places.data[r->location] = (struct place_now){ r->write, r->reads, r->change };
    }
    if (f->step.created)
        w->last[f->step.created - 1] = f->created_before;
    w->last[f->thread] = f->before;
    w->access_step.count = f->accesses;
    w->borderline = f->borderline;
    if (w->monitor)
        monitor_back(w->monitor, f->accesses);
}

/* ---- an execution is at its end ------------------------------------------------------------- */

static int compare_traces(const void *a, const void *b) { return memcmp(a, b, 16); }

/* Was a trace like this there before? Kept by 128 bits of what it is, in an open table. */
static bool is_new_trace(struct walk *w, const uint64_t signature[2])
{
    uint64_t key[2] = { signature[0] ? signature[0] : 1, signature[1] };
    if (2 * w->seen.count >= w->seen.room) {
        size_t room = w->seen.room ? 2 * w->seen.room : 1 << 12;
        uint64_t(*old)[2] = w->seen.trace, (*more)[2] = calloc(room, sizeof *more);
        size_t had = w->seen.room;
        if (!more) {
            w->no_memory = true;
            return true;
        }
        w->seen.trace = more;
        w->seen.room = room;
        w->seen.count = 0;
        for (size_t i = 0; i < had; i++)
            if (old[i][0])
                is_new_trace(w, old[i]);
        free(old);
    }
    size_t at = key[0] & (w->seen.room - 1);
    for (; w->seen.trace[at][0]; at = (at + 1) & (w->seen.room - 1))
        if (!compare_traces(w->seen.trace[at], key))
            return false;
    memcpy(w->seen.trace[at], key, sizeof key);
    w->seen.count++;
    return true;
}

static void count_orders(struct walk *w)
{
    struct dpor_number orders;
    struct dpor_result *r = w->r;
    if (!dpor_count_orders(w, &orders)) {
        r->interleavings.too_large = true;
        r->borderline_interleavings.too_large |= w->borderline != 0;
        return;
    }
    dpor_number_add(&r->interleavings, &orders);
    if (w->borderline)
        dpor_number_add(&r->borderline_interleavings, &orders);
}

static void count_execution(struct walk *w, const struct frame *f)
{
    struct dpor_result *r = w->r;
    bool bad = w->borderline;
    bool fresh = is_new_trace(w, f->signature);
    if (!fresh && !w->o->bounded) {
        r->redundant++;
        return;
    }
    r->total.executions++;
    r->total.borderline_executions += bad;
    r->total.traces += fresh;
    r->total.borderline_traces += fresh && bad;
    if (w->o->count && fresh)
        count_orders(w);
}

/* Nobody can go on, and somebody waits for what does not come. */
static bool is_deadlock(struct walk *w, const struct frame *f)
{
    bool waits = false;
    for (uint32_t t = 0; t < sc_threads(w->g, f->state); t++) {
        bool ended = sc_ended(w->g, f->state, t) || f->stopped >> t & 1;
        if (!ended && dpor_spins(w, t))
            return false;
        waits |= !ended;
    }
    return waits && !f->stopped;
}

static void end_execution(struct walk *w, struct frame *f)
{
    uint32_t threads = sc_threads(w->g, f->state), count;
    for (uint32_t t = 0; t < threads && !w->o->bounded; t++) {
        const struct sc_step *step = sc_steps(w->g, f->state, t, &count);
        if (!step || step->end != SC_WAITS || step->role != SC_TAKES || !step->touches)
            continue;
        uint32_t clock[EXPLORE_THREADS] = { 0 };
        if (w->last[t])
            memcpy(clock, w->stack.data[w->last[t] - 1].clock, sizeof clock);
        dpor_races(w, t, step, clock, false);
    }
    if (w->o->bounded && f->preemptions < w->bound)
        return; /* counted under a lower bound */
    if (!f->discarded)
        count_execution(w, f);
    if (is_deadlock(w, f))
        dpor_failed(w, EXPLORE_DEADLOCK, NULL);
}

/* ---- the walk ------------------------------------------------------------------------------ */

static bool is_time(struct walk *w)
{
    const struct dpor_options *o = w->o;
    struct dpor_progress p = { w->r->total.executions, w->r->total.borderline_executions,
                               sc_graph_states(w->g), now() - w->started };
    if (o->progress && o->progress(o->user, &p))
        stop(w, "interrupted");
    if (o->most_seconds > 0 && p.seconds > o->most_seconds)
        stop(w, "the limit of --seconds was reached");
    if (o->most_bytes && sc_graph_bytes(w->g) + w->seen.room * 16 > o->most_bytes)
        stop(w, "the limit of --memory was reached");
    return w->over;
}

static void check_limits(struct walk *w)
{
    const struct dpor_options *o = w->o;
    if (o->most_executions && w->r->total.executions >= o->most_executions)
        stop(w, "the limit of --limit was reached");
    if (w->no_memory)
        stop(w, "out of memory");
    if (sc_trouble(w->g) != SC_FINE)
        stop(w, "the exploration begins again");
    if (!(w->r->steps & 0x3ff))
        is_time(w);
}

static void push(struct walk *w, struct frame f)
{
    w->no_memory |= !ROW_ADD(&w->stack, f);
    look_around(w, top(w));
}

/* Does a step of a thread that sleeps touch what this one touches? */
static bool depends(struct walk *w, const struct frame *f, uint32_t thread)
{
    uint32_t count;
    const struct sc_step *steps = sc_steps(w->g, f->state, thread, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < steps[i].touches; k++)
            for (uint32_t n = 0; n < f->step.touches; n++) {
                const struct sc_touch *a = &sc_touches(w->g)[steps[i].touch + k];
                const struct sc_touch *b = &sc_touches(w->g)[f->step.touch + n];
                if (a->location == b->location && (a->how | b->how) & TOUCH_WRITE)
                    return true;
            }
    return false;
}

static uint32_t still_asleep(struct walk *w, const struct frame *f)
{
    uint32_t set = 0;
    for (uint32_t left = f->sleep & ~(1u << f->thread); left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        if (!depends(w, f, t))
            set |= 1u << t;
    }
    return set;
}

/* The state after the step on top. */
static void go_on(struct walk *w, const uint64_t signature[2])
{
    const struct frame *f = top(w);
    struct frame next = { .state = f->step.end == SC_GOES_ON ? f->step.next : f->state,
                          .stopped = f->stopped,
                          .current = f->thread,
                          .discarded = f->discarded,
                          .preemptions = f->preemptions };
    bool quiet = is_quiet(w, f->state, f->thread);
    next.sleep = w->o->bounded ? 0 : still_asleep(w, f);
    next.preemptions += quiet ? 0 : cost(f, f->thread);
    if (quiet)
        next.current = f->current;
    if (f->step.end != SC_GOES_ON)
        next.stopped |= 1u << f->thread;
    next.discarded |= f->step.end == SC_STOPS && !f->step.touches;
    memcpy(next.signature, signature, sizeof next.signature);
    push(w, next);
}

static void take_step(struct walk *w)
{
    uint64_t after[2];
    do_step(w, after);
    const struct frame *f = top(w);
    if (f->step.end == SC_ERROR)
        dpor_failed(w, f->step.error, &f->step);
    if (f->step.end == SC_UNKNOWN)
        stop(w, sc_graph_note(w->g));
    go_on(w, after);
}

/* The next thread or choice of the frame on top; false: there is none. */
static bool choose(struct walk *w, bool again)
{
    struct frame *f = top(w);
    if (again && ++f->which < f->choices)
        return true;
    if (again)
        f->sleep |= 1u << f->thread;
    uint32_t left = f->backtrack & ~f->sleep;
    if (!left)
        return false;
    f->which = 0;
    f->thread = left >> f->current & 1 ? f->current : (uint32_t)__builtin_ctz(left);
    return true;
}

static void walk(struct walk *w)
{
    bool again = false;
    while (w->stack.count && !w->over) {
        struct frame *f = top(w);
        if (!again && !f->enabled)
            end_execution(w, f);
        else if (!again && !(f->enabled & ~f->sleep))
            w->r->redundant++;
        bool too_long = w->stack.count > w->o->most_steps;
        w->cut |= too_long && f->enabled;
        if (!too_long && choose(w, again)) {
            take_step(w);
            again = false;
        } else {
            w->stack.count--;
            if (w->stack.count)
                undo_step(w);
            again = true;
        }
        check_limits(w);
    }
}

static void begin(struct walk *w)
{
    w->stack.count = w->records.count = w->access_step.count = 0;
    for (size_t i = 0; i < w->places.count; i++)
        w->places.data[i] = (struct place_now){ 0, 0, 0 };
    memset(w->last, 0, sizeof w->last);
    w->borderline = 0;
    if (w->monitor)
        monitor_back(w->monitor, 0);
    push(w, (struct frame){ .state = SC_START });
}

static void add_row(struct walk *w)
{
    struct dpor_row *more = realloc(w->r->row, (w->r->rows + 1) * sizeof *more);
    if (!more) {
        w->no_memory = true;
        return;
    }
    w->r->row = more;
    w->r->row[w->r->rows++] = w->r->total;
}

/* Bound after bound; where none was in the way, all is done. */
static void walk_bounds(struct walk *w)
{
    for (w->bound = 0; w->bound <= w->o->context && !w->over; w->bound++) {
        w->beyond = false;
        begin(w);
        walk(w);
        w->r->total.seconds = now() - w->started;
        add_row(w);
        if (!w->beyond)
            break;
    }
}

static void conclude(struct walk *w)
{
    struct dpor_result *r = w->r;
    r->total.seconds = now() - w->started;
    r->states = sc_graph_states(w->g);
    r->complete = !w->over && !w->cut && !w->beyond;
    r->verdict = r->findings          ? EXPLORE_FAIL
               : w->over || w->cut    ? EXPLORE_UNDECIDED
               : sc_graph_mixed(w->g) ? EXPLORE_UNDECIDED
                                      : EXPLORE_PASS;
    if (w->why && !r->findings)
        snprintf(r->note, sizeof r->note, "%s", w->why);
    else if (w->cut)
        snprintf(r->note, sizeof r->note, "an execution has more than %u steps", w->o->most_steps);
    else if (sc_graph_mixed(w->g))
        snprintf(r->note, sizeof r->note,
                 "accesses of different sizes share memory, of which the monitor does not say all");
}

static void free_walk(struct walk *w)
{
    monitor_free(w->monitor);
    ROW_FREE(&w->stack);
    ROW_FREE(&w->records);
    ROW_FREE(&w->places);
    ROW_FREE(&w->access_step);
    free(w->seen.trace);
    sc_graph_free(w->g);
}

/* Memory was taken for words, or for one thread's alone, and was not: again without. */
static bool explore_once(const struct image *image, const struct dpor_options *o, bool *bytes,
                         uint8_t *local, struct dpor_result **result, struct ordeal_error *error)
{
    struct walk w = { .o = o, .started = now(), .r = calloc(1, sizeof *w.r) };
    struct explore_options program = o->program;
    program.local = *local;
    w.g = w.r ? sc_graph_new(image, &program, *bytes, error) : NULL;
    *result = w.r;
    if (!w.g)
        return false;
    w.r->first_seconds = -1;
    w.r->not_local = (uint8_t)(o->program.local & ~*local);
    if (o->bounded) {
        walk_bounds(&w);
    } else {
        begin(&w);
        walk(&w);
    }
    enum sc_trouble trouble = sc_trouble(w.g);
    conclude(&w);
    free_walk(&w);
    *bytes |= trouble == SC_WANTS_BYTES;
    *local &= (uint8_t)(trouble == SC_STRANGE ? ~EXPLORE_LOCAL_DYNAMIC : 0xff);
    return trouble == SC_WANTS_BYTES || trouble == SC_STRANGE;
}

enum ordeal_status dpor_explore(const struct image *image, const struct dpor_options *options,
                                struct dpor_result **result, struct ordeal_error *error)
{
    bool bytes = false;
    uint8_t local = options->program.local;
    *error = (struct ordeal_error){ .status = ORDEAL_OK };
    *result = NULL;
    while (explore_once(image, options, &bytes, &local, result, error)) {
        dpor_result_free(*result);
        *result = NULL;
    }
    if (!*result && error->status == ORDEAL_OK)
        *error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY, .reason = "out of memory" };
    return error->status;
}

void dpor_result_free(struct dpor_result *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->findings; i++) {
        free(r->finding[i].path.step);
        free(r->finding[i].path.choice);
    }
    free(r->finding);
    free(r->row);
    free(r);
}
