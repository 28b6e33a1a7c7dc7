/* SPDX-License-Identifier: Apache-2.0 */
/* Building an execution: the expansion (expand.c), then what it takes to see all its stores: the
 * initial values, the stores each load may have seen, known orders and final values. */
#include "expand.h"

#include <inttypes.h>
#include <string.h>

/* ---- arrays -------------------------------------------------------------------------- */

/* Every array of an execution with its length: what is made together is freed together. */
/* clang-format off */
#define EXPANDED_ARRAYS(x) \
    ARRAY(is_store, (x)->events) ARRAY(loc, (x)->events) ARRAY(op, (x)->events) \
    ARRAY(group, (x)->events) ARRAY(value, (x)->events) \
    ARRAY(candidate_first, (x)->events + 1) \
    ARRAY(group_first, (x)->groups + 1) ARRAY(group_flags, (x)->groups) \
    ARRAY(instruction, (x)->groups) ARRAY(thread_of, (x)->groups) \
    ARRAY(thread_first, (x)->threads + 1) ARRAY(barrier, (x)->barriers) \
    ARRAY(order_complete, (x)->locations) ARRAY(order_first, (x)->orders + 1) \
    ARRAY(final_of, (x)->locations)
#define TIME_ARRAYS(x) ARRAY(begin, (x)->groups) ARRAY(end, (x)->groups)
#define FOUND_ARRAYS(x) \
    ARRAY(location, (x)->locations) ARRAY(dependence, (x)->dependences) \
    ARRAY(reservation, (x)->reservations) \
    ARRAY(candidate, (x)->candidates) ARRAY(order, (x)->order_stores) \
    ARRAY(final, (x)->finals) ARRAY(final_store, (x)->final_stores)
/* clang-format on */

static enum ordeal_status make_arrays(struct execution *x, const struct expansion *e)
{
    x->events = (uint32_t)e->events;
    x->groups = (uint32_t)e->groups;
    x->threads = e->threads;
    x->barriers = e->barriers;
    x->orders = (uint32_t)e->t->orders.count;
#define ARRAY(NAME, COUNT) \
    if (!(x->NAME = mem_array(x->o, (COUNT), sizeof *x->NAME))) \
        return x->o->error.status;
    EXPANDED_ARRAYS(x)
    if (x->trace->times.count) {
        TIME_ARRAYS(x)
    }
#undef ARRAY
    return ORDEAL_OK;
}

void execution_free(struct execution *x)
{
    if (!x)
        return;
#define ARRAY(NAME, COUNT) mem_free(x->o, x->NAME, (COUNT) * sizeof *x->NAME);
    EXPANDED_ARRAYS(x)
    TIME_ARRAYS(x)
    FOUND_ARRAYS(x)
#undef ARRAY
    mem_free(x->o, x, sizeof *x);
}

int execution_location_name(const struct execution *x, uint32_t loc, char *buffer, size_t size)
{
    const struct location *l = &x->location[loc];
    return trace_format_location(x->trace, l->base, l->address, 2, buffer, size);
}

/* ---- initial values ------------------------------------------------------------------ */

static uint64_t last_byte(const struct location *l)
{
    return l->address + ((UINT64_C(1) << l->size_log2) - 1);
}

/* The location that holds the byte, or the first one after it. */
static uint32_t location_at(const struct execution *x, uint32_t base, uint64_t address)
{
    uint32_t low = 0, high = x->locations;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct location *l = &x->location[middle];
        if (l->base < base || (l->base == base && last_byte(l) < address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Byte by byte, as an `init` may be narrower or wider than the words; `known` has a bit for each
 * byte of a location that has its value. */
static enum ordeal_status set_initial(struct execution *x, const struct trace_init *init,
                                      uint8_t *known)
{
    const struct trace_word *w = &init->word;
    uint32_t l = location_at(x, w->base, w->address);
    for (unsigned i = 0; i < 1u << w->size_log2; i++) {
        uint64_t address = w->address + i;
        while (l < x->locations && x->location[l].base == w->base
               && last_byte(&x->location[l]) < address)
            l++;
        if (l == x->locations || x->location[l].base != w->base)
            break;
        if (address < x->location[l].address)
            continue;
        unsigned byte = (unsigned)(address - x->location[l].address);
        assert(byte < 1u << x->location[l].size_log2);
        uint64_t value = init->value >> 8 * i & 0xff;
        if (known[l] >> byte & 1 && (x->value[l] >> 8 * byte & 0xff) != value)
            return fail_at(x->o, x->trace->file, w->line, 0,
                           "the initial value was given before, and was another");
        known[l] |= (uint8_t)(1u << byte);
        x->value[l] = (x->value[l] & ~(UINT64_C(0xff) << 8 * byte)) | value << 8 * byte;
    }
    return ORDEAL_OK;
}

static enum ordeal_status set_initials(struct execution *x)
{
    const struct ordeal_trace *t = x->trace;
    enum ordeal_status status = ORDEAL_OK;
    if (!t->inits.count)
        return status;
    uint8_t *known = mem_zero(x->o, x->locations, 1);
    if (!known)
        return x->o->error.status;
    for (size_t i = 0; i < t->inits.count && !status; i++)
        status = set_initial(x, &t->inits.data[i], known);
    mem_free(x->o, known, x->locations);
    return status;
}

/* ---- stores by word and value -------------------------------------------------------- */

/* A hash with one slot for each word and value stored. Where several stores share one, `event` is
 * the earliest of them, `next` leads to the others and `length` says how many there are from here
 * on; both exist only when there is such a case. */
struct entry { uint64_t value; uint32_t loc, event; };
struct stores {
    struct ordeal *o;
    struct execution *x;
    struct entry *slot;
    uint32_t size;
    uint32_t *next, *length;
};

static uint64_t hash_of(uint32_t loc, uint64_t value)
{
    uint64_t hash = value * 0x9e3779b97f4a7c15;
    return ((hash ^ hash >> 29) + loc) * 0xd6e8feb86659fd93 >> 32;
}

static struct entry *find_slot(const struct stores *s, uint32_t loc, uint64_t value)
{
    uint32_t i = (uint32_t)(hash_of(loc, value) * s->size >> 32);
    assert_hot(i < s->size);
    while (s->slot[i].event != NONE && (s->slot[i].value != value || s->slot[i].loc != loc))
        i = i + 1 < s->size ? i + 1 : 0;
    return &s->slot[i];
}

static uint32_t next_store(const struct stores *s, uint32_t store)
{
    return s->next ? s->next[store] : NONE;
}

static uint32_t length_from(const struct stores *s, uint32_t store)
{
    return store == NONE ? 0 : s->length ? s->length[store] : 1;
}

static bool make_chains(struct stores *s)
{
    size_t count = s->x->events;
    s->next = mem_array(s->o, count, sizeof *s->next);
    s->length = mem_array(s->o, count, sizeof *s->length);
    if (!s->next || !s->length)
        return false;
    memset(s->next, 0xff, count * sizeof *s->next); /* NONE */
    for (size_t i = 0; i < count; i++)
        s->length[i] = 1;
    return true;
}

static bool enter_store(struct stores *s, const struct entry *store)
{
    struct entry *slot = find_slot(s, store->loc, store->value);
    if (slot->event != NONE) {
        assert(store->event < slot->event); /* chains run forward */
        if (!s->length && !make_chains(s))
            return false;
        s->next[store->event] = slot->event;
        s->length[store->event] = s->length[slot->event] + 1;
        s->x->duplicate[0] = store->event;
        s->x->duplicate[1] = slot->event;
    }
    *slot = *store;
    return true;
}

/* The earliest candidate goes to the place of candidate_first, for the time being. */
static void find_source(const struct stores *s, const struct entry *load, uint64_t *candidates)
{
    struct execution *x = s->x;
    uint32_t store = find_slot(s, load->loc, load->value)->event, length = length_from(s, store);
    x->candidate_first[load->event] = store;
    *candidates += length;
    if (length > 1)
        x->unique = false;
    if (length == 0 && load->event < x->unwritten)
        x->unwritten = load->event;
}

/* Events in an order that is kind to caches: those of one hash range after those of the one before,
 * so that only a small part of the table is in use at a time. Bucket 2r has the stores of range r,
 * bucket 2r + 1 its loads; within a bucket they ascend. */
struct buckets {
    struct entry *entry;
    uint32_t *first;               /* 2 * ranges + 2: counts move two places on while sorting */
    uint32_t ranges;
};

static uint32_t bucket_of(const struct buckets *b, const struct execution *x, uint32_t event)
{
    uint64_t range = hash_of(x->loc[event], x->value[event]) * b->ranges >> 32;
    return 2 * (uint32_t)range + !x->is_store[event];
}

static enum ordeal_status fill_buckets(struct buckets *b, const struct stores *s)
{
    const struct execution *x = s->x;
    b->ranges = 1 + (uint32_t)(s->size * sizeof *s->slot >> 19); /* half a megabyte each */
    b->entry = mem_array(s->o, x->events, sizeof *b->entry);
    b->first = mem_zero(s->o, 2 * (size_t)b->ranges + 2, sizeof *b->first);
    if (!b->entry || !b->first)
        return s->o->error.status;
    for (uint32_t e = 0; e < x->events; e++)
        b->first[bucket_of(b, x, e) + 2]++;
    for (uint32_t i = 2; i < 2 * b->ranges + 2; i++)
        b->first[i] += b->first[i - 1];
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t at = b->first[bucket_of(b, x, e) + 1]++;
        b->entry[at] = (struct entry){ x->value[e], x->loc[e], e };
        x->candidate_first[e] = NONE;
    }
    assert(b->first[2 * b->ranges] == x->events);
    return limit_hit(s->o, "looking for stores", -1) ? s->o->error.status : ORDEAL_OK;
}

/* Stores latest first, so that chains run forward. */
static enum ordeal_status join_range(struct stores *s, const struct buckets *b, uint32_t range,
                                     uint64_t *candidates)
{
    const uint32_t *first = &b->first[2 * range];
    for (uint32_t i = first[1]; i-- > first[0];) {
        if (!enter_store(s, &b->entry[i]))
            return s->o->error.status;
        if (limit_hit(s->o, "looking for stores", (double)i / s->x->events))
            return s->o->error.status;
    }
    for (uint32_t i = first[1]; i < first[2]; i++) {
        find_source(s, &b->entry[i], candidates);
        if (limit_hit(s->o, "looking for stores", (double)i / s->x->events))
            return s->o->error.status;
    }
    return ORDEAL_OK;
}

static enum ordeal_status make_table(struct stores *s)
{
    uint64_t count = 0;
    for (uint32_t e = 0; e < s->x->events; e++)
        count += s->x->is_store[e];
    count += count / 2 + 1; /* two thirds full; fits as events are below NONE / 2 */
    s->slot = mem_array(s->o, count, sizeof *s->slot);
    if (!s->slot)
        return s->o->error.status;
    s->size = (uint32_t)count;
    memset(s->slot, 0xff, count * sizeof *s->slot); /* event NONE */
    return ORDEAL_OK;
}

static enum ordeal_status join(struct stores *s, uint64_t *candidates)
{
    struct buckets b = { 0 };
    enum ordeal_status status = make_table(s);
    if (!status)
        status = fill_buckets(&b, s);
    for (uint32_t range = 0; range < b.ranges && !status; range++)
        status = join_range(s, &b, range, candidates);
    mem_free(s->o, b.entry, s->x->events * sizeof *b.entry);
    mem_free(s->o, b.first, (2 * (size_t)b.ranges + 2) * sizeof *b.first);
    return status;
}

static void free_stores(struct stores *s)
{
    mem_free(s->o, s->slot, s->size * sizeof *s->slot);
    mem_free(s->o, s->next, s->x->events * sizeof *s->next);
    mem_free(s->o, s->length, s->x->events * sizeof *s->length);
}

/* ---- candidates ---------------------------------------------------------------------- */

static enum ordeal_status list_candidates(const struct stores *s, uint64_t candidates)
{
    struct execution *x = s->x;
    if (candidates >= UINT32_C(1) << 31)
        return fail(s->o, ORDEAL_LIMIT, "store values repeat too often: the loads together have %"
                    PRIu64 " stores they may have seen", candidates);
    x->candidate = mem_array(s->o, candidates, sizeof *x->candidate);
    if (!x->candidate)
        return s->o->error.status;
    x->candidates = (uint32_t)candidates;
    uint32_t count = 0;
    for (uint32_t e = 0; e < x->events; e++) {
        uint32_t store = x->candidate_first[e];
        x->candidate_first[e] = count;
        for (; store != NONE; store = next_store(s, store)) {
            x->candidate[count++] = store;
            if (limit_hit(s->o, "listing stores", (double)count / (double)candidates))
                return s->o->error.status;
        }
    }
    assert(count == candidates);
    x->candidate_first[x->events] = count;
    return ORDEAL_OK;
}

/* ---- known orders -------------------------------------------------------------------- */

struct ordering {
    const struct stores *stores;
    struct execution *x;
    const struct expansion *e;
    uint32_t *listed;              /* by event: the last list it is in, counted from 1 */
    uint32_t *stores_of;           /* by location, without the initial store */
    VEC(uint32_t) order;
};

static enum ordeal_status refuse_value(const struct ordering *d, const struct trace_word *w,
                                       uint64_t value, const char *why)
{
    char name[TRACE_FORMAT_MAX];
    trace_format_location(d->x->trace, w->base, w->address, w->size_log2, name, sizeof name);
    return fail_at(d->x->o, d->x->trace->file, w->line, 0, "order of %s: %" PRIu64 " %s", name,
                   value, why);
}

static enum ordeal_status refuse_divided(const struct ordering *d, const struct trace_word *w,
                                         const struct word *word)
{
    char name[TRACE_FORMAT_MAX], parts[400] = "";
    size_t length = 0;
    uint32_t end = word->first + word->count;
    for (uint32_t l = word->first; l < end && length < sizeof parts - 1; l++) {
        const struct location *is = &d->x->location[l];
        trace_format_location(d->x->trace, is->base, is->address, is->size_log2, name, sizeof name);
        length += (size_t)snprintf(parts + length, sizeof parts - length, "%s%s",
                                   l > word->first ? ", " : "", name);
    }
    trace_format_location(d->x->trace, w->base, w->address, w->size_log2, name, sizeof name);
    return fail_at(d->x->o, d->x->trace->file, w->line, 0,
                   "order of %s: it is not one word, the accesses divide it into %s", name, parts);
}

/* One value of list number k. In a subset the store may be gone. */
static enum ordeal_status list_store(struct ordering *d, uint32_t k, const struct trace_word *w,
                                     uint32_t loc, uint64_t value, bool first)
{
    uint32_t store = loc == NONE ? NONE : find_slot(d->stores, loc, value)->event;
    if (store == NONE)
        return d->e->keep ? ORDEAL_OK : refuse_value(d, w, value, "is stored by nobody");
    if (next_store(d->stores, store) != NONE)
        return refuse_value(d, w, value, "has several stores, an order by value cannot tell them "
                            "apart");
    if (d->listed[store] == k + 1)
        return refuse_value(d, w, value, "is listed twice");
    d->listed[store] = k + 1;
    if (is_initial(d->x, store) && !first)
        return refuse_value(d, w, value, "is the initial value and comes first");
    if (is_initial(d->x, store)) /* it is there first anyway */
        return ORDEAL_OK;
    return VEC_PUSH(d->x->o, &d->order, store) ? ORDEAL_OK : d->x->o->error.status;
}

static enum ordeal_status list_order(struct ordering *d, uint32_t k)
{
    const struct ordeal_trace *t = d->x->trace;
    const struct trace_order *order = &t->orders.data[k];
    const struct trace_word *w = &order->word;
    uint32_t id = words_find(&d->e->words, w->base, w->address, w->size_log2);
    assert(id != NONE); /* enter_facts() put it there */
    const struct word *word = &d->e->words.list.data[id];
    size_t before = d->order.count;
    if (word->count && d->x->location[word->first].size_log2 != w->size_log2)
        return d->e->keep ? ORDEAL_OK : refuse_divided(d, w, word);
    uint32_t loc = word->count ? word->first : NONE;
    for (size_t i = 0; i < order->count; i++) {
        enum ordeal_status status = list_store(d, k, w, loc, t->order_values.data[order->first + i],
                                               i == 0);
        if (status)
            return status;
        if (limit_hit(d->x->o, "reading orders", -1))
            return d->x->o->error.status;
    }
    if (loc != NONE && d->order.count - before == d->stores_of[loc])
        d->x->order_complete[loc] = true;
    return ORDEAL_OK;
}

static enum ordeal_status list_all(struct ordering *d)
{
    struct execution *x = d->x;
    for (uint32_t e = x->locations; e < x->events; e++)
        d->stores_of[x->loc[e]] += x->is_store[e];
    for (uint32_t l = 0; l < x->locations; l++)
        x->order_complete[l] = d->stores_of[l] <= 1;
    for (uint32_t k = 0; k < x->orders; k++) {
        x->order_first[k] = (uint32_t)d->order.count;
        enum ordeal_status status = list_order(d, k);
        if (status)
            return status;
    }
    x->order_first[x->orders] = (uint32_t)d->order.count;
    return VEC_FIT(x->o, &d->order) ? ORDEAL_OK : x->o->error.status;
}

static enum ordeal_status list_orders(const struct stores *s, const struct expansion *e,
                                      struct execution *x)
{
    struct ordering d = { .stores = s, .x = x, .e = e };
    size_t listed = x->orders ? x->events : 0;
    d.listed = mem_zero(x->o, listed, sizeof *d.listed);
    d.stores_of = mem_zero(x->o, x->locations, sizeof *d.stores_of);
    enum ordeal_status status = d.listed && d.stores_of ? list_all(&d) : x->o->error.status;
    mem_free(x->o, d.listed, listed * sizeof *d.listed);
    mem_free(x->o, d.stores_of, x->locations * sizeof *d.stores_of);
    if (status) {
        VEC_FREE(x->o, &d.order);
        return status;
    }
    x->order = d.order.data;
    x->order_stores = (uint32_t)d.order.count;
    return ORDEAL_OK;
}

/* ---- final values -------------------------------------------------------------------- */

struct ending {
    VEC(struct final) finals;
    VEC(uint32_t) stores;
};

static uint64_t final_part(const struct execution *x, const struct trace_final *f, uint32_t loc)
{
    unsigned bits = 8u << x->location[loc].size_log2;
    uint64_t value = f->value >> 8 * (x->location[loc].address - f->word.address);
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

uint64_t execution_final_value(const struct execution *x, const struct final *f)
{
    return final_part(x, &x->trace->finals.data[f->source], f->loc);
}

static bool list_final(struct ending *d, const struct stores *s, const struct expansion *e,
                       uint32_t source)
{
    struct execution *x = e->x;
    const struct trace_final *f = &x->trace->finals.data[source];
    const struct trace_word *w = &f->word;
    uint32_t id = words_find(&e->words, w->base, w->address, w->size_log2);
    assert(id != NONE); /* as of orders */
    const struct word *word = &e->words.list.data[id];
    for (uint32_t l = word->first; l < word->first + word->count; l++) {
        uint64_t value = final_part(x, f, l);
        uint32_t store = find_slot(s, l, value)->event;
        struct final final = { l, (uint32_t)d->stores.count, length_from(s, store), source,
                               x->final_of[l] };
        if (store == NONE && x->unwritten_final == NONE)
            x->unwritten_final = (uint32_t)d->finals.count;
        for (; store != NONE; store = next_store(s, store))
            if (!VEC_PUSH(x->o, &d->stores, store))
                return false;
        x->final_of[l] = (uint32_t)d->finals.count;
        if (!VEC_PUSH(x->o, &d->finals, final))
            return false;
    }
    return true;
}

static enum ordeal_status list_finals(const struct stores *s, const struct expansion *e)
{
    struct execution *x = e->x;
    struct ending d = { 0 };
    bool done = true;
    for (uint32_t l = 0; l < x->locations; l++)
        x->final_of[l] = NONE;
    for (uint32_t k = 0; k < x->trace->finals.count && done; k++)
        done = !expand_asks_final(e, k)
            || (list_final(&d, s, e, k) && !limit_hit(x->o, "reading final values", -1));
    if (!done || !VEC_FIT(x->o, &d.finals) || !VEC_FIT(x->o, &d.stores)) {
        VEC_FREE(x->o, &d.finals);
        VEC_FREE(x->o, &d.stores);
        return x->o->error.status;
    }
    x->final = d.finals.data;
    x->finals = (uint32_t)d.finals.count;
    x->final_store = d.stores.data;
    x->final_stores = (uint32_t)d.stores.count;
    return ORDEAL_OK;
}

/* ---- the whole ----------------------------------------------------------------------- */

static enum ordeal_status find_stores(struct execution *x, const struct expansion *e)
{
    struct stores s = { .o = x->o, .x = x };
    uint64_t candidates = 0;
    enum ordeal_status status = join(&s, &candidates);
    if (!status)
        status = list_candidates(&s, candidates);
    if (!status)
        status = list_orders(&s, e, x);
    if (!status)
        status = list_finals(&s, e);
    free_stores(&s);
    return status;
}

static enum ordeal_status build(struct expansion *e)
{
    enum ordeal_status status = expand_select(e);
    if (!status)
        status = expand_words(e);
    if (!status)
        status = make_arrays(e->x, e);
    if (!status)
        status = expand_emit(e);
    expand_free_steps(e);
    if (!status)
        status = set_initials(e->x);
    return status ? status : find_stores(e->x, e);
}

enum ordeal_status execution_build_subset(const struct ordeal_trace *t, const bool *keep,
                                          const bool *finals, struct execution **out)
{
    *out = NULL;
    struct execution *x = mem_zero(t->o, 1, sizeof *x);
    if (!x)
        return t->o->error.status;
    x->o = t->o;
    x->trace = t;
    x->unique = true;
    x->unwritten = x->unwritten_final = x->duplicate[0] = x->duplicate[1] = NONE;
    struct expansion e = { .o = t->o, .t = t, .keep = keep, .finals = finals, .x = x };
    size_t used = t->o->used - sizeof *x;
    enum ordeal_status status = build(&e);
    expand_free(&e);
    if (status) {
        execution_free(x);
        assert(t->o->used == used);
        return status;
    }
    check_hot(execution_check(x));
    *out = x;
    return ORDEAL_OK;
}

enum ordeal_status execution_build(const struct ordeal_trace *t, struct execution **out)
{
    return execution_build_subset(t, NULL, NULL, out);
}

enum ordeal_status execution_build_part(const struct execution *whole, const bool *keep,
                                        struct execution **out)
{
    size_t count = whole->trace->finals.count;
    bool *finals = mem_array(whole->o, count, sizeof *finals);
    *out = NULL;
    if (!finals)
        return whole->o->error.status;
    memset(finals, true, count * sizeof *finals);
    for (uint32_t k = 0; k < whole->finals; k++)
        for (uint32_t i = 0; i < whole->final[k].count; i++) {
            uint32_t op = whole->op[whole->final_store[whole->final[k].first + i]];
            finals[whole->final[k].source] &= op == NONE || keep[op];
        }
    enum ordeal_status status = execution_build_subset(whole->trace, keep, finals, out);
    mem_free(whole->o, finals, count * sizeof *finals);
    return status;
}
