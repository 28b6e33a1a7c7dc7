/* SPDX-License-Identifier: Apache-2.0 */
/* What a program did on the machine, judged: by the machine's memory model, and by what the program
 * says of itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "calls.h"
#include "on_chip_look.h"
#include "on_chip_parts.h"
#include "program/variables.h"

/* Words of the model's machine, for the account. */
static enum explore_model account_model(enum ordeal_model m)
{
    switch (m) {
    case ORDEAL_SC: return EXPLORE_SC;
    case ORDEAL_PSO: return EXPLORE_PSO;
    case ORDEAL_RMO: return EXPLORE_PSLO;
    default: return EXPLORE_TSO;
    }
}

/* ---- at a standstill -------------------------------------------------------------------------- */

/* Does everybody who is there wait in a call? */
static bool is_deadlock(const struct on_chip_verdict *v)
{
    bool any = false;
    for (uint32_t h = 0; h < v->program->machine.harts; h++) {
        if (v->past.rest[h] == RETRACE_RUNS)
            return false;
        any |= v->past.rest[h] == RETRACE_WAITS;
    }
    return any;
}

/* What a thread waits for, in words that live as long as the events. */
static const char *awaited(struct retrace *r, const struct image *image, uint32_t hart)
{
    const struct symbol *s = image_symbol_at(image, r->argument[hart]);
    char *text = NULL;
    char **grown = realloc(r->text, (r->texts + 1) * sizeof *r->text);
    int length = -1;
    if (!grown)
        return NULL;
    r->text = grown;
    if (r->rest[hart] != RETRACE_WAITS)
        length = asprintf(&text, "in a loop");
    else if (r->call[hart] == PROGRAM_CALL_THREAD_JOIN)
        length = asprintf(&text, "for thread %" PRIu32 " to end", r->argument[hart]);
    else
        length = asprintf(&text, "for %s %s",
                          r->call[hart] == PROGRAM_CALL_COND_WAIT ? "a condition, or mutex"
                                                                  : "mutex",
                          s ? s->name : "of the heap or a stack");
    if (length < 0)
        return NULL;
    return r->text[r->texts++] = text;
}

/* Where a hart is: an event that says so. */
static bool add_rest(struct on_chip_verdict *v, uint32_t hart)
{
    struct retrace *r = &v->past;
    const char *text = awaited(r, v->program->file.image, hart);
    struct program_event *grown = realloc(r->events.event,
                                          (r->events.count + 2) * sizeof *r->events.event);
    if (grown)
        r->events.event = grown;
    if (!grown || !text)
        return false;
    struct program_event *e = &grown[r->events.count++];
    *e = (struct program_event){
        .kind = EVENT_BLOCK, .thread = hart, .pc = r->pc[hart], .text = text
    };
    memcpy(e->caller, r->caller[hart], sizeof e->caller);
    r->shown = r->events.count;
    return true;
}

static bool add_rests(struct on_chip_verdict *v)
{
    for (uint32_t h = 0; h < v->program->machine.harts; h++)
        if (v->past.rest[h] != RETRACE_IDLE && !add_rest(v, h))
            return false;
    return true;
}

/* ---- the trace -------------------------------------------------------------------------------- */

struct word_order {
    const struct ordeal_op *op;
    LIST(uint64_t) values;
    bool repeats;
};

/* An order by value tells one store from another only if no value comes twice. */
static bool add_value(struct word_order *w, uint64_t value)
{
    for (size_t k = 0; k < w->values.count; k++)
        w->repeats |= w->values.data[k] == value;
    return LIST_PUSH(&w->values, value);
}

static bool is_write(const struct ordeal_op *op)
{
    return op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP;
}

/* The stores to the place of operation `first`, as they reached memory. */
static bool order_place(struct on_chip_verdict *v, const uint32_t *op_of, size_t first)
{
    const struct ordeal_trace *t = v->trace.trace;
    struct word_order w = { .op = ordeal_trace_op(t, first) };
    bool good = true;
    for (size_t i = 0; good && i < v->past.events.count; i++) {
        const struct program_event *e = &v->past.events.event[i];
        size_t event = e->kind == EVENT_COMMIT ? e->cause : i;
        if (e->kind == EVENT_STORE && e->buffered)
            continue; /* its COMMIT counts */
        if (op_of[event] == UINT32_MAX)
            continue;
        const struct ordeal_op *op = ordeal_trace_op(t, op_of[event]);
        if (is_write(op) && op->base == w.op->base && op->address == w.op->address)
            good = add_value(&w, op->write);
    }
    if (good && !w.repeats && w.values.count > 1)
        good = ordeal_trace_order(v->trace.trace, w.op->base, w.op->address, w.op->size_log2,
                                  w.values.data, w.values.count)
            == ORDEAL_OK;
    LIST_FREE(&w.values);
    return good;
}

static bool overlaps(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && a->address < b->address + (1u << b->size_log2)
        && b->address < a->address + (1u << a->size_log2);
}

/* Is it the first write of a place that all write and read as one? */
static bool begins_place(const struct ordeal_trace *t, size_t first)
{
    const struct ordeal_op *op = ordeal_trace_op(t, first);
    size_t count = ordeal_trace_length(t);
    if (!is_write(op))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct ordeal_op *other = ordeal_trace_op(t, i);
        if (other->kind == ORDEAL_MEMBAR || !overlaps(op, other))
            continue;
        if (other->address != op->address || other->size_log2 != op->size_log2
            || (i < first && is_write(other)))
            return false;
    }
    return true;
}

static bool add_orders(struct on_chip_verdict *v)
{
    size_t events = v->past.events.count, count = ordeal_trace_length(v->trace.trace);
    uint32_t *op_of = malloc((events + 1) * sizeof *op_of);
    bool good = op_of;
    for (size_t i = 0; good && i < events; i++)
        op_of[i] = UINT32_MAX;
    for (size_t i = 0; good && i < v->trace.event.count; i++) {
        uint32_t e = v->trace.event.data[i];
        if (e != ACCOUNT_NONE && event_is_access(&v->past.events.event[e]))
            op_of[e] = (uint32_t)i;
    }
    for (size_t i = 0; good && i < count; i++)
        if (begins_place(v->trace.trace, i))
            good = order_place(v, op_of, i);
    free(op_of);
    return good;
}

/* ---- verdicts --------------------------------------------------------------------------------- */

static bool stop_on_interrupt(void *user, const char *phase, double share)
{
    (void)user, (void)phase, (void)share;
    return interrupted();
}

/* Without the cycles first: what fails so fails for everybody. With them, since values repeat, and what a
 * load read may be the value of a store that was not there yet. */
static bool check(struct on_chip_verdict *v, struct ordeal_error *error)
{
    struct ordeal_limits limits = { .seconds = v->run.seconds, .progress = stop_on_interrupt };
    struct ordeal_options how = { .model = v->run.model };
    ordeal_set_limits(v->trace.o, &limits);
    ordeal_trace_claim(v->trace.trace, v->run.model);
    bool good = ordeal_check(v->trace.trace, &how, &v->check) == ORDEAL_OK;
    if (good && ordeal_verdict_result(v->check) == ORDEAL_PASS) {
        ordeal_verdict_free(v->check);
        v->check = NULL;
        v->timed = how.time_order = true;
        good = ordeal_check(v->trace.trace, &how, &v->check) == ORDEAL_OK;
    }
    if (good)
        return true;
    *error = *ordeal_last_error(v->trace.o);
    if (error->status == ORDEAL_BAD_INPUT)
        error->status = ORDEAL_INTERNAL;
    return false;
}

static void decide(struct on_chip_verdict *v)
{
    enum ordeal_result model = ordeal_verdict_result(v->check);
    const struct retrace *r = &v->past;
    v->result = ON_CHIP_PASS;
    if (v->run.how == ON_CHIP_LONG || model == ORDEAL_UNDECIDED)
        v->result = ON_CHIP_UNDECIDED;
    if (*v->past.unknown || r->full)
        v->result = r->full ? ON_CHIP_FULL : ON_CHIP_BAD;
    if (model == ORDEAL_FAIL || r->finding.error || *r->broke.text || v->run.how == ON_CHIP_STILL
        || v->run.how == ON_CHIP_BROKE)
        v->result = ON_CHIP_FAIL;
    if (v->result == ON_CHIP_BAD)
        snprintf(v->why, sizeof v->why, "%s", r->unknown);
    else if (v->run.how == ON_CHIP_LONG)
        snprintf(v->why, sizeof v->why, "no end within the cycles given");
    else if (v->result == ON_CHIP_UNDECIDED)
        snprintf(v->why, sizeof v->why, "%s", ordeal_verdict_note(v->check));
}

/* Could a sequentially consistent machine have come to the program's error, too? */
static void look_for_relaxed(struct on_chip_verdict *v)
{
    enum { PATIENCE = 10 }; /* seconds */
    struct account_trace shown;
    struct ordeal_error why;
    if (v->past.finding.error && ordeal_verdict_result(v->check) == ORDEAL_PASS
        && account_trace_make(&shown, &v->account)) {
        account_trace_judge(&shown, &v->account, PATIENCE, &why);
        account_trace_free(&shown);
    }
}

static bool understand(struct on_chip_verdict *v, const struct soc_hart_records *records)
{
    struct image *image = v->program->file.image;
    enum explore_model model = account_model(v->run.model);
    if (!retrace(&v->past, image, &v->program->traced, records, v->run.end))
        return false;
    bool still = v->run.how == ON_CHIP_STILL && !v->past.finding.error && !*v->past.broke.text;
    if (still && is_deadlock(v))
        v->past.finding.error = EXPLORE_DEADLOCK;
    if ((still || v->run.how == ON_CHIP_LONG) && !add_rests(v))
        return false;
    v->shown = (struct event_list){ v->past.events.event, v->past.shown };
    if (!account_make(&v->whole, image, &v->past.events, model)
        || !account_make(&v->account, image, &v->shown, model))
        return false;
    v->whole.times = v->past.times;
    return account_trace_make(&v->trace, &v->whole) && (!v->run.visible || add_orders(v));
}

struct on_chip_verdict *on_chip_judge(struct on_chip *p, const struct on_chip_run *run,
                                      struct ordeal_error *error)
{
    struct on_chip_verdict *v = calloc(1, sizeof *v);
    bool good = v;
    if (good) {
        v->program = p;
        v->run = *run;
        good = understand(v, run->records);
    }
    if (!good)
        error_out_of_memory(error, "");
    else
        good = check(v, error);
    if (good) {
        decide(v);
        look_for_relaxed(v);
        return v;
    }
    on_chip_verdict_free(v);
    return NULL;
}

void on_chip_verdict_free(struct on_chip_verdict *v)
{
    if (!v)
        return;
    ordeal_verdict_free(v->check);
    account_trace_free(&v->trace);
    account_free(&v->account);
    account_free(&v->whole);
    retrace_free(&v->past);
    free(v);
}

/* ---- what is asked ---------------------------------------------------------------------------- */

enum on_chip_result on_chip_result(const struct on_chip_verdict *v, const char **why)
{
    *why = v->why;
    return v->result;
}
uint32_t on_chip_threads(const struct on_chip_verdict *v) { return v->past.threads; }
const struct ordeal_trace *on_chip_trace(const struct on_chip_verdict *v) { return v->trace.trace; }

const struct event_list *on_chip_events(const struct on_chip_verdict *v, enum explore_model *model)
{
    *model = v->whole.model;
    return &v->past.events;
}

uint32_t on_chip_seen(const struct on_chip_verdict *v, size_t event)
{
    return v->whole.item[event].from;
}
bool on_chip_is_shared(const struct on_chip_verdict *v, size_t event)
{
    return v->whole.item[event].shared;
}

enum explore_error on_chip_error(const struct on_chip_verdict *v, size_t *shown)
{
    *shown = v->past.shown;
    return v->past.finding.error;
}

const char *on_chip_broke(const struct on_chip_verdict *v)
{
    if (*v->past.broke.text)
        return v->past.broke.text;
    if (v->run.how == ON_CHIP_BROKE)
        return v->run.broke;
    return ordeal_verdict_result(v->check) == ORDEAL_FAIL
             ? "no order of its model explains what the harts saw"
             : "";
}

const struct ordeal_verdict *on_chip_check(const struct on_chip_verdict *v) { return v->check; }

uint32_t on_chip_cycle(const struct on_chip_verdict *v)
{
    if (*v->past.broke.text)
        return v->past.broke_at;
    return v->past.finding.error && v->past.shown ? v->past.time[v->past.shown - 1] : 0;
}

bool on_chip_core(const struct on_chip_verdict *v, size_t i, uint32_t *hart, uint32_t *cycle,
                  char *text, size_t size)
{
    const uint32_t *ops;
    if (i >= ordeal_verdict_core(v->check, &ops))
        return false;
    uint32_t event = v->trace.event.data[ops[i]];
    ordeal_trace_format(v->trace.trace, ops[i], text, size);
    *hart = event == ACCOUNT_NONE ? 0 : v->past.events.event[event].thread;
    *cycle = event == ACCOUNT_NONE ? 0 : v->past.time[event];
    return true;
}

static uint32_t put_bytes(uint32_t value, const struct program_event *e, uint32_t address,
                          uint32_t size)
{
    for (uint32_t k = 0; k < e->size; k++) {
        uint32_t at = e->address + k - address;
        if (at < size)
            value = (value & ~(0xffu << 8 * at)) | (e->written >> 8 * k & 0xff) << 8 * at;
    }
    return value;
}

bool on_chip_value(const struct on_chip_verdict *v, const char *name, int64_t *value,
                   struct why *why)
{
    struct variable var;
    uint32_t now = 0;
    if (!variable_find(v->program->file.image, name, &var, why))
        return false;
    for (uint32_t k = 0; k < var.size; k++) {
        uint32_t at = var.address + k - 0x80000000u;
        now |= (v->program->memory[at / 4] >> 8 * (at % 4) & 0xff) << 8 * k;
    }
    for (size_t i = 0; i < v->past.events.count; i++) {
        const struct program_event *e = &v->past.events.event[i];
        bool lands = e->kind == EVENT_COMMIT || e->kind == EVENT_ATOMIC
                  || (e->kind == EVENT_STORE && !e->buffered);
        if (lands && (e->kind != EVENT_ATOMIC || e->wrote))
            now = put_bytes(now, e, var.address, var.size);
    }
    *value = var.size == 1 ? (int8_t)now : var.size == 2 ? (int16_t)now : (int32_t)now;
    return true;
}
