/* SPDX-License-Identifier: Apache-2.0 */
#include "relax_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calls.h"

/* A value that a word has had. */
struct version {
    uint32_t word; /* its number */
    uint32_t event, value, stamp;
};
struct word {
    uint32_t address;
    uint8_t size;
    uint32_t initial; /* as linked; its stamp, too */
    uint32_t now;     /* version + 1; 0: the initial one */
    uint32_t stamps;
};
struct numbering {
    const struct image *image;
    const struct event_list *events; /* as they were */
    const struct account *account;   /* of these: what is shared */
    struct program_event *to;
    LIST(struct word) words;
    LIST(struct version) versions; /* in the order in which they reached memory */
    LIST(uint32_t) waiting;        /* stores in buffers, oldest first */
    bool cannot, out_of_memory;
};

static uint32_t linked_value(const struct image *image, uint32_t address, uint8_t size)
{
    const struct segment *s;
    size_t count = image_segments(image, &s);
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < size; k++)
            if (address + k - s[i].address < s[i].size && s[i].bytes)
                value |= (uint32_t)s[i].bytes[address + k - s[i].address] << 8 * k;
    return value;
}

/* NULL: it meets accesses of another size, or there is no memory. */
static struct word *word_of(struct numbering *n, const struct program_event *e)
{
    for (size_t i = 0; i < n->words.count; i++) {
        struct word *w = &n->words.data[i];
        if (w->address == e->address && w->size == e->size)
            return w;
        if (w->address < e->address + e->size && e->address < w->address + w->size) {
            n->cannot = true;
            return NULL;
        }
    }
    struct word w = { .address = e->address, .size = e->size };
    w.initial = linked_value(n->image, e->address, e->size);
    n->out_of_memory |= !LIST_PUSH(&n->words, w);
    return n->out_of_memory ? NULL : &n->words.data[n->words.count - 1];
}

static uint32_t stamp_now(const struct numbering *n, const struct word *w)
{
    return w->now ? n->versions.data[w->now - 1].stamp : w->initial;
}

static uint32_t value_now(const struct numbering *n, const struct word *w)
{
    return w->now ? n->versions.data[w->now - 1].value : w->initial;
}

/* From 1, but for the initial value. */
static uint32_t next_stamp(struct numbering *n, struct word *w)
{
    uint32_t stamp = ++w->stamps;
    if (w->initial && stamp >= w->initial)
        stamp++;
    n->cannot |= w->size < 4 && stamp >> 8 * w->size;
    return stamp;
}

static void reaches_memory(struct numbering *n, uint32_t event)
{
    const struct program_event *e = &n->events->event[event];
    struct word *w = word_of(n, e);
    if (!w)
        return;
    struct version v = { (uint32_t)(w - n->words.data), event, e->written, n->to[event].written };
    n->out_of_memory |= !LIST_PUSH(&n->versions, v);
    w->now = (uint32_t)n->versions.count;
}

/* A load that sees neither its own buffer nor memory sees the newest old value that is the same. */
static uint32_t stamp_seen(struct numbering *n, const struct program_event *e, struct word *w)
{
    if (e->forwarded)
        for (size_t i = n->waiting.count; i-- > 0;) {
            const struct program_event *s = &n->to[n->waiting.data[i]];
            if (s->thread == e->thread && s->address == e->address)
                return s->written;
        }
    if (value_now(n, w) == e->read)
        return stamp_now(n, w);
    for (size_t i = n->versions.count; i-- > 0;)
        if (&n->words.data[n->versions.data[i].word] == w && n->versions.data[i].value == e->read)
            return n->versions.data[i].stamp;
    n->cannot |= w->initial != e->read;
    return w->initial;
}

/* As the event has it: loads of bytes give them with their sign. */
static uint32_t cut(uint32_t value, uint8_t size)
{
    return size == 4 ? value : value & ((1u << 8 * size) - 1);
}

static void number_access(struct numbering *n, uint32_t event)
{
    struct program_event e = n->events->event[event];
    struct word *w = word_of(n, &e);
    if (!w)
        return;
    e.read = cut(e.read, e.size);
    if (e.kind != EVENT_STORE)
        n->to[event].read = stamp_seen(n, &e, w);
    if (!event_writes(&e))
        return;
    n->to[event].written = next_stamp(n, w);
    if (e.buffered)
        n->out_of_memory |= !LIST_PUSH(&n->waiting, event);
    else
        reaches_memory(n, event);
}

static void stop_waiting(struct numbering *n, uint32_t store)
{
    for (size_t i = 0; i < n->waiting.count; i++)
        if (n->waiting.data[i] == store) {
            n->waiting.count--;
            memmove(n->waiting.data + i, n->waiting.data + i + 1,
                    (n->waiting.count - i) * sizeof *n->waiting.data);
            return;
        }
}

/* What is allocated has nobody's values. */
static void begin_again(struct numbering *n, const struct program_event *e)
{
    for (size_t i = 0; i < n->words.count; i++)
        if (n->words.data[i].address - e->read < e->argument[0])
            n->words.data[i].now = 0;
}

static void number_event(struct numbering *n, uint32_t event)
{
    const struct program_event *e = &n->events->event[event];
    if (n->account->item[event].shared)
        number_access(n, event);
    if ((e->kind == EVENT_COMMIT || e->kind == EVENT_DROP) && n->account->item[e->cause].shared) {
        stop_waiting(n, e->cause);
        if (e->kind == EVENT_COMMIT)
            reaches_memory(n, e->cause);
        n->to[event].written = n->to[e->cause].written;
    }
    if (e->kind == EVENT_CALL && e->call == PROGRAM_CALL_ALLOCATE && e->read)
        begin_again(n, e);
}

/* ---- the order of stores ----------------------------------------------------------------- */

/* A store and its place, in which it came as the `at`-th of all. */
struct placed {
    const struct ordeal_op *op;
    size_t at;
};

static int compare_places(const struct ordeal_op *a, const struct ordeal_op *b)
{
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = compare_places(x->op, y->op);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* Operations that write, by their event; the array is NULL without memory. */
static const struct ordeal_op **ops_by_event(const struct relax_trace *t)
{
    const struct ordeal_op **op = calloc(t->events.count + 1, sizeof *op);
    for (uint32_t i = 0; op && i < t->trace.event.count; i++) {
        const struct ordeal_op *o = ordeal_trace_op(t->trace.trace, i);
        if (o->kind == ORDEAL_STORE || o->kind == ORDEAL_SWAP)
            op[t->trace.event.data[i]] = o;
    }
    return op;
}

static bool give_orders(struct relax_trace *t, const struct numbering *n)
{
    size_t count = 0, end;
    const struct ordeal_op **op = ops_by_event(t);
    struct placed *placed = malloc((n->versions.count + 1) * sizeof *placed);
    uint64_t *values = malloc((n->versions.count + 1) * sizeof *values);
    bool fine = op && placed && values;
    for (size_t i = 0; fine && i < n->versions.count; i++)
        if (op[n->versions.data[i].event])
            placed[count++] = (struct placed){ op[n->versions.data[i].event], i };
    if (fine && count)
        qsort(placed, count, sizeof *placed, by_place);
    for (size_t i = 0; fine && i < count; i = end) {
        const struct ordeal_op *o = placed[i].op;
        for (end = i; end < count && !compare_places(placed[end].op, o); end++)
            values[end - i] = placed[end].op->write;
        fine = ordeal_trace_order(t->trace.trace, o->base, o->address, o->size_log2, values,
                                  end - i)
            == ORDEAL_OK;
    }
    free(op);
    free(placed);
    free(values);
    return fine;
}

/* ---- the trace --------------------------------------------------------------------------- */

static bool number_all(struct numbering *n)
{
    for (uint32_t i = 0; i < n->events->count && !n->cannot && !n->out_of_memory; i++)
        number_event(n, i);
    while (n->waiting.count && !n->cannot && !n->out_of_memory) {
        uint32_t store = n->waiting.data[0];
        stop_waiting(n, store);
        reaches_memory(n, store);
    }
    return !n->out_of_memory;
}

bool relax_trace_make(struct relax_trace *t, const struct image *image,
                      const struct event_list *events, enum explore_model model)
{
    struct account as_it_was;
    size_t bytes = (events->count + 1) * sizeof *events->event;
    *t = (struct relax_trace){ .events = { malloc(bytes), events->count } };
    struct numbering n = { image, events, &as_it_was, .to = t->events.event };
    bool fine = account_make(&as_it_was, image, events, model) && n.to;
    if (fine) {
        memcpy(n.to, events->event, events->count * sizeof *events->event);
        fine = number_all(&n);
        t->numbered = !n.cannot;
    }
    if (fine && n.cannot)
        memcpy(n.to, events->event, events->count * sizeof *events->event);
    fine = fine && account_make(&t->account, image, &t->events, model)
        && account_trace_make(&t->trace, &t->account) && (n.cannot || give_orders(t, &n));
    account_free(&as_it_was);
    LIST_FREE(&n.words);
    LIST_FREE(&n.versions);
    LIST_FREE(&n.waiting);
    return fine;
}

void relax_trace_free(struct relax_trace *t)
{
    account_trace_free(&t->trace);
    account_free(&t->account);
    free(t->events.event);
    t->events = (struct event_list){ NULL, 0 };
}

enum account_judgement relax_trace_judge(struct relax_trace *t, double seconds,
                                         struct ordeal_error *why)
{
    enum account_judgement j = account_trace_judge(&t->trace, &t->account, seconds, why);
    if (j != ACCOUNT_CONFIRMED || t->account.relaxed == ACCOUNT_RELAXED)
        return j;
    error_set(why, ORDEAL_INTERNAL, "", "a sequentially consistent machine can do it");
    return t->account.relaxed == ACCOUNT_SC && t->numbered ? ACCOUNT_REFUSED : ACCOUNT_NO_VERDICT;
}
