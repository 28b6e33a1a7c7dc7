/* SPDX-License-Identifier: Apache-2.0 */
/* Certifies a FAIL: no order whatever obeys the axioms.
 *
 * A proof is a list of clauses over two kinds of statements: `store a is before store b` (of one
 * word; exactly one of a < b and b < a holds) and `load a saw store b` (exactly one of its
 * candidates). A clause with edges is a lemma: assume its literals false, and each edge must follow
 * from an axiom, from the assumptions, or from what the clauses before force; edges that run in a
 * circle then contradict Order. A clause without edges must follow from those before it by unit
 * propagation. The last clause is empty. Nothing in a proof is trusted, it may come from a file. */
#include "certify.h"
#include "rup.h"

struct statement { bool reads; uint32_t a, b; };

struct proof_check {
    const struct ordeal_verdict *v;
    const struct execution *x;
    struct scratch scratch;
    bool views;
    uint8_t assumed_membar;

    /* The statements of all clauses, numbered: variables of the propagation. */
    VEC(struct statement) statements;
    uint32_t *table;                   /* open addressing: number + 1, 0 empty */
    size_t table_mask;
    struct rup rup;

    uint32_t step;                     /* at work, from 1 */
    uint32_t *assumed;                 /* by literal: the step that last assumed it true */
    VEC(uint32_t) clause;              /* literals of the step, none twice */

    /* RMO's dependence order: marks of the sweep at work. */
    uint32_t sweep;
    uint32_t *depends;                 /* by group: the sweep that found it dependent */
    uint32_t *word_access, *word_store; /* by word: that found such an access, such a store */
};

static enum ordeal_status refuse_step(const struct proof_check *p, const char *why)
{
    return fail(p->v->o, ORDEAL_INTERNAL, "step %u: %s", p->step, why);
}

static enum ordeal_status out_of_memory(const struct proof_check *p)
{
    return scratch_status(&p->scratch);
}

/* ---- statements ---------------------------------------------------------------------- */

static bool same_word_stores(const struct execution *x, uint32_t a, uint32_t b)
{
    return a != b && x->is_store[a] && x->is_store[b] && x->loc[a] == x->loc[b];
}

static bool is_candidate(const struct execution *x, uint32_t load, uint32_t store)
{
    return !x->is_store[load] && x->is_store[store] && x->loc[load] == x->loc[store]
        && x->value[load] == x->value[store];
}

/* Where the statement stands in the table, or would. */
static uint32_t *find_statement(const struct proof_check *p, struct statement s)
{
    uint64_t key = (uint64_t)s.a << 33 | (uint64_t)s.b << 1 | s.reads;
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = (size_t)(h >> 20) & p->table_mask;; i = (i + 1) & p->table_mask) {
        uint32_t n = p->table[i];
        if (n == 0)
            return &p->table[i];
        const struct statement *t = &p->statements.data[n - 1];
        if (t->reads == s.reads && t->a == s.a && t->b == s.b)
            return &p->table[i];
    }
}

/* a < b and b < a are one statement and its negation: the lower event comes first. */
static struct statement normal(bool reads, uint32_t a, uint32_t b)
{
    return reads || a < b ? (struct statement){ reads, a, b } : (struct statement){ reads, b, a };
}

/* The literal that says so, or NONE when no clause speaks of it. */
static uint32_t literal_of(const struct proof_check *p, bool reads, bool negated, uint32_t a,
                           uint32_t b)
{
    struct statement s = normal(reads, a, b);
    uint32_t n = *find_statement(p, s);
    assert(n <= p->statements.count);
    return n == 0 ? NONE : 2 * (n - 1) + (negated ^ (s.a != a));
}

/* Assumed for this step, or forced by the clauses before it; once those contradict each other,
 * everything is. */
static bool holds(const struct proof_check *p, uint32_t literal)
{
    assert(literal == NONE || literal < 2 * p->statements.count);
    if (p->rup.refuted)
        return true;
    return literal != NONE && (p->assumed[literal] == p->step || rup_forced(&p->rup, literal));
}

static bool known_before(const struct proof_check *p, uint32_t a, uint32_t b)
{
    return same_word_stores(p->x, a, b)
        && (is_initial(p->x, a) || holds(p, literal_of(p, false, false, a, b)));
}

static bool saw(const struct proof_check *p, uint32_t load, uint32_t store)
{
    return is_candidate(p->x, load, store)
        && (source_of(p->x, load) == store || holds(p, literal_of(p, true, false, load, store)));
}

static bool saw_another(const struct proof_check *p, uint32_t load, uint32_t store)
{
    for (uint32_t c = p->x->candidate_first[load]; c < p->x->candidate_first[load + 1]; c++)
        if (p->x->candidate[c] != store && saw(p, load, p->x->candidate[c]))
            return true;
    return false;
}

static enum ordeal_status enter_statement(struct proof_check *p, const struct ordeal_literal *l)
{
    const struct execution *x = p->x;
    if (l->a >= x->events || l->b >= x->events)
        return refuse_step(p, "a literal names an event that is not there");
    if (l->reads ? !is_candidate(x, l->a, l->b) : !same_word_stores(x, l->a, l->b))
        return refuse_step(p, l->reads ? "a literal names no load and a store it may have seen"
                                       : "a literal does not name two stores of one word");
    struct statement s = normal(l->reads, l->a, l->b);
    uint32_t *place = find_statement(p, s);
    if (*place)
        return ORDEAL_OK;
    if (!VEC_PUSH(p->v->o, &p->statements, s))
        return out_of_memory(p);
    *place = (uint32_t)p->statements.count;
    assert(2 * p->statements.count <= p->table_mask + 1); /* find_statement() comes to an end */
    return ORDEAL_OK;
}

static enum ordeal_status enter_statements(struct proof_check *p)
{
    const struct proof *proof = &p->v->proof;
    if (proof->literals.count >= NONE / 2)
        return fail(p->v->o, ORDEAL_INTERNAL, "the proof has too many literals");
    size_t size = 16;
    while (size < 2 * proof->literals.count)
        size *= 2;
    p->table_mask = size - 1;
    p->table = scratch_zero(&p->scratch, size, sizeof *p->table);
    if (!p->table)
        return out_of_memory(p);
    enum ordeal_status status = ORDEAL_OK;
    for (p->step = 1; status == ORDEAL_OK && p->step <= proof->steps.count; p->step++) {
        const struct proof_step *s = &proof->steps.data[p->step - 1];
        if (s->literal_first > proof->literals.count || s->edge_first > proof->edges.count
            || s->literal_count > proof->literals.count - s->literal_first
            || s->edge_count > proof->edges.count - s->edge_first)
            return refuse_step(p, "it lies outside of the proof");
        for (uint32_t i = 0; status == ORDEAL_OK && i < s->literal_count; i++)
            status = enter_statement(p, &proof->literals.data[s->literal_first + i]);
    }
    return status;
}

/* What holds without any clause: initial stores are first; a load saw exactly one candidate. */
static enum ordeal_status add_basic_facts(struct proof_check *p)
{
    const struct execution *x = p->x;
    struct scratch local = { .o = p->v->o };
    uint32_t *first = scratch_none(&local, x->events); /* statement about the load */
    bool ok = first != NULL;
    for (uint32_t n = 0; ok && n < p->statements.count; n++) {
        struct statement s = p->statements.data[n];
        uint32_t literal = 2 * n;
        if (s.reads ? source_of(x, s.a) == s.b : is_initial(x, s.a))
            ok = rup_add(&p->rup, &literal, 1);
        if (s.reads && first[s.a] == NONE)
            first[s.a] = n;
        else if (s.reads)
            rup_rivals(&p->rup, first[s.a], n);
    }
    for (uint32_t n = 0; ok && n < p->statements.count; n++) {
        struct statement s = p->statements.data[n];
        if (!s.reads || first[s.a] != n)
            continue;
        /* Propagation can use `one of the candidates` only when each of them is spoken of. */
        p->clause.count = 0;
        uint32_t m = n;
        do
            ok = VEC_PUSH(p->v->o, &p->clause, 2 * m);
        while (ok && (m = p->rup.rival[m]) != n);
        assert(p->clause.count <= x->candidate_first[s.a + 1] - x->candidate_first[s.a]);
        if (ok && p->clause.count == x->candidate_first[s.a + 1] - x->candidate_first[s.a])
            ok = rup_add(&p->rup, p->clause.data, p->clause.count);
    }
    scratch_free(&local);
    return ok ? ORDEAL_OK : out_of_memory(p);
}

/* ---- edges that follow from program order ------------------------------------------------ */

/* Each returns why `from` need not be before `to`, or NULL: it must. */
typedef const char *edge_rule(struct proof_check *p, const struct ordeal_edge *e);

/* Without views an atomic group is a single operation, as much load as store. */
static uint8_t kinds_of(const struct proof_check *p, uint32_t event)
{
    if (p->views)
        return p->x->is_store[event] ? GROUP_STORES : GROUP_LOADS;
    return p->x->group_flags[p->x->group[event]] & (GROUP_LOADS | GROUP_STORES);
}

/* The flavours of membar that keep an operation of kinds `from` before one of kinds `to`. */
static uint8_t flavours_between(uint8_t from, uint8_t to)
{
    uint8_t loads = from & GROUP_LOADS, stores = from & GROUP_STORES, flavours = 0;
    if (to & GROUP_LOADS)
        flavours |= (loads ? ORDEAL_LL : 0) | (stores ? ORDEAL_SL : 0);
    if (to & GROUP_STORES)
        flavours |= (loads ? ORDEAL_LS : 0) | (stores ? ORDEAL_SS : 0);
    return flavours;
}

/* Program order between nodes: in a group it counts only with views, from a swap's load to its
 * store. */
static bool in_program_order(const struct proof_check *p, const struct ordeal_edge *e)
{
    const struct execution *x = p->x;
    if (x->group[e->from] == x->group[e->to])
        return p->views && !is_initial(x, e->from) && !x->is_store[e->from] && x->is_store[e->to];
    return program_order(x, e->from, e->to);
}

static const char *kept(const struct proof_check *p, const struct ordeal_edge *e,
                        uint8_t from_kinds, uint8_t to_kinds)
{
    if (!in_program_order(p, e))
        return "they are not in program order";
    uint8_t flavours = flavours_between(kinds_of(p, e->from) & from_kinds,
                                        kinds_of(p, e->to) & to_kinds);
    return flavours & p->assumed_membar ? NULL : "the model does not keep this order";
}

static const char *rule_load_op(struct proof_check *p, const struct ordeal_edge *e) /* R1 */
{
    return kept(p, e, GROUP_LOADS, GROUP_LOADS | GROUP_STORES);
}

static const char *rule_store_store(struct proof_check *p, const struct ordeal_edge *e) /* R2 */
{
    return kept(p, e, GROUP_STORES, GROUP_STORES);
}

static const char *rule_op_op(struct proof_check *p, const struct ordeal_edge *e) /* PO */
{
    if (p->v->model != ORDEAL_SC)
        return "the model does not keep all program order";
    return kept(p, e, GROUP_LOADS | GROUP_STORES, GROUP_LOADS | GROUP_STORES);
}

static const char *rule_membar(struct proof_check *p, const struct ordeal_edge *e) /* R3 */
{
    const struct execution *x = p->x;
    if (!in_program_order(p, e))
        return "they are not in program order";
    uint32_t after = x->group[e->from], upto = x->group[e->to], low = 0, high = x->barriers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->barrier[middle].group <= after)
            low = middle + 1;
        else
            high = middle;
    }
    uint8_t flavours = flavours_between(kinds_of(p, e->from), kinds_of(p, e->to));
    for (; low < x->barriers && x->barrier[low].group <= upto; low++)
        if (x->barrier[low].mask & flavours)
            return NULL;
    return "no membar for them stands between";
}

/* Whatever the model (see certify_order.c), an access stays before a later store to its word. */
static const char *rule_same_word(struct proof_check *p, const struct ordeal_edge *e) /* SAME */
{
    const struct execution *x = p->x;
    uint32_t group = x->group[e->to];
    if (!in_program_order(p, e))
        return "they are not in program order";
    if (p->views)
        return x->is_store[e->to] && x->loc[e->to] == x->loc[e->from] ? NULL
             : "the second does not store to the first's word";
    for (uint32_t i = x->group_first[group]; i < x->group_first[group + 1]; i++)
        if (x->is_store[i] && x->loc[i] == x->loc[e->from])
            return NULL;
    return "the second does not store to the first's word";
}

/* RVWMO's rules 9 to 11 and 13: by its own address or data; of a store by a branch that stands
 * before it, or the address of something before it. */
static bool needs_register(const struct execution *x, uint32_t from, uint32_t to)
{
    bool stores = x->group_flags[to] & GROUP_STORES;
    for (uint32_t i = 0; i < x->dependences && x->dependence[i].to <= to; i++) {
        const struct dependence *d = &x->dependence[i];
        if (d->from != from)
            continue;
        if (d->use == ORDEAL_REGISTER_CONTROL ? stores : d->to == to)
            return true;
        if (stores && d->use == ORDEAL_REGISTER_ADDRESS)
            return true;
    }
    return false;
}

/* Rule 12: the second is a load, and the last store before it of its thread to one of its words has
 * an address or data that depend on the first. */
static bool follows_what_feeds_store(const struct proof_check *p, const struct ordeal_edge *e)
{
    const struct execution *x = p->x;
    uint32_t from = x->group[e->from], to = x->group[e->to];
    for (uint32_t load = x->group_first[to]; load < x->group_first[to + 1]; load++) {
        uint32_t store = x->group_first[to];
        while (store > x->group_first[from]
               && !(x->is_store[store] && x->loc[store] == x->loc[load] && x->group[store] != to))
            store--;
        if (x->is_store[load] || x->group[store] <= from || x->group[store] == to)
            continue;
        for (uint32_t i = 0; i < x->dependences; i++) {
            const struct dependence *d = &x->dependence[i];
            if (d->from == from && d->to == x->group[store]
                && (d->use == ORDEAL_REGISTER_ADDRESS || d->use == ORDEAL_REGISTER_DATA))
                return true;
        }
    }
    return false;
}

static void note_dependent(struct proof_check *p, uint32_t group)
{
    const struct execution *x = p->x;
    p->depends[group] = p->sweep;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++) {
        p->word_access[x->loc[e]] = p->sweep;
        if (x->is_store[e])
            p->word_store[x->loc[e]] = p->sweep;
    }
}

static bool depends_by_word(const struct proof_check *p, uint32_t group)
{
    const struct execution *x = p->x;
    for (uint32_t e = x->group_first[group]; e < x->group_first[group + 1]; e++)
        if ((x->is_store[e] ? p->word_access : p->word_store)[x->loc[e]] == p->sweep)
            return true;
    return false;
}

static uint32_t first_dependence_behind(const struct execution *x, uint32_t group)
{
    uint32_t low = 0, high = x->dependences;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->dependence[middle].to <= group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* DepLoadOp. Everything between the two is looked at once: what depends on the first by a register,
 * by a word that one of them stores to, or on what depends on it (thesis 2.4.3, rules 2 to 4). */
static const char *rule_dependence(struct proof_check *p, const struct ordeal_edge *e) /* DEP */
{
    const struct execution *x = p->x;
    if (p->v->model != ORDEAL_RMO && !certify_is_riscv(p->v->model))
        return "the model knows no dependence order";
    if (!in_program_order(p, e))
        return "they are not in program order";
    if (certify_is_riscv(p->v->model))
        return needs_register(x, x->group[e->from], x->group[e->to])
                    || follows_what_feeds_store(p, e)
                 ? NULL
                 : "the second does not depend on the first";
    if (!(kinds_of(p, e->from) & GROUP_LOADS))
        return "the first is no load";
    uint32_t from = x->group[e->from], to = x->group[e->to];
    uint32_t d = first_dependence_behind(x, from);
    p->sweep++;
    assert(p->sweep && from < to);
    note_dependent(p, from);
    for (uint32_t g = from + 1; g <= to; g++) {
        bool dependent = depends_by_word(p, g), stores = x->group_flags[g] & GROUP_STORES;
        for (; d < x->dependences && x->dependence[d].to == g; d++)
            if (stores || x->dependence[d].use != ORDEAL_REGISTER_CONTROL)
                dependent |= p->depends[x->dependence[d].from] == p->sweep;
        if (dependent)
            note_dependent(p, g);
    }
    return p->depends[to] == p->sweep ? NULL : "the second does not depend on the first";
}

static const char *rule_transaction(struct proof_check *p, const struct ordeal_edge *e) /* T2 */
{
    if (!(p->x->group_flags[p->x->group[e->to]] & GROUP_TX))
        return "the second is in no transaction";
    return in_program_order(p, e) ? NULL : "they are not in program order";
}

static const char *rule_transacted(struct proof_check *p, const struct ordeal_edge *e) /* T3 */
{
    if (!(p->x->group_flags[p->x->group[e->from]] & GROUP_TX))
        return "the first is in no transaction";
    return in_program_order(p, e) ? NULL : "they are not in program order";
}

/* ---- edges that follow from marks, LR and SC --------------------------------------------- */

static const char *by_flags(const struct proof_check *p, const struct ordeal_edge *e, uint8_t from,
                            uint8_t to)
{
    const struct execution *x = p->x;
    if (!in_program_order(p, e))
        return "they are not in program order";
    return (x->group_flags[x->group[e->from]] & from) == from
                && (x->group_flags[x->group[e->to]] & to) == to
             ? NULL
             : "they are not marked so";
}

static const char *rule_acquire(struct proof_check *p, const struct ordeal_edge *e) /* AQ */
{
    return by_flags(p, e, GROUP_ACQUIRE, 0);
}

static const char *rule_release(struct proof_check *p, const struct ordeal_edge *e) /* RL */
{
    return by_flags(p, e, 0, GROUP_RELEASE);
}

static const char *rule_marked(struct proof_check *p, const struct ordeal_edge *e) /* AR */
{
    return by_flags(p, e, GROUP_RCSC, GROUP_RCSC);
}

static const char *rule_pair(struct proof_check *p, const struct ordeal_edge *e) /* LRSC */
{
    const struct reservation *r = reservation_of(p->x, p->x->group[e->to]);
    return r && p->x->group[r->first] == p->x->group[e->from] ? NULL : "they are no LR and its SC";
}

/* The load sees that store or one behind it in memory: either way it is behind the store. */
static const char *rule_memory(struct proof_check *p, const struct ordeal_edge *e) /* FW */
{
    const struct execution *x = p->x;
    if (p->views || !x->is_store[e->from] || x->is_store[e->to] || x->loc[e->from] != x->loc[e->to]
        || !in_program_order(p, e))
        return "they are no store and a later load of its word and thread";
    return is_atomic(x, x->group[e->from]) ? NULL : "the store is no atomic's";
}

/* ---- edges that follow from values ------------------------------------------------------- */

/* The load is half of a swap whose other half stores to the same word: that store, or NONE. */
static uint32_t swap_store(const struct execution *x, uint32_t load)
{
    uint32_t group = x->group[load];
    for (uint32_t e = load + 1; e < x->group_first[group + 1]; e++)
        if (x->is_store[e] && x->loc[e] == x->loc[load])
            return e;
    return NONE;
}

static uint32_t swap_load(const struct execution *x, uint32_t store)
{
    for (uint32_t e = x->group_first[x->group[store]]; e < store; e++)
        if (!x->is_store[e] && x->loc[e] == x->loc[store])
            return e;
    return NONE;
}

static const char *rule_saw(struct proof_check *p, const struct ordeal_edge *e) /* R4 */
{
    const struct execution *x = p->x;
    if (!saw(p, e->to, e->from))
        return "it is not known that the load saw this store";
    /* With views: what a swap saw is before the swap's store, by its value or by StoreStore, thus
     * by Coherence in every view; and nothing comes between its halves (Atomicity). */
    if (p->views && swap_store(x, e->to) != NONE)
        return NULL;
    if (program_order(x, e->from, e->to))
        return "the load may have seen the store of its own thread before it was performed";
    if (p->views && e->from_view != event_thread(x, e->to))
        return "the load looks at another view";
    return NULL;
}

static const char *rule_own_store(struct proof_check *p, const struct ordeal_edge *e) /* R5 */
{
    const struct execution *x = p->x;
    if (e->via >= x->events || !same_word_stores(x, e->from, e->to) || !saw(p, e->via, e->to))
        return "no load is named that is known to have seen the second store";
    if (!program_order(x, e->from, e->via))
        return "the first store is not before that load in program order";
    return p->views && e->from_view != e->to_view ? "it leaves its view" : NULL;
}

static const char *rule_overwritten(struct proof_check *p, const struct ordeal_edge *e) /* R7 */
{
    const struct execution *x = p->x;
    if (e->via >= x->events || !saw(p, e->from, e->via))
        return "no store is named that the load is known to have seen";
    if (!known_before(p, e->via, e->to))
        return "it is not known that the store it saw is before the other";
    /* With views: the store is behind the load of a swap, hence behind its store (Atomicity), in
     * every view (Coherence); and the swap's store is everywhere behind its load. */
    if (p->views && e->to_view != event_thread(x, e->from) && swap_store(x, e->from) == NONE)
        return "the load looks at another view";
    return NULL;
}

/* RVWMO's rule 2: two loads of a word that saw different stores, none of their thread between. */
static const char *rule_apart(struct proof_check *p, const struct ordeal_edge *e) /* LL */
{
    const struct execution *x = p->x;
    if (p->v->model != ORDEAL_RVWMO)
        return "the model does not keep loads of a word in order";
    if (x->is_store[e->from] || x->is_store[e->to] || x->loc[e->from] != x->loc[e->to]
        || !program_order(x, e->from, e->to))
        return "they are not two loads of a word in program order";
    for (uint32_t i = e->from; i < e->to; i++)
        if (x->is_store[i] && x->loc[i] == x->loc[e->from])
            return "a store of their thread stands between";
    if (x->value[e->from] != x->value[e->to])
        return NULL;
    uint32_t end = x->candidate_first[e->from + 1];
    for (uint32_t c = x->candidate_first[e->from]; c < end; c++)
        if (saw(p, e->from, x->candidate[c]))
            return saw_another(p, e->to, x->candidate[c])
                     ? NULL
                     : "it is not known that they saw different stores";
    return "it is not known what the first saw";
}

/* Nothing comes between what an LR saw, W, and its SC: S' behind W is behind the SC. */
static const char *reserved(struct proof_check *p, const struct ordeal_edge *e)
{
    const struct execution *x = p->x;
    const struct reservation *r = reservation_of(x, x->group[e->from]);
    if (!r || e->via >= x->events || x->group[e->to] == x->group[e->from])
        return "it names no SC and another store";
    for (uint32_t load = r->first; load < r->end; load++)
        if (saw(p, load, e->via) && known_before(p, e->via, e->to))
            return NULL;
    return "it is not known that the LR saw a store before the other";
}

/* PC's Atomicity, of a swap [L; S] that saw W and another store S' of the word. */
static const char *rule_atomic(struct proof_check *p, const struct ordeal_edge *e) /* ATOMIC */
{
    const struct execution *x = p->x;
    if (!p->views)
        return reserved(p, e);
    if (e->via >= x->events || !x->is_store[e->from] || x->loc[e->from] != x->loc[e->to])
        return "it does not name the halves of a swap and another store";
    if (!x->is_store[e->to]) {
        /* S' < S, so in every view S' is before L. */
        if (e->via != swap_store(x, e->to) || e->from == e->via)
            return "it does not name the halves of a swap and another store";
        return known_before(p, e->from, e->via) || program_order(x, e->from, e->via) ? NULL
             : "it is not known that the store is before the swap's";
    }
    /* W < S', so L is before S' in its own view, so S is before S' there, and everywhere. */
    uint32_t load = swap_load(x, e->from);
    if (load == NONE || e->from == e->to || !saw(p, load, e->via))
        return "it is not known that the swap saw the store named";
    if (!known_before(p, e->via, e->to))
        return "it is not known that the store the swap saw is before the other";
    return e->from_view != e->to_view ? "it leaves its view" : NULL;
}

/* ---- edges that follow from the order of stores and the trace's own facts ------------------ */

static const char *rule_coherence(struct proof_check *p, const struct ordeal_edge *e) /* CO */
{
    if (!known_before(p, e->from, e->to))
        return "the order of these stores is not known";
    return p->views && e->from_view != e->to_view ? "it leaves its view" : NULL;
}

static const char *rule_initial(struct proof_check *p, const struct ordeal_edge *e) /* INIT */
{
    return is_initial(p->x, e->from) && !is_initial(p->x, e->to) ? NULL
         : "the first is no initial store, or the second is one";
}

static const char *rule_known_order(struct proof_check *p, const struct ordeal_edge *e) /* ORDER */
{
    const struct execution *x = p->x;
    if (p->views && e->from_view != e->to_view)
        return "it leaves its view";
    for (uint32_t k = 0; k < x->orders; k++) {
        uint32_t i = x->order_first[k], end = x->order_first[k + 1];
        if (i == end || x->loc[x->order[i]] != x->loc[e->from])
            continue;
        while (i < end && x->order[i] != e->from)
            i++;
        for (i++; i < end; i++)
            if (x->order[i] == e->to)
                return NULL;
    }
    return "the trace does not give this order";
}

static const char *rule_time(struct proof_check *p, const struct ordeal_edge *e) /* TIME */
{
    const struct execution *x = p->x;
    uint32_t from = x->group[e->from], to = x->group[e->to];
    if (!p->v->time_order || !x->begin)
        return "cycles are no order here";
    return from && to && from != to && x->end[from] < x->begin[to] ? NULL
         : "it did not end before the other began";
}

/* The store that is last of all wrote the final value. So a store is one that did, or before one:
 * it is before `to`, if all the others that did (itself included) are before either of the two. */
static bool final_after(const struct proof_check *p, const struct final *f,
                        const struct ordeal_edge *e)
{
    const uint32_t *last = p->x->final_store + f->first;
    bool listed = false;
    for (uint32_t i = 0; i < f->count; i++) {
        if (last[i] == e->to)
            listed = true;
        else if (!known_before(p, last[i], e->from) && !known_before(p, last[i], e->to))
            return false;
    }
    return listed;
}

static const char *rule_final(struct proof_check *p, const struct ordeal_edge *e) /* FINAL */
{
    const struct execution *x = p->x;
    if (!same_word_stores(x, e->from, e->to))
        return "they are not two stores of one word";
    if (p->views && e->from_view != e->to_view)
        return "it leaves its view";
    for (uint32_t k = x->final_of[x->loc[e->from]]; k != NONE; k = x->final[k].next)
        if (final_after(p, &x->final[k], e))
            return NULL;
    return "the trace's final value does not demand it";
}

static const char *rule_derived(struct proof_check *p, const struct ordeal_edge *e) /* R6 */
{
    (void)p, (void)e;
    return "R6 is a consequence of R7, shown by a circle of its own";
}

static edge_rule *const edge_rules[ORDEAL_RULE_COUNT] = {
    [ORDEAL_RULE_R1] = rule_load_op,      [ORDEAL_RULE_R2] = rule_store_store,
    [ORDEAL_RULE_R3] = rule_membar,       [ORDEAL_RULE_PO] = rule_op_op,
    [ORDEAL_RULE_SAME] = rule_same_word,  [ORDEAL_RULE_DEP] = rule_dependence,
    [ORDEAL_RULE_T2] = rule_transaction,  [ORDEAL_RULE_T3] = rule_transacted,
    [ORDEAL_RULE_R4] = rule_saw,          [ORDEAL_RULE_R5] = rule_own_store,
    [ORDEAL_RULE_R6] = rule_derived,      [ORDEAL_RULE_R7] = rule_overwritten,
    [ORDEAL_RULE_INIT] = rule_initial,    [ORDEAL_RULE_ORDER] = rule_known_order,
    [ORDEAL_RULE_TIME] = rule_time,       [ORDEAL_RULE_CO] = rule_coherence,
    [ORDEAL_RULE_FINAL] = rule_final,     [ORDEAL_RULE_ATOMIC] = rule_atomic,
    [ORDEAL_RULE_ACQUIRE] = rule_acquire, [ORDEAL_RULE_RELEASE] = rule_release,
    [ORDEAL_RULE_MARKED] = rule_marked,   [ORDEAL_RULE_PAIR] = rule_pair,
    [ORDEAL_RULE_MEMORY] = rule_memory,   [ORDEAL_RULE_APART] = rule_apart,
};

/* ---- circles ------------------------------------------------------------------------- */

/* What is performed at once: a group; with views its loads, or its stores in one view. */
static bool same_node(const struct proof_check *p, uint32_t a, uint32_t a_view, uint32_t b,
                      uint32_t b_view)
{
    const struct execution *x = p->x;
    if (x->group[a] != x->group[b])
        return false;
    return !p->views || (x->is_store[a] == x->is_store[b] && (!x->is_store[a] || a_view == b_view));
}

static bool view_exists(const struct proof_check *p, uint32_t event, uint32_t view)
{
    return !p->views || !p->x->is_store[event] || view < p->x->threads;
}

static const char *check_edge(struct proof_check *p, const struct ordeal_edge *e)
{
    if (!view_exists(p, e->from, e->from_view) || !view_exists(p, e->to, e->to_view))
        return "there is no such view";
    /* At once means in program order: an edge along it says nothing, one against it is a circle. */
    if (same_node(p, e->from, e->from_view, e->to, e->to_view) && e->from <= e->to)
        return "it stays where it is";
    assert(e->rule < ORDEAL_RULE_COUNT && edge_rules[e->rule]);
    return edge_rules[e->rule](p, e);
}

static enum ordeal_status refuse_edge(const struct proof_check *p, size_t i,
                                      const struct ordeal_edge *e, const char *why)
{
    char from[EVENT_TEXT], to[EVENT_TEXT];
    return fail(p->v->o, ORDEAL_INTERNAL, "step %u, edge %zu (%s before %s by %s): %s", p->step,
                i + 1, certify_event_text(p->x, e->from, from), certify_event_text(p->x, e->to, to),
                ordeal_rule_name(e->rule), why);
}

static enum ordeal_status check_circle(struct proof_check *p, const struct ordeal_edge *edges,
                                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ordeal_edge *e = &edges[i];
        if (e->rule >= ORDEAL_RULE_COUNT || e->from >= p->x->events || e->to >= p->x->events
            || (e->via != NONE && e->via >= p->x->events))
            return fail(p->v->o, ORDEAL_INTERNAL, "step %u, edge %zu: there is no such rule or "
                        "event", p->step, i + 1);
    }
    for (size_t i = 0; i < count; i++) {
        const struct ordeal_edge *e = &edges[i], *next = &edges[(i + 1) % count];
        const char *why = check_edge(p, e);
        if (!why && !same_node(p, e->to, e->to_view, next->from, next->from_view))
            why = "the next edge does not begin where it ends";
        if (why)
            return refuse_edge(p, i, e, why);
        if (limit_hit(p->v->o, "certify", -1))
            return ORDEAL_LIMIT;
    }
    return ORDEAL_OK;
}

/* ---- steps --------------------------------------------------------------------------- */

static enum ordeal_status check_step(struct proof_check *p, const struct proof_step *s)
{
    const struct proof *proof = &p->v->proof;
    p->clause.count = 0;
    for (uint32_t i = 0; i < s->literal_count; i++) {
        const struct ordeal_literal *l = &proof->literals.data[s->literal_first + i];
        uint32_t literal = literal_of(p, l->reads, l->negated, l->a, l->b);
        assert(literal != NONE); /* enter_statements() has seen it */
        if (p->assumed[literal ^ 1] == p->step)
            continue;
        p->assumed[literal ^ 1] = p->step;
        if (!VEC_PUSH(p->v->o, &p->clause, literal))
            return out_of_memory(p);
    }
    if (s->edge_count) {
        const struct ordeal_edge *edges = proof->edges.data + s->edge_first;
        enum ordeal_status status = check_circle(p, edges, s->edge_count);
        if (status != ORDEAL_OK)
            return status;
    } else if (!rup_follows(&p->rup, p->clause.data, p->clause.count)) {
        return refuse_step(p, "it does not follow from the steps before it");
    }
    if (limit_hit(p->v->o, "certify", -1))
        return ORDEAL_LIMIT;
    return rup_add(&p->rup, p->clause.data, p->clause.count) ? ORDEAL_OK : out_of_memory(p);
}

static enum ordeal_status check_steps(struct proof_check *p)
{
    const struct execution *x = p->x;
    const struct proof *proof = &p->v->proof;
    size_t steps = proof->steps.count;
    if (steps == 0 || steps >= NONE || proof->steps.data[steps - 1].literal_count)
        return fail(p->v->o, ORDEAL_INTERNAL, "the proof does not end in a contradiction");
    enum ordeal_status status = enter_statements(p);
    if (status != ORDEAL_OK)
        return status;
    p->assumed = scratch_zero(&p->scratch, 2 * p->statements.count, sizeof *p->assumed);
    if (!p->assumed || !rup_init(&p->rup, p->v->o, (uint32_t)p->statements.count))
        return out_of_memory(p);
    if (p->v->model == ORDEAL_RMO) {
        p->depends = scratch_zero(&p->scratch, x->groups, sizeof *p->depends);
        p->word_access = scratch_zero(&p->scratch, x->locations, sizeof *p->word_access);
        p->word_store = scratch_zero(&p->scratch, x->locations, sizeof *p->word_store);
        if (!p->depends || !p->word_access || !p->word_store)
            return out_of_memory(p);
    }
    status = add_basic_facts(p);
    for (p->step = 1; status == ORDEAL_OK && p->step <= steps; p->step++)
        status = check_step(p, &proof->steps.data[p->step - 1]);
    return status;
}

/* ---- the core ------------------------------------------------------------------------ */

static bool in_core(const struct ordeal_verdict *v, uint32_t event)
{
    return is_initial(v->x, event) || certify_in_core(v, v->x->op[event]);
}

static enum ordeal_status check_core(const struct ordeal_verdict *v)
{
    const struct proof *proof = &v->proof;
    size_t ops = ordeal_trace_length(v->x->trace);
    uint32_t missing = v->unwritten != NONE && !in_core(v, v->unwritten) ? v->unwritten : NONE;
    for (size_t i = 0; i < v->core.count; i++)
        if (v->core.data[i] >= ops || (i && v->core.data[i - 1] >= v->core.data[i]))
            return fail(v->o, ORDEAL_INTERNAL, "the core is no ascending list of operations");
    for (size_t s = 0; v->unwritten == NONE && s < proof->steps.count; s++) {
        const struct proof_step *step = &proof->steps.data[s];
        for (uint32_t i = 0; i < step->literal_count; i++) {
            const struct ordeal_literal *l = &proof->literals.data[step->literal_first + i];
            missing = !in_core(v, l->a) ? l->a : !in_core(v, l->b) ? l->b : missing;
        }
        for (uint32_t i = 0; i < step->edge_count; i++) {
            const struct ordeal_edge *e = &proof->edges.data[step->edge_first + i];
            missing = !in_core(v, e->from) ? e->from : !in_core(v, e->to) ? e->to
                    : e->via != NONE && !in_core(v, e->via) ? e->via : missing;
        }
    }
    char text[EVENT_TEXT];
    return missing == NONE ? ORDEAL_OK
         : fail(v->o, ORDEAL_INTERNAL, "the proof speaks of %s, which is not in the core",
                certify_event_text(v->x, missing, text));
}

/* ---- values nobody wrote ----------------------------------------------------------------- */

static enum ordeal_status check_unwritten(const struct ordeal_verdict *v, uint32_t loc,
                                          uint64_t value)
{
    const struct execution *x = v->x;
    char text[EVENT_TEXT];
    for (uint32_t e = 0; e < x->events; e++)
        if (x->is_store[e] && x->loc[e] == loc && x->value[e] == value)
            return fail(v->o, ORDEAL_INTERNAL, "the value nobody wrote was written by %s",
                        certify_event_text(x, e, text));
    return ORDEAL_OK;
}

/* A final value is of the width the trace gave it; what of it lies in the word? */
static uint64_t final_value(const struct execution *x, const struct final *f)
{
    const struct trace_final *whole = &x->trace->finals.data[f->source];
    const struct location *l = &x->location[f->loc];
    assert(l->address - whole->word.address < UINT64_C(1) << whole->word.size_log2);
    uint64_t value = whole->value >> 8 * (l->address - whole->word.address);
    return l->size_log2 >= 3 ? value : value & ((UINT64_C(1) << (8 << l->size_log2)) - 1);
}

enum ordeal_status certify_proof(const struct ordeal_verdict *v)
{
    const struct execution *x = v->x;
    struct proof_check p = {
        .v = v, .x = x, .scratch = { .o = v->o }, .views = certify_has_views(v->model),
        .assumed_membar = certify_assumed_membar(v->model), .rup = { .o = v->o },
    };
    enum ordeal_status status;
    if (v->unwritten == NONE && v->proof.steps.count == 0 && x->unwritten_final != NONE) {
        const struct final *f = &x->final[x->unwritten_final];
        status = check_unwritten(v, f->loc, final_value(x, f));
    } else if (v->unwritten == NONE) {
        status = check_steps(&p);
    } else if (v->unwritten >= x->events || x->is_store[v->unwritten]) {
        return fail(v->o, ORDEAL_INTERNAL, "event %u, said to have seen what nobody wrote, is no "
                    "load", v->unwritten);
    } else {
        status = check_unwritten(v, x->loc[v->unwritten], x->value[v->unwritten]);
    }
    scratch_free(&p.scratch);
    rup_free(&p.rup);
    VEC_FREE(v->o, &p.statements);
    VEC_FREE(v->o, &p.clause);
    return status == ORDEAL_OK ? check_core(v) : status;
}
