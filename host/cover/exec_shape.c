/* SPDX-License-Identifier: Apache-2.0 */
/* Critical cycles that an execution closed, and those that it missed by one edge.
 *
 * A cycle goes through two to four threads. In each it takes one store, or two accesses to different
 * places, at most FAR apart; from thread to thread it follows edges (exec_parts.h). One store alone
 * happens at once: the parts of a wider one may be seen one after the other by anybody. If the edge
 * that would close it is there the other way round, the cycle is near. A cycle is found from wherever
 * one begins; so that it is the last edge which is missing covers all of them. */
#include <string.h>

#include "exec_parts.h"

enum { FAR = 8, NEAR = 4 }; /* accesses between those of a pair; of a cycle with three pairs */
enum { MOST_SEGMENTS = 4, SEGMENT_BITS = 3 };

/* What a cycle does in a thread; NONE ends a list. The pairs are 2 + 2 * first + second role. */
enum segment { NONE, W, WW, WR, RW, RR };
enum role { WRITE, READ };
static const uint8_t coarse[] = { [EXEC_BOND_PO] = 0,  [EXEC_BOND_DEP] = 0,   [EXEC_BOND_WEAK] = 0,
                                  [EXEC_BOND_RMW] = 1, [EXEC_BOND_FENCE] = 1, [EXEC_BOND_TX] = 2 };

/* Those of COVER_AXIS_SHAPE2, then of COVER_AXIS_SHAPE3. */
static const uint8_t shapes[][MOST_SEGMENTS] = {
    { WW, WW },     { WW, WR },     { WW, RW },       { WW, RR },       { WR, WR },
    { RW, RW },     { W, RW, RR },  { W, RW, RW },    { W, RW, WR },    { W, RW, WW },
    { W, RR, WR },  { W, RR, WW },  { W, RR, W, RR }, { W, RR, W, RW }, { W, RW, W, RW },
    { WW, WW, WW }, { WR, WR, WR }, { RW, RW, RW },   { WW, RW, RR },   { WW, RW, WR },
    { WW, WW, RW }, { WW, RW, RW }, { WW, WW, RR },   { WW, WR, WR },   { WW, WW, WR },
    { WW, RR, WR },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static_assert(SHAPES == COVER_AXIS_SHAPE2 + COVER_AXIS_SHAPE3, "a row for each name");

struct exec_shape_pairs exec_shape_pairs(uint32_t shape)
{
    struct exec_shape_pairs found = { .threads = 0 };
    for (; found.threads < MOST_SEGMENTS && shapes[shape][found.threads]; found.threads++)
        if (shapes[shape][found.threads] != W)
            found.pair[found.count++] = (uint8_t)(shapes[shape][found.threads] - WW);
    return found;
}

/* ---- pairs of a thread ----------------------------------------------------------------------- */

/* An access and one after it in its thread: what lies between. */
struct pair {
    uint32_t first, second;
    uint8_t fence;
    bool apart; /* they have no byte in common */
    bool rmw, dep, tx;
};

static struct pair first_pair(uint32_t access)
{
    return (struct pair){ access, access, 0, false, false, false, false };
}

/* On to the next access; false: there is none that far. `live` are registers that hold what the
 * first one set. */
static bool next_pair(const struct cover_exec *x, uint32_t first, struct pair *p, uint64_t *live)
{
    const struct access *a = &x->accesses.data[first], *last = &x->accesses.data[p->second];
    if (p->second + 1 >= x->first.data[a->thread + 1] || p->second + 1 - first > FAR)
        return false;
    const struct access *b = last + 1;
    *live = p->second == first ? a->sets : *live & ~last->sets;
    p->second++;
    p->fence |= b->fence;
    p->rmw = p->rmw || exec_is_rmw(last) || exec_is_rmw(b);
    p->dep = *live & b->needs;
    p->tx = a->tx || b->tx;
    p->apart = a->cell + a->cells <= b->cell || b->cell + b->cells <= a->cell;
    return true;
}

static enum exec_bond bond_of(const struct pair *p, enum role first, enum role second)
{
    static const uint8_t flavour[2][2] = { [READ] = { [READ] = ORDEAL_LL, [WRITE] = ORDEAL_LS },
                                           [WRITE] = { [READ] = ORDEAL_SL, [WRITE] = ORDEAL_SS } };
    if (p->tx)
        return EXEC_BOND_TX;
    if (p->fence & flavour[first][second])
        return EXEC_BOND_FENCE;
    if (p->rmw)
        return EXEC_BOND_RMW;
    return p->fence ? EXEC_BOND_WEAK : p->dep ? EXEC_BOND_DEP : EXEC_BOND_PO;
}

static bool has_role(const struct access *a, enum role role)
{
    return role == READ ? a->reads : a->writes;
}

/* ---- the search ------------------------------------------------------------------------------ */

struct search {
    struct cover_exec *x;
    uint32_t start;
    enum role start_role;
    bool start_alone; /* the first segment is one store */
    uint8_t segment[MOST_SEGMENTS], bond[MOST_SEGMENTS];
    uint32_t thread[MOST_SEGMENTS];
    uint32_t count, pairs;
    bool tight; /* no pair is wider than NEAR */
};

/* Bits of `marks`: the edges from an access to the start, and from the start to it. */
#define TO_START(kind) (1u << (kind))
#define FROM_START(kind) (8u << (kind))

static uint32_t code_of(const uint8_t *segment, uint32_t count, uint32_t turn)
{
    uint32_t code = 0;
    for (uint32_t i = 0; i < count; i++)
        code |= (uint32_t)segment[(i + turn) % count] << SEGMENT_BITS * i;
    return code;
}

static void report_two(struct cover_exec *x, uint32_t shape, const uint8_t *bond, bool symmetric,
                       bool closed)
{
    bool swap = symmetric && bond[0] > bond[1];
    cover_hit(x->hits, cover_point(COVER_GROUP_SHAPE2, shape, bond[swap], bond[!swap], closed, 0));
}

static void report_three(struct cover_exec *x, uint32_t shape, const uint8_t *bond, bool symmetric,
                         bool closed)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t turn = 0; turn < (symmetric ? 3 : 1); turn++) {
        uint32_t point = cover_point(COVER_GROUP_SHAPE3, shape, coarse[bond[turn]],
                                     coarse[bond[(turn + 1) % 3]], coarse[bond[(turn + 2) % 3]],
                                     closed);
        best = point < best ? point : best;
    }
    cover_hit(x->hits, best);
}

static void report(struct search *s, bool closed)
{
    const struct exec_shape_entry *e = &s->x->shape[code_of(s->segment, s->count, 0)];
    uint8_t bond[MOST_SEGMENTS];
    uint32_t pairs = 0;
    if (!e->found)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t at = (i + e->turn) % s->count;
        if (s->segment[at] != W)
            bond[pairs++] = s->bond[at];
    }
    assert(pairs == s->pairs);
    if (e->shape < COVER_AXIS_SHAPE2)
        report_two(s->x, e->shape, bond, e->symmetric, closed);
    else
        report_three(s->x, e->shape - COVER_AXIS_SHAPE2, bond, e->symmetric, closed);
}

/* Does an edge lead from here to the start, or would it if it were turned round? */
static void close_cycle(struct search *s, uint32_t end, enum role role)
{
    uint32_t marks = s->x->marks.data[end];
    bool alone = s->segment[s->count - 1] == W;
    if (!marks || (role == READ && s->start_role == READ) || (alone && s->start_role == WRITE))
        return;
    enum exec_edge_kind kind = s->start_role == READ ? EDGE_RF : role == READ ? EDGE_FR : EDGE_CO;
    static const uint8_t reverse[] = {
        [EDGE_RF] = EDGE_FR, [EDGE_FR] = EDGE_RF, [EDGE_CO] = EDGE_CO
    };
    if (marks & TO_START(kind))
        report(s, true);
    if (marks & FROM_START(reverse[kind]))
        report(s, false);
}

static void go_on(struct search *s, uint32_t end, enum role role);

static void push(struct search *s, uint32_t thread, enum segment segment, enum exec_bond bond)
{
    assert(s->count < MOST_SEGMENTS);
    s->thread[s->count] = thread;
    s->segment[s->count] = (uint8_t)segment;
    s->bond[s->count++] = (uint8_t)bond;
    s->pairs += segment != W;
}

static void pop(struct search *s) { s->pairs -= s->segment[--s->count] != W; }

static void try_segment(struct search *s, uint32_t end, enum role role)
{
    if (s->pairs >= 2)
        close_cycle(s, end, role);
    if (s->count < MOST_SEGMENTS)
        go_on(s, end, role);
}

static void try_pairs(struct search *s, uint32_t first, enum role role)
{
    const struct cover_exec *x = s->x;
    struct pair p = first_pair(first);
    uint64_t live = 0;
    bool tight = s->tight;
    uint32_t most = s->pairs == 2 ? NEAR : FAR;
    for (uint32_t n = 1; n <= most && next_pair(x, first, &p, &live); n++) {
        s->tight = tight && n <= NEAR;
        for (enum role second = WRITE; p.apart && second <= READ; second++) {
            if (!has_role(&x->accesses.data[p.second], second))
                continue;
            push(s, x->accesses.data[first].thread, WW + 2 * role + second,
                 bond_of(&p, role, second));
            try_segment(s, p.second, second);
            pop(s);
        }
    }
    s->tight = tight;
}

static bool is_visited(const struct search *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->thread[i] == thread)
            return true;
    return false;
}

/* Cycles have two pairs and stores alone between them, or three pairs; of one store alone on comes
 * what read it. */
static void go_on(struct search *s, uint32_t end, enum role role)
{
    const struct cover_exec *x = s->x;
    bool alone = s->segment[s->count - 1] == W;
    bool more = s->pairs < 2 || (s->pairs == 2 && s->count == 2 && s->tight);
    for (uint32_t i = x->out.data[end]; i < x->out.data[end + 1]; i++) {
        const struct edge *e = &x->edges.data[i];
        enum role to = e->kind == EDGE_RF ? READ : WRITE;
        uint32_t thread = x->accesses.data[e->to].thread;
        if ((e->kind == EDGE_FR) != (role == READ) || (alone && to == WRITE)
            || is_visited(s, thread))
            continue;
        if (more)
            try_pairs(s, e->to, to);
        if (to == WRITE && x->accesses.data[e->to].at_once && s->pairs <= 2
            && !(s->start_alone && s->pairs == 2)) {
            push(s, thread, W, EXEC_BOND_PO);
            try_segment(s, e->to, WRITE);
            pop(s);
        }
    }
}

static void search_from(struct cover_exec *x, uint32_t start, enum role role)
{
    struct search s = { .x = x, .start = start, .start_role = role, .tight = true };
    try_pairs(&s, start, role);
    if (role == READ || !x->accesses.data[start].at_once)
        return;
    s.start_alone = true;
    push(&s, x->accesses.data[start].thread, W, EXEC_BOND_PO);
    go_on(&s, start, role);
}

/* ---- coherence ------------------------------------------------------------------------------- */

/* Edges of a cycle through a store that leave an access of this role, and that come to it. */
static bool leaves(enum role role, enum exec_edge_kind kind)
{
    return kind == (role == READ ? EDGE_FR : EDGE_CO);
}
static bool comes(enum role role, enum exec_edge_kind kind)
{
    return kind == (role == READ ? EDGE_RF : EDGE_CO);
}

/* Does an edge of this kind lead from where `out` ends to `first`, in a cell of `out`? Memory is
 * coherent cell by cell: what was seen of one tells nothing of the order in another. */
static bool leads_back(const struct cover_exec *x, const struct edge *out, uint32_t first,
                       enum exec_edge_kind kind)
{
    const struct access *a = x->accesses.data;
    int64_t shift = (int64_t)a[out->to].cell - (int64_t)a[out->from].cell;
    for (uint32_t i = x->in.data[first]; i < x->in.data[first + 1]; i++) {
        const struct edge *e = &x->edges.data[x->back.data[i]];
        if (e->from == out->to && e->kind == kind
            && (shift < 0 ? e->cells >> -shift : e->cells << shift) & out->cells)
            return true;
    }
    return false;
}

static void look_at_pair(struct cover_exec *x, const struct pair *p, enum role first,
                         enum role second)
{
    enum { BESIDE, BETWEEN, CLOSED };
    static const uint8_t names[2][2] = {
        [READ] = { [READ] = 0, [WRITE] = 1 }, [WRITE] = { [READ] = 2, [WRITE] = 3 }
    };
    uint32_t b = p->second, name = names[first][second], bond = bond_of(p, first, second);
    enum exec_edge_kind back = first == READ ? EDGE_RF : EDGE_CO;
    uint32_t from = FROM_START(first == READ ? EDGE_FR : EDGE_CO);
    for (uint32_t i = x->out.data[b]; i < x->out.data[b + 1]; i++) {
        const struct edge *e = &x->edges.data[i];
        if (!leaves(second, e->kind))
            continue;
        bool closed = x->marks.data[e->to] & TO_START(back) && leads_back(x, e, p->first, back);
        cover_hit(x->hits,
                  cover_point(COVER_GROUP_COHERENCE, name, bond, closed ? CLOSED : BESIDE, 0, 0));
    }
    for (uint32_t i = x->in.data[b]; i < x->in.data[b + 1]; i++) {
        const struct edge *e = &x->edges.data[x->back.data[i]];
        if (comes(second, e->kind) && x->marks.data[e->from] & from)
            cover_hit(x->hits, cover_point(COVER_GROUP_COHERENCE, name, bond, BETWEEN, 0, 0));
    }
}

static void look_at_coherence(struct cover_exec *x, uint32_t first)
{
    struct pair p = first_pair(first);
    uint64_t live = 0;
    while (next_pair(x, first, &p, &live))
        for (enum role a = WRITE; !p.apart && a <= READ; a++)
            for (enum role b = WRITE; b <= READ; b++)
                if (has_role(&x->accesses.data[first], a)
                    && has_role(&x->accesses.data[p.second], b))
                    look_at_pair(x, &p, a, b);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void mark(struct cover_exec *x, uint32_t start, bool on)
{
    for (uint32_t i = x->out.data[start]; i < x->out.data[start + 1]; i++) {
        const struct edge *e = &x->edges.data[i];
        x->marks.data[e->to] = on ? x->marks.data[e->to] | FROM_START(e->kind) : 0;
    }
    for (uint32_t i = x->in.data[start]; i < x->in.data[start + 1]; i++) {
        const struct edge *e = &x->edges.data[x->back.data[i]];
        x->marks.data[e->from] = on ? x->marks.data[e->from] | TO_START(e->kind) : 0;
    }
}

bool exec_shape(struct cover_exec *x)
{
    if (!LIST_CLEAR_TO(&x->marks, x->accesses.count))
        return false;
    for (uint32_t a = 0; a < x->accesses.count; a++) {
        mark(x, a, true);
        for (enum role role = WRITE; role <= READ; role++)
            if (has_role(&x->accesses.data[a], role))
                search_from(x, a, role);
        look_at_coherence(x, a);
        mark(x, a, false);
    }
    return true;
}

void exec_shape_table(struct exec_shape_entry *table)
{
    for (uint8_t shape = 0; shape < SHAPES; shape++) {
        uint32_t count = 0;
        while (count < MOST_SEGMENTS && shapes[shape][count])
            count++;
        for (uint32_t turn = 0; turn < count; turn++) {
            struct exec_shape_entry *e = &table[code_of(shapes[shape], count, turn)];
            e->symmetric = e->found;
            if (e->found)
                continue;
            *e = (struct exec_shape_entry){ .found = true,
                                            .shape = shape,
                                            .turn = (uint8_t)((count - turn) % count) };
        }
    }
}
