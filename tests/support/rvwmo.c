/* SPDX-License-Identifier: Apache-2.0 */
#include "rvwmo.h"

#include <string.h>

enum { NOBODY = -1 }; /* who wrote the initial value */

struct world {
    const struct rvwmo_execution *x;
    bool ztso;
    unsigned place[2 * RVWMO_OPS]; /* in the global memory order, from 1; 0: not yet */
    int source[2 * RVWMO_OPS][8];  /* by byte of a load: the operation that wrote it */
};

static const struct rvwmo_op *at(const struct world *w, unsigned i) { return &w->x->op[i]; }

static bool is_memory(const struct rvwmo_op *op) { return op->kind != RVWMO_FENCE && !op->failed; }
static bool loads(const struct rvwmo_op *op)
{
    return op->kind == RVWMO_LOAD || op->kind == RVWMO_AMO || op->kind == RVWMO_LR;
}
static bool stores(const struct rvwmo_op *op)
{
    return op->kind == RVWMO_STORE || op->kind == RVWMO_AMO
        || (op->kind == RVWMO_SC && !op->failed);
}
static bool touches(const struct rvwmo_op *op, unsigned byte)
{
    return byte >= op->address && byte < op->address + op->size;
}
static bool overlap(const struct rvwmo_op *a, const struct rvwmo_op *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}
static bool in_program_order(const struct world *w, unsigned i, unsigned k)
{
    return i < k && at(w, i)->hart == at(w, k)->hart;
}
static bool is_rcsc(const struct rvwmo_op *op)
{
    return (op->aq || op->rl) && op->kind != RVWMO_LOAD && op->kind != RVWMO_STORE;
}

/* ---- preserved program order, rule by rule ------------------------------------------------ */

static bool fenced(const struct world *w, unsigned i, unsigned k)
{
    for (unsigned f = i + 1; f < k; f++) {
        const struct rvwmo_op *fence = at(w, f), *a = at(w, i), *b = at(w, k);
        if (fence->kind != RVWMO_FENCE || fence->hart != a->hart)
            continue;
        unsigned from = (loads(a) ? RVWMO_R : 0) | (stores(a) ? RVWMO_W : 0);
        unsigned to = (loads(b) ? RVWMO_R : 0) | (stores(b) ? RVWMO_W : 0);
        if (fence->tso ? (from & RVWMO_R) || ((from & RVWMO_W) && (to & RVWMO_W))
                       : (from & fence->before) && (to & fence->after))
            return true;
    }
    return false;
}

/* The last instruction before `reader` that wrote the register is `writer`. */
static bool carries(const struct world *w, unsigned writer, unsigned reader, unsigned registers)
{
    for (unsigned r = 0; r < RVWMO_REGISTERS; r++) {
        if (!(registers >> r & 1) || !(at(w, writer)->writes >> r & 1))
            continue;
        bool overwritten = false;
        for (unsigned i = writer + 1; i < reader; i++)
            overwritten |= at(w, i)->hart == at(w, reader)->hart && (at(w, i)->writes >> r & 1);
        if (!overwritten)
            return true;
    }
    return false;
}
static bool address_dependent(const struct world *w, unsigned a, unsigned b)
{
    return in_program_order(w, a, b) && carries(w, a, b, at(w, b)->address_of);
}
static bool data_dependent(const struct world *w, unsigned a, unsigned b)
{
    return in_program_order(w, a, b) && carries(w, a, b, at(w, b)->data_of);
}
/* A branch stands before the instruction that says so, and so before those behind it. */
static bool control_dependent(const struct world *w, unsigned a, unsigned b)
{
    for (unsigned branch = a + 1; branch <= b; branch++)
        if (at(w, branch)->hart == at(w, a)->hart
            && carries(w, a, branch, at(w, branch)->control_of))
            return true;
    return false;
}

static bool paired(const struct world *w, unsigned lr, unsigned sc)
{
    if (at(w, lr)->kind != RVWMO_LR || at(w, sc)->kind != RVWMO_SC || at(w, sc)->failed
        || !in_program_order(w, lr, sc))
        return false;
    for (unsigned i = lr + 1; i < sc; i++)
        if (at(w, i)->hart == at(w, lr)->hart
            && (at(w, i)->kind == RVWMO_LR || at(w, i)->kind == RVWMO_SC))
            return false;
    return true;
}

/* What does not depend on values. */
static bool kept_by_code(const struct world *w, unsigned i, unsigned k)
{
    const struct rvwmo_op *a = at(w, i), *b = at(w, k);
    if (!in_program_order(w, i, k))
        return false;
    if (w->ztso && (loads(a) || stores(b))) /* RCpc acquires and releases everywhere */
        return true;
    if (stores(b) && overlap(a, b)) /* 1 */
        return true;
    if (fenced(w, i, k) || a->aq || b->rl || (is_rcsc(a) && is_rcsc(b))) /* 4 to 7 */
        return true;
    if (paired(w, i, k) || address_dependent(w, i, k) || data_dependent(w, i, k)) /* 8 to 10 */
        return true;
    if (stores(b) && control_dependent(w, i, k)) /* 11 */
        return true;
    for (unsigned m = i + 1; m < k; m++) /* 13 */
        if (stores(b) && in_program_order(w, m, k) && is_memory(at(w, m))
            && address_dependent(w, i, m))
            return true;
    return false;
}

static bool returns_value_of(const struct world *w, unsigned load, unsigned store)
{
    for (unsigned n = 0; n < at(w, load)->size; n++)
        if (w->source[load][n] == (int)store)
            return true;
    return false;
}

static bool saw_different_stores(const struct world *w, unsigned i, unsigned k)
{
    const struct rvwmo_op *a = at(w, i), *b = at(w, k);
    for (unsigned byte = 0; byte < RVWMO_BYTES; byte++) {
        bool between = false;
        if (!touches(a, byte) || !touches(b, byte))
            continue;
        for (unsigned m = i + 1; m < k; m++)
            between |= at(w, m)->hart == a->hart && stores(at(w, m)) && touches(at(w, m), byte);
        if (!between && w->source[i][byte - a->address] != w->source[k][byte - b->address])
            return true;
    }
    return false;
}

/* What does. */
static bool kept_by_values(const struct world *w, unsigned i, unsigned k)
{
    const struct rvwmo_op *a = at(w, i), *b = at(w, k);
    if (!in_program_order(w, i, k) || !loads(b))
        return false;
    if (loads(a) && saw_different_stores(w, i, k)) /* 2 */
        return true;
    if ((a->kind == RVWMO_AMO || a->kind == RVWMO_SC) && returns_value_of(w, k, i)) /* 3 */
        return true;
    for (unsigned m = i + 1; m < k; m++) /* 12 */
        if (stores(at(w, m)) && (address_dependent(w, i, m) || data_dependent(w, i, m))
            && returns_value_of(w, k, m))
            return true;
    return false;
}

/* ---- the axioms --------------------------------------------------------------------------- */

/* Load value: of the stores to the byte that precede the load in the global memory order or in
 * program order, the latest in the global memory order. */
static int byte_source(const struct world *w, unsigned load, unsigned byte)
{
    int best = NOBODY;
    for (unsigned s = 0; s < w->x->ops; s++) {
        const struct rvwmo_op *op = at(w, s);
        if (s == load || !is_memory(op) || !stores(op) || !touches(op, byte)
            || !(w->place[s] < w->place[load] || in_program_order(w, s, load)))
            continue;
        if (best == NOBODY || w->place[s] > w->place[best])
            best = (int)s;
    }
    return best;
}

static uint8_t byte_value(const struct world *w, int source, unsigned byte)
{
    return source == NOBODY
             ? w->x->initial[byte]
             : at(w, (unsigned)source)->written[byte - at(w, (unsigned)source)->address];
}

static bool values_hold(struct world *w)
{
    for (unsigned i = 0; i < w->x->ops; i++) {
        const struct rvwmo_op *op = at(w, i);
        if (!is_memory(op) || !loads(op))
            continue;
        for (unsigned n = 0; n < op->size; n++) {
            w->source[i][n] = byte_source(w, i, op->address + n);
            if (byte_value(w, w->source[i][n], op->address + n) != op->read[n])
                return false;
        }
    }
    return true;
}

static bool atomicity_holds(const struct world *w)
{
    for (unsigned r = 0; r < w->x->ops; r++)
        for (unsigned c = r + 1; c < w->x->ops; c++)
            for (unsigned n = 0; paired(w, r, c) && n < at(w, r)->size; n++) {
                int s = w->source[r][n];
                unsigned from = s == NOBODY ? 0 : w->place[s];
                if (from > w->place[c])
                    return false;
                for (unsigned t = 0; t < w->x->ops; t++)
                    if (is_memory(at(w, t)) && stores(at(w, t)) && at(w, t)->hart != at(w, r)->hart
                        && touches(at(w, t), at(w, r)->address + n) && w->place[t] > from
                        && w->place[t] < w->place[c])
                        return false;
            }
    return true;
}

static bool order_holds(const struct world *w)
{
    for (unsigned i = 0; i < w->x->ops; i++)
        for (unsigned k = i + 1; k < w->x->ops; k++)
            if (is_memory(at(w, i)) && is_memory(at(w, k)) && kept_by_values(w, i, k)
                && w->place[i] > w->place[k])
                return false;
    return true;
}

/* ---- every order -------------------------------------------------------------------------- */

static bool may_come(const struct world *w, unsigned k)
{
    for (unsigned i = 0; i < k; i++)
        if (is_memory(at(w, i)) && w->place[i] == 0 && kept_by_code(w, i, k))
            return false;
    return true;
}

static bool some_order(struct world *w, unsigned placed)
{
    bool all = true;
    for (unsigned i = 0; i < w->x->ops; i++) {
        if (w->place[i] || !is_memory(at(w, i)))
            continue;
        all = false;
        if (!may_come(w, i))
            continue;
        w->place[i] = placed + 1;
        if (some_order(w, placed + 1))
            return true;
        w->place[i] = 0;
    }
    return all && values_hold(w) && atomicity_holds(w) && order_holds(w);
}

bool rvwmo_legal(const struct rvwmo_execution *x, bool ztso)
{
    struct world w = { .x = x, .ztso = ztso };
    return some_order(&w, 0);
}

/* ---- whatever values there are ------------------------------------------------------------- */

static void find_sources(struct world *w)
{
    for (unsigned i = 0; i < w->x->ops; i++)
        for (unsigned n = 0; is_memory(at(w, i)) && loads(at(w, i)) && n < at(w, i)->size; n++)
            w->source[i][n] = byte_source(w, i, at(w, i)->address + n);
}

static int last_store(const struct world *w, unsigned byte)
{
    int best = NOBODY;
    for (unsigned s = 0; s < w->x->ops; s++)
        if (is_memory(at(w, s)) && stores(at(w, s)) && touches(at(w, s), byte)
            && (best == NOBODY || w->place[s] > w->place[best]))
            best = (int)s;
    return best;
}

struct each {
    void (*found)(void *user, const struct rvwmo_sources *s);
    void *user;
};

static void each_order(struct world *w, unsigned placed, const struct each *each)
{
    bool all = true;
    for (unsigned i = 0; i < w->x->ops; i++) {
        if (w->place[i] || !is_memory(at(w, i)))
            continue;
        all = false;
        if (!may_come(w, i))
            continue;
        w->place[i] = placed + 1;
        each_order(w, placed + 1, each);
        w->place[i] = 0;
    }
    if (!all)
        return;
    find_sources(w);
    if (!atomicity_holds(w) || !order_holds(w))
        return;
    struct rvwmo_sources s;
    memcpy(s.load, w->source, sizeof s.load);
    for (unsigned byte = 0; byte < RVWMO_BYTES; byte++)
        s.last[byte] = last_store(w, byte);
    each->found(each->user, &s);
}

void rvwmo_each(const struct rvwmo_execution *x, bool ztso,
                void (*found)(void *user, const struct rvwmo_sources *s), void *user)
{
    struct world w = { .x = x, .ztso = ztso };
    each_order(&w, 0, &(struct each){ found, user });
}

void rvwmo_run(struct rvwmo_execution *x, bool ztso, uint64_t (*random)(void *user), void *user)
{
    struct world w = { .x = x, .ztso = ztso };
    for (unsigned placed = 0;;) {
        unsigned ready[2 * RVWMO_OPS], count = 0;
        for (unsigned i = 0; i < x->ops; i++)
            if (is_memory(at(&w, i)) && !w.place[i] && may_come(&w, i))
                ready[count++] = i;
        if (count == 0)
            break;
        w.place[ready[random(user) % count]] = ++placed;
    }
    for (unsigned i = 0; i < x->ops; i++)
        for (unsigned n = 0; loads(&x->op[i]) && n < x->op[i].size; n++)
            x->op[i].read[n] = byte_value(&w, byte_source(&w, i, x->op[i].address + n),
                                          x->op[i].address + n);
}
