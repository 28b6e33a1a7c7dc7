/* SPDX-License-Identifier: Apache-2.0 */
/* A clock is a row of words; rows are written once, and kept in the order in which they came, so that
 * what changes with an access is which row a thread or a location has, and taking back is to forget
 * the last rows. In the order of the relaxed model a position is a chain: accesses of which each is
 * before the next. The reads of a thread are one (position p); its stores are another under TSO (threads
 * + p), under PSO those to one location (threads * (1 + a) + p), so that there rows grow with the
 * locations. Happens-before has a position a thread. */
#include "monitor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

/* Of a thread: reads and fences (lc of Figure 3), stores, too (sc), what a store must follow (PSO: what
 * came before the last fence between stores), and happens-before. */
enum { CLOCK_READS, CLOCK_ALL, CLOCK_BARRIER, CLOCK_HAPPENS, CLOCKS_OF_THREAD };
/* Of a location: what its reads and writes follow (mc2), what its loads follow (mc1, which is the last write
 * for all threads but one), and happens-before of its writes and of all its accesses; its last write, plus
 * one. */
enum { CLOCK_ACCESSES, CLOCK_LOADS, CLOCK_WRITES, CLOCK_TOUCHES, NEWEST, CLOCKS_OF_LOCATION };

/* A write; those of a location are linked, the newest first. */
struct write {
    uint32_t thread, access;
    uint32_t position, count; /* in the relaxed order */
    uint32_t happens;         /* of its thread */
    uint32_t older;           /* plus one; 0: none */
    bool delayed;             /* the thread's own loads may see it in the buffer */
    bool reads;               /* the write before it, too: no other may come between */
};
struct old_slot {
    uint32_t at, row;
};
struct rows {
    ROW(uint32_t) word;
    uint32_t width, count; /* row 0 is zeros */
};
/* An access, by which others are found to be after it. */
struct place {
    uint32_t thread, position, count, happens;
};
/* What there was before an access. */
struct mark {
    size_t undone, writes;
    uint32_t relaxed, happens; /* rows */
};

struct monitor {
    enum monitor_model model;
    uint32_t threads, locations;
    struct rows relaxed, happens;
    uint32_t now_relaxed, now_happens; /* rows of the access that was fed last */
    uint32_t *slot;                    /* which row each clock is */
    ROW(struct write) writes;
    ROW(struct old_slot) undo;
    ROW(struct mark) marks;
    ROW(struct place) places;
    bool failed;
};

/* ---- rows ---------------------------------------------------------------------------------- */

/* So many more, that pointers to rows stay. */
static bool reserve(struct rows *r, uint32_t more)
{
    size_t needed = (size_t)(r->count + more) * r->width;
    while (r->word.room < needed)
        if (r->word.room > ((size_t)1 << 30) || !row_grow(&r->word.data, &r->word.room, 4))
            return false;
    return true;
}

static uint32_t *row(const struct rows *r, uint32_t number)
{
    return r->word.data + (size_t)number * r->width;
}

static uint32_t copy(struct rows *r, uint32_t number)
{
    memcpy(row(r, r->count), row(r, number), r->width * sizeof *r->word.data);
    return r->count++;
}

/* Into the row that is being made. */
static void take(struct rows *r, uint32_t into, uint32_t from)
{
    uint32_t *to = row(r, into);
    const uint32_t *other = row(r, from);
    for (uint32_t i = 0; i < r->width; i++)
        to[i] = to[i] < other[i] ? other[i] : to[i];
}

static uint32_t join(struct rows *r, uint32_t a, uint32_t b)
{
    if (!a || a == b)
        return b;
    uint32_t made = copy(r, a);
    take(r, made, b);
    return made;
}

/* ---- making it ----------------------------------------------------------------------------- */

struct monitor *monitor_new(enum monitor_model model, uint32_t threads, uint32_t locations)
{
    struct monitor *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    *m = (struct monitor){ .model = model, .threads = threads, .locations = locations };
    m->relaxed.width = threads * (model == MONITOR_TSO ? 2 : 2 + locations);
    m->happens.width = threads;
    m->slot = calloc((size_t)CLOCKS_OF_THREAD * threads + (size_t)CLOCKS_OF_LOCATION * locations
                         + 1,
                     sizeof *m->slot);
    if (!m->slot || !reserve(&m->relaxed, 1) || !reserve(&m->happens, 1)) {
        monitor_free(m);
        return NULL;
    }
    memset(m->relaxed.word.data, 0, m->relaxed.width * sizeof *m->relaxed.word.data);
    memset(m->happens.word.data, 0, m->happens.width * sizeof *m->happens.word.data);
    m->relaxed.count = m->happens.count = 1;
    return m;
}

void monitor_free(struct monitor *m)
{
    if (!m)
        return;
    ROW_FREE(&m->relaxed.word);
    ROW_FREE(&m->happens.word);
    ROW_FREE(&m->writes);
    ROW_FREE(&m->undo);
    ROW_FREE(&m->marks);
    ROW_FREE(&m->places);
    free(m->slot);
    free(m);
}

bool monitor_failed(const struct monitor *m) { return m->failed; }

/* ---- clocks ------------------------------------------------------------------------------- */

static uint32_t of_thread(uint32_t thread, uint32_t which)
{
    return thread * CLOCKS_OF_THREAD + which;
}

static uint32_t of_location(const struct monitor *m, uint32_t location, uint32_t which)
{
    return m->threads * CLOCKS_OF_THREAD + location * CLOCKS_OF_LOCATION + which;
}

static void set(struct monitor *m, uint32_t at, uint32_t number)
{
    m->failed |= !ROW_ADD(&m->undo, ((struct old_slot){ at, m->slot[at] }));
    m->slot[at] = number;
}

/* ---- what an access is --------------------------------------------------------------------- */

enum {
    READS = 1,   /* is in the chain of reads */
    WRITES = 2,  /* is in a chain of stores */
    ORDERED = 4, /* comes after all stores of its thread */
    BARRIER = 8, /* comes between stores */
};

static uint32_t traits_of(const struct monitor *m, uint8_t kind)
{
    static const uint32_t traits[] = {
        [MONITOR_LOAD] = READS,
        [MONITOR_STORE] = WRITES,
        [MONITOR_LOCKED] = READS | WRITES | ORDERED,
        [MONITOR_ATOMIC] = READS | WRITES,
        [MONITOR_FENCE] = READS | ORDERED,
        [MONITOR_STORE_FENCE] = ORDERED | BARRIER,
    };
    bool all_stores = m->model == MONITOR_TSO && traits[kind] & WRITES;
    return traits[kind] | (all_stores ? ORDERED : 0);
}

static uint32_t store_position(const struct monitor *m, uint32_t thread, uint32_t location)
{
    return m->threads * (m->model == MONITOR_TSO ? 1 : 1 + location) + thread;
}

/* ---- Figure 2 ------------------------------------------------------------------------------ */

/* Line 10: is the write before all that this access must follow of its own thread? */
static bool must_follow(const struct monitor *m, const struct monitor_access *a,
                        const struct write *w)
{
    uint32_t seen = row(&m->relaxed, m->slot[of_thread(a->thread, CLOCK_READS)])[w->position];
    uint32_t barrier = row(&m->relaxed, m->slot[of_thread(a->thread, CLOCK_BARRIER)])[w->position];
    uint32_t all = row(&m->relaxed, m->slot[of_thread(a->thread, CLOCK_ALL)])[w->position];
    if (a->kind != MONITOR_LOAD && barrier > seen)
        seen = barrier;
    if (a->kind == MONITOR_LOCKED && all > seen)
        seen = all;
    return w->count <= seen;
}

/* Lines 6 to 15, of one location. */
static bool could_miss(const struct monitor *m, const struct monitor_access *a, uint32_t location,
                       struct monitor_finding *f)
{
    const uint32_t *happens = row(&m->happens, m->slot[of_thread(a->thread, CLOCK_HAPPENS)]);
    for (uint32_t i = m->slot[of_location(m, location, NEWEST)]; i;
         i = m->writes.data[i - 1].older) {
        const struct write *w = &m->writes.data[i - 1];
        if (w->thread == a->thread || must_follow(m, a, w))
            return false;
        bool fits = a->kind == MONITOR_LOAD || !w->reads;
        if (fits && w->happens <= happens[w->thread]) {
            *f = (struct monitor_finding){ (uint32_t)m->marks.count, w->access, location };
            return true;
        }
    }
    return false;
}

static bool is_borderline(const struct monitor *m, const struct monitor_access *a,
                          struct monitor_finding *f)
{
    bool may = a->kind == MONITOR_LOAD
            || (m->model == MONITOR_PSO && traits_of(m, a->kind) & WRITES);
    for (uint32_t k = 0; may && k < a->locations; k++)
        if (could_miss(m, a, a->location[k], f))
            return true;
    return false;
}

/* ---- Figure 3 ------------------------------------------------------------------------------ */

/* What loads of the thread from there follow. A load that sees a store of its own thread may do so in the
 * buffer, before others' stores that this one comes after are in memory: Figure 3 has it follow those,
 * which is stricter than the machine. */
static uint32_t for_loads(const struct monitor *m, uint32_t location, uint32_t thread)
{
    uint32_t newest = m->slot[of_location(m, location, NEWEST)];
    const struct write *w = newest ? &m->writes.data[newest - 1] : NULL;
    return w && w->thread == thread && w->delayed ? 0
                                                  : m->slot[of_location(m, location, CLOCK_LOADS)];
}

/* in(e): lines 13, 18 and 25. */
static void gather(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    uint32_t p = a->thread, relaxed = copy(&m->relaxed, m->slot[of_thread(p, CLOCK_READS)]);
    uint32_t happens = copy(&m->happens, m->slot[of_thread(p, CLOCK_HAPPENS)]);
    if (traits & ORDERED)
        take(&m->relaxed, relaxed, m->slot[of_thread(p, CLOCK_ALL)]);
    if (m->model == MONITOR_PSO && traits & (WRITES | BARRIER))
        take(&m->relaxed, relaxed, m->slot[of_thread(p, CLOCK_BARRIER)]);
    for (uint32_t k = 0; k < a->locations; k++) {
        uint32_t at = a->location[k];
        bool writes = traits & WRITES;
        take(&m->relaxed, relaxed,
             writes ? m->slot[of_location(m, at, CLOCK_ACCESSES)] : for_loads(m, at, p));
        take(&m->happens, happens,
             m->slot[of_location(m, at, writes ? CLOCK_TOUCHES : CLOCK_WRITES)]);
    }
    m->now_relaxed = relaxed;
    m->now_happens = happens;
}

/* gps(e): lines 14, 19, 26 and 27. Where it is found again. */
static struct place count(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    struct place place = { .thread = a->thread, .position = a->thread };
    uint32_t *relaxed = row(&m->relaxed, m->now_relaxed);
    if (traits & READS)
        relaxed[a->thread]++;
    for (uint32_t k = 0; traits & WRITES && k < a->locations; k++) {
        place.position = store_position(m, a->thread, a->location[k]);
        if (k == 0 || m->model == MONITOR_PSO)
            relaxed[place.position]++;
    }
    if (traits & BARRIER && m->model == MONITOR_PSO) {
        place.position = store_position(m, a->thread, m->locations);
        relaxed[place.position]++;
    }
    place.count = relaxed[place.position];
    place.happens = ++row(&m->happens, m->now_happens)[a->thread];
    return place;
}

/* out(e): lines 15, 20 to 23, and 28 to 32. What a clock gets includes what it had, but for these joins. */
static void tell_location(struct monitor *m, const struct monitor_access *a, uint32_t at,
                          uint32_t traits)
{
    uint32_t accesses = of_location(m, at, CLOCK_ACCESSES);
    uint32_t touches = of_location(m, at, CLOCK_TOUCHES);
    (void)a;
    if (!(traits & WRITES)) {
        set(m, accesses, join(&m->relaxed, m->slot[accesses], m->now_relaxed));
        set(m, touches, join(&m->happens, m->slot[touches], m->now_happens));
        return;
    }
    set(m, accesses, m->now_relaxed);
    set(m, of_location(m, at, CLOCK_LOADS), m->now_relaxed);
    set(m, touches, m->now_happens);
    set(m, of_location(m, at, CLOCK_WRITES), m->now_happens);
}

static void tell(struct monitor *m, const struct monitor_access *a, uint32_t traits)
{
    uint32_t p = a->thread, all = of_thread(p, CLOCK_ALL);
    if (traits & READS)
        set(m, of_thread(p, CLOCK_READS), m->now_relaxed);
    if (traits & ORDERED)
        set(m, all, m->now_relaxed);
    else if (traits & WRITES)
        set(m, all, join(&m->relaxed, m->slot[all], m->now_relaxed));
    if (traits & BARRIER)
        set(m, of_thread(p, CLOCK_BARRIER), m->now_relaxed);
    set(m, of_thread(p, CLOCK_HAPPENS), m->now_happens);
    for (uint32_t k = 0; k < a->locations; k++)
        tell_location(m, a, a->location[k], traits);
}

static void add_write(struct monitor *m, const struct monitor_access *a, struct place place,
                      uint32_t location)
{
    uint32_t position = store_position(m, a->thread, location);
    struct write w = { .thread = a->thread,
                       .access = (uint32_t)m->marks.count - 1,
                       .position = position,
                       .count = row(&m->relaxed, m->now_relaxed)[position],
                       .happens = place.happens,
                       .older = m->slot[of_location(m, location, NEWEST)],
                       .delayed = a->kind == MONITOR_STORE,
                       .reads = a->kind != MONITOR_STORE };
    m->failed |= !ROW_ADD(&m->writes, w);
    set(m, of_location(m, location, NEWEST), (uint32_t)m->writes.count);
}

bool monitor_add(struct monitor *m, const struct monitor_access *a, struct monitor_finding *f)
{
    uint32_t traits = traits_of(m, a->kind);
    struct mark mark = { m->undo.count, m->writes.count, m->relaxed.count, m->happens.count };
    assert(a->thread < m->threads);
    m->failed |= !reserve(&m->relaxed, 2 + a->locations) || !reserve(&m->happens, 1 + a->locations);
    if (m->failed)
        return false;
    bool borderline = is_borderline(m, a, f);
    if (m->model == MONITOR_TSO && a->kind == MONITOR_STORE_FENCE)
        traits = 0; /* its stores are in order anyway */
    gather(m, a, traits);
    struct place place = count(m, a, traits);
    m->failed |= !ROW_ADD(&m->marks, mark) || !ROW_ADD(&m->places, place);
    tell(m, a, traits);
    for (uint32_t k = 0; traits & WRITES && k < a->locations; k++)
        add_write(m, a, place, a->location[k]);
    return borderline;
}

void monitor_back(struct monitor *m, uint32_t count)
{
    if (count >= m->marks.count)
        return;
    struct mark mark = m->marks.data[count];
    while (m->undo.count > mark.undone) {
        struct old_slot *old = &m->undo.data[--m->undo.count];
        m->slot[old->at] = old->row;
    }
    m->writes.count = mark.writes;
    m->relaxed.count = mark.relaxed;
    m->happens.count = mark.happens;
    m->marks.count = m->places.count = count;
}

bool monitor_before(const struct monitor *m, uint32_t access, bool relaxed)
{
    const struct place *p = &m->places.data[access];
    return relaxed ? p->count <= row(&m->relaxed, m->now_relaxed)[p->position]
                   : p->happens <= row(&m->happens, m->now_happens)[p->thread];
}
