/* SPDX-License-Identifier: Apache-2.0 */
#include "account_trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "calls.h"

enum ordeal_model account_trace_model(enum explore_model m)
{
    static const enum ordeal_model models[EXPLORE_MODELS] = { ORDEAL_SC, ORDEAL_TSO, ORDEAL_PSO,
                                                              ORDEAL_RMO };
    return models[m];
}

/* An order that is not memory's: a word that only the trace has, whose values count its changes. */
struct word {
    char name[PLACE_NAME];
    uint64_t value;
};

struct writing {
    const struct account *a;
    struct account_trace *t;
    LIST(struct word) words;
    uint32_t *again; /* by byte: how often a place of a stack was another before */
    bool *told;      /* by byte: its initial value is told */
    bool plain;      /* some access goes across variables: all have addresses instead of names */
    bool failed;
};

static void note(struct writing *w, enum ordeal_status status) { w->failed |= status != ORDEAL_OK; }

/* ---- places ------------------------------------------------------------------------------ */

struct spot {
    uint32_t base;
    uint64_t address;
};

static uint32_t base_of(struct writing *w, const char *name)
{
    uint32_t base = 0;
    note(w, ordeal_trace_name(w->t->trace, name, strlen(name), &base));
    return base;
}

static bool is_name(const char *s)
{
    static const char first[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *s && strchr(first, *s) && strlen(s) < 200
        && s[strspn(s, "._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}

/* Names stand for places of their own that are aligned; not every symbol is one. */
static const struct symbol *named_symbol(const struct writing *w, uint32_t address)
{
    const struct symbol *s = w->plain ? NULL : image_symbol_at(w->a->image, address);
    if (!s || !is_name(s->name) || s->address % 4 + s->size > (s->address % 4 ? 4 : UINT32_MAX))
        return NULL;
    if (s->address % 4 && s->address % (s->size == 2 ? 2 : 1))
        return NULL;
    const struct symbol *same = image_symbol_named(w->a->image, s->name);
    return same && same->address == s->address ? s : NULL;
}

static struct spot spot_of(struct writing *w, const struct program_event *e, uint32_t event)
{
    const struct symbol *s = named_symbol(w, e->address);
    const struct place_block *b = s ? NULL : places_block(&w->a->places, e->address, event);
    uint32_t thread;
    if (s)
        return (struct spot){ base_of(w, s->name), e->address - s->address };
    if (b) {
        char name[32];
        snprintf(name, sizeof name, "heap.%zu", (size_t)(b - w->a->places.blocks.data) + 1);
        return (struct spot){ base_of(w, name), e->address - b->address };
    }
    uint64_t again = image_in_stack(w->a->image, e->address, &thread)
                       ? w->again[places_number(&w->a->places, e)]
                       : 0;
    return (struct spot){ 0, again << 32 | e->address };
}

/* Does an access go beyond its variable, or unaligned within it? */
static bool is_across(const struct writing *w, const struct program_event *e)
{
    const struct symbol *s = named_symbol(w, e->address);
    const struct symbol *end = named_symbol(w, e->address + e->size - 1u);
    return s != end || (s && (e->address - s->address) % e->size);
}

static void look_for_across(struct writing *w)
{
    for (size_t i = 0; i < w->a->events->count && !w->plain; i++)
        if (w->a->item[i].shared && is_across(w, &w->a->events->event[i]))
            w->plain = true;
}

static uint8_t log2_of(uint32_t size) { return size == 4 ? 2 : size == 2 ? 1 : 0; }

/* ---- initial values ---------------------------------------------------------------------- */

static bool linked_byte(const struct image *image, uint32_t address, uint8_t *byte)
{
    const struct segment *s;
    size_t count = image_segments(image, &s);
    for (size_t i = 0; i < count; i++)
        if (address - s[i].address < s[i].size) {
            *byte = s[i].bytes ? s[i].bytes[address - s[i].address] : 0;
            return true;
        }
    return false;
}

/* That of memory as it was linked; else what the first who saw it saw. False: nobody knows yet. */
static bool initial_byte(const struct writing *w, uint32_t event, uint32_t at, uint8_t *byte)
{
    const struct program_event *e = &w->a->events->event[event];
    if (linked_byte(w->a->image, e->address + at, byte))
        return true;
    *byte = (uint8_t)(e->read >> (8 * at));
    return e->kind != EVENT_STORE && w->a->item[event].from == ACCOUNT_NONE;
}

static void tell_initial(struct writing *w, uint32_t event, struct spot spot)
{
    const struct program_event *e = &w->a->events->event[event];
    bool *told = w->told + places_number(&w->a->places, e);
    uint32_t value = 0, fresh = 0;
    for (uint32_t k = 0; k < e->size; k++) {
        uint8_t byte;
        if (told[k] || !initial_byte(w, event, k, &byte))
            continue;
        told[k] = true;
        fresh++;
        value |= (uint32_t)byte << (8 * k);
    }
    if (value && fresh == e->size) {
        note(w, ordeal_trace_init(w->t->trace, spot.base, spot.address, log2_of(e->size), value));
        return;
    }
    for (uint32_t k = 0; k < e->size; k++, value >>= 8)
        if (value & 0xff)
            note(w, ordeal_trace_init(w->t->trace, spot.base, spot.address + k, 0, value & 0xff));
}

/* ---- operations -------------------------------------------------------------------------- */

static void add(struct writing *w, uint32_t thread, struct ordeal_op op, uint32_t event)
{
    note(w, ordeal_trace_thread(w->t->trace, thread, &op.thread));
    if (!w->failed)
        note(w, ordeal_trace_add(w->t->trace, &op, 0));
    w->failed |= !w->failed && !LIST_PUSH(&w->t->event, event);
}

static void add_barrier(struct writing *w, uint32_t thread, uint8_t flavours, uint32_t event)
{
    if (flavours)
        add(w, thread, (struct ordeal_op){ .kind = ORDEAL_MEMBAR, .barrier = flavours }, event);
}

static uint32_t cut(uint32_t value, uint32_t size)
{
    return size >= 4 ? value : value & ((1u << (8 * size)) - 1);
}

static void add_access(struct writing *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    struct spot spot = spot_of(w, e, event);
    struct ordeal_op op = { .size_log2 = log2_of(e->size),
                            .base = spot.base,
                            .address = spot.address };
    bool writes = event_writes(e);
    op.kind = e->kind == EVENT_STORE ? ORDEAL_STORE : writes ? ORDEAL_SWAP : ORDEAL_LOAD;
    if (e->kind != EVENT_STORE) {
        op.read = cut(e->read, e->size);
        op.flags = ORDEAL_HAS_VALUE;
    }
    if (writes)
        op.write = cut(e->written, e->size);
    if (w->a->times)
        op.flags |= ORDEAL_HAS_BEGIN | ORDEAL_HAS_END;
    tell_initial(w, event, spot);
    add(w, e->thread, op, event);
    if (w->a->times && !w->failed)
        note(w, ordeal_trace_times(w->t->trace, w->a->times[event].begin, w->a->times[event].end));
}

/* Predecessors r, w and successors r, w to the pairs that they order. */
static uint8_t flavours_of(uint8_t fence)
{
    bool before_r = fence & 0x20, before_w = fence & 0x10, after_r = fence & 2, after_w = fence & 1;
    bool tso = fence & FENCE_TSO;
    return (uint8_t)((before_r && after_r ? ORDEAL_LL : 0) | (before_r && after_w ? ORDEAL_LS : 0)
                     | (before_w && after_r && !tso ? ORDEAL_SL : 0)
                     | (before_w && after_w ? ORDEAL_SS : 0));
}

/* ---- order by calls ---------------------------------------------------------------------- */

static struct word *word_named(struct writing *w, const char *name)
{
    for (size_t i = 0; i < w->words.count; i++)
        if (strcmp(w->words.data[i].name, name) == 0)
            return &w->words.data[i];
    struct word fresh = { .value = 0 };
    snprintf(fresh.name, sizeof fresh.name, "%s", name);
    w->failed |= !LIST_PUSH(&w->words, fresh);
    return w->failed ? NULL : &w->words.data[w->words.count - 1];
}

/* A change of a word by one thread, or a look at it, between barriers. */
static void add_word(struct writing *w, uint32_t thread, uint8_t kind, const char *name,
                     uint32_t event)
{
    struct word *word = word_named(w, name);
    if (!word)
        return;
    struct ordeal_op op = { .kind = kind,
                            .size_log2 = 2,
                            .base = base_of(w, name),
                            .read = word->value,
                            .write = word->value + 1 };
    if (kind != ORDEAL_STORE)
        op.flags = ORDEAL_HAS_VALUE;
    if (kind == ORDEAL_LOAD)
        op.write = 0;
    else
        word->value++;
    if (kind == ORDEAL_STORE)
        op.read = 0;
    add_barrier(w, thread, ORDEAL_FULL, event);
    add(w, thread, op, event);
    add_barrier(w, thread, ORDEAL_FULL, event);
}

static void add_thread_word(struct writing *w, uint32_t thread, uint8_t kind, uint32_t whose,
                            const char *what, uint32_t event)
{
    char name[PLACE_NAME];
    snprintf(name, sizeof name, "thread.%" PRIu32 ".%s", whose, what);
    add_word(w, thread, kind, name, event);
}

static bool is_barrier(uint8_t call)
{
    enum { PLAIN, FULL, ENDS };
    static const uint8_t barrier[PROGRAM_CALLS] = {
#define CALL(NUMBER, NAME, BARRIER, ARGUMENTS) [NUMBER] = BARRIER,
#include "calls.def"
#undef CALL
    };
    return call < PROGRAM_CALLS && barrier[call] == FULL;
}

/* What the engine orders besides memory: by an object of its own, or for everybody. */
static void add_call(struct writing *w, uint32_t event)
{
    static const struct {
        uint8_t call;
        const char *prefix;
        bool of_all;
    } orders[] = {
        { PROGRAM_CALL_MUTEX_LOCK, "mutex", false },
        { PROGRAM_CALL_MUTEX_TRYLOCK, "mutex", false },
        { PROGRAM_CALL_MUTEX_UNLOCK, "mutex", false },
        { PROGRAM_CALL_MUTEX_DESTROY, "mutex", false },
        { PROGRAM_CALL_COND_WAIT, "condition", false },
        { PROGRAM_CALL_COND_SIGNAL, "condition", false },
        { PROGRAM_CALL_COND_BROADCAST, "condition", false },
        { PROGRAM_CALL_ATOMIC_BEGIN, "atomic.section", true },
        { PROGRAM_CALL_ATOMIC_END, "atomic.section", true },
    };
    const struct program_event *e = &w->a->events->event[event];
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i].call == e->call) {
            char name[PLACE_NAME];
            snprintf(name, sizeof name, orders[i].of_all ? "%s" : "%s.0x%" PRIx32, orders[i].prefix,
                     e->argument[0]);
            add_word(w, e->thread, ORDEAL_SWAP, name, event);
            return;
        }
    if (is_barrier(e->call))
        add_barrier(w, e->thread, ORDEAL_FULL, event);
}

static void renew_place(struct writing *w, const struct program_event *store)
{
    uint32_t word = store->address & ~3u;
    for (size_t i = 0; i < w->a->places.bytes.count; i++)
        if ((w->a->places.bytes.data[i] & ~3u) == word) {
            w->again[i]++;
            w->told[i] = false;
        }
}

static void add_event(struct writing *w, uint32_t event)
{
    const struct program_event *e = &w->a->events->event[event];
    switch (e->kind) {
    case EVENT_LOAD:
    case EVENT_STORE:
    case EVENT_ATOMIC:
        if (w->a->item[event].shared)
            add_access(w, event);
        break;
    case EVENT_FENCE: add_barrier(w, e->thread, flavours_of(e->fence), event); break;
    case EVENT_DROP: renew_place(w, &w->a->events->event[e->cause]); break;
    case EVENT_CALL: add_call(w, event); break;
    case EVENT_CREATE:
        add_thread_word(w, e->thread, ORDEAL_STORE, e->other, "create", event);
        add_thread_word(w, e->other, ORDEAL_LOAD, e->other, "create", event);
        break;
    case EVENT_EXIT: add_thread_word(w, e->thread, ORDEAL_STORE, e->thread, "end", event); break;
    case EVENT_JOIN: add_thread_word(w, e->thread, ORDEAL_LOAD, e->other, "end", event); break;
    default: break;
    }
}

bool account_trace_make(struct account_trace *t, const struct account *a)
{
    struct writing w = { .a = a, .t = t };
    *t = (struct account_trace){ .o = ordeal_new(NULL) };
    t->trace = t->o ? ordeal_trace_new(t->o) : NULL;
    w.again = calloc(a->places.bytes.count + 1, sizeof *w.again);
    w.told = calloc(a->places.bytes.count + 1, sizeof *w.told);
    w.failed = !t->trace || !w.again || !w.told;
    if (!w.failed) {
        ordeal_trace_claim(t->trace, account_trace_model(a->model));
        look_for_across(&w);
    }
    for (uint32_t i = 0; i < a->events->count && !w.failed; i++)
        add_event(&w, i);
    LIST_FREE(&w.words);
    free(w.again);
    free(w.told);
    return !w.failed;
}

void account_trace_free(struct account_trace *t)
{
    LIST_FREE(&t->event);
    if (t->trace)
        ordeal_trace_free(t->trace);
    if (t->o)
        ordeal_free(t->o);
    *t = (struct account_trace){ 0 };
}

/* ---- judging ----------------------------------------------------------------------------- */

static bool take_core(const struct account_trace *t, struct account *a,
                      const struct ordeal_verdict *v)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(v, &ops);
    for (size_t i = 0; i < count; i++)
        if (!LIST_PUSH(&a->core, t->event.data[ops[i]]))
            return false;
    return true;
}

static bool check(const struct account_trace *t, enum ordeal_model model,
                  struct ordeal_verdict **verdict, struct ordeal_error *why)
{
    struct ordeal_options how = { .model = model, .algorithm = ORDEAL_AUTO };
    enum ordeal_status status = ordeal_check(t->trace, &how, verdict);
    if (status != ORDEAL_OK)
        *why = *ordeal_last_error(t->o);
    return status == ORDEAL_OK;
}

enum account_judgement account_trace_judge(const struct account_trace *t, struct account *a,
                                           double seconds, struct ordeal_error *why)
{
    struct ordeal_verdict *v = NULL;
    struct ordeal_limits limits = { .seconds = seconds };
    enum account_judgement judgement = ACCOUNT_NO_VERDICT;
    ordeal_set_limits(t->o, &limits);
    if (!check(t, account_trace_model(a->model), &v, why)) {
        return why->status == ORDEAL_INTERNAL || why->status == ORDEAL_BAD_INPUT
                 ? ACCOUNT_REFUSED
                 : ACCOUNT_NO_VERDICT;
    }
    enum ordeal_result result = ordeal_verdict_result(v);
    error_set(why, ORDEAL_LIMIT, "", ordeal_verdict_note(v));
    ordeal_verdict_free(v);
    if (result == ORDEAL_FAIL) {
        error_set(why, ORDEAL_INTERNAL, "", "the checker refuses it under the model");
        return ACCOUNT_REFUSED;
    }
    if (result == ORDEAL_PASS)
        judgement = ACCOUNT_CONFIRMED;
    a->relaxed = ACCOUNT_UNDECIDED;
    if (!check(t, ORDEAL_SC, &v, why))
        return judgement;
    result = ordeal_verdict_result(v);
    if (result != ORDEAL_UNDECIDED)
        a->relaxed = result == ORDEAL_FAIL ? ACCOUNT_RELAXED : ACCOUNT_SC;
    else
        error_set(why, ORDEAL_LIMIT, "", ordeal_verdict_note(v));
    if (result == ORDEAL_FAIL && !take_core(t, a, v)) {
        error_out_of_memory(why, "");
        judgement = ACCOUNT_NO_VERDICT;
    }
    ordeal_verdict_free(v);
    return judgement;
}
