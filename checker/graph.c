/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the analysis graph: program order from the model's table, then observed values.
 *
 * Program order costs a constant number of edges an operation: for each pair of kinds a `cover`
 * holds the latest nodes that stand for all earlier operations of the one kind in the eyes
 * of the other (Fig. 4.2, lines 1 to 10, made independent of the model). */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct arc { uint32_t from, to; };
struct node_set { uint32_t *data; size_t count, capacity; };

struct builder {
    struct ordeal *o;
    struct graph *g;
    const struct execution *x;
    const struct model *model;
    VEC(struct arc) arcs;
    VEC(struct access) accesses;
    VEC(uint32_t) access_first;
    uint32_t *mark;                /* by node: the target it was last made a predecessor of */
    size_t mark_size;
    /* Per thread, reset between threads. */
    struct node_set cover[2][2];          /* [earlier kind][later kind] */
    uint32_t after[2][2];          /* what every later op of the second kind follows, or NONE */
    /* Per word, valid when its stamp is the current thread. */
    uint32_t *stamp, *last_store, *last_load;
    VEC(uint32_t) load_link;       /* chains of loads of a word since its last store */
    VEC(uint32_t) load_node;
    uint32_t *issue;               /* by group: issue node of a pure store under `dependence` */
    uint8_t marks;                 /* of groups: acquire, release and the like that some have */
    bool same_word;                /* accesses to one word are to be looked at */
    /* Of marks and RISC-V's dependences, reset between threads. */
    struct node_set acquired;   /* nodes that all later ones follow */
    struct node_set unreleased; /* nodes that stand for all earlier ones */
    uint32_t ordered;           /* the last node of an atomic with a mark, or NONE */
    uint32_t floor;             /* node that all later stores follow, or NONE */
    uint32_t next_dependence, next_reservation;
    uint32_t *run_floor, *run_load; /* by word: see follow_apart() */
    /* First and last node of each group under views. */
    uint32_t *entry, *exit;
};

static bool add_arc(struct builder *b, uint32_t from, uint32_t to)
{
    assert(from < b->g->nodes && to < b->g->nodes);
    return VEC_PUSH(b->o, &b->arcs, ((struct arc){ from, to }));
}

static uint32_t add_node(struct builder *b, enum node_kind kind)
{
    uint32_t node = b->g->nodes;
    assert(b->g->kind.count == node && b->access_first.count == node);
    if (!VEC_PUSH(b->o, &b->g->kind, (uint8_t)kind)
        || !VEC_PUSH(b->o, &b->access_first, (uint32_t)b->accesses.count))
        return NONE;
    b->g->nodes++;
    return node;
}

static bool add_access(struct builder *b, uint32_t event, uint32_t slot)
{
    assert(slot < cells_of(b->g, b->x->loc[event]));
    return VEC_PUSH(b->o, &b->accesses, ((struct access){ event, slot }));
}

/* ---- nodes and cells ---------------------------------------------------------------- */

static bool make_plain_nodes(struct builder *b)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    for (uint32_t l = 0; l <= x->locations; l++)
        g->cell_first[l] = l;
    if (!VEC_RESERVE(b->o, &b->accesses, x->events) || !VEC_RESERVE(b->o, &g->kind, x->groups)
        || !VEC_RESERVE(b->o, &b->access_first, (size_t)x->groups + 1))
        return false;
    uint32_t stores = 0;
    for (uint32_t e = 0; e < x->events; e++) {
        g->store_first[e] = stores;
        if (x->is_store[e])
            g->store_node[stores++] = x->group[e];
    }
    g->store_first[x->events] = g->stores = stores;
    for (uint32_t h = 0; h < x->groups; h++) {
        if (add_node(b, NODE_REAL) == NONE)
            return false;
        const struct reservation *r = x->reservations ? reservation_of(x, h) : NULL;
        for (uint32_t e = r ? r->first : 0; r && e < r->end; e++)
            if (!add_access(b, e, 0)) /* nobody overwrites what the LR saw before the SC does */
                return false;
        for (uint32_t e = x->group_first[h]; e < x->group_first[h + 1]; e++)
            if (!add_access(b, e, 0))
                return false;
    }
    return true;
}

static uint32_t representative(uint32_t *joined, uint32_t loc)
{
    while (joined[loc] != loc)
        loc = joined[loc] = joined[joined[loc]];
    return loc;
}

/* Words that are accessed at once have the same views. */
static void join_words(const struct execution *x, uint32_t *joined)
{
    for (uint32_t l = 0; l < x->locations; l++)
        joined[l] = l;
    for (uint32_t h = 1; h < x->groups; h++)
        for (uint32_t e = x->group_first[h] + 1; e < x->group_first[h + 1]; e++) {
            uint32_t a = representative(joined, x->loc[e - 1]);
            uint32_t b = representative(joined, x->loc[e]);
            joined[a > b ? a : b] = a > b ? b : a;
        }
}

/* The views of a word: the threads that load it, or a word joined with it; thread 0's where nobody
 * does. Stores landing in memory that nobody looks at cannot be told apart: no view for those. */
static bool make_cells(struct builder *b)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    uint32_t *count = mem_zero(b->o, x->locations, sizeof *count);
    uint32_t *seen = mem_array(b->o, x->locations, sizeof *seen);
    uint32_t *joined = mem_array(b->o, x->locations, sizeof *joined);
    bool ok = count && seen && joined;
    if (ok)
        join_words(x, joined);
    for (int fill = 0; ok && fill < 2; fill++) {
        memset(seen, 0xff, x->locations * sizeof *seen);
        for (uint32_t e = x->locations; e < x->events; e++) {
            uint32_t l = representative(joined, x->loc[e]), t = event_thread(x, e);
            if (x->is_store[e] || seen[l] == t)
                continue;
            seen[l] = t;
            assert(!fill || count[l] < cells_of(g, l));
            if (fill)
                g->slot_thread[g->cell_first[l] + count[l]] = t;
            count[l]++;
        }
        if (fill)
            break;
        g->cell_first[0] = 0;
        for (uint32_t l = 0; l < x->locations; l++) {
            uint32_t views = count[representative(joined, l)];
            g->cell_first[l + 1] = g->cell_first[l] + (views ? views : 1);
        }
        memset(count, 0, x->locations * sizeof *count);
        g->slot_thread = mem_zero(b->o, g->cell_first[x->locations], sizeof *g->slot_thread);
        ok = g->slot_thread != NULL;
    }
    for (uint32_t l = 0; ok && l < x->locations; l++)
        memmove(g->slot_thread + g->cell_first[l],
                g->slot_thread + g->cell_first[representative(joined, l)],
                cells_of(g, l) * sizeof *g->slot_thread);
    mem_free(b->o, count, x->locations * sizeof *count);
    mem_free(b->o, seen, x->locations * sizeof *seen);
    mem_free(b->o, joined, x->locations * sizeof *joined);
    return ok;
}

static uint32_t slot_of_thread(const struct graph *g, uint32_t loc, uint32_t thread)
{
    for (uint32_t s = 0; s < cells_of(g, loc); s++)
        if (g->slot_thread[g->cell_first[loc] + s] == thread)
            return s;
    return NONE;
}

/* The stores of a group in the view of one thread: a node, if any of its words has that view. */
static bool make_view_node(struct builder *b, uint32_t group, uint32_t thread, uint32_t begin,
                           uint32_t end)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    uint32_t node = NONE;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t slot = slot_of_thread(g, x->loc[e], thread);
        bool swapped = (x->group_flags[group] & GROUP_LOADS) != 0;
        if (slot == NONE || (!x->is_store[e] && !swapped))
            continue;
        if (node == NONE) {
            node = add_node(b, NODE_REAL);
            if (node == NONE || !add_arc(b, begin, node) || !add_arc(b, node, end))
                return false;
        }
        if (!add_access(b, e, slot))
            return false;
        if (x->is_store[e])
            g->store_node[g->store_first[e] + slot] = node;
    }
    return true;
}

static bool make_store_nodes(struct builder *b, uint32_t group)
{
    uint32_t begin = add_node(b, NODE_BEGIN);
    uint32_t end = begin == NONE ? NONE : add_node(b, NODE_END);
    if (end == NONE)
        return false;
    for (uint32_t t = 0; t < b->x->threads; t++)
        if (!make_view_node(b, group, t, begin, end))
            return false;
    if (b->entry[group] == NONE)
        b->entry[group] = begin;
    else if (!add_arc(b, b->exit[group], begin)) /* a swap loads, then stores */
        return false;
    b->exit[group] = end;
    return true;
}

static bool make_load_node(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    uint32_t node = add_node(b, NODE_REAL);
    if (node == NONE)
        return false;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        if (x->is_store[e])
            continue;
        b->g->load_node[e] = node;
        if (!add_access(b, e, slot_of_thread(b->g, x->loc[e], x->thread_of[group])))
            return false;
    }
    b->entry[group] = b->exit[group] = node;
    return true;
}

static bool make_view_nodes(struct builder *b)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    if (!make_cells(b))
        return false;
    uint64_t stores = 0;
    for (uint32_t e = 0; e < x->events; e++) {
        g->store_first[e] = (uint32_t)stores;
        stores += x->is_store[e] ? cells_of(g, x->loc[e]) : 0;
    }
    if (stores >= NONE) {
        fail(b->o, ORDEAL_LIMIT, "too many stores and views for this model");
        return false;
    }
    g->store_first[x->events] = g->stores = (uint32_t)stores;
    g->store_node = mem_zero(b->o, g->stores, sizeof *g->store_node);
    g->load_node = mem_zero(b->o, x->events, sizeof *g->load_node);
    b->entry = mem_array(b->o, x->groups, sizeof *b->entry);
    b->exit = mem_array(b->o, x->groups, sizeof *b->exit);
    if (!g->store_node || !g->load_node || !b->entry || !b->exit)
        return false;
    memset(b->entry, 0xff, x->groups * sizeof *b->entry);
    if (add_node(b, NODE_REAL) == NONE) /* the root */
        return false;
    for (uint32_t e = 0; e < x->locations; e++)
        for (uint32_t s = 0; s < cells_of(g, e); s++)
            if (!add_access(b, e, s))
                return false;
    for (uint32_t h = 1; h < x->groups; h++)
        if (((x->group_flags[h] & GROUP_LOADS) && !make_load_node(b, h))
            || ((x->group_flags[h] & GROUP_STORES) && !make_store_nodes(b, h)))
            return false;
    return true;
}

/* ---- program order ------------------------------------------------------------------ */

static uint32_t entry_node(const struct builder *b, uint32_t group, int kind)
{
    if (!b->entry)
        return group;
    if (kind == LOAD || !(b->x->group_flags[group] & GROUP_LOADS))
        return b->entry[group];
    assert(b->g->kind.data[b->exit[group] - 1] == NODE_BEGIN);
    return b->exit[group] - 1; /* BEGIN stands right before END, see make_store_nodes */
}

static uint32_t exit_node(const struct builder *b, uint32_t group, int kind)
{
    if (!b->entry)
        return group;
    return kind == LOAD ? b->entry[group] : b->exit[group];
}

static bool precede(struct builder *b, uint32_t from, uint32_t to)
{
    if (from == NONE || from == to)
        return true;
    if (from >= b->mark_size) {
        size_t size = b->g->nodes + b->g->nodes / 2 + 16;
        uint32_t *mark = mem_resize(b->o, b->mark, b->mark_size * sizeof *mark,
                                    size * sizeof *mark);
        if (!mark)
            return false;
        memset(mark + b->mark_size, 0xff, (size - b->mark_size) * sizeof *mark);
        b->mark = mark;
        b->mark_size = size;
    }
    assert(from < b->mark_size);
    if (b->mark[from] == to)
        return true;
    b->mark[from] = to;
    return add_arc(b, from, to);
}

static bool precede_all(struct builder *b, const struct node_set *set, uint32_t to)
{
    for (size_t i = 0; i < set->count; i++)
        if (!precede(b, set->data[i], to))
            return false;
    return true;
}

static bool kind_in(uint8_t flags, int kind)
{
    return flags & (kind == LOAD ? GROUP_LOADS : GROUP_STORES);
}

static bool chained(const struct builder *b, int kind)
{
    return b->model->keep[kind][kind] == KEEP_ALL;
}

/* What the instruction's groups must follow. */
static bool follow(struct builder *b, uint32_t first, uint32_t end)
{
    uint8_t flags = b->x->group_flags[first];
    for (uint32_t h = first; h < end; h++)
        for (int j = LOAD; j <= STORE; j++)
            for (int k = LOAD; k <= STORE; k++) {
                if (!(flags & GROUP_TX) && !kind_in(flags, j))
                    continue;
                uint32_t to = entry_node(b, h, j);
                if (!precede(b, b->after[k][j], to)) /* R3, T3 */
                    return false;
                if (((flags & GROUP_TX) || b->model->keep[k][j] == KEEP_ALL)
                    && !precede_all(b, &b->cover[k][j], to)) /* T2, R1, R2 */
                    return false;
            }
    return true;
}

/* How the instruction's groups stand for what came before them. */
static bool become_cover(struct builder *b, uint32_t first, uint32_t end)
{
    uint8_t flags = b->x->group_flags[first];
    assert(!(flags & GROUP_TX) || (end == first + 1 && !b->entry));
    for (int k = LOAD; k <= STORE; k++)
        for (int j = LOAD; j <= STORE; j++) {
            if (flags & GROUP_TX) {
                b->cover[k][j].count = 0;
                b->after[k][j] = first;
                if (!VEC_PUSH(b->o, &b->cover[k][j], first))
                    return false;
                continue;
            }
            if (kind_in(flags, j) && chained(b, j)) {
                /* Later ops of kind j follow these, and through them all that these follow. */
                b->after[k][j] = NONE;
                if (b->model->keep[k][j] == KEEP_ALL)
                    b->cover[k][j].count = 0;
            }
            if (!kind_in(flags, k))
                continue;
            if (chained(b, k))
                b->cover[k][j].count = 0;
            for (uint32_t h = first; h < end; h++)
                if (!VEC_PUSH(b->o, &b->cover[k][j], exit_node(b, h, k)))
                    return false;
        }
    return true;
}

static bool pass_barrier(struct builder *b, uint8_t mask)
{
    static const struct { uint8_t bit, earlier, later; } flavours[] = {
        { ORDEAL_LL, LOAD, LOAD }, { ORDEAL_LS, LOAD, STORE },
        { ORDEAL_SL, STORE, LOAD }, { ORDEAL_SS, STORE, STORE },
    };
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        int k = flavours[i].earlier, j = flavours[i].later;
        struct node_set *cover = &b->cover[k][j];
        if (!(mask & flavours[i].bit) || b->model->keep[k][j] == KEEP_ALL || cover->count == 0)
            continue;
        if (cover->count > 1) {
            uint32_t barrier = add_node(b, NODE_BARRIER);
            if (barrier == NONE || !precede_all(b, cover, barrier))
                return false;
            cover->count = 1;
            cover->data[0] = barrier;
        }
        b->after[k][j] = cover->data[0];
    }
    return true;
}

/* ---- acquire, release, LR and SC ---------------------------------------------------- */

static bool note(struct builder *b, struct node_set *set, uint32_t node)
{
    return VEC_PUSH(b->o, set, node);
}

/* What an instruction of the groups [first, end) follows, and what follows it, because of its marks
 * and those of others. Kept linear: a node with a mark stands for all that it follows. */
static bool follow_marks(struct builder *b, uint32_t first, uint32_t end)
{
    for (uint32_t h = first; h < end; h++) {
        uint8_t flags = b->x->group_flags[h];
        uint32_t to = b->entry ? b->entry[h] : h;
        if (!precede_all(b, &b->acquired, to)
            || ((flags & GROUP_RELEASE) && !precede_all(b, &b->unreleased, to))
            || ((flags & GROUP_RCSC) && !precede(b, b->ordered, to)))
            return false;
    }
    return true;
}

static bool leave_marks(struct builder *b, uint32_t first, uint32_t end)
{
    uint8_t flags = b->x->group_flags[first];
    if (flags & GROUP_ACQUIRE)
        b->acquired.count = 0;
    if (flags & GROUP_RELEASE)
        b->unreleased.count = 0;
    for (uint32_t h = first; h < end; h++) {
        uint32_t node = b->exit ? b->exit[h] : h;
        if (((flags & GROUP_ACQUIRE) && !note(b, &b->acquired, node))
            || ((b->marks & GROUP_RELEASE) && !note(b, &b->unreleased, node)))
            return false;
        if (flags & GROUP_RCSC)
            b->ordered = node;
    }
    return true;
}

/* An SC follows its LR. */
static bool follow_reservation(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    if (b->next_reservation == x->reservations
        || x->reservation[b->next_reservation].group != group)
        return true;
    return precede(b, x->group[x->reservation[b->next_reservation++].first], group);
}

/* ---- same word and dependence ------------------------------------------------------- */

static void enter_word(struct builder *b, uint32_t loc, uint32_t thread)
{
    if (b->stamp[loc] == thread)
        return;
    b->stamp[loc] = thread;
    b->last_store[loc] = b->last_load[loc] = NONE;
}

/* Where a store's dependents may go on: the loads it depends on are done (thesis 2.4.3). */
static uint32_t issue_of(const struct builder *b, uint32_t group)
{
    uint32_t node = b->x->group_flags[group] & GROUP_LOADS ? group : b->issue[group];
    assert(node != NONE);
    return node;
}

/* A load behind a store of its own word and thread: it sees that one or a later one. Either way it
 * is behind what is in memory before that store can be seen. */
static bool follow_forwarder(struct builder *b, uint32_t store, uint32_t load)
{
    if (is_atomic(b->x, store) && !precede(b, store, load))
        return false;
    bool by_register = b->model->dependence == DEPENDENCE_RISCV && b->issue[store] != NONE;
    return !by_register || precede(b, b->issue[store], load);
}

static bool follow_same_word(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    bool dependence = b->model->dependence == DEPENDENCE_SPARC;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t l = x->loc[e];
        enter_word(b, l, x->thread_of[group]);
        uint32_t store = b->last_store[l];
        if (store == group)
            continue;
        if (!x->is_store[e] && store != NONE && !follow_forwarder(b, store, group))
            return false;
        if (store != NONE && dependence
            && !precede(b, issue_of(b, store), x->is_store[e] ? issue_of(b, group) : group))
            return false;
        if (!x->is_store[e])
            continue;
        if (store != NONE && b->model->keep[STORE][STORE] == KEEP_SAME_WORD
            && !precede(b, store, group))
            return false;
        if (b->model->keep[LOAD][STORE] != KEEP_SAME_WORD)
            continue;
        for (uint32_t i = b->last_load[l]; i != NONE; i = b->load_link.data[i])
            if (!precede(b, b->load_node.data[i], dependence ? issue_of(b, group) : group))
                return false;
    }
    return true;
}

/* Whether two loads of a word are known to have seen different stores; where neither store is known
 * the search sees to it. */
static bool seen_apart(const struct execution *x, uint32_t a, uint32_t b)
{
    uint32_t p = source_of(x, a), q = source_of(x, b);
    return x->value[a] != x->value[b] || (p != NONE && q != NONE && p != q);
}

static uint32_t chain_length(const struct builder *b, uint32_t link)
{
    uint32_t n = 0;
    for (; link != NONE; link = b->load_link.data[link])
        n++;
    return n;
}

static bool add_link(struct builder *b, uint32_t loc, uint32_t node)
{
    uint32_t link = b->last_load[loc];
    b->last_load[loc] = (uint32_t)b->load_link.count;
    return VEC_PUSH(b->o, &b->load_link, link) && VEC_PUSH(b->o, &b->load_node, node);
}

/* One node for all loads of the word that saw another store than those from now on. */
static bool close_run(struct builder *b, uint32_t loc)
{
    uint32_t chain = b->last_load[loc];
    bool single = chain_length(b, chain) == 1;
    uint32_t floor = single ? b->load_node.data[chain] : add_node(b, NODE_BARRIER);
    if (floor == NONE)
        return false;
    for (; !single && chain != NONE; chain = b->load_link.data[chain])
        if (!add_arc(b, b->load_node.data[chain], floor))
            return false;
    b->last_load[loc] = NONE; /* what follows those that come now, follows these through them */
    b->run_floor[loc] = floor;
    return true;
}

/* RVWMO, rule 2: two loads of a word that saw different stores, none of their thread between. */
static bool follow_apart(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t l = x->loc[e];
        if (x->is_store[e])
            continue;
        if (b->last_load[l] == NONE)
            b->run_floor[l] = NONE;
        else if (x->group[b->run_load[l]] != group && seen_apart(x, b->run_load[l], e)
                 && !close_run(b, l))
            return false;
        b->run_load[l] = e;
        if (b->run_floor[l] != NONE && !precede(b, b->run_floor[l], group))
            return false;
    }
    return true;
}

static bool note_words(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        uint32_t l = x->loc[e];
        if (x->is_store[e]) {
            b->last_store[l] = group;
            b->last_load[l] = NONE;
        } else if (b->last_store[l] != group) {
            if (!add_link(b, l, group))
                return false;
        }
    }
    return true;
}

static bool add_dependences(struct builder *b)
{
    const struct execution *x = b->x;
    for (uint32_t i = 0; i < x->dependences; i++) {
        struct dependence d = x->dependence[i];
        bool branch = d.use == ORDEAL_REGISTER_CONTROL;
        if (branch && !(x->group_flags[d.to] & GROUP_STORES))
            continue; /* loads may be performed before it is known where control goes */
        if (!add_arc(b, issue_of(b, d.from), issue_of(b, d.to)))
            return false;
    }
    return true;
}

/* ---- RISC-V's dependences: rules 9 to 13 of its preserved program order -------------- */

/* All later stores follow the node. */
static bool raise_floor(struct builder *b, uint32_t node)
{
    if (b->floor == NONE || b->floor == node) {
        b->floor = node;
        return true;
    }
    uint32_t both = add_node(b, NODE_BARRIER);
    if (both == NONE || !add_arc(b, b->floor, both) || !add_arc(b, node, both))
        return false;
    b->floor = both;
    return true;
}

/* What loads of the word follow that the store would be forwarded to: all it depends on by address
 * or data. */
static bool join_issue(struct builder *b, uint32_t group, uint32_t from)
{
    uint32_t before = b->issue[group];
    if (before == NONE || before == from) {
        b->issue[group] = from;
        return true;
    }
    uint32_t both = add_node(b, NODE_BARRIER);
    if (both == NONE || !add_arc(b, before, both) || !add_arc(b, from, both))
        return false;
    b->issue[group] = both;
    return true;
}

static bool follow_registers(struct builder *b, uint32_t group)
{
    const struct execution *x = b->x;
    bool stores = x->group_flags[group] & GROUP_STORES;
    uint32_t first = b->next_dependence, end = first;
    for (; end < x->dependences && x->dependence[end].to == group; end++) {
        struct dependence d = x->dependence[end];
        bool forwards = d.use == ORDEAL_REGISTER_ADDRESS || d.use == ORDEAL_REGISTER_DATA;
        if (d.use == ORDEAL_REGISTER_CONTROL ? !raise_floor(b, d.from) : !precede(b, d.from, group))
            return false;
        if (stores && forwards && !join_issue(b, group, d.from))
            return false;
    }
    if (stores && !precede(b, b->floor, group))
        return false;
    for (uint32_t i = first; i < end; i++)
        if (x->dependence[i].use == ORDEAL_REGISTER_ADDRESS
            && !raise_floor(b, x->dependence[i].from))
            return false;
    b->next_dependence = end;
    return true;
}

/* ---- the walk along a thread --------------------------------------------------------- */

static bool make_issue(struct builder *b, uint32_t group)
{
    if (b->x->group_flags[group] & GROUP_LOADS)
        return true;
    b->issue[group] = add_node(b, NODE_ISSUE);
    return b->issue[group] != NONE && add_arc(b, b->issue[group], group);
}

/* What a group follows because of words and registers. */
static bool order_group(struct builder *b, uint32_t group)
{
    if (b->x->reservations && !follow_reservation(b, group))
        return false;
    if (b->model->dependence == DEPENDENCE_SPARC && !make_issue(b, group))
        return false;
    if (b->model->dependence == DEPENDENCE_RISCV && !follow_registers(b, group))
        return false;
    if (!b->same_word)
        return true;
    return follow_same_word(b, group) && (!b->model->apart || follow_apart(b, group))
        && note_words(b, group);
}

/* A barrier at a thread's end may be taken for one at the next thread's start: neither orders
 * anything. */
static bool order_thread(struct builder *b, uint32_t thread, uint32_t *barrier)
{
    const struct execution *x = b->x;
    for (int k = 0; k < 4; k++) {
        b->cover[k / 2][k % 2].count = 0;
        b->after[k / 2][k % 2] = NONE;
    }
    b->load_link.count = b->load_node.count = 0;
    b->acquired.count = b->unreleased.count = 0;
    b->ordered = b->floor = NONE;
    uint32_t end = x->thread_first[thread + 1], next;
    for (uint32_t first = x->thread_first[thread]; first < end; first = next) {
        for (next = first + 1; next < end && x->instruction[next] == x->instruction[first]; next++)
            ;
        for (; *barrier < x->barriers && x->barrier[*barrier].group <= first; ++*barrier)
            if (!pass_barrier(b, x->barrier[*barrier].mask))
                return false;
        if (!follow(b, first, next) || (b->marks && !follow_marks(b, first, next)))
            return false;
        for (uint32_t h = first; h < next; h++)
            if (!order_group(b, h))
                return false;
        if (!become_cover(b, first, next) || (b->marks && !leave_marks(b, first, next))
            || limit_hit(b->o, "program order", -1))
            return false;
    }
    return true;
}

/* ---- observed values, known orders, cycles ------------------------------------------ */

static bool order_stores(struct builder *b, uint32_t from, uint32_t to)
{
    assert(b->x->is_store[from] && b->x->is_store[to] && b->x->loc[from] == b->x->loc[to]);
    if (b->x->group[from] == b->x->group[to] && from < to)
        return true; /* they are performed at once, in this order */
    for (uint32_t s = 0; s < cells_of(b->g, b->x->loc[from]); s++)
        if (!add_arc(b, node_of_store(b->g, from, s), node_of_store(b->g, to, s)))
            return false;
    return true;
}

static bool observe(struct builder *b, uint32_t load, uint32_t own)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    uint32_t source = source_of(x, load), node = node_of_load(g, load);
    if (source == NONE)
        return true;
    if (own != NONE && own != source && !order_stores(b, own, source)) /* R5 */
        return false;
    if (is_initial(x, source))
        return true;
    bool swapped = g->load_node && (x->group_flags[x->group[load]] & GROUP_STORES);
    for (uint32_t s = 0; s < cells_of(g, x->loc[load]); s++) {
        bool seen = !g->slot_thread
                 || g->slot_thread[g->cell_first[x->loc[load]] + s] == event_thread(x, load);
        if ((swapped || (seen && !program_order(x, source, load)))
            && !add_arc(b, node_of_store(g, source, s), node)) /* R4 */
            return false;
    }
    return true;
}

static bool observe_all(struct builder *b)
{
    const struct execution *x = b->x;
    memset(b->stamp, 0xff, x->locations * sizeof *b->stamp);
    for (uint32_t e = x->locations; e < x->events; e++) {
        uint32_t l = x->loc[e], soon = e + 16 < x->events ? x->candidate_first[e + 16] : 0;
        if (soon < x->candidates)
            __builtin_prefetch(&x->group[x->candidate[soon]]);
        enter_word(b, l, event_thread(x, e));
        if (x->is_store[e])
            b->last_store[l] = e;
        else if (!observe(b, e, b->last_store[l]))
            return false;
    }
    return true;
}

static bool add_known_orders(struct builder *b)
{
    const struct execution *x = b->x;
    for (uint32_t k = 0; k < x->orders; k++)
        for (uint32_t i = x->order_first[k]; i + 1 < x->order_first[k + 1]; i++)
            if (!order_stores(b, x->order[i], x->order[i + 1])) /* A6 */
                return false;
    return true;
}

/* Every other store of the word is before the one that left the final value. */
static bool add_finals(struct builder *b)
{
    const struct execution *x = b->x;
    for (uint32_t e = x->locations; x->finals && e < x->events; e++) {
        uint32_t k = x->is_store[e] ? x->final_of[x->loc[e]] : NONE;
        for (; k != NONE; k = x->final[k].next) {
            uint32_t last = last_store(x, k);
            if (last != NONE && e != last && !order_stores(b, e, last))
                return false;
        }
    }
    return true;
}

struct moment { uint64_t time; uint32_t group; bool is_end; };

static int by_time(const void *a, const void *b)
{
    const struct moment *p = a, *q = b;
    if (p->time != q->time)
        return p->time < q->time ? -1 : 1;
    return (int)p->is_end - (int)q->is_end; /* at one cycle nothing has ended before it begins */
}

/* One chain of ticks: what ended before a tick is before what begins at or after it. */
static bool add_time_order(struct builder *b)
{
    const struct execution *x = b->x;
    VEC(struct moment) moments = { 0 };
    bool ok = true;
    for (uint32_t h = 1; ok && h < x->groups; h++) {
        if (x->begin[h] != 0)
            ok = VEC_PUSH(b->o, &moments, ((struct moment){ x->begin[h], h, false }));
        if (ok && x->end[h] != UINT64_MAX)
            ok = VEC_PUSH(b->o, &moments, ((struct moment){ x->end[h], h, true }));
    }
    if (ok && moments.count)
        qsort(moments.data, moments.count, sizeof *moments.data, by_time);
    uint32_t tick = NONE;
    size_t pending = 0; /* moments before this one are in the tick already */
    for (size_t i = 0; ok && i < moments.count; i++) {
        struct moment m = moments.data[i];
        if (m.is_end)
            continue;
        uint32_t before = tick;
        for (; ok && pending < i; pending++)
            if (moments.data[pending].is_end) {
                uint32_t h = moments.data[pending].group;
                if (tick == before) {
                    tick = add_node(b, NODE_TICK);
                    ok = tick != NONE && (before == NONE || add_arc(b, before, tick));
                }
                ok = ok && add_arc(b, b->exit ? b->exit[h] : h, tick);
            }
        if (ok && tick != NONE)
            ok = add_arc(b, tick, b->entry ? b->entry[m.group] : m.group);
    }
    VEC_FREE(b->o, &moments);
    return ok;
}

/* ---- assembly ----------------------------------------------------------------------- */

/* What loads saw lies anywhere in memory: ask for what comes while working on what is here. */
enum { AHEAD = 12 };
static void expect_arc(const struct builder *b, uint32_t i)
{
    if (i >= b->g->edges)
        return;
    __builtin_prefetch(&b->g->succ_first[b->arcs.data[i].from + 1]);
    __builtin_prefetch(&b->g->pred_first[b->arcs.data[i].to + 1]);
}

static bool index_arcs(struct builder *b)
{
    struct graph *g = b->g;
    size_t n = g->nodes;
    if (b->arcs.count >= NONE) {
        fail(b->o, ORDEAL_LIMIT, "the analysis graph is too large");
        return false;
    }
    g->edges = (uint32_t)b->arcs.count;
    g->succ_first = mem_zero(b->o, n + 2, sizeof *g->succ_first);
    g->pred_first = mem_zero(b->o, n + 2, sizeof *g->pred_first);
    g->succ = mem_array(b->o, g->edges, sizeof *g->succ);
    g->pred = mem_array(b->o, g->edges, sizeof *g->pred);
    if (!g->succ_first || !g->pred_first || !g->succ || !g->pred)
        return false;
    for (uint32_t i = 0; i < g->edges; i++) {
        expect_arc(b, i + AHEAD);
        g->succ_first[b->arcs.data[i].from + 2]++;
        g->pred_first[b->arcs.data[i].to + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) {
        g->succ_first[i] += g->succ_first[i - 1];
        g->pred_first[i] += g->pred_first[i - 1];
    }
    for (uint32_t i = 0; i < g->edges; i++) {
        struct arc a = b->arcs.data[i];
        expect_arc(b, i + AHEAD);
        g->succ[g->succ_first[a.from + 1]++] = a.to;
        g->pred[g->pred_first[a.to + 1]++] = a.from;
    }
    return true;
}

static bool allocate(struct builder *b)
{
    const struct execution *x = b->x;
    struct graph *g = b->g;
    g->cell_first = mem_array(b->o, (size_t)x->locations + 1, sizeof *g->cell_first);
    g->store_first = mem_array(b->o, (size_t)x->events + 1, sizeof *g->store_first);
    b->stamp = mem_array(b->o, x->locations, sizeof *b->stamp);
    b->last_store = mem_array(b->o, x->locations, sizeof *b->last_store);
    b->last_load = mem_array(b->o, x->locations, sizeof *b->last_load);
    if (!g->cell_first || !g->store_first || !b->stamp || !b->last_store || !b->last_load)
        return false;
    memset(b->stamp, 0xff, x->locations * sizeof *b->stamp);
    if (!b->model->views) {
        uint32_t stores = 0;
        for (uint32_t e = 0; e < x->events; e++)
            stores += x->is_store[e];
        g->stores = stores;
        g->store_node = mem_array(b->o, stores, sizeof *g->store_node);
        if (!g->store_node)
            return false;
    }
    for (uint32_t h = 1; h < x->groups; h++)
        b->marks |= x->group_flags[h] & (GROUP_ACQUIRE | GROUP_RELEASE | GROUP_RCSC);
    b->same_word = b->model->keep[LOAD][STORE] == KEEP_SAME_WORD
                || b->model->keep[STORE][STORE] == KEEP_SAME_WORD || x->reservations;
    if (b->model->apart) {
        b->run_floor = mem_array(b->o, x->locations, sizeof *b->run_floor);
        b->run_load = mem_array(b->o, x->locations, sizeof *b->run_load);
        if (!b->run_floor || !b->run_load)
            return false;
    }
    if (b->model->dependence) {
        b->issue = mem_array(b->o, x->groups, sizeof *b->issue);
        if (!b->issue)
            return false;
        memset(b->issue, 0xff, x->groups * sizeof *b->issue);
    }
    return true;
}

/* The accesses gathered become the graph's. */
static bool keep_accesses(struct builder *b)
{
    struct graph *g = b->g;
    if (!VEC_FIT(b->o, &b->accesses) || !VEC_FIT(b->o, &b->access_first))
        return false;
    g->accesses = (uint32_t)b->accesses.count;
    g->access = b->accesses.data;
    g->access_first = b->access_first.data;
    b->accesses.data = NULL;
    b->access_first.data = NULL;
    b->accesses.capacity = b->access_first.capacity = 0;
    return true;
}

static bool build(struct builder *b)
{
    const struct execution *x = b->x;
    if (!allocate(b) || !VEC_RESERVE(b->o, &b->arcs, 2 * (size_t)x->groups)
        || !(b->model->views ? make_view_nodes(b) : make_plain_nodes(b)))
        return false;
    uint32_t barrier = 0;
    for (uint32_t t = 0; t < x->threads; t++)
        if (!order_thread(b, t, &barrier))
            return false;
    if ((b->model->dependence == DEPENDENCE_SPARC && !add_dependences(b)) || !observe_all(b)
        || !add_known_orders(b) || !add_finals(b)
        || (b->g->time_order && x->begin && !add_time_order(b)))
        return false;
    struct graph *g = b->g;
    while (b->access_first.count <= g->nodes)
        if (!VEC_PUSH(b->o, &b->access_first, (uint32_t)b->accesses.count))
            return false;
    return index_arcs(b) && keep_accesses(b);
}

static void free_builder(struct builder *b)
{
    const struct execution *x = b->x;
    struct ordeal *o = b->o;
    VEC_FREE(o, &b->arcs);
    VEC_FREE(o, &b->accesses);
    VEC_FREE(o, &b->access_first);
    for (int k = 0; k < 4; k++)
        VEC_FREE(o, &b->cover[k / 2][k % 2]);
    VEC_FREE(o, &b->load_link);
    VEC_FREE(o, &b->load_node);
    mem_free(o, b->mark, b->mark_size * sizeof *b->mark);
    mem_free(o, b->stamp, x->locations * sizeof *b->stamp);
    mem_free(o, b->last_store, x->locations * sizeof *b->last_store);
    mem_free(o, b->last_load, x->locations * sizeof *b->last_load);
    mem_free(o, b->issue, x->groups * sizeof *b->issue);
    VEC_FREE(o, &b->acquired);
    VEC_FREE(o, &b->unreleased);
    mem_free(o, b->run_floor, x->locations * sizeof *b->run_floor);
    mem_free(o, b->run_load, x->locations * sizeof *b->run_load);
    mem_free(o, b->entry, x->groups * sizeof *b->entry);
    mem_free(o, b->exit, x->groups * sizeof *b->exit);
}

enum ordeal_status graph_build(const struct execution *x, enum ordeal_model model, bool time_order,
                               struct graph **out)
{
    struct ordeal *o = x->o;
    *out = NULL;
    struct graph *g = mem_zero(o, 1, sizeof *g);
    if (!g)
        return o->error.status;
    *g = (struct graph){ .o = o, .x = x, .model = &models[model], .time_order = time_order };
    struct builder b = { .o = o, .g = g, .x = x, .model = g->model };
    size_t used = o->used - sizeof *g;
    bool ok = build(&b);
    free_builder(&b);
    if (!ok) {
        graph_free(g);
        assert(o->used == used);
        return o->error.status;
    }
    check_hot(graph_check(g));
    *out = g;
    return ORDEAL_OK;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    struct ordeal *o = g->o;
    const struct execution *x = g->x;
    size_t n = g->nodes;
    VEC_FREE(o, &g->kind);
    mem_free(o, g->succ_first, (n + 2) * sizeof *g->succ_first);
    mem_free(o, g->pred_first, (n + 2) * sizeof *g->pred_first);
    mem_free(o, g->succ, g->edges * sizeof *g->succ);
    mem_free(o, g->pred, g->edges * sizeof *g->pred);
    mem_free(o, g->access_first, (n + 1) * sizeof *g->access_first);
    if (g->accesses)
        mem_free(o, g->access, g->accesses * sizeof *g->access);
    if (g->slot_thread)
        mem_free(o, g->slot_thread, g->cell_first[x->locations] * sizeof *g->slot_thread);
    mem_free(o, g->cell_first, ((size_t)x->locations + 1) * sizeof *g->cell_first);
    mem_free(o, g->store_first, ((size_t)x->events + 1) * sizeof *g->store_first);
    mem_free(o, g->store_node, g->stores * sizeof *g->store_node);
    mem_free(o, g->load_node, x->events * sizeof *g->load_node);
    mem_free(o, g, sizeof *g);
}
