/* SPDX-License-Identifier: Apache-2.0 */
#include "shrink.h"

#include <assert.h>
#include <string.h>

#include "draft.h"

#define NO_UNIT UINT32_MAX           /* of an operation that a pass leaves alone */

struct shrinker {
    const struct shrink_judge *judge;
    struct ordeal *o;
    struct draft best;               /* the smallest that is known to fail */
    LIST(uint64_t) seen;             /* what was judged, by draft_identity() */
    struct shrink_report *report;
    bool over;                       /* stopped, or out of memory */
};

static struct shrink_size size_of(const struct draft *d)
{
    struct shrink_size size = { d->threads, (uint32_t)d->locations.count, 0 };
    for (size_t i = 0; i < d->ops.count; i++)
        size.operations += !op_is_bracket(&d->ops.data[i]);
    return size;
}

/* ---- candidates -------------------------------------------------------------------------- */

/* Shows it to the judge; one that fails is the best from now on. The candidate is used up. */
static bool judge_candidate(struct shrinker *s, struct draft *candidate)
{
    struct ordeal_trace *test = NULL;
    if (!s->over && s->judge->stop && s->judge->stop(s->judge->user))
        s->over = s->report->stopped = true;
    enum ordeal_status status = s->over ? ORDEAL_LIMIT : draft_test(candidate, s->o, &test);
    bool fails = false;
    if (status == ORDEAL_OK) {
        s->report->tried++;
        fails = s->judge->fails(s->judge->user, test);
    } else if (status == ORDEAL_NO_MEMORY) {
        s->over = true;
    }
    ordeal_trace_free(test);
    if (fails) {
        assert(candidate->ops.count > 0);
        struct draft old = s->best;
        s->best = *candidate;
        *candidate = old;
        s->report->kept++;
    }
    draft_free(candidate);
    return fails;
}

/* False also for a candidate that was judged before. */
static bool is_new(struct shrinker *s, const struct draft *candidate)
{
    uint64_t identity = draft_identity(candidate);
    for (size_t i = 0; i < s->seen.count; i++)
        if (s->seen.data[i] == identity)
            return false;
    s->over |= !LIST_PUSH(&s->seen, identity);
    return !s->over;
}

static bool try_candidate(struct shrinker *s, struct draft *candidate)
{
    bool whole = draft_repair(candidate);
    s->over |= !whole;
    if (whole && candidate->ops.count && is_new(s, candidate))
        return judge_candidate(s, candidate);
    draft_free(candidate);
    return false;
}

static bool begin_candidate(struct shrinker *s, struct draft *candidate)
{
    if (!s->over && draft_copy(candidate, &s->best))
        return true;
    s->over = true;
    return false;
}

/* Values that a change made equal become different again. */
static bool try_with_new_values(struct shrinker *s, struct draft *candidate)
{
    if (draft_repair(candidate) && draft_number_values(candidate))
        return try_candidate(s, candidate);
    draft_free(candidate);
    return false;
}

/* ---- changes to operations, many at once where it can be --------------------------------- */

struct change {
    bool (*apply)(const struct draft *d, struct draft_op *op);   /* false: nothing to change */
    bool new_values;
};

static bool change_units(struct shrinker *s, const struct change *change, uint32_t from,
                         uint32_t to)
{
    struct draft c;
    bool changed = false;
    if (!begin_candidate(s, &c))
        return false;
    for (size_t i = 0; i < c.ops.count; i++)
        if (c.ops.data[i].unit >= from && c.ops.data[i].unit < to)
            changed |= change->apply(&c, &c.ops.data[i]);
    if (changed)
        return change->new_values ? try_with_new_values(s, &c) : try_candidate(s, &c);
    draft_free(&c);
    return false;
}

/* All units, then halves, quarters, … and each alone. */
static void change_chunks(struct shrinker *s, const struct change *change, uint32_t units)
{
    for (uint32_t size = units; size; size = size > 1 ? (size + 1) / 2 : 0)
        for (uint32_t from = 0; from < units && !s->over; from += size)
            change_units(s, change, from, from + size < units ? from + size : units);
}

static bool cut(const struct draft *d, struct draft_op *op)
{
    (void)d;
    return op->cut = true;
}

static bool free_of_registers(const struct draft *d, struct draft_op *op)
{
    (void)d;
    bool changed = op->needs || op->data || op->control || op->sets != NO_REGISTER
                || op->op.flags & ORDEAL_COMPARE_REGISTER;
    op->needs = op->data = op->control = 0;
    op->sets = NO_REGISTER;
    if (op->op.flags & ORDEAL_COMPARE_REGISTER) {
        op->op.flags &= (uint8_t)~ORDEAL_COMPARE_REGISTER;
        op->compare = 0;
    }
    return changed;
}

static bool swap_for_cas(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_CAS)
        return false;
    op->op.kind = ORDEAL_SWAP;
    op->op.flags &= (uint8_t)~ORDEAL_COMPARE_REGISTER;
    op->compare = 0;
    return true;
}

static bool swap_for_amo(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_AMO)
        return false;
    op->op.kind = ORDEAL_SWAP;
    op->op.function = 0;
    return true;
}

/* Where only some AMO will do, it adds 1. */
static bool simplest_amo(const struct draft *d, struct draft_op *op)
{
    (void)d;
    static const uint8_t one[sizeof op->written] = { 1 };
    if (op->op.kind != ORDEAL_AMO
        || (op->op.function == ORDEAL_AMO_ADD && !op->step
            && !memcmp(op->written, one, sizeof one)))
        return false;
    op->op.function = ORDEAL_AMO_ADD;
    op->step = 0;
    memcpy(op->written, one, sizeof one);
    return true;
}

static bool store_for_swap(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_SWAP)
        return false;
    op->op.kind = ORDEAL_STORE;
    op->op.flags = 0;
    op->sets = NO_REGISTER;
    return true;
}

static bool load_for_swap(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_SWAP)
        return false;
    op->op.kind = ORDEAL_LOAD;
    op->op.flags = 0;
    memset(op->written, 0, sizeof op->written);
    op->step = 0;
    return true;
}

static bool unmarked(const struct draft *d, struct draft_op *op)
{
    const uint8_t marks = ORDEAL_ACQUIRES | ORDEAL_RELEASES;
    bool changed = op->op.flags & marks;
    (void)d;
    op->op.flags &= (uint8_t)~marks;
    return changed;
}

static bool store_for_sc(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_STORE_CONDITIONAL)
        return false;
    op->op.kind = ORDEAL_STORE;
    op->op.flags = 0;
    op->sets = NO_REGISTER;
    return true;
}

/* Where its SC is gone. */
static bool load_for_lr(const struct draft *d, struct draft_op *op)
{
    (void)d;
    if (op->op.kind != ORDEAL_LOAD_RESERVED)
        return false;
    op->op.kind = ORDEAL_LOAD;
    op->op.flags = 0;
    return true;
}

static bool plain_load(const struct draft *d, struct draft_op *op)
{
    if (!(op->op.flags & ORDEAL_NONFAULTING)
        || d->lines.data[op->op.base].marks & ORDEAL_FAULTING)
        return false;
    op->op.flags &= (uint8_t)~ORDEAL_NONFAULTING;
    return true;
}

static bool word_wide(const struct draft *d, struct draft_op *op)
{
    enum { WORD = 2 };
    (void)d;
    if (!op_has_location(op) || op->op.size_log2 == WORD)
        return false;
    op->op.size_log2 = WORD;
    op->op.address &= ~UINT64_C(3);
    return true;
}

static const struct change cutting = { cut, false };

/* ---- what is cut together ---------------------------------------------------------------- */

static void cut_all_but_hint(struct shrinker *s, const struct shrink_hint *hint)
{
    uint32_t units = 0;
    for (size_t i = 0; i < s->best.ops.count; i++) {
        struct draft_op *op = &s->best.ops.data[i]; /* its unit is still its index in the test */
        bool matters = op_is_bracket(op);
        for (size_t k = 0; k < hint->count && !matters; k++)
            matters = hint->ops[k] == op->unit;
        op->unit = matters ? NO_UNIT : units++;
    }
    change_chunks(s, &cutting, units);
}

static void cut_threads(struct shrinker *s)
{
    for (size_t i = 0; i < s->best.ops.count; i++)
        s->best.ops.data[i].unit = s->best.ops.data[i].op.thread;
    change_chunks(s, &cutting, (uint32_t)s->best.numbers.count);
}

static void cut_locations(struct shrinker *s)
{
    for (size_t i = 0; i < s->best.ops.count; i++) {
        struct draft_op *op = &s->best.ops.data[i];
        op->unit = op_has_location(op) ? (uint32_t)draft_location_of(&s->best, op) : NO_UNIT;
    }
    change_chunks(s, &cutting, (uint32_t)s->best.locations.count);
}

/* What only disturbs: seldom needed, and then seldom all of it. */
static void cut_disturbances(struct shrinker *s)
{
    static const uint8_t kinds[] = { ORDEAL_PREFETCH, ORDEAL_EVICT, ORDEAL_FLUSH, ORDEAL_INTERRUPT,
                                     ORDEAL_DELAY, ORDEAL_MEMBAR };
    for (size_t i = 0; i < s->best.ops.count; i++) {
        const uint8_t *found = memchr(kinds, s->best.ops.data[i].op.kind, sizeof kinds);
        s->best.ops.data[i].unit = found ? (uint32_t)(found - kinds) : NO_UNIT;
    }
    change_chunks(s, &cutting, sizeof kinds);
}

/* Brackets stay as long as there is something between them. Returns how many units there are. */
static uint32_t unit_each_op(struct shrinker *s)
{
    uint32_t units = 0;
    for (size_t i = 0; i < s->best.ops.count; i++)
        s->best.ops.data[i].unit = op_is_bracket(&s->best.ops.data[i]) ? NO_UNIT : units++;
    return units;
}

static void cut_operations(struct shrinker *s)
{
    uint32_t units = unit_each_op(s);
    change_chunks(s, &cutting, units);
}

static void simplify_operations(struct shrinker *s)
{
    static const struct change changes[] = {
        { free_of_registers, false }, { unmarked, false },       { store_for_sc, false },
        { load_for_lr, false },       { swap_for_cas, false },   { swap_for_amo, false },
        { simplest_amo, false },      { store_for_swap, false }, { load_for_swap, false },
        { plain_load, false },        { word_wide, true },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint32_t units = unit_each_op(s);
        change_chunks(s, &changes[i], units);
    }
}

/* ---- blocks ------------------------------------------------------------------------------ */

static void cut_span(struct draft *d, uint32_t thread, size_t from, size_t to)
{
    for (size_t i = from; i <= to; i++)
        d->ops.data[i].cut |= d->ops.data[i].op.thread == thread;
}

/* A block becomes its body, a branch one of its sides. */
static void unwrap(struct draft *d, size_t begin, bool second_side)
{
    struct draft_block b = draft_block_at(d, begin);
    assert(b.begin < b.otherwise && b.otherwise <= b.end);
    uint32_t thread = d->ops.data[begin].op.thread;
    cut_span(d, thread, b.begin, second_side ? b.otherwise : b.begin);
    cut_span(d, thread, second_side ? b.end : b.otherwise, b.end);
}

static bool begins_block(const struct draft_op *op, bool second_side)
{
    return op->op.kind == ORDEAL_BRANCH_BEGIN
        || (!second_side && (op->op.kind == ORDEAL_LOOP_BEGIN || op->op.kind == ORDEAL_TX_BEGIN));
}

static void unwrap_all(struct shrinker *s, uint8_t kind, bool second_side)
{
    struct draft c;
    if (!begin_candidate(s, &c))
        return;
    for (size_t i = 0; i < c.ops.count; i++)
        if (c.ops.data[i].op.kind == kind && !c.ops.data[i].cut)
            unwrap(&c, i, second_side);
    try_candidate(s, &c);
}

static bool unwrap_one(struct shrinker *s, size_t begin, bool second_side)
{
    struct draft c;
    if (!begins_block(&s->best.ops.data[begin], second_side) || !begin_candidate(s, &c))
        return false;
    unwrap(&c, begin, second_side);
    return try_candidate(s, &c);
}

static bool try_rounds(struct shrinker *s, size_t loop, uint64_t rounds)
{
    struct draft c;
    if (rounds >= s->best.ops.data[loop].op.write || !begin_candidate(s, &c))
        return false;
    c.ops.data[loop].op.write = rounds;
    return try_candidate(s, &c);
}

static void unwrap_blocks(struct shrinker *s)
{
    unwrap_all(s, ORDEAL_LOOP_BEGIN, false);
    unwrap_all(s, ORDEAL_BRANCH_BEGIN, false);
    unwrap_all(s, ORDEAL_BRANCH_BEGIN, true);
    unwrap_all(s, ORDEAL_TX_BEGIN, false);
    for (size_t i = 0; i < s->best.ops.count && !s->over;) {
        if (unwrap_one(s, i, false) || unwrap_one(s, i, true))
            continue; /* another operation is in its place */
        if (s->best.ops.data[i].op.kind == ORDEAL_LOOP_BEGIN && !try_rounds(s, i, 2))
            while (try_rounds(s, i, s->best.ops.data[i].op.write / 2 + 1))
                ;
        i++;
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static void anywhere(struct draft_line *l) { l->placed = false, l->place = 0; }
static void cached(struct draft_line *l) { l->marks &= (uint8_t)~ORDEAL_UNCACHED; }
static void with_memory(struct draft_line *l) { l->marks &= (uint8_t)~ORDEAL_FAULTING; }
static void zeroed(struct draft_line *l) { memset(l->initial, 0, sizeof l->initial); }

static void simplify_lines(struct shrinker *s)
{
    static void (*const changes[])(struct draft_line *) = { anywhere, cached, with_memory, zeroed };
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        for (size_t size = s->best.lines.count; size; size = size > 1 ? (size + 1) / 2 : 0)
            for (size_t from = 0; from < s->best.lines.count && !s->over; from += size) {
                struct draft c;
                if (!begin_candidate(s, &c))
                    return;
                for (size_t i = from; i < from + size && i < c.lines.count; i++)
                    changes[k](&c.lines.data[i]);
                try_candidate(s, &c);
            }
}

static bool shares_line(const struct draft *d, size_t location)
{
    for (size_t i = 0; i < d->locations.count; i++)
        if (i != location && d->locations.data[i].line == d->locations.data[location].line)
            return true;
    return false;
}

/* The locations from `first` on, `count` of them, each to the start of a line of its own. */
static bool move_to_own_lines(struct shrinker *s, size_t first, size_t count)
{
    struct draft c;
    bool changed = false;
    if (!begin_candidate(s, &c))
        return false;
    assert(first + count <= s->best.locations.count);
    for (size_t i = first; i < first + count; i++) {
        struct location from = s->best.locations.data[i], to = from;
        bool shares = shares_line(&s->best, i);
        if (!shares && from.offset == 0)
            continue;
        struct draft_line fresh = c.lines.data[from.line];
        memset(fresh.initial, 0, sizeof fresh.initial);
        if (shares)
            anywhere(&fresh);
        to.line = (uint32_t)c.lines.count;
        to.offset = 0;
        if (!LIST_PUSH(&c.lines, fresh)) {
            s->over = true;
            break;
        }
        draft_move_location(&c, from, to);
        changed = true;
    }
    if (changed)
        return try_candidate(s, &c);
    draft_free(&c);
    return false;
}

static void separate_locations(struct shrinker *s)
{
    if (move_to_own_lines(s, 0, s->best.locations.count))
        return;
    for (size_t i = 0; i < s->best.locations.count && !s->over; i++)
        move_to_own_lines(s, i, 1);
}

/* Two locations become one; the narrower one then lies in the wider. */
static bool join_locations(struct shrinker *s, size_t a, size_t b)
{
    struct draft c;
    struct location to = s->best.locations.data[a], from = s->best.locations.data[b];
    if (from.size_log2 > to.size_log2) {
        struct location wider = from;
        from = to;
        to = wider;
    }
    if (s->best.lines.data[from.line].marks != s->best.lines.data[to.line].marks
        || !begin_candidate(s, &c))
        return false;
    draft_move_location(&c, from, to);
    return try_with_new_values(s, &c);
}

static void join_pairs_of_locations(struct shrinker *s)
{
    enum { MOST = 16 };              /* more of them make too many pairs */
    for (size_t b = 1; b < s->best.locations.count && b < MOST && !s->over; b++)
        for (size_t a = 0; a < b && b < s->best.locations.count; a++)
            if (join_locations(s, a, b))
                a = (size_t)-1;      /* another location is in the place of b */
}

/* ---- threads ----------------------------------------------------------------------------- */

static bool join_threads(struct shrinker *s, uint32_t first, uint32_t second)
{
    struct draft c;
    if (!begin_candidate(s, &c))
        return false;
    if (draft_join_threads(&c, first, second))
        return try_candidate(s, &c);
    draft_free(&c);
    return false;
}

static void join_pairs_of_threads(struct shrinker *s)
{
    enum { MOST = 8 };
    if (s->best.threads < 2 || s->best.threads > MOST)
        return;
    for (uint32_t a = 0; a < s->best.numbers.count; a++)
        for (uint32_t b = 0; b < s->best.numbers.count && !s->over; b++)
            if (a != b)
                join_threads(s, a, b);
}

/* ---- the hint ---------------------------------------------------------------------------- */

static bool comes_from(const struct ordeal_trace *test, size_t i, uint32_t line)
{
    uint32_t own = ordeal_trace_op(test, i)->line;
    return line == (own ? own : i + 1);
}

bool shrink_find_hint(const struct ordeal_trace *test, const struct ordeal_trace *execution,
                      const struct ordeal_verdict *verdict, uint32_t **ops, size_t *count)
{
    struct ordeal_event unwritten = { .op = ORDEAL_NONE };
    const uint32_t *core;
    size_t cores = ordeal_verdict_core(verdict, &core);
    if (ordeal_verdict_unwritten(verdict) != ORDEAL_NONE)
        ordeal_verdict_event(verdict, ordeal_verdict_unwritten(verdict), &unwritten);
    if (cores == 0 && unwritten.op != ORDEAL_NONE) {
        core = &unwritten.op;
        cores = 1;
    }
    LIST(uint32_t) found = { 0 };
    bool whole = true;
    for (size_t i = 0; i < ordeal_trace_length(test) && whole; i++)
        for (size_t k = 0; k < cores; k++)
            if (comes_from(test, i, ordeal_trace_op(execution, core[k])->line)) {
                whole = LIST_PUSH(&found, (uint32_t)i);
                break;
            }
    if (!whole)
        LIST_FREE(&found);
    *ops = found.data;
    *count = found.count;
    return whole;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Large cuts first: what comes later has then less to look at. */
static void (*const passes[])(struct shrinker *) = {
    cut_threads, cut_locations, cut_disturbances, cut_operations, unwrap_blocks,
    simplify_operations, simplify_lines, separate_locations, join_pairs_of_locations,
    join_pairs_of_threads,
};

static void repeat_passes(struct shrinker *s)
{
    uint64_t kept;
    do {
        kept = s->report->kept;
        for (size_t i = 0; i < sizeof passes / sizeof *passes && !s->over; i++)
            passes[i](s);
    } while (s->report->kept > kept && !s->over);
}

enum { THREADS = 1, REGISTERS = 2, LINES = 4, VALUES = 8, EVERYTHING = 15 };

/* Hardly more than names change, so a target that does not always fail is asked more than once. */
static bool number_anew(struct shrinker *s, unsigned what)
{
    enum { PATIENCE = 3 };
    for (int i = 0; i < PATIENCE; i++) {
        struct draft c;
        if (!begin_candidate(s, &c))
            return false;
        bool done = !(what & THREADS) || draft_number_threads(&c);
        if (what & REGISTERS)
            draft_number_registers(&c);
        if (what & LINES)
            draft_shift_lines(&c);
        done = done && draft_repair(&c) && (!(what & VALUES) || draft_number_values(&c));
        if (!done || draft_identity(&c) == draft_identity(&s->best)) {
            draft_free(&c);
            return done;
        }
        if (judge_candidate(s, &c))
            return true;
    }
    return false;
}

static void tidy(struct shrinker *s)
{
    if (!number_anew(s, EVERYTHING))
        for (unsigned what = 1; what < EVERYTHING; what <<= 1)
            number_anew(s, what);
}

enum ordeal_status shrink_test(const struct ordeal_trace *test, const struct shrink_hint *hint,
                               struct ordeal *o, const struct shrink_judge *judge,
                               struct ordeal_trace **smaller, struct shrink_report *report)
{
    struct shrinker s = { .judge = judge, .o = o, .report = report };
    *smaller = NULL;
    *report = (struct shrink_report){ 0 };
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    if (draft_of_test(&s.best, test) && is_new(&s, &s.best)) {
        report->before = size_of(&s.best);
        if (hint && hint->count)
            cut_all_but_hint(&s, hint);
        repeat_passes(&s);
        tidy(&s);
        report->after = size_of(&s.best);
        report->starved = s.over && !report->stopped;
        status = draft_test(&s.best, o, smaller);
    }
    draft_free(&s.best);
    LIST_FREE(&s.seen);
    return status;
}
