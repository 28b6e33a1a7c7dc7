/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_oracle.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_CELLS = 256, INITIALLY = -1, UNKNOWN = -2, WINDOW = 8, WINDOW3 = 4 };

struct happening {
    uint32_t op;
    unsigned thread, position;
    char kind;         /* L, S, X: swap, C: cas, A: amo */
    uint64_t from, to; /* bytes */
    uint32_t base;
    bool reads, writes, uncached;
    bool at_once;
    uint8_t read[64], written[64];
    int tx;            /* 0: none */
    uint8_t fences[2]; /* right before, right after */
    bool timed;
    uint64_t end;
};

struct bytes {
    uint32_t base;
    uint64_t from, to;
    uint8_t initial[64], final[64];
    bool final_known[64];
};

struct puzzle {
    const struct ordeal_trace *t;
    struct cover_names *names;
    struct happening h[MOST];
    int count;
    unsigned threads;
    struct bytes cell[MOST_CELLS];
    int cells;
    int source[MOST][MOST_CELLS];
    bool sure[MOST][MOST_CELLS];
    bool before[MOST][MOST];          /* of stores of the cell in hand: it is sure */
    bool edge[3][MOST][MOST];         /* rf, co, fr */
    bool here[3][MOST][MOST];         /* the same in the cell in hand */
    bool closed[4][MOST][MOST][MOST]; /* by roles: two accesses of a thread, and another's store */
    bool loads_swap;                  /* the model lets loads of one word change places */
    bool aborted[MOST];
};

static const char *const edge_names[] = { "rf", "co", "fr" };

static void say(struct puzzle *p, const char *format, ...)
{
    struct cover_names *n = p->names;
    char text[80];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->name[i], text) == 0)
            return;
    assert(n->count < ORACLE_NAMES);
    strcpy(n->name[n->count++], text);
}

/* ---- what happened --------------------------------------------------------------------------- */

static void take_bytes(const struct puzzle *p, const struct ordeal_op *op, uint64_t value,
                       uint8_t *to)
{
    if (op->size_log2 > 3)
        memcpy(to, ordeal_trace_bytes_at(p->t, value), (size_t)1 << op->size_log2);
    else
        memcpy(to, &value, 8); /* of a machine that is little-endian, as this one is */
}

static void take(struct puzzle *p, uint32_t i, int tx, uint8_t fence)
{
    const struct ordeal_op *op = ordeal_trace_op(p->t, i);
    struct happening *h = &p->h[p->count++];
    uint64_t begin;
    assert(p->count <= MOST);
    *h = (struct happening){ .op = i,
                             .thread = op->thread,
                             .tx = tx,
                             .base = op->base,
                             .from = op->address,
                             .fences = { fence, 0 } };
    h->to = h->from + (UINT64_C(1) << op->size_log2);
    h->kind = op->kind == ORDEAL_LOAD  ? 'L'
            : op->kind == ORDEAL_STORE ? 'S'
            : op->kind == ORDEAL_SWAP  ? 'X'
            : op->kind == ORDEAL_CAS   ? 'C'
                                       : 'A';
    h->reads = h->kind != 'S' && op->flags & ORDEAL_HAS_VALUE;
    h->writes = h->kind != 'L' && !(h->kind == 'C' && op->read != ordeal_trace_compare_of(p->t, i));
    if (h->reads)
        take_bytes(p, op, op->read, h->read);
    if (h->writes)
        take_bytes(p, op, ordeal_op_written(op), h->written);
    h->at_once = h->kind == 'X' || h->kind == 'C' || h->kind == 'A' || tx
              || 1u << op->size_log2 <= ordeal_trace_atomic_of(p->t);
    h->uncached = op->base && ordeal_trace_memory_of(p->t, op->base) & ORDEAL_UNCACHED;
    h->timed = op->flags & ORDEAL_HAS_END;
    if (h->timed)
        ordeal_trace_times_of(p->t, i, &begin, &h->end);
}

static void take_thread(struct puzzle *p, unsigned thread, int *transactions)
{
    int tx = 0, before = -1;
    unsigned position = 0;
    uint8_t fence = 0;
    for (uint32_t i = 0; i < ordeal_trace_length(p->t); i++) {
        const struct ordeal_op *op = ordeal_trace_op(p->t, i);
        if (op->thread != thread)
            continue;
        if (op->kind == ORDEAL_MEMBAR)
            fence |= op->barrier;
        else if (op->kind == ORDEAL_TX_BEGIN)
            tx = ++*transactions;
        else if (op->kind == ORDEAL_TX_END)
            tx = 0;
        else if (op->kind == ORDEAL_TX_ABORT && tx) { /* one in another has ended that one, too */
            p->aborted[tx] = true;
            for (int k = 0; k < p->count; k++)
                if (p->h[k].tx == tx)
                    p->h[k].reads = p->h[k].writes = false;
            tx = 0;
        } else if (op->kind == ORDEAL_LOAD || op->kind == ORDEAL_STORE || op->kind == ORDEAL_SWAP
                   || op->kind == ORDEAL_CAS || op->kind == ORDEAL_AMO) {
            take(p, i, tx, fence);
            p->h[p->count - 1].position = position++;
            if (before >= 0)
                p->h[before].fences[1] = fence;
            before = p->count - 1;
            fence = 0;
        }
    }
    if (before >= 0)
        p->h[before].fences[1] = fence;
}

static bool covers(const struct happening *h, const struct bytes *c)
{
    return (h->reads || h->writes) && h->base == c->base && h->from <= c->from && c->to <= h->to;
}

/* From each end of an access to the next one. */
static void find_cells(struct puzzle *p)
{
    for (int i = 0; i < 2 * p->count; i++) {
        const struct happening *h = &p->h[i / 2];
        struct bytes c = { .base = h->base, .from = i % 2 ? h->to : h->from, .to = UINT64_MAX };
        for (int k = 0; k < 2 * p->count; k++) {
            uint64_t at = k % 2 ? p->h[k / 2].to : p->h[k / 2].from;
            if (p->h[k / 2].base == c.base && at > c.from && at < c.to)
                c.to = at;
        }
        bool known = c.to == UINT64_MAX, covered = false;
        for (int k = 0; k < p->cells; k++)
            known |= p->cell[k].base == c.base && p->cell[k].from == c.from;
        for (int k = 0; k < p->count; k++)
            covered |= covers(&p->h[k], &c);
        if (known || !covered)
            continue;
        uint32_t base;
        uint64_t address, value;
        uint8_t size_log2;
        for (size_t k = 0; ordeal_trace_init_at(p->t, k, &base, &address, &size_log2, &value); k++)
            for (uint64_t b = 0; b < UINT64_C(1) << size_log2; b++)
                if (base == c.base && address + b >= c.from && address + b < c.to)
                    c.initial[address + b - c.from] = (uint8_t)(value >> 8 * b);
        for (size_t k = 0; ordeal_trace_final_at(p->t, k, &base, &address, &size_log2, &value); k++)
            for (uint64_t b = 0; b < UINT64_C(1) << size_log2; b++)
                if (base == c.base && address + b >= c.from && address + b < c.to) {
                    c.final[address + b - c.from] = (uint8_t)(value >> 8 * b);
                    c.final_known[address + b - c.from] = true;
                }
        assert(p->cells < MOST_CELLS);
        p->cell[p->cells++] = c;
    }
}

/* ---- who saw whom, in which order ------------------------------------------------------------- */

static bool same(const struct puzzle *p, int c, const uint8_t *seen, const struct happening *reader,
                 const uint8_t *made, uint64_t made_from)
{
    const struct bytes *cell = &p->cell[c];
    return memcmp(seen + (cell->from - reader->from), made + (cell->from - made_from),
                  cell->to - cell->from)
        == 0;
}

static int find_source(const struct puzzle *p, int r, int c, bool *sure)
{
    const struct happening *reader = &p->h[r];
    int candidates[MOST + 1], n = 0, own = UNKNOWN;
    if (same(p, c, reader->read, reader, p->cell[c].initial, p->cell[c].from))
        candidates[n++] = INITIALLY;
    for (int w = 0; w < p->count; w++) {
        const struct happening *writer = &p->h[w];
        bool mine = writer->thread == reader->thread;
        if (!writer->writes || !covers(writer, &p->cell[c])
            || (mine && writer->position >= reader->position))
            continue;
        bool fits = same(p, c, reader->read, reader, writer->written, writer->from);
        if (fits)
            candidates[n++] = w;
        if (mine)
            own = fits ? w : UNKNOWN;
    }
    *sure = n == 1;
    return n == 1 ? candidates[0] : own;
}

static bool stores_here(const struct puzzle *p, int c, int i)
{
    return p->h[i].writes && covers(&p->h[i], &p->cell[c]);
}

static bool sees(const struct puzzle *p, int c, int i, int what)
{
    return p->h[i].reads && covers(&p->h[i], &p->cell[c]) && p->sure[i][c]
        && p->source[i][c] == what;
}

/* The only store of the value of these bytes, or none. */
static int only_store_of(const struct puzzle *p, int c, const uint8_t *bytes)
{
    int found = UNKNOWN, count = 0;
    for (int i = 0; i < p->count; i++)
        if (stores_here(p, c, i)
            && memcmp(p->h[i].written + (p->cell[c].from - p->h[i].from), bytes,
                      p->cell[c].to - p->cell[c].from)
                   == 0) {
            found = i;
            count++;
        }
    return count == 1 ? found : UNKNOWN;
}

static int last_store(const struct puzzle *p, int c)
{
    for (uint64_t i = 0; i < p->cell[c].to - p->cell[c].from; i++)
        if (!p->cell[c].final_known[i])
            return UNKNOWN;
    return only_store_of(p, c, p->cell[c].final);
}

/* Does a line of the trace tell b right after a, of those stores that it can mean? */
static bool told_in_order(const struct puzzle *p, int c, int a, int b)
{
    uint32_t base;
    uint64_t address;
    uint8_t size_log2;
    const uint64_t *values;
    size_t count;
    int told = UNKNOWN; /* the last line of the cell counts */
    bool found = false;
    for (size_t k = 0; ordeal_trace_order_at(p->t, k, &base, &address, &size_log2, &values, &count);
         k++) {
        if (base != p->cell[c].base || address != p->cell[c].from
            || address + (UINT64_C(1) << size_log2) != p->cell[c].to)
            continue;
        told = UNKNOWN;
        found = false;
        for (size_t i = 0; i < count; i++) {
            int store = only_store_of(p, c, (const uint8_t *)&values[i]);
            if (store == UNKNOWN)
                continue;
            found |= told == a && store == b;
            told = store;
        }
    }
    return found;
}

/* Accesses i and k of a thread, i first or both the same one: what i made or saw is before what k
 * made or saw. */
static bool thread_tells(const struct puzzle *p, int c, int a, int b)
{
    for (int i = 0; i < p->count; i++)
        for (int k = i; k < p->count && p->h[k].thread == p->h[i].thread; k++) {
            bool saw_a = sees(p, c, i, a), saw_b = sees(p, c, k, b);
            if ((i == a && k == b) || (i == a && saw_b && k > i) || (saw_a && k == b)
                || (saw_a && saw_b && k > i && !p->loads_swap))
                return true;
        }
    return false;
}

/* A thread that made or saw a store saw afterwards what was there before all stores. */
static bool went_back(const struct puzzle *p, int c)
{
    for (int i = 0; i < p->count; i++)
        for (int k = i + 1; k < p->count && p->h[k].thread == p->h[i].thread; k++)
            for (int a = 0; a < p->count && sees(p, c, k, INITIALLY); a++)
                if (stores_here(p, c, a) && (i == a || (!p->loads_swap && sees(p, c, i, a))))
                    return true;
    return false;
}

/* One round of all rules; true: something is new. */
static bool conclude(struct puzzle *p, int c)
{
    bool news = false;
    for (int a = 0; a < p->count; a++)
        for (int b = 0; b < p->count; b++) {
            if (a == b || !stores_here(p, c, a) || !stores_here(p, c, b) || p->before[a][b])
                continue;
            bool sure = thread_tells(p, c, a, b) || b == last_store(p, c)
                     || told_in_order(p, c, a, b) || sees(p, c, a, INITIALLY);
            for (int m = 0; m < p->count; m++) {
                bool both = stores_here(p, c, m);
                sure |= p->before[a][m] && p->before[m][b];
                /* nothing is between m and what it read: b, from where a comes; or a, on to b */
                sure |= both && m != a && sees(p, c, m, b) && p->before[a][m];
                sure |= m == a && b != a && both && p->source[m][c] >= 0
                     && sees(p, c, m, p->source[m][c]) && p->source[m][c] != b
                     && p->before[p->source[m][c]][b];
            }
            p->before[a][b] = sure;
            news |= sure;
        }
    return news;
}

static bool has_order(const struct puzzle *p, int c)
{
    uint32_t base;
    uint64_t address;
    uint8_t size_log2;
    const uint64_t *values;
    size_t count;
    bool found = false;
    for (size_t k = 0; ordeal_trace_order_at(p->t, k, &base, &address, &size_log2, &values, &count);
         k++)
        found |= base == p->cell[c].base && address == p->cell[c].from
              && address + (UINT64_C(1) << size_log2) == p->cell[c].to;
    return found;
}

/* Without what is said of atomic accesses: is a told before b, right after each other? What threads
 * saw does not count if the trace has a say. */
static bool is_told(const struct puzzle *p, int c, int a, int b)
{
    bool blind = last_store(p, c) != UNKNOWN || has_order(p, c);
    for (unsigned t = 0; t < p->threads; t++) {
        int last = UNKNOWN, made = UNKNOWN, since[MOST], n = 0;
        for (int i = 0; i < p->count; i++) {
            if (p->h[i].thread != t || !covers(&p->h[i], &p->cell[c]))
                continue;
            if (p->h[i].reads && p->sure[i][c] && p->source[i][c] >= 0 && !blind) {
                int seen = p->source[i][c];
                if ((p->loads_swap ? made : last) == a && seen == b)
                    return true;
                since[n++] = last = seen;
            }
            if (!p->h[i].writes)
                continue;
            for (int k = 0; p->loads_swap && k < n; k++)
                if (since[k] == a && i == b)
                    return true;
            if ((last == a || made == a) && i == b)
                return true;
            last = made = i;
            n = 0;
        }
    }
    return b == last_store(p, c) || told_in_order(p, c, a, b);
}

/* Any order; the next is one of which all are placed that are told before it, if there is such. */
static void choose_order(struct puzzle *p, int c)
{
    bool placed[MOST] = { false };
    memset(p->before, 0, sizeof p->before);
    for (;;) {
        long best_key = 0;
        int best = UNKNOWN;
        for (int i = 0; i < p->count; i++) {
            if (!stores_here(p, c, i) || placed[i])
                continue;
            bool waits = false;
            for (int a = 0; a < p->count; a++)
                waits |= a != i && stores_here(p, c, a) && !placed[a] && is_told(p, c, a, i);
            long key = 1 + (waits ? 100000 : 0) + (long)p->h[i].position * 100
                     + (long)p->h[i].thread;
            if (best == UNKNOWN || key < best_key) {
                best = i;
                best_key = key;
            }
        }
        if (best == UNKNOWN)
            return;
        placed[best] = true;
        for (int i = 0; i < p->count; i++)
            p->before[best][i] = stores_here(p, c, i) && !placed[i];
    }
}

static void find_order(struct puzzle *p, int c)
{
    bool broken = went_back(p, c);
    memset(p->before, 0, sizeof p->before);
    while (conclude(p, c))
        ;
    for (int a = 0; a < p->count; a++)
        for (int b = 0; b < p->count; b++)
            broken |= p->before[a][b] && p->before[b][a];
    if (broken)
        choose_order(p, c);
}

/* Is b right after a, or one of the first stores where a is what was there at the start? */
static bool is_next(const struct puzzle *p, int c, int a, int b)
{
    if (!stores_here(p, c, b) || (a != INITIALLY && !p->before[a][b]))
        return false;
    for (int m = 0; m < p->count; m++)
        if (p->before[m][b] && (a == INITIALLY || p->before[a][m]))
            return false;
    return true;
}

static void find_edges(struct puzzle *p, int c)
{
    memset(p->here, 0, sizeof p->here);
    for (int a = 0; a < p->count; a++)
        for (int b = 0; b < p->count; b++) {
            const struct happening *x = &p->h[a], *y = &p->h[b];
            if (x->thread == y->thread || !covers(x, &p->cell[c]) || !covers(y, &p->cell[c]))
                continue;
            p->here[0][a][b] = sees(p, c, b, a);
            p->here[1][a][b] = x->writes && is_next(p, c, a, b);
            p->here[2][a][b] = x->reads && p->sure[a][c] && is_next(p, c, p->source[a][c], b);
            for (int e = 0; e < 3; e++)
                p->edge[e][a][b] |= p->here[e][a][b];
        }
}

static const char *const roles_of[] = { "WW", "WR", "RW", "RR" };

/* In one cell: from the second access on to a store, and from that on to the first. */
static void find_closed(struct puzzle *p, int c)
{
    for (int r = 0; r < 4; r++)
        for (int a = 0; a < p->count; a++)
            for (int b = a + 1; b < p->count && p->h[b].thread == p->h[a].thread; b++)
                for (int s = 0; s < p->count && covers(&p->h[a], &p->cell[c]); s++)
                    p->closed[r][a][b][s] |= p->here[roles_of[r][1] == 'R' ? 2 : 1][b][s]
                                          && p->here[roles_of[r][0] == 'R' ? 0 : 1][s][a];
}

/* ---- names of single things ------------------------------------------------------------------ */

static const char *access_name(const struct happening *h)
{
    static char text[4][16];
    static int turn;
    char *to = text[turn++ % 4];
    uint64_t bytes = h->to - h->from;
    const char *kind = h->kind == 'L' ? "load"
                     : h->kind == 'S' ? "store"
                     : h->kind == 'X' ? "swap"
                     : h->kind == 'C' ? "cas"
                                      : "amo";
    snprintf(to, 16, "%s%d", kind, bytes > 8 ? 16 : (int)bytes);
    return to;
}

static const char *fence_name(uint8_t f)
{
    return f == 0         ? "none"
         : f == 15        ? "full"
         : f == ORDEAL_LL ? "ll"
         : f == ORDEAL_LS ? "ls"
         : f == ORDEAL_SL ? "sl"
         : f == ORDEAL_SS ? "ss"
                          : "mixed";
}

static const char *distance_name(unsigned n)
{
    return n <= 1 ? "1" : n <= 2 ? "2" : n <= 4 ? "4" : n <= 8 ? "8" : n <= 16 ? "16" : "more";
}

static const char *lead_name(int lead)
{
    return lead < -16 ? "behind-more"
         : lead < -4  ? "behind-16"
         : lead < 0   ? "behind-4"
         : lead == 0  ? "level"
         : lead <= 4  ? "ahead-4"
         : lead <= 16 ? "ahead-16"
                      : "ahead-more";
}

static const char *where_name(const struct happening *from, const struct happening *to)
{
    return !from->tx && !to->tx ? "outside"
         : !from->tx            ? "into-tx"
         : !to->tx              ? "out-of-tx"
         : from->tx == to->tx   ? "same-tx"
                                : "other-tx";
}

static void say_read(struct puzzle *p, int r)
{
    const struct happening *h = &p->h[r];
    int first = UNKNOWN, first_cell = -1;
    bool torn = false;
    for (int c = 0; c < p->cells; c++)
        if (covers(h, &p->cell[c])
            && (first_cell < 0 || p->cell[c].from < p->cell[first_cell].from))
            first_cell = c;
    if (first_cell >= 0)
        first = p->source[r][first_cell];
    for (int c = 0; c < p->cells; c++) {
        if (!covers(h, &p->cell[c]) || p->source[r][c] == UNKNOWN)
            continue;
        int s = p->source[r][c];
        torn |= first != UNKNOWN && s != first;
        if (s == INITIALLY) {
            say(p, "exec.initial.%s.%s", access_name(h), h->uncached ? "uncached" : "cached");
            continue;
        }
        const struct happening *w = &p->h[s];
        uint8_t fences = 0;
        for (int i = 0; i < p->count; i++)
            if (p->h[i].thread == h->thread && p->h[i].position > w->position
                && p->h[i].position <= h->position)
                fences |= p->h[i].fences[0];
        if (w->thread == h->thread) {
            say(p, "exec.own.%s.%s", access_name(w), access_name(h));
            say(p, "exec.forward.%s.%s.%s", distance_name(h->position - w->position),
                fence_name(fences), where_name(w, h));
        } else {
            bool uncached = h->uncached && !w->tx && !h->tx;
            say(p, "exec.pass.%s.%s.%s", lead_name((int)h->position - (int)w->position),
                where_name(w, h), uncached ? "uncached" : "cached");
            say(p, "exec.sync.%s.%s", fence_name(w->fences[0]), fence_name(h->fences[1]));
        }
    }
    if (torn)
        say(p, "exec.torn.%s.%s", access_name(h), h->uncached ? "uncached" : "cached");
}

/* The least of these words that is not less than the quotient. */
static void say_per_commit(struct puzzle *p, const char *what, unsigned count, unsigned commits)
{
    static const struct {
        const char *word;
        double most;
    } rates[] = { { "none", 0 }, { "1/16", 0.0625 }, { "1/4", 0.25 },
                  { "1", 1 },    { "4", 4 },         { "16", 16 } };
    size_t i = 0;
    while (i < sizeof rates / sizeof *rates && (double)count / commits > rates[i].most)
        i++;
    say(p, "exec.per-commit.%s.%s", what,
        i < sizeof rates / sizeof *rates ? rates[i].word : "more");
}

static void say_transactions(struct puzzle *p, int transactions)
{
    unsigned commits = 0, aborts = 0, all_met = 0;
    for (int tx = 1; tx <= transactions; tx++) {
        unsigned accesses = 0, met = 0;
        for (int i = 0; i < p->count; i++)
            accesses += p->h[i].tx == tx;
        for (unsigned t = 0; t < p->threads; t++) {
            bool meets = false;
            for (int i = 0; i < p->count; i++)
                for (int k = 0; k < p->count; k++)
                    for (int e = 0; e < 3; e++)
                        meets |= p->h[i].tx == tx && p->h[k].thread == t
                              && (p->edge[e][i][k] || p->edge[e][k][i]);
            met += meets;
        }
        commits += accesses && !p->aborted[tx];
        aborts += accesses && p->aborted[tx];
        all_met += met;
        if (accesses)
            say(p, "exec.tx.%s.%s.%s", p->aborted[tx] ? "abort" : "commit", distance_name(accesses),
                met == 0   ? "alone"
                : met == 1 ? "1"
                : met == 2 ? "2"
                           : "more");
    }
    if (commits) {
        say_per_commit(p, "aborted", aborts, commits);
        say_per_commit(p, "met", all_met, commits);
    }
}

/* ---- interleaving ---------------------------------------------------------------------------- */

static void say_interleave(struct puzzle *p, const char *order, int changes)
{
    static const char *const words[] = { "1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1" };
    int share = 0;
    unsigned threads = 0;
    for (unsigned t = 0; t < p->threads; t++) {
        bool any = false;
        for (int i = 0; i < p->count; i++)
            any |= p->h[i].thread == t;
        threads += any;
    }
    while (changes * (64 >> share) > p->count - 1)
        share++;
    if (threads > 1)
        say(p, "exec.interleave.%s.%s.%s", order,
            threads == 2   ? "P2"
            : threads == 3 ? "P3"
            : threads == 4 ? "P4"
                           : "more",
            words[share]);
}

static int next_of(const struct puzzle *p, const bool *done, unsigned thread)
{
    for (int i = 0; i < p->count; i++)
        if (p->h[i].thread == thread && !done[i])
            return i;
    return -1;
}

static bool may_go(const struct puzzle *p, const bool *done, int i)
{
    for (int k = 0; i >= 0 && k < p->count; k++)
        for (int e = 0; e < 3; e++)
            if (p->edge[e][k][i] && !done[k])
                return false;
    return i >= 0;
}

/* As long as it can with one thread; then with the next that can; if none can, with the last that
 * has something left, this one being the last of all. */
static void count_needed(struct puzzle *p)
{
    bool done[MOST] = { false };
    unsigned thread = 0;
    int changes = 0;
    for (int n = 0; n < p->count; n++) {
        unsigned next = thread, left = thread;
        bool found = may_go(p, done, next_of(p, done, thread));
        for (unsigned i = 1; !found && i <= p->threads; i++) {
            unsigned t = (thread + i) % p->threads;
            if (next_of(p, done, t) < 0)
                continue;
            left = t;
            if (may_go(p, done, next_of(p, done, t))) {
                found = true;
                next = t;
            }
        }
        if (!found)
            next = left;
        changes += n > 0 && next != thread;
        thread = next;
        done[next_of(p, done, thread)] = true;
    }
    say_interleave(p, "needed", changes);
}

static void count_seen(struct puzzle *p)
{
    bool done[MOST] = { false };
    int changes = 0, last = -1;
    for (int i = 0; i < p->count; i++)
        if (!p->h[i].timed)
            return;
    for (int n = 0; n < p->count; n++) {
        int next = -1;
        for (int i = 0; i < p->count; i++)
            if (!done[i] && (next < 0 || p->h[i].end < p->h[next].end))
                next = i;
        changes += last >= 0 && p->h[last].thread != p->h[next].thread;
        done[last = next] = true;
    }
    say_interleave(p, "seen", changes);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* In the literature's order of segments; those that look the same when they are turned. */
static const struct {
    const char *name, *segments;
    bool symmetric;
} cycles[] = {
    { "2+2W", "WW WW", true },      { "R", "WW WR", false },
    { "S", "WW RW", false },        { "MP", "WW RR", false },
    { "SB", "WR WR", true },        { "LB", "RW RW", true },
    { "WRC", "W RW RR", false },    { "WWC", "W RW RW", false },
    { "WRW+WR", "W RW WR", false }, { "WRW+2W", "W RW WW", false },
    { "RWC", "W RR WR", false },    { "WRR+2W", "W RR WW", false },
    { "IRIW", "W RR W RR", true },  { "IRRWIW", "W RR W RW", false },
    { "IRWIW", "W RW W RW", true }, { "3.2W", "WW WW WW", true },
    { "3.SB", "WR WR WR", true },   { "3.LB", "RW RW RW", true },
    { "ISA2", "WW RW RR", false },  { "Z6.0", "WW RW WR", false },
    { "Z6.1", "WW WW RW", false },  { "Z6.2", "WW RW RW", false },
    { "Z6.3", "WW WW RR", false },  { "Z6.4", "WW WR WR", false },
    { "Z6.5", "WW WW WR", false },  { "W+RWC", "WW RR WR", false },
};

struct leg {
    int first, last;
    char text[3];
    int bond;
}; /* first == last: one store */

static bool overlap(const struct happening *a, const struct happening *b)
{
    return a->base == b->base && a->from < b->to && b->from < a->to && (a->reads || a->writes)
        && (b->reads || b->writes);
}

static bool depends(const struct puzzle *p, int a, int b)
{
    uint32_t set, needed, other;
    bool written;
    for (size_t i = 0; ordeal_trace_register_of(p->t, p->h[a].op, i, &set, &written); i++) {
        bool overwritten = false;
        for (int k = a + 1; written && k < b; k++) {
            bool w;
            for (size_t j = 0; ordeal_trace_register_of(p->t, p->h[k].op, j, &other, &w); j++)
                overwritten |= w && other == set;
        }
        if (!written || overwritten)
            continue;
        for (size_t j = 0; ordeal_trace_register_of(p->t, p->h[b].op, j, &needed, &written); j++)
            if (!written && needed == set)
                return true;
    }
    return false;
}

static int bond_between(const struct puzzle *p, int a, int b, const char *roles)
{
    uint8_t wanted = roles[0] == 'R' ? (roles[1] == 'R' ? ORDEAL_LL : ORDEAL_LS)
                                     : (roles[1] == 'R' ? ORDEAL_SL : ORDEAL_SS);
    uint8_t fences = 0;
    bool atomic = false;
    for (int k = a; k <= b; k++) {
        atomic |= strchr("XCA", p->h[k].kind) != NULL;
        fences |= k > a ? p->h[k].fences[0] : 0;
    }
    if (p->h[a].tx || p->h[b].tx)
        return 5;
    return fences & wanted ? 4 : atomic ? 3 : fences ? 2 : depends(p, a, b) ? 1 : 0;
}

static const char *const bond_names[] = { "po", "dep", "weak", "rmw", "fence", "tx" };
static const char *const coarse_names[] = { "po", "po", "po", "kept", "kept", "tx" };

static int compare_bonds(const int *a, const int *b, int n, bool coarse)
{
    static const int class[] = { 0, 0, 0, 1, 1, 2 };
    for (int i = 0; i < n; i++) {
        int x = coarse ? class[a[i]] : a[i], y = coarse ? class[b[i]] : b[i];
        if (x != y)
            return x - y;
    }
    return 0;
}

static void say_cycle(struct puzzle *p, const struct leg *leg, int legs, bool closed)
{
    for (size_t s = 0; s < sizeof cycles / sizeof *cycles; s++) {
        int best[4], pairs = 0;
        bool found = false;
        for (int turn = 0; turn < legs; turn++) {
            char text[16] = "";
            int bonds[4], n = 0;
            for (int i = 0; i < legs; i++) {
                const struct leg *l = &leg[(i + turn) % legs];
                strcat(strcat(text, i ? " " : ""), l->text);
                if (l->text[1])
                    bonds[n++] = l->bond;
            }
            if (strcmp(text, cycles[s].segments) != 0)
                continue;
            if (!found || compare_bonds(bonds, best, n, n == 3) < 0)
                memcpy(best, bonds, sizeof best);
            found = true;
            pairs = n;
        }
        const char *how = closed ? "closed" : "near";
        if (found && pairs == 2)
            say(p, "exec.shape.%s.%s.%s.%s", cycles[s].name, bond_names[best[0]],
                bond_names[best[1]], how);
        if (found && pairs == 3)
            say(p, "exec.shape3.%s.%s.%s.%s.%s", cycles[s].name, coarse_names[best[0]],
                coarse_names[best[1]], coarse_names[best[2]], how);
    }
}

/* The edge from the end of a leg to the begin of the next: 1 it is there, -1 it is there the other
 * way round, both of them 2, 0 neither. */
static int joint(const struct puzzle *p, const struct leg *a, const struct leg *b)
{
    char from = a->text[strlen(a->text) - 1], to = b->text[0];
    if (from == 'R' && to == 'R')
        return 0;
    int kind = from == 'W' ? (to == 'R' ? 0 : 1) : 2, back = from == 'W' ? (to == 'R' ? 2 : 1) : 0;
    bool there = p->edge[kind][a->last][b->first], turned = p->edge[back][b->first][a->last];
    return there && turned ? 2 : there ? 1 : turned ? -1 : 0;
}

static void try_legs(struct puzzle *p, struct leg *leg, int legs)
{
    int forward = 0, backward = 0, pairs = 0, wide = 0;
    for (int i = 0; legs >= 2 && i < legs; i++) {
        int j = joint(p, &leg[i], &leg[(i + 1) % legs]);
        forward += j == 1 || j == 2;
        backward += j == -1 || j == 2;
        pairs += leg[i].first != leg[i].last;
        wide += leg[i].last - leg[i].first > WINDOW3;
        if (j == 0)
            forward = -MOST;
    }
    if (legs >= 2 && pairs >= 2 && !(pairs == 3 && wide)) {
        if (forward == legs)
            say_cycle(p, leg, legs, true);
        if (forward == legs - 1 ? backward : forward == legs && backward)
            say_cycle(p, leg, legs, false);
    }
    if (legs == 4)
        return;
    for (int a = 0; a < p->count; a++) {
        bool used = false;
        for (int i = 0; i < legs; i++)
            used |= p->h[leg[i].first].thread == p->h[a].thread;
        if (used)
            continue;
        if (p->h[a].writes && p->h[a].at_once) {
            leg[legs] = (struct leg){ a, a, "W", 0 };
            try_legs(p, leg, legs + 1);
        }
        for (int b = a + 1; b < p->count && p->h[b].thread == p->h[a].thread && b - a <= WINDOW;
             b++)
            for (const char *roles = "WW\0WR\0RW\0RR\0"; *roles; roles += 3) {
                bool first = roles[0] == 'R' ? p->h[a].reads : p->h[a].writes;
                bool last = roles[1] == 'R' ? p->h[b].reads : p->h[b].writes;
                if (!first || !last || overlap(&p->h[a], &p->h[b]))
                    continue;
                leg[legs] = (struct leg){ a, b, "", bond_between(p, a, b, roles) };
                memcpy(leg[legs].text, roles, 3);
                try_legs(p, leg, legs + 1);
            }
    }
}

static void try_coherence(struct puzzle *p)
{
    for (int a = 0; a < p->count; a++)
        for (int b = a + 1; b < p->count && p->h[b].thread == p->h[a].thread && b - a <= WINDOW;
             b++)
            for (int r = 0; r < 4; r++) {
                const char *roles = roles_of[r];
                bool first = roles[0] == 'R' ? p->h[a].reads : p->h[a].writes;
                bool last = roles[1] == 'R' ? p->h[b].reads : p->h[b].writes;
                if (!first || !last || !overlap(&p->h[a], &p->h[b]))
                    continue;
                const char *bond = bond_names[bond_between(p, a, b, roles)];
                for (int c = 0; c < p->count; c++) {
                    bool after_b = p->edge[roles[1] == 'R' ? 2 : 1][b][c];
                    bool before_b = p->edge[roles[1] == 'R' ? 0 : 1][c][b];
                    bool after_a = p->edge[roles[0] == 'R' ? 2 : 1][a][c];
                    if (after_b)
                        say(p, "exec.coherence.Co%s.%s.%s", roles, bond,
                            p->closed[r][a][b][c] ? "closed" : "beside");
                    if (before_b && after_a)
                        say(p, "exec.coherence.Co%s.%s.between", roles, bond);
                }
            }
}

void cover_oracle(const struct ordeal_trace *t, struct cover_names *names)
{
    struct puzzle *p = calloc(1, sizeof *p);
    int transactions = 0;
    p->t = t;
    p->names = names;
    p->threads = ordeal_trace_threads(t);
    enum ordeal_model model;
    p->loads_swap = ordeal_trace_claimed(t, &model) && model == ORDEAL_RMO;
    for (unsigned i = 0; i < p->threads; i++)
        take_thread(p, i, &transactions);
    find_cells(p);
    for (int c = 0; c < p->cells; c++) {
        for (int i = 0; i < p->count; i++)
            p->source[i][c] = p->h[i].reads && covers(&p->h[i], &p->cell[c])
                                ? find_source(p, i, c, &p->sure[i][c])
                                : UNKNOWN;
        find_order(p, c);
        find_edges(p, c);
        find_closed(p, c);
    }
    for (int i = 0; i < p->count; i++)
        if (p->h[i].reads)
            say_read(p, i);
    for (int e = 0; e < 3; e++)
        for (int a = 0; a < p->count; a++)
            for (int b = 0; b < p->count; b++)
                if (p->edge[e][a][b])
                    say(p, "exec.meet.%s.%s.%s", edge_names[e], access_name(&p->h[a]),
                        access_name(&p->h[b]));
    say_transactions(p, transactions);
    if (p->count > 1) {
        count_needed(p);
        count_seen(p);
    }
    struct leg leg[4];
    try_legs(p, leg, 0);
    try_coherence(p);
    free(p);
}
