/* SPDX-License-Identifier: Apache-2.0 */
#include "litmus/litmus_run.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "litmus/litmus_condition.h"

struct run {
    struct litmus *test;
    const struct litmus_run_options *how;
    struct litmus_lexer where; /* the file, for what is refused */
    struct ordeal *o;
    struct ordeal_error *error;
    struct litmus_result *result;
    struct litmus_known known;
    struct litmus_ways ways[LITMUS_THREADS];
    double deadline;

    struct litmus_part part[LITMUS_THREADS]; /* the candidate */
    uint64_t *values;                        /* by variable */
};

static bool out_of_memory(struct run *r) { return error_out_of_memory(r->error, r->where.file); }

/* ---- ways, until no more stores come up ----------------------------------------------------- */

static bool know(struct run *r, uint32_t thread, const struct litmus_event *e, bool *more)
{
    struct litmus_store s = { e->location, (uint8_t)e->offset, e->size_log2, e->written };
    for (size_t i = 0; i < r->known.store[thread].count; i++) {
        const struct litmus_store *old = &r->known.store[thread].data[i];
        if (old->location == s.location && old->offset == s.offset && old->size_log2 == s.size_log2
            && old->value == s.value)
            return true;
    }
    *more = true;
    return LIST_PUSH(&r->known.store[thread], s) || out_of_memory(r);
}

/* A location whose width nobody said is as wide as its widest access, at least an int. */
static void widen(struct run *r, const struct litmus_event *e, bool *more)
{
    struct litmus_location *l = &r->test->locations.data[e->location];
    if (e->kind == ORDEAL_MEMBAR || l->typed || e->offset || e->size_log2 <= l->size_log2)
        return;
    l->size_log2 = e->size_log2;
    *more = true;
}

static bool learn(struct run *r, bool *more)
{
    *more = false;
    for (uint32_t t = 0; t < r->test->threads; t++)
        for (size_t i = 0; i < r->ways[t].event.count; i++) {
            const struct litmus_event *e = &r->ways[t].event.data[i];
            widen(r, e, more);
            if (e->writes && !know(r, t, e, more))
                return false;
        }
    return true;
}

/* A value goes from a store to a load and on to a store that depends on it, never in a circle:
 * so no value comes from a longer chain than there are such stores. */
static uint64_t longest_chain(const struct run *r)
{
    uint64_t longest = 1;
    for (uint32_t t = 0; t < r->test->threads; t++)
        longest += litmus_thread_stores(r->test, t, r->how->threads.unroll, &r->ways[t]);
    return longest;
}

static bool find_ways(struct run *r)
{
    for (bool more = true; more; r->result->rounds++) {
        for (uint32_t t = 0; t < r->test->threads; t++) {
            litmus_ways_clear(&r->ways[t]);
            if (!litmus_thread_ways(r->test, t, &r->known, &r->how->threads, &r->where,
                                    &r->ways[t]))
                return false;
        }
        if (r->result->rounds > longest_chain(r))
            break;
        if (!learn(r, &more))
            return false;
    }
    for (uint32_t t = 0; t < r->test->threads; t++)
        r->result->cut |= r->ways[t].cut;
    return true;
}

/* ---- candidates ---------------------------------------------------------------------------- */

static bool wrote(uint32_t location, uint32_t byte, uint8_t value, uint32_t at, uint32_t offset,
                  uint8_t size_log2, uint64_t written)
{
    return at == location && byte - offset < 1u << size_log2
        && (uint8_t)(written >> 8 * (byte - offset)) == value;
}

/* Can the byte have come from this thread, all of whose ways are open? */
static bool known_to_write(const struct litmus_known *k, uint32_t thread, uint32_t location,
                           uint32_t byte, uint8_t value)
{
    for (size_t i = 0; i < k->store[thread].count; i++) {
        const struct litmus_store *s = &k->store[thread].data[i];
        if (wrote(location, byte, value, s->location, s->offset, s->size_log2, s->value))
            return true;
    }
    return false;
}

/* From this way, or the first `events` of it? `covered`: it wrote the byte, whatever the value. */
static bool part_wrote(const struct litmus_part *p, uint32_t events, uint32_t location,
                       uint32_t byte, uint8_t value, bool *covered)
{
    bool found = false;
    for (uint32_t i = 0; i < events; i++) {
        const struct litmus_event *e = &p->event[i];
        if (!e->writes || e->location != location || byte - e->offset >= 1u << e->size_log2)
            continue;
        *covered = true;
        found |= wrote(location, byte, value, location, e->offset, e->size_log2, e->written);
    }
    return found;
}

/* May event n of thread t have read this byte, when ways of the first `chosen` threads are
 * known? */
static bool byte_is_there(const struct run *r, uint32_t chosen, uint32_t t, uint32_t n,
                          uint32_t byte)
{
    const struct litmus_event *e = &r->part[t].event[n];
    uint8_t value = (uint8_t)(e->read >> 8 * (byte - e->offset));
    bool covered = false;
    if (part_wrote(&r->part[t], n, e->location, byte, value, &covered))
        return true;
    if (!covered && (uint8_t)litmus_initial(r->test, e->location, byte, 0) == value)
        return true;
    for (uint32_t k = 0; k < r->test->threads; k++)
        if (k != t
            && (k < chosen
                    ? part_wrote(&r->part[k], r->part[k].events, e->location, byte, value, &covered)
                    : known_to_write(&r->known, k, e->location, byte, value)))
            return true;
    return false;
}

static bool can_be_read(const struct run *r, uint32_t chosen)
{
    for (uint32_t t = 0; t < chosen; t++)
        for (uint32_t n = 0; n < r->part[t].events; n++) {
            const struct litmus_event *e = &r->part[t].event[n];
            for (uint32_t b = 0; e->reads && b < 1u << e->size_log2; b++)
                if (!byte_is_there(r, chosen, t, n, e->offset + b))
                    return false;
        }
    return true;
}

/* Of the values now and those of a state, which begin at `first`. */
static bool same_key(const struct run *r, size_t first)
{
    for (size_t i = 0; i < r->test->variables.count; i++)
        if (r->test->variables.data[i].keyed && r->values[i] != r->result->value.data[first + i])
            return false;
    return true;
}

static bool is_allowed_already(const struct run *r)
{
    for (size_t i = 0; i < r->result->state.count; i++)
        if (same_key(r, r->result->state.data[i].value))
            return true;
    return false;
}

static bool allow(struct run *r)
{
    struct litmus_state s = { r->result->value.count };
    for (size_t i = 0; i < r->test->variables.count; i++)
        if (!LIST_PUSH(&r->result->value, r->values[i]))
            return out_of_memory(r);
    return LIST_PUSH(&r->result->state, s) || out_of_memory(r);
}

/* Takes the trace over. */
static void keep_execution(struct run *r, struct ordeal_trace *t, bool allowed)
{
    struct litmus_result *to = r->result;
    bool wanted = r->test->outcome != LITMUS_NOWHERE
               && litmus_condition_holds(r->test, r->test->outcome, r->values);
    if (wanted && (!to->execution || (allowed && !to->execution_allowed))) {
        ordeal_trace_free(to->execution);
        to->execution = t;
        to->execution_allowed = allowed;
    } else {
        ordeal_trace_free(t);
    }
}

static bool take_error(struct run *r, enum ordeal_status status)
{
    *r->error = *ordeal_last_error(r->o);
    r->error->status = status;
    r->error->column = 0;
    snprintf(r->error->file, sizeof r->error->file, "%s", r->where.file);
    return false;
}

static bool stop_by_limit(struct run *r, const char *reason)
{
    error_bad(r->error, r->where.file, 0, "%s", reason);
    r->error->status = ORDEAL_LIMIT;
    return false;
}

static void set_limits(const struct run *r)
{
    double left = r->deadline - now_seconds();
    struct ordeal_limits limits = {
        .seconds = r->deadline > 0 ? (left > 1e-3 ? left : 1e-3) : 0,
        .bytes = r->how->bytes,
        .progress = r->how->progress,
        .user = r->how->user,
    };
    ordeal_set_limits(r->o, &limits);
}

static bool ask(struct run *r)
{
    struct ordeal_options options = { .model = r->how->model,
                                      .no_certify = r->how->no_certify,
                                      .no_core = true };
    struct ordeal_verdict *v = NULL;
    struct ordeal_trace *t = litmus_trace(r->o, r->test, r->part, r->values, r->how->model);
    if (!t)
        return take_error(r, ordeal_last_error(r->o)->status);
    r->result->checks++;
    enum ordeal_status status = ordeal_check(t, &options, &v);
    enum ordeal_result result = status ? ORDEAL_UNDECIDED : ordeal_verdict_result(v);
    char note[160];
    snprintf(note, sizeof note, "%s", status ? "" : ordeal_verdict_note(v));
    ordeal_verdict_free(v);
    if (status || result == ORDEAL_UNDECIDED) {
        ordeal_trace_free(t);
        return status ? take_error(r, status) : stop_by_limit(r, note);
    }
    keep_execution(r, t, result == ORDEAL_PASS);
    return result != ORDEAL_PASS || allow(r);
}

/* The candidate with its final values. */
static bool judge(struct run *r)
{
    const struct litmus *test = r->test;
    if (test->filter != LITMUS_NOWHERE && !litmus_condition_holds(test, test->filter, r->values))
        return true;
    if (++r->result->candidates % 64 == 0) {
        if (r->deadline > 0 && now_seconds() > r->deadline)
            return stop_by_limit(r, "time limit reached");
        if (r->how->progress && r->how->progress(r->how->user, "candidates", -1))
            return stop_by_limit(r, "interrupted");
    }
    return is_allowed_already(r) || ask(r);
}

/* ---- final values ------------------------------------------------------------------------- */

/* Is it overwritten by its own thread? */
static bool is_covered(const struct litmus_part *p, uint32_t n)
{
    const struct litmus_event *e = &p->event[n];
    for (uint32_t i = n + 1; i < p->events; i++) {
        const struct litmus_event *k = &p->event[i];
        if (k->writes && k->location == e->location && k->offset <= e->offset
            && k->offset + (1u << k->size_log2) >= e->offset + (1u << e->size_log2))
            return true;
    }
    return false;
}

static size_t last_stores(const struct run *r, uint32_t location, struct litmus_store *found)
{
    size_t count = 0;
    for (uint32_t t = 0; t < r->test->threads; t++)
        for (uint32_t n = 0; n < r->part[t].events; n++) {
            const struct litmus_event *e = &r->part[t].event[n];
            if (e->writes && e->location == location && !is_covered(&r->part[t], n))
                found[count++] = (struct litmus_store){ location, (uint8_t)e->offset, e->size_log2,
                                                        e->written };
        }
    return count;
}

/* Each byte that somebody stored to is somebody's. */
static bool is_left(uint64_t value, uint8_t size_log2, const struct litmus_store *store,
                    size_t stores)
{
    for (uint32_t b = 0; b < 1u << size_log2; b++) {
        bool covered = false, found = false;
        for (size_t i = 0; i < stores; i++) {
            bool there = b - store[i].offset < 1u << store[i].size_log2;
            covered |= there;
            found |= there
                  && (uint8_t)(store[i].value >> 8 * (b - store[i].offset))
                         == (uint8_t)(value >> 8 * b);
        }
        if (covered && !found)
            return false;
    }
    return true;
}

/* Of this variable and those behind it. */
static bool finish(struct run *r, size_t variable)
{
    struct litmus *test = r->test;
    while (variable < test->variables.count
           && test->variables.data[variable].thread != LITMUS_THREADS)
        variable++;
    if (variable == test->variables.count)
        return judge(r);
    uint32_t location = test->variables.data[variable].number;
    uint8_t size_log2 = test->locations.data[location].size_log2;
    struct litmus_store found[LITMUS_THREADS * LITMUS_EVENTS];
    struct litmus_values values;
    size_t count = last_stores(r, location, found);
    values.count = 1;
    values.value[0] = litmus_initial(test, location, 0, size_log2);
    if (!litmus_close(&values, 0, size_log2, found, count))
        return stop_by_limit(r, "a location may be left with too many values");
    for (uint32_t i = 0; i < values.count; i++) {
        r->values[variable] = values.value[i];
        if (is_left(values.value[i], size_log2, found, count) && !finish(r, variable + 1))
            return false;
    }
    return true;
}

/* ---- one way of each thread ---------------------------------------------------------------- */

static void take_way(struct run *r, uint32_t thread, const struct litmus_way *way)
{
    const struct litmus_ways *ways = &r->ways[thread];
    size_t value = way->value;
    r->part[thread] = (struct litmus_part){ way->events ? &ways->event.data[way->event] : NULL,
                                            way->events };
    for (size_t i = 0; i < r->test->variables.count; i++)
        if (r->test->variables.data[i].thread == thread)
            r->values[i] = ways->value.data[value++];
}

static bool combine(struct run *r, uint32_t thread)
{
    if (thread == r->test->threads)
        return finish(r, 0);
    for (size_t i = 0; i < r->ways[thread].way.count; i++) {
        take_way(r, thread, &r->ways[thread].way.data[i]);
        if (can_be_read(r, thread + 1) && !combine(r, thread + 1))
            return false;
    }
    return true;
}

/* ---- states -------------------------------------------------------------------------------- */

struct order {
    const struct litmus *test;
    const struct litmus_result *result;
};

static int compare_variables(const void *a, const void *b, void *user)
{
    const struct order *o = user;
    const struct litmus_variable *p = &o->test->variables.data[*(const uint32_t *)a];
    const struct litmus_variable *q = &o->test->variables.data[*(const uint32_t *)b];
    if (p->thread != q->thread)
        return p->thread < q->thread ? -1 : 1;
    if (p->thread == LITMUS_THREADS)
        return strcmp(o->test->locations.data[p->number].name,
                      o->test->locations.data[q->number].name);
    return p->number < q->number ? -1 : p->number > q->number;
}

static int compare_states(const void *a, const void *b, void *user)
{
    const struct order *o = user;
    size_t first = ((const struct litmus_state *)a)->value;
    size_t second = ((const struct litmus_state *)b)->value;
    for (size_t i = 0; i < o->result->shown.count; i++) {
        uint32_t v = o->result->shown.data[i];
        uint64_t p = o->result->value.data[first + v], q = o->result->value.data[second + v];
        if (p != q)
            return (int64_t)p < (int64_t)q ? -1 : 1;
    }
    return 0;
}

/* As people see them: those that differ in what is shown, in order, counted. */
static bool arrange(struct run *r)
{
    struct litmus_result *to = r->result;
    struct order order = { r->test, to };
    size_t kept = 0;
    for (uint32_t i = 0; i < r->test->variables.count; i++)
        if (r->test->variables.data[i].shown && !LIST_PUSH(&to->shown, i))
            return out_of_memory(r);
    if (to->shown.count)
        qsort_r(to->shown.data, to->shown.count, sizeof *to->shown.data, compare_variables, &order);
    if (to->state.count)
        qsort_r(to->state.data, to->state.count, sizeof *to->state.data, compare_states, &order);
    for (size_t i = 0; i < to->state.count; i++)
        if (!kept || compare_states(&to->state.data[kept - 1], &to->state.data[i], &order))
            to->state.data[kept++] = to->state.data[i];
    to->state.count = kept;
    for (size_t i = 0; i < kept; i++) {
        bool holds = litmus_condition_holds(r->test, r->test->condition, litmus_values(to, i));
        to->positive += holds;
        to->negative += !holds;
    }
    return true;
}

bool litmus_run(struct litmus *test, const struct litmus_run_options *how, const char *file,
                struct ordeal *o, struct litmus_result *result, struct ordeal_error *e)
{
    *result = (struct litmus_result){ 0 };
    struct run *r = calloc(1, sizeof *r);
    uint64_t *values = calloc(test->variables.count + 1, sizeof *values);
    bool fine = r && values;
    if (fine) {
        *r = (struct run){ .test = test,
                           .how = how,
                           .where = { .file = file, .error = e },
                           .o = o,
                           .error = e,
                           .result = result,
                           .values = values,
                           .deadline = how->seconds > 0 ? now_seconds() + how->seconds : 0 };
        set_limits(r);
        fine = find_ways(r) && combine(r, 0) && arrange(r);
        for (uint32_t t = 0; t < LITMUS_THREADS; t++) {
            LIST_FREE(&r->known.store[t]);
            litmus_ways_free(&r->ways[t]);
        }
    } else {
        error_out_of_memory(e, file);
    }
    free(values);
    free(r);
    return fine;
}

void litmus_result_free(struct litmus_result *result)
{
    ordeal_trace_free(result->execution);
    LIST_FREE(&result->shown);
    LIST_FREE(&result->state);
    LIST_FREE(&result->value);
    *result = (struct litmus_result){ 0 };
}
