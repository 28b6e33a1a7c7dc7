/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include <string.h>

#include "calls.h"

/* What is known of one byte. */
struct byte {
    uint32_t threads; /* a bit for each that accessed it, or another byte of its word */
    bool written;     /* by anybody, or another byte of its word */
    uint32_t writer;  /* the store whose value memory holds */
};

struct reading {
    struct account *a;
    struct byte *bytes;
    LIST(uint32_t) waiting; /* stores in buffers, oldest first */
    bool out_of_memory;
};

/* ---- which accesses are shared ----------------------------------------------------------- */

static void note_threads(struct reading *r)
{
    const struct event_list *l = r->a->events;
    for (size_t i = 0; i < l->count; i++) {
        const struct program_event *e = &l->event[i];
        if (!event_is_access(e))
            continue;
        struct byte *b = &r->bytes[places_number(&r->a->places, e)];
        for (uint32_t k = 0; k < e->size; k++) {
            b[k].threads |= 1u << (e->thread % 32);
            b[k].written |= event_writes(e);
        }
    }
}

/* Accesses of different sizes meet in words. */
static void join_words(struct reading *r)
{
    const struct places *p = &r->a->places;
    for (size_t i = 0, end; i < p->bytes.count; i = end) {
        struct byte word = { 0 };
        for (end = i; end < p->bytes.count && p->bytes.data[end] / 4 == p->bytes.data[i] / 4;
             end++) {
            word.threads |= r->bytes[end].threads;
            word.written |= r->bytes[end].written;
        }
        for (size_t k = i; k < end; k++) {
            r->bytes[k].threads = word.threads;
            r->bytes[k].written = word.written;
        }
    }
}

static bool is_shared(const struct byte *b)
{
    return b->written && (b->threads & (b->threads - 1));
}

/* ---- who wrote what was read ------------------------------------------------------------- */

static bool overlap(const struct program_event *a, const struct program_event *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

static uint8_t byte_of(uint32_t value, uint32_t at) { return (uint8_t)(value >> (8 * at)); }

/* Of all bytes that both have, is that which the one read that which the other wrote? */
static bool agrees(const struct program_event *read, const struct program_event *store)
{
    for (uint32_t k = 0; k < read->size; k++) {
        uint32_t at = read->address + k - store->address;
        if (at < store->size && byte_of(read->read, k) != byte_of(store->written, at))
            return false;
    }
    return true;
}

/* The newest store there before the event that has the value; of its own thread, if it says so. */
static uint32_t store_with_value(const struct account *a, uint32_t event, bool own)
{
    const struct program_event *e = &a->events->event[event];
    for (uint32_t i = event; i-- > 0;) {
        const struct program_event *s = &a->events->event[i];
        if (event_is_access(s) && event_writes(s) && overlap(s, e) && agrees(e, s)
            && (!own || s->thread == e->thread))
            return i;
    }
    return ACCOUNT_NONE;
}

static void explain_read(struct reading *r, uint32_t event)
{
    struct account *a = r->a;
    const struct program_event *e = &a->events->event[event];
    struct account_item *item = &a->item[event];
    uint32_t writer = r->bytes[places_number(&a->places, e)].writer;
    for (size_t i = 0; i < r->waiting.count; i++) {
        const struct program_event *s = &a->events->event[r->waiting.data[i]];
        if (s->thread != e->thread && overlap(s, e))
            item->waiting = r->waiting.data[i];
    }
    item->from = writer;
    if (e->forwarded)
        item->from = store_with_value(a, event, true);
    else if (writer != ACCOUNT_NONE && !agrees(e, &a->events->event[writer]))
        item->from = store_with_value(a, event, false);
    if (a->model == EXPLORE_PSLO && !e->forwarded && item->from != writer)
        item->newer = writer;
}

static void write_bytes(struct reading *r, const struct program_event *e, uint32_t store)
{
    struct byte *b = &r->bytes[places_number(&r->a->places, e)];
    for (uint32_t k = 0; k < e->size; k++)
        b[k].writer = store;
}

static void stop_waiting(struct reading *r, uint32_t store)
{
    for (size_t i = 0; i < r->waiting.count; i++)
        if (r->waiting.data[i] == store) {
            r->waiting.count--;
            memmove(r->waiting.data + i, r->waiting.data + i + 1,
                    (r->waiting.count - i) * sizeof *r->waiting.data);
            return;
        }
}

/* What is allocated again has nobody's values. */
static void forget_block(struct reading *r, const struct program_event *e)
{
    for (size_t i = 0; i < r->a->places.bytes.count; i++)
        if (r->a->places.bytes.data[i] - e->read < e->argument[0])
            r->bytes[i].writer = ACCOUNT_NONE;
}

static void read_event(struct reading *r, uint32_t event)
{
    struct account *a = r->a;
    const struct program_event *e = &a->events->event[event];
    if (e->kind == EVENT_LOAD || e->kind == EVENT_ATOMIC)
        explain_read(r, event);
    if (e->kind == EVENT_STORE && e->buffered)
        r->out_of_memory |= !LIST_PUSH(&r->waiting, event);
    else if (event_is_access(e) && event_writes(e))
        write_bytes(r, e, event);
    if ((e->kind == EVENT_COMMIT || e->kind == EVENT_DROP) && e->cause < event) {
        a->item[e->cause].left = event;
        stop_waiting(r, e->cause);
        if (e->kind == EVENT_COMMIT)
            write_bytes(r, &a->events->event[e->cause], e->cause);
    }
    if (e->kind == EVENT_CALL && e->call == PROGRAM_CALL_ALLOCATE && e->read)
        forget_block(r, e);
}

/* ---- what is told ------------------------------------------------------------------------ */

static bool is_told_call(uint8_t call)
{
    switch (call) {
    case PROGRAM_CALL_EXIT:
    case PROGRAM_CALL_MUTEX_LOCK:
    case PROGRAM_CALL_MUTEX_TRYLOCK:
    case PROGRAM_CALL_MUTEX_UNLOCK:
    case PROGRAM_CALL_MUTEX_DESTROY:
    case PROGRAM_CALL_COND_WAIT:
    case PROGRAM_CALL_COND_SIGNAL:
    case PROGRAM_CALL_COND_BROADCAST:
    case PROGRAM_CALL_ALLOCATE:
    case PROGRAM_CALL_FREE:
    case PROGRAM_CALL_ATOMIC_BEGIN:
    case PROGRAM_CALL_ATOMIC_END:
    case PROGRAM_CALL_CRITICAL_BEGIN:
    case PROGRAM_CALL_CRITICAL_END: return true;
    default: return false;
    }
}

/* The word of a mutex is what its call is about. */
static bool is_part_of_call(const struct account *a, size_t event)
{
    const struct program_event *e = &a->events->event[event];
    for (size_t i = event; i-- > 0 && a->events->event[i].step == e->step;) {
        const struct program_event *c = &a->events->event[i];
        if (c->kind == EVENT_CALL && c->thread == e->thread && c->pc == e->pc)
            return true;
    }
    return false;
}

/* Nobody wants to see what the library does by itself. */
static bool is_own(const struct account *a, const struct program_event *e)
{
    struct source_place at;
    return lines_place(&a->lines, e, &at);
}

static bool is_told(const struct account *a, size_t event, bool threads)
{
    const struct program_event *e = &a->events->event[event];
    switch (e->kind) {
    case EVENT_LOAD:
    case EVENT_STORE:
    case EVENT_ATOMIC:
        return threads && a->item[event].shared && is_own(a, e) && !is_part_of_call(a, event);
    case EVENT_COMMIT:
    case EVENT_DROP: return e->cause < event && a->item[e->cause].row;
    case EVENT_FENCE: return threads && e->fence && is_own(a, e);
    case EVENT_CALL: return is_told_call(e->call) && is_own(a, e);
    case EVENT_BLOCK: return !is_part_of_call(a, event);
    default: return true;
    }
}

/* Allocations matter where something is told of what was allocated. */
static bool is_about_nothing(const struct account *a, size_t event)
{
    const struct program_event *e = &a->events->event[event];
    if (e->kind != EVENT_CALL || e->call != PROGRAM_CALL_ALLOCATE)
        return false;
    for (size_t i = event; i < a->events->count; i++) {
        const struct program_event *x = &a->events->event[i];
        if (a->item[i].row && event_is_access(x) && x->address - e->read < e->argument[0])
            return false;
    }
    return true;
}

static void number_rows(struct account *a)
{
    bool threads = false; /* before there are several nothing but their own steps is of interest */
    for (size_t i = 0; i < a->events->count; i++) {
        threads |= a->events->event[i].kind == EVENT_CREATE;
        a->item[i].row = is_told(a, i, threads);
    }
    for (size_t i = 0; i < a->events->count; i++)
        a->item[i].row = a->item[i].row && !is_about_nothing(a, i) ? ++a->rows : 0;
}

bool account_make(struct account *a, const struct image *image, const struct event_list *events,
                  enum explore_model model)
{
    *a = (struct account){ .image = image, .events = events, .model = model };
    struct reading r = { .a = a };
    a->lines.image = image;
    if (!places_find(&a->places, image, events))
        return false;
    a->item = calloc(events->count + 1, sizeof *a->item);
    r.bytes = calloc(a->places.bytes.count + 1, sizeof *r.bytes);
    r.out_of_memory = !a->item || !r.bytes;
    for (size_t i = 0; !r.out_of_memory && i < a->places.bytes.count; i++)
        r.bytes[i].writer = ACCOUNT_NONE;
    if (!r.out_of_memory)
        note_threads(&r), join_words(&r);
    for (uint32_t i = 0; i < events->count && !r.out_of_memory; i++) {
        const struct program_event *e = &events->event[i];
        a->item[i] = (struct account_item){ .from = ACCOUNT_NONE,
                                            .waiting = ACCOUNT_NONE,
                                            .newer = ACCOUNT_NONE,
                                            .left = ACCOUNT_NONE };
        a->item[i].shared = event_is_access(e) && is_shared(&r.bytes[places_number(&a->places, e)]);
        read_event(&r, i);
    }
    if (!r.out_of_memory)
        number_rows(a);
    LIST_FREE(&r.waiting);
    free(r.bytes);
    return !r.out_of_memory;
}

void account_free(struct account *a)
{
    places_free(&a->places);
    lines_free(&a->lines);
    LIST_FREE(&a->core);
    free(a->item);
    a->item = NULL;
}
