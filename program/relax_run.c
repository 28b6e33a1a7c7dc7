/* SPDX-License-Identifier: Apache-2.0 */
/* One execution by a random schedule: plain, or with the delays of Relaxer, Figures 7 to 9, where time
 * counts steps. Each step is one access, so that a thread can be held back before any of them. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "calls.h"
#include "exploration.h"
#include "record.h"
#include "relax.h"
#include "step.h"

enum { SCALES = 8, SMALLEST_DELAY = 8, QUANTA = 4 };

struct relax_runner {
    struct program_code code;
    struct explore_options how;
    struct relax_labels labels;
    uint64_t most_steps;
    struct state *s;
    struct event_recorder recorder;
    struct relax_run run;
    bool failed; /* no memory */

    const struct relax_cycle *aim;
    uint64_t random;
    uint64_t time, clock;
    uint64_t delay_load, delay_store;
    uint32_t quantum, current;
    uint32_t live;                    /* threads that run now */
    uint64_t paused[EXPLORE_THREADS]; /* until this time */
    uint32_t decided, blocked;        /* sets of threads */
    uint32_t library_label;           /* of the step, where its code is a library's */
    size_t seen;                      /* events that are understood */
    struct waiting_store {            /* by event, of stores in buffers */
        uint64_t due;
        uint32_t access; /* its number; UINT32_MAX: it is none that counts */
    } * store;
    size_t stores;
    struct written {
        uint32_t address, value;
        uint8_t size;
        uint64_t done;
    } * written; /* what reached memory, for old values */
    size_t writes, write_capacity;
};

/* ---- chance ------------------------------------------------------------------------------- */

static uint64_t draw(struct relax_runner *r)
{
    uint64_t z = r->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(struct relax_runner *r, uint32_t n) { return (uint32_t)(draw(r) % n); }
static bool by_chance(struct relax_runner *r) { return draw(r) >> 63; } /* P = 0.5 */

/* ---- labels ------------------------------------------------------------------------------- */

/* Of the thread's next instruction, or of the innermost caller that is no library. */
static uint32_t next_label(const struct relax_runner *r, uint32_t thread)
{
    uint32_t label = relax_label(&r->labels, r->s->thread[thread].pc), caller[EVENT_CALLERS];
    if (label)
        return label;
    uint32_t n = thread_callers(r->s, thread, caller, EVENT_CALLERS);
    for (uint32_t i = 0; i < n && !label; i++)
        label = relax_label(&r->labels, caller[i] - 4);
    return label;
}

static bool aims_at(const struct relax_runner *r, uint32_t odd_or_even, uint32_t label,
                    uint8_t kind)
{
    const struct relax_cycle *c = r->aim;
    for (uint32_t i = odd_or_even; c && i < c->length; i += 2)
        if (c->label[i] == label && c->kind[i] & kind)
            return true;
    return false;
}
enum { ODD = 0, EVEN = 1 }; /* the paper counts from 1 */

/* ---- what happened ------------------------------------------------------------------------ */

static bool grow(void **data, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? 2 * *capacity : 256;
    void *moved = realloc(*data, more * size);
    if (!moved)
        return false;
    *data = moved;
    *capacity = more;
    return true;
}

static uint8_t kind_of(const struct program_event *e)
{
    return e->kind == EVENT_LOAD ? RELAX_LOAD : e->kind == EVENT_STORE ? RELAX_STORE : RELAX_ATOMIC;
}

static bool is_access(const struct program_event *e)
{
    return e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_ATOMIC;
}

/* What a call does to memory orders threads, and is no statement of the program. */
static bool is_of_call(const struct relax_runner *r, uint32_t pc)
{
    uint32_t k = (pc - r->code.base) / 4;
    return k < (r->code.end - r->code.base) / 4 && r->code.at[k].operation == OPERATION_ECALL;
}

static void note_write(struct relax_runner *r, uint32_t address, uint8_t size, uint32_t value)
{
    r->clock++;
    if (r->how.model != EXPLORE_PSLO)
        return;
    if (!grow((void **)&r->written, &r->write_capacity, r->writes, sizeof *r->written)) {
        r->failed = true;
        return;
    }
    r->written[r->writes++] = (struct written){ address, value, size, r->clock };
}

/* The newest own store in the buffer that the load looks into: its access. The time becomes known when it
 * leaves. */
static const uint64_t from_buffer = (uint64_t)1 << 63;

static void note_forwarded(struct relax_runner *r, struct relax_access *a)
{
    const struct buffer *b = &buffers_of(r->s)->of[a->thread];
    for (uint32_t k = b->count; k-- > 0;) {
        const struct buffer_entry *e = &b->entry[k];
        if (!entries_overlap(e->address, e->size, a->address, a->size)
            || r->store[e->cause].access == UINT32_MAX)
            continue;
        a->seen_last = from_buffer | r->store[e->cause].access;
        if (e->address <= a->address && e->address + e->size >= a->address + a->size)
            a->seen = a->seen_last;
        return;
    }
}

/* An old value under PSLO is the newest such of its word, because a history is a set (Figure 6). */
static uint64_t old_value(const struct relax_runner *r, const struct program_event *e)
{
    for (size_t i = r->writes; i-- > 0;) {
        const struct written *w = &r->written[i];
        if (w->address == e->address && w->size == e->size && w->value == e->read)
            return w->done;
    }
    return 0;
}

/* The access of this number counts; it is not in memory yet. */
static uint32_t add_access(struct relax_runner *r, const struct program_event *e, uint32_t event)
{
    struct relax_run *run = &r->run;
    if (e->private_access || r->live < 2 || is_of_call(r, e->pc))
        return UINT32_MAX;
    uint32_t label = relax_label(&r->labels, e->pc);
    if (!label)
        label = r->library_label;
    if (!label)
        return UINT32_MAX;
    if (!grow((void **)&run->access, &run->capacity, run->accesses, sizeof *run->access)) {
        r->failed = true;
        return UINT32_MAX;
    }
    run->access[run->accesses] = (struct relax_access){
        .thread = e->thread,
        .label = label,
        .address = e->address,
        .event = event,
        .size = e->size,
        .kind = kind_of(e),
        .reads = e->kind != EVENT_STORE,
        .writes = e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote),
    };
    return (uint32_t)run->accesses++;
}

static void set_due(struct relax_runner *r, uint32_t event, uint32_t access)
{
    uint32_t label = access == UINT32_MAX ? 0 : r->run.access[access].label;
    bool delayed = label && aims_at(r, ODD, label, RELAX_STORE) && by_chance(r);
    r->store[event] = (struct waiting_store){ r->time + (delayed ? r->delay_store : 0), access };
}

static void see_access(struct relax_runner *r, const struct program_event *e, uint32_t event)
{
    uint32_t k = add_access(r, e, event);
    struct relax_access *a = k == UINT32_MAX ? NULL : &r->run.access[k];
    bool old = r->how.model == EXPLORE_PSLO && e->kind == EVENT_LOAD && r->s->choices.used
            && r->s->choices.drawn[0] + 1 < r->s->choices.of[0];
    if (a)
        a->seen = a->seen_last = old ? old_value(r, e) : r->clock;
    if (a && e->forwarded)
        note_forwarded(r, a);
    if (e->kind == EVENT_STORE && e->buffered)
        set_due(r, event, k);
    else if (e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote))
        note_write(r, e->address, e->size, e->written);
    if (a)
        a->done = r->clock;
}

static void see_commit(struct relax_runner *r, const struct program_event *e)
{
    note_write(r, e->address, e->size, e->written);
    uint32_t k = r->store[e->cause].access;
    if (k != UINT32_MAX)
        r->run.access[k].done = r->clock;
}

/* Events since the last look. */
static void see(struct relax_runner *r)
{
    const struct event_list *l = &r->recorder.list;
    if (r->recorder.capacity > r->stores) {
        void *more = realloc(r->store, r->recorder.capacity * sizeof *r->store);
        if (!more) {
            r->failed = true;
            return;
        }
        r->store = more;
        r->stores = r->recorder.capacity;
    }
    for (; r->seen < l->count && !r->failed; r->seen++) {
        const struct program_event *e = &l->event[r->seen];
        if (is_access(e))
            see_access(r, e, (uint32_t)r->seen);
        else if (e->kind == EVENT_COMMIT)
            see_commit(r, e);
        else if (e->kind == EVENT_CREATE)
            r->live++;
        else if (e->kind == EVENT_EXIT)
            r->live--;
    }
}

/* ---- steps -------------------------------------------------------------------------------- */

static void forget_events(struct relax_runner *r, size_t from)
{
    struct event_list *l = &r->recorder.list;
    while (l->count > from)
        free((char *)l->event[--l->count].text);
}

/* A load whose label is even sees the earliest value that it may, by chance; all others what memory
 * has (Figure 9). */
static uint32_t pick_value(struct relax_runner *r, uint32_t thread, uint32_t of)
{
    bool even = aims_at(r, EVEN, next_label(r, thread), RELAX_LOAD);
    return even && by_chance(r) ? 0 : of - 1;
}

static const struct instruction *next_instruction(const struct relax_runner *r, uint32_t thread)
{
    static const struct instruction none;
    uint32_t k = (r->s->thread[thread].pc - r->code.base) / 4;
    return k < (r->code.end - r->code.base) / 4 ? &r->code.at[k] : &none;
}

static bool is_load(const struct instruction *i)
{
    return i->operation >= OPERATION_LB && i->operation <= OPERATION_LHU;
}
static bool is_atomic(const struct instruction *i)
{
    return i->operation == OPERATION_LR || i->operation > OPERATION_SC;
}

/* 0: it is no access. */
static uint8_t kind_of_next(const struct relax_runner *r, uint32_t thread)
{
    const struct instruction *i = next_instruction(r, thread);
    bool stores = i->operation >= OPERATION_SB && i->operation <= OPERATION_SW;
    return is_load(i) ? RELAX_LOAD : stores ? RELAX_STORE : is_atomic(i) ? RELAX_ATOMIC : 0;
}

/* A step with its choices: it is done again for each that shows up. */
static void step(struct relax_runner *r, uint32_t thread)
{
    struct state *s = r->s;
    bool loads = r->how.model == EXPLORE_PSLO && is_load(next_instruction(r, thread));
    size_t before = r->recorder.list.count;
    uint32_t fixed = 0;
    for (;;) {
        s->choices.known = fixed;
        step_thread(s, thread);
        if (s->choices.used <= fixed || s->end == STEP_TOO_LONG)
            return;
        uint32_t of = s->choices.of[fixed];
        uint32_t n = loads && !fixed ? 0 : below(r, of);
        state_undo(s);
        forget_events(r, before);
        if (loads && !fixed)
            n = pick_value(r, thread, of);
        s->choices.drawn[fixed] = n;
        s->choices.of[fixed++] = of;
    }
}

static void flush(struct relax_runner *r, uint32_t thread, uint32_t k)
{
    step_flush(r->s, thread, k);
    state_mark(r->s);
    r->blocked = 0;
    see(r);
}

static uint32_t entry_of_move(const struct relax_runner *r, uint32_t thread, uint32_t k)
{
    return r->how.model == EXPLORE_TSO ? 0 : pso_entry_of_move(r->s, thread, k);
}

/* after_any: whatever is due reaches memory. */
static void flush_due(struct relax_runner *r, uint32_t thread)
{
    struct state *s = r->s;
    for (bool again = r->how.model != EXPLORE_SC; again;) {
        again = false;
        uint32_t moves = s->model->moves(s, thread);
        for (uint32_t k = 0; k < moves && !again; k++) {
            const struct buffer_entry *e =
                &buffers_of(s)->of[thread].entry[entry_of_move(r, thread, k)];
            if (r->store[e->cause].due > r->time)
                continue;
            flush(r, thread, k);
            again = true;
        }
    }
}

static const struct buffer *buffer_of(const struct relax_runner *r, uint32_t thread)
{
    static const struct buffer none;
    return r->how.model == EXPLORE_SC ? &none : &buffers_of(r->s)->of[thread];
}

static uint64_t last_due(const struct relax_runner *r, uint32_t thread)
{
    const struct buffer *b = buffer_of(r, thread);
    uint64_t last = r->time;
    for (uint32_t k = 0; k < b->count; k++)
        if (r->store[b->entry[k].cause].due > last)
            last = r->store[b->entry[k].cause].due;
    return last;
}

/* Stores of the thread are due at once: all, or those to bytes of its next access. */
static void hurry(struct relax_runner *r, uint32_t thread, bool all)
{
    const struct buffer *b = buffer_of(r, thread);
    uint32_t address = r->s->thread[thread].x[next_instruction(r, thread)->rs1];
    for (uint32_t k = 0; k < b->count; k++)
        if (all || entries_overlap(b->entry[k].address, b->entry[k].size, address, 4))
            r->store[b->entry[k].cause].due = r->time;
    flush_due(r, thread);
}

/* ---- holding back ------------------------------------------------------------------------- */

/* before_membar: what was delayed on purpose is not written too early; under PSLO, where a load may still
 * see what was there before, it is written. */
static bool waits_at_barrier(struct relax_runner *r, uint32_t thread, const struct instruction *i)
{
    bool barrier = i->operation == OPERATION_FENCE
                && (fence_orders(i->fence, 1, 1) || fence_drains(i->fence));
    if (!barrier || r->how.model < EXPLORE_PSO || !buffer_of(r, thread)->count)
        return false;
    if (r->how.model == EXPLORE_PSLO) {
        hurry(r, thread, true);
        return false;
    }
    r->paused[thread] = last_due(r, thread);
    return true;
}

/* before_load, before_CAS of Figure 8: those of an odd label come later, by chance. */
static bool waits_before(struct relax_runner *r, uint32_t thread)
{
    const struct instruction *i = next_instruction(r, thread);
    if (waits_at_barrier(r, thread, i))
        return true;
    uint8_t kind = kind_of_next(r, thread);
    if (!r->aim || !kind || kind == RELAX_STORE || r->how.model < EXPLORE_PSO
        || r->decided >> thread & 1)
        return false;
    r->decided |= 1u << thread;
    if (!aims_at(r, ODD, next_label(r, thread), kind) || !by_chance(r))
        return false;
    r->paused[thread] = r->time + r->delay_load;
    return true;
}

/* The engine says that the thread has to wait: for its own buffer, or for others. */
static void held_up(struct relax_runner *r, uint32_t thread)
{
    const struct instruction *i = next_instruction(r, thread);
    if (!buffer_of(r, thread)->count)
        r->blocked |= 1u << thread;
    else if (r->how.model == EXPLORE_PSLO)
        hurry(r, thread, true);
    else if (r->how.model == EXPLORE_PSO && is_atomic(i) && !(i->aq_rl & ORDER_RELEASE)
             && !r->how.locked_atomics && last_due(r, thread) > r->time)
        hurry(r, thread, false), r->paused[thread] = last_due(r, thread);
    else
        r->paused[thread] = last_due(r, thread) + 1;
}

/* ---- the schedule ------------------------------------------------------------------------- */

static bool can_run(const struct relax_runner *r, uint32_t t)
{
    uint32_t status = r->s->thread[t].status;
    return (status == THREAD_RUNS || status == THREAD_WOKEN) && !(r->blocked >> t & 1);
}

/* A thread that is not held back; EXPLORE_THREADS: there is none now. */
static uint32_t pick(struct relax_runner *r)
{
    uint32_t ready[EXPLORE_THREADS], n = 0;
    bool stays = false;
    for (uint32_t t = 0; t < r->s->threads; t++)
        if (can_run(r, t) && r->paused[t] <= r->time) {
            ready[n++] = t;
            stays |= t == r->current;
        }
    if (!n)
        return EXPLORE_THREADS;
    if (!stays || !below(r, r->quantum))
        r->current = ready[below(r, n)];
    return r->current;
}

/* To when something happens again; false: never. */
static bool skip_time(struct relax_runner *r)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t t = 0; t < r->s->threads; t++) {
        if (can_run(r, t) && r->paused[t] < next)
            next = r->paused[t];
        const struct buffer *b = buffer_of(r, t);
        for (uint32_t k = 0; k < b->count; k++)
            if (r->store[b->entry[k].cause].due < next)
                next = r->store[b->entry[k].cause].due;
    }
    if (next == UINT64_MAX)
        return false;
    r->time = next > r->time ? next : r->time + 1;
    return true;
}

static void tell_error(struct relax_runner *r, enum explore_error error, uint32_t thread,
                       uint32_t pc, const char *text)
{
    struct program_event *e = record(r->s, EVENT_ERROR, thread);
    r->run.error = error;
    r->run.thread = thread;
    r->run.pc = pc;
    snprintf(r->run.text, sizeof r->run.text, "%s", text);
    if (!e)
        return;
    e->pc = pc;
    record_text(r->s, e, text);
}

/* False: that was the last. */
static bool take(struct relax_runner *r, uint32_t thread)
{
    struct state *s = r->s;
    r->how.no_reduction = state_others(s, thread) != 0;
    r->recorder.step = (uint32_t)r->run.steps;
    size_t before = r->recorder.list.count;
    r->library_label = r->live > 1 && kind_of_next(r, thread) ? next_label(r, thread) : 0;
    step(r, thread);
    switch (s->end) {
    case STEP_BLOCKED:
        state_undo(s);
        forget_events(r, before);
        held_up(r, thread);
        return true;
    case STEP_ERROR: tell_error(r, s->error, s->error_thread, s->error_pc, s->text); return false;
    case STEP_DONE: break;
    case STEP_DISCARDED: r->run.ended = true; return false;
    default:
        r->run.broke = s->end == STEP_TOO_LONG ? s->text : "memory of one thread alone";
        return false;
    }
    see(r);
    state_mark(s);
    r->run.steps++;
    r->time++;
    r->decided &= ~(1u << thread);
    r->blocked = 0;
    return !s->exited;
}

static bool once(struct relax_runner *r)
{
    for (uint32_t t = 0; t < r->s->threads; t++)
        flush_due(r, t);
    uint32_t thread = pick(r);
    if (thread < EXPLORE_THREADS)
        return waits_before(r, thread) || take(r, thread);
    if (skip_time(r))
        return true;
    if (state_is_deadlocked(r->s))
        tell_error(r, EXPLORE_DEADLOCK, 0, 0, "no thread can go on");
    return false;
}

/* Stores that wait at the end, and loads that saw such. */
static void settle(struct relax_runner *r)
{
    for (uint32_t t = 0; t < r->s->threads && r->how.model != EXPLORE_SC; t++) {
        const struct buffer *b = buffer_of(r, t);
        for (uint32_t k = 0; k < b->count; k++) {
            uint32_t a = r->store[b->entry[k].cause].access;
            r->clock++;
            if (a != UINT32_MAX)
                r->run.access[a].done = r->clock;
        }
    }
    for (size_t i = 0; i < r->run.accesses; i++) {
        struct relax_access *a = &r->run.access[i];
        if (a->seen & from_buffer)
            a->seen = r->run.access[(uint32_t)a->seen].done;
        if (a->seen_last & from_buffer)
            a->seen_last = r->run.access[(uint32_t)a->seen_last].done;
    }
}

static void begin(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed)
{
    struct relax_access *kept = r->run.access;
    size_t capacity = r->run.capacity;
    forget_events(r, 0);
    r->run = (struct relax_run){ .access = kept, .capacity = capacity };
    r->random = seed;
    r->aim = aim;
    r->time = r->clock = 0;
    r->seen = r->writes = 0;
    r->live = 1;
    r->current = r->decided = r->blocked = 0;
    memset(r->paused, 0, sizeof r->paused);
    r->delay_store = (uint64_t)SMALLEST_DELAY << below(r, SCALES);
    r->delay_load = r->delay_store / 2;
    r->quantum = 1u << 2 * below(r, QUANTA);
    state_begin(r->s);
}

static bool execute(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed)
{
    begin(r, aim, seed);
    while (!r->failed && r->run.steps < r->most_steps && once(r)) {
    }
    r->run.ended |= state_has_ended(r->s);
    see(r);
    settle(r);
    return !r->failed && !r->recorder.failed;
}

bool relax_execute(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed,
                   const struct relax_run **run)
{
    r->recorder.brief = true;
    *run = &r->run;
    return execute(r, aim, seed);
}

bool relax_events(struct relax_runner *r, const struct relax_cycle *aim, uint64_t seed,
                  struct event_list *events, const struct relax_run **run)
{
    r->recorder.brief = false;
    *run = &r->run;
    bool fine = execute(r, aim, seed);
    *events = r->recorder.list;
    r->recorder = (struct event_recorder){ .step = 0 };
    if (!fine)
        explore_events_free(events);
    return fine;
}

/* ---- the runner --------------------------------------------------------------------------- */

struct relax_runner *relax_runner_new(const struct image *image,
                                      const struct relax_options *options,
                                      struct ordeal_error *error)
{
    struct relax_runner *r = calloc(1, sizeof *r);
    if (r && !program_code_new(&r->code, image, error)) {
        free(r);
        return NULL;
    }
    if (r) {
        r->how = (struct explore_options){ .model = options->model,
                                           .plain_flush = true,
                                           .local = EXPLORE_LOCAL_STATIC,
                                           .locked_atomics = options->locked_atomics,
                                           .nondet_low = options->nondet_low,
                                           .nondet_high = options->nondet_high };
        r->labels = *options->labels;
        r->most_steps = options->most_steps;
        r->s = state_new(&r->code, &r->how);
    }
    if (r && r->s) {
        r->s->follows = true;
        r->s->recorder = &r->recorder;
        return r;
    }
    relax_runner_free(r);
    *error = (struct ordeal_error){ .status = ORDEAL_NO_MEMORY,
                                    .reason = "no memory to run a program" };
    return NULL;
}

void relax_runner_free(struct relax_runner *r)
{
    if (!r)
        return;
    forget_events(r, 0);
    free(r->recorder.list.event);
    free(r->run.access);
    free(r->store);
    free(r->written);
    state_free(r->s);
    program_code_free(&r->code);
    free(r);
}
