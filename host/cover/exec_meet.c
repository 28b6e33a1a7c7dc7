/* SPDX-License-Identifier: Apache-2.0 */
/* Points of accesses that met, of reads and what they saw, of transactions and of interleaving. */
#include <string.h>

#include "exec_parts.h"

static void hit(struct cover_exec *x, enum cover_group_number group, uint32_t a, uint32_t b,
                uint32_t c)
{
    uint32_t at[3] = { a, b, c };
    const uint8_t *size = cover_groups[group].size;
    for (int i = 0; i < 3; i++)
        assert(at[i] < size[i]);
    uint32_t last = 1;
    for (int i = 3; i < COVER_AXES_OF_GROUP; i++)
        last *= size[i];
    assert(last == 1);
    cover_hit(x->hits, cover_point(group, a, b, c, 0, 0));
}

/* ---- reads ----------------------------------------------------------------------------------- */

static uint32_t fence_word(uint8_t flavours)
{
    static const uint8_t words[ORDEAL_FULL + 1] = {
        [0] = 0,  [ORDEAL_LL] = 1, [ORDEAL_LS] = 2, [ORDEAL_SL] = 3,   [ORDEAL_SS] = 4, [3] = 5,
        [5] = 5,  [6] = 5,         [7] = 5,         [9] = 5,           [10] = 5,        [11] = 5,
        [12] = 5, [13] = 5,        [14] = 5,        [ORDEAL_FULL] = 6,
    };
    return words[flavours & ORDEAL_FULL];
}

static uint32_t where_word(const struct access *from, const struct access *to)
{
    enum { OUTSIDE, INTO, OUT_OF, SAME, OTHER };
    if (!from->tx || !to->tx)
        return from->tx ? OUT_OF : to->tx ? INTO : OUTSIDE;
    return from->tx == to->tx ? SAME : OTHER;
}

/* How far the reader is ahead of the writer, each in its own thread. */
static uint32_t lead_word(const struct access *writer, const struct access *reader)
{
    int64_t lead = (int64_t)reader->position - (int64_t)writer->position;
    uint32_t far = lead < 0 ? (uint32_t)-lead : (uint32_t)lead;
    uint32_t class = far == 0 ? 0 : far <= 4 ? 1 : far <= 16 ? 2 : 3;
    return lead < 0 ? 3 - class : 3 + class;
}

static void saw_own(struct cover_exec *x, const struct access *writer, const struct access *reader)
{
    uint8_t fence = 0;
    for (const struct access *a = writer + 1; a <= reader; a++)
        fence |= a->fence;
    hit(x, COVER_GROUP_OWN, writer->word, reader->word, 0);
    hit(x, COVER_GROUP_FORWARD, exec_distance(reader->position - writer->position),
        fence_word(fence), where_word(writer, reader));
}

static void saw_other(struct cover_exec *x, const struct access *writer,
                      const struct access *reader)
{
    uint32_t where = where_word(writer, reader);
    bool uncached = reader->uncached && where == 0;
    hit(x, COVER_GROUP_PASS, lead_word(writer, reader), where, uncached);
    hit(x, COVER_GROUP_SYNC, fence_word(writer->fence), fence_word(reader->fence_after), 0);
}

static void look_at_read(struct cover_exec *x, const struct access *a)
{
    bool torn = false;
    for (uint32_t i = 0; i < a->cells; i++) {
        const struct visit *v = &x->visits.data[a->visit + i];
        uint32_t first = x->visits.data[a->visit].source;
        if (v->source == NOBODY)
            continue;
        if (v->source == INITIAL) {
            hit(x, COVER_GROUP_INITIAL, a->word, a->uncached, 0);
        } else {
            const struct access *writer = &x->accesses.data[x->visits.data[v->source].access];
            (writer->thread == a->thread ? saw_own : saw_other)(x, writer, a);
        }
        uint32_t begun = first == INITIAL || first == NOBODY ? first : x->visits.data[first].access;
        uint32_t here = v->source == INITIAL ? INITIAL : x->visits.data[v->source].access;
        torn |= first != NOBODY && begun != here;
    }
    if (torn)
        hit(x, COVER_GROUP_TORN, a->word, a->uncached, 0);
}

static void look_at_edges(struct cover_exec *x)
{
    for (size_t i = 0; i < x->edges.count; i++) {
        const struct edge *e = &x->edges.data[i];
        hit(x, COVER_GROUP_MEET, e->kind, x->accesses.data[e->from].word,
            x->accesses.data[e->to].word);
    }
}

/* ---- transactions ---------------------------------------------------------------------------- */

/* Threads that the transaction of these accesses met, as a set of up to 64. */
static uint64_t met_by(const struct cover_exec *x, uint32_t access)
{
    uint64_t met = 0;
    for (uint32_t i = x->out.data[access]; i < x->out.data[access + 1]; i++)
        met |= UINT64_C(1) << x->accesses.data[x->edges.data[i].to].thread % 64;
    for (uint32_t i = x->in.data[access]; i < x->in.data[access + 1]; i++)
        met |= UINT64_C(1) << x->accesses.data[x->edges.data[x->back.data[i]].from].thread % 64;
    return met;
}

/* How much trouble those that committed had, on average. */
static void look_at_trouble(struct cover_exec *x, uint64_t committed, uint64_t aborted,
                            uint64_t threads_met)
{
    enum { ABORTED, MET };
    if (!committed)
        return;
    hit(x, COVER_GROUP_TROUBLE, ABORTED, cover_rate(aborted, committed), 0);
    hit(x, COVER_GROUP_TROUBLE, MET, cover_rate(threads_met, committed), 0);
}

static void look_at_transactions(struct cover_exec *x)
{
    uint64_t met = 0, fates[COVER_AXIS_FATE] = { 0 }, threads_met = 0;
    for (uint32_t a = 0; a < x->accesses.count; a++) {
        uint32_t tx = x->accesses.data[a].tx;
        if (!tx)
            continue;
        const struct transaction *t = &x->transactions.data[tx - 1];
        met |= met_by(x, a);
        if (a + 1 < x->accesses.count && x->accesses.data[a + 1].tx == tx)
            continue;
        uint32_t threads = (uint32_t)__builtin_popcountll(met);
        hit(x, COVER_GROUP_TX, t->aborted, exec_distance(t->accesses), threads < 3 ? threads : 3);
        fates[t->aborted]++;
        threads_met += threads;
        met = 0;
    }
    look_at_trouble(x, fates[0], fates[1], threads_met);
}

/* ---- interleaving ---------------------------------------------------------------------------- */

static void hit_interleave(struct cover_exec *x, uint32_t order, uint64_t changes)
{
    uint64_t all = x->accesses.count - 1;
    uint32_t share = 0, threads = 0;
    while (changes << (COVER_AXIS_SHARE - 1 - share) > all)
        share++;
    for (uint32_t t = 0; t < x->threads; t++)
        threads += x->first.data[t] < x->first.data[t + 1];
    if (threads > 1)
        hit(x, COVER_GROUP_INTERLEAVE, order, threads < 5 ? threads - 2 : 3, share);
}

/* Can it be next? All that come before it in the order of a cell are done. */
static bool is_due(const struct cover_exec *x, const uint32_t *done, uint32_t access)
{
    for (uint32_t i = x->in.data[access]; i < x->in.data[access + 1]; i++) {
        uint32_t from = x->edges.data[x->back.data[i]].from;
        if (from >= done[x->accesses.data[from].thread])
            return false;
    }
    return true;
}

/* The thread after `thread`, itself last, whose next access can be; itself, if none can and it has
 * any; else any that has. */
static uint32_t next_thread(const struct cover_exec *x, const uint32_t *done, uint32_t thread)
{
    uint32_t any = NOBODY;
    for (uint32_t i = 1; i <= x->threads; i++) {
        uint32_t t = (thread + i) % x->threads;
        if (done[t] == x->first.data[t + 1])
            continue;
        if (is_due(x, done, done[t]))
            return t;
        any = t;
    }
    return any;
}

/* Stays with a thread while it can go on: as few changes as a simple way finds. */
static bool count_needed(struct cover_exec *x)
{
    uint64_t changes = 0;
    uint32_t thread = 0;
    if (!LIST_CLEAR_TO(&x->scratch, x->threads))
        return false;
    uint32_t *done = x->scratch.data;
    memcpy(done, x->first.data, x->threads * sizeof *done);
    for (size_t left = x->accesses.count; left > 0; left--) {
        bool stay = done[thread] < x->first.data[thread + 1] && is_due(x, done, done[thread]);
        uint32_t next = stay ? thread : next_thread(x, done, thread);
        changes += next != thread && left < x->accesses.count;
        thread = next;
        done[thread]++;
    }
    hit_interleave(x, 0, changes);
    return true;
}

static int compare_times(const void *a, const void *b)
{
    const struct timed *p = a, *q = b;
    if (p->end != q->end)
        return p->end < q->end ? -1 : 1;
    return p->access < q->access ? -1 : 1;
}

/* In the order of the cycles in which accesses ended, if all are known. */
static bool count_seen(struct cover_exec *x)
{
    uint64_t begin, changes = 0;
    x->times.count = 0;
    for (uint32_t a = 0; a < x->accesses.count; a++) {
        uint32_t op = x->accesses.data[a].op;
        struct timed t = { .access = a };
        if (!(ordeal_trace_op(x->trace, op)->flags & ORDEAL_HAS_END)
            || !ordeal_trace_times_of(x->trace, op, &begin, &t.end))
            return true;
        if (!LIST_PUSH(&x->times, t))
            return false;
    }
    LIST_SORT(&x->times, compare_times);
    for (size_t i = 1; i < x->times.count; i++)
        changes += x->accesses.data[x->times.data[i].access].thread
                != x->accesses.data[x->times.data[i - 1].access].thread;
    hit_interleave(x, 1, changes);
    return true;
}

bool exec_meet(struct cover_exec *x)
{
    for (size_t a = 0; a < x->accesses.count; a++)
        if (x->accesses.data[a].reads)
            look_at_read(x, &x->accesses.data[a]);
    look_at_edges(x);
    look_at_transactions(x);
    return x->accesses.count < 2 || (count_needed(x) && count_seen(x));
}
