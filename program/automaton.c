/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation builds a nondeterministic automaton and makes it minimal by Brzozowski's way: turned
 * around and made deterministic, twice. Numbering states in the order in which a breadth-first walk
 * comes to them makes the result unique, so that it can be looked up. */
#include "automaton.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "word_table.h"

/* ---- nondeterministic automata ------------------------------------------------------------ */

struct nfa_edge {
    uint32_t from, symbol, to;
};
struct nfa {
    uint32_t states;
    struct nfa_edge *edge;
    size_t edges, capacity;
    uint8_t *mark; /* of each state: NFA_FIRST, NFA_FINAL */
    size_t marks;
};
enum { NFA_FIRST = 1, NFA_FINAL = 2 };

static uint32_t nfa_state(struct nfa *n, uint8_t mark)
{
    n->mark = words_room(n->mark, n->states, &n->marks, 1);
    n->mark[n->states] = mark;
    return n->states++;
}

static void nfa_edge(struct nfa *n, uint32_t from, uint32_t symbol, uint32_t to)
{
    n->edge = words_room(n->edge, n->edges, &n->capacity, sizeof *n->edge);
    n->edge[n->edges++] = (struct nfa_edge){ from, symbol, to };
}

static void nfa_free(struct nfa *n)
{
    free(n->edge);
    free(n->mark);
}

static void turn_around(struct nfa *n)
{
    for (size_t i = 0; i < n->edges; i++) {
        uint32_t from = n->edge[i].from;
        n->edge[i].from = n->edge[i].to;
        n->edge[i].to = from;
    }
    for (uint32_t s = 0; s < n->states; s++)
        n->mark[s] = (uint8_t)((n->mark[s] & NFA_FIRST ? NFA_FINAL : 0)
                               | (n->mark[s] & NFA_FINAL ? NFA_FIRST : 0));
}

static int by_symbol(const void *a, const void *b)
{
    const struct nfa_edge *x = a, *y = b;
    if (x->symbol != y->symbol)
        return x->symbol < y->symbol ? -1 : 1;
    return 0;
}

/* Sets of states, as bits. */
struct sets {
    uint32_t words; /* of one */
    uint64_t *bits;
    size_t count, capacity;
};

static uint64_t *set_at(const struct sets *s, size_t i) { return s->bits + i * s->words; }

static uint64_t *new_set(struct sets *s)
{
    s->bits = words_room(s->bits, s->count, &s->capacity, s->words * sizeof *s->bits);
    return memset(set_at(s, s->count), 0, s->words * sizeof *s->bits);
}

static bool has(const uint64_t *set, uint32_t k) { return set[k / 64] >> k % 64 & 1; }
static void put(uint64_t *set, uint32_t k) { set[k / 64] |= 1ull << k % 64; }

static void close_set(const struct nfa *n, uint64_t *set)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = n->edges; i-- && n->edge[i].symbol == AUTOMATON_EPSILON;)
            if (has(set, n->edge[i].from) && !has(set, n->edge[i].to)) {
                put(set, n->edge[i].to);
                more = true;
            }
    }
}

/* The number of the set that was made last, which may be an older one's. */
static uint32_t keep_set(struct sets *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!memcmp(set_at(s, i), set_at(s, s->count), s->words * sizeof *s->bits))
            return i;
    return (uint32_t)s->count++;
}

static uint8_t mark_of_set(const struct nfa *n, const uint64_t *set)
{
    for (uint32_t s = 0; s < n->states; s++)
        if (has(set, s) && n->mark[s] & NFA_FINAL)
            return NFA_FINAL;
    return 0;
}

/* All edges of one set, by symbol; edges of `n` are sorted. */
static void expand_set(const struct nfa *n, struct sets *sets, uint32_t from, struct nfa *to)
{
    for (size_t i = 0; i < n->edges && n->edge[i].symbol != AUTOMATON_EPSILON;) {
        uint32_t symbol = n->edge[i].symbol;
        bool any = false;
        uint64_t *set = new_set(sets);
        for (; i < n->edges && n->edge[i].symbol == symbol; i++)
            if (has(set_at(sets, from), n->edge[i].from)) {
                put(set, n->edge[i].to);
                any = true;
            }
        if (!any)
            continue;
        close_set(n, set);
        uint32_t number = keep_set(sets);
        if (number == to->states)
            nfa_state(to, mark_of_set(n, set));
        nfa_edge(to, from, symbol, number);
    }
}

/* The deterministic automaton in place of n: its first state is 0, unless there is none. */
static void determinise(struct nfa *n)
{
    struct sets sets = { .words = (n->states + 63) / 64 + 1 };
    struct nfa to = { 0 };
    bool any = false;
    if (n->edges)
        qsort(n->edge, n->edges, sizeof *n->edge, by_symbol);
    uint64_t *first = new_set(&sets);
    for (uint32_t s = 0; s < n->states; s++)
        if (n->mark[s] & NFA_FIRST) {
            put(first, s);
            any = true;
        }
    if (any) {
        close_set(n, first);
        keep_set(&sets);
        nfa_state(&to, NFA_FIRST | mark_of_set(n, first));
    }
    for (uint32_t from = 0; from < to.states; from++)
        expand_set(n, &sets, from, &to);
    free(sets.bits);
    nfa_free(n);
    *n = to;
}

/* ---- the store ---------------------------------------------------------------------------- */

/* An automaton as words: states, edges, where each state's edges begin and one more, final marks,
 * edges; and what was computed before. */
struct automata {
    struct word_table table;
    struct known {
        uint32_t operation, one, other, result; /* the result plus 1; 0: free */
    } * known;                                  /* what was computed */
    size_t knowns, known_slots;
};
enum { APPEND, QUOTIENT, UNION, INTERSECT, INCLUDES };

/* A deterministic automaton whose edges come by state. */
static uint32_t intern_dfa(struct automata *a, const struct nfa *n)
{
    uint32_t total = 3 + 2 * n->states + 2 * (uint32_t)n->edges, number;
    uint32_t *w = words_resize(NULL, total * sizeof *w), *at = w + 3 + 2 * (size_t)n->states;
    size_t e = 0;
    w[0] = n->states;
    w[1] = (uint32_t)n->edges;
    for (uint32_t s = 0; s < n->states; s++) {
        w[2 + s] = (uint32_t)e;
        w[3 + n->states + s] = n->mark[s] & NFA_FINAL ? 1 : 0;
        for (; e < n->edges && n->edge[e].from == s; e++) {
            *at++ = n->edge[e].symbol;
            *at++ = n->edge[e].to;
        }
    }
    assert(e == n->edges);
    w[2 + n->states] = (uint32_t)e;
    number = word_table_add(&a->table, w, total);
    free(w);
    return number;
}

static uint32_t language_of(struct automata *a, struct nfa *n)
{
    turn_around(n);
    determinise(n);
    turn_around(n);
    determinise(n);
    uint32_t language = intern_dfa(a, n);
    nfa_free(n);
    return language;
}

struct automata *automata_new(void)
{
    struct automata *a = calloc(1, sizeof *a);
    struct nfa none = { 0 }, empty = { 0 };
    if (!a)
        return NULL;
    word_table_new(&a->table);
    a->known_slots = 1024;
    a->known = words_resize(NULL, a->known_slots * sizeof *a->known);
    memset(a->known, 0, a->known_slots * sizeof *a->known);
    uint32_t number = language_of(a, &none);
    assert(number == LANGUAGE_NONE);
    nfa_state(&empty, NFA_FIRST | NFA_FINAL);
    number = language_of(a, &empty);
    assert(number == LANGUAGE_EMPTY_WORD);
    (void)number;
    return a;
}

void automata_free(struct automata *a)
{
    if (!a)
        return;
    word_table_free(&a->table);
    free(a->known);
    free(a);
}

uint32_t automata_count(const struct automata *a) { return (uint32_t)a->table.count; }

size_t automata_bytes(const struct automata *a)
{
    return a->table.bytes + a->known_slots * sizeof *a->known;
}

struct automaton automata_get(const struct automata *a, uint32_t language)
{
    uint32_t count;
    assert(language < a->table.count);
    const uint32_t *w = word_table_get(&a->table, language, &count);
    return (struct automaton){
        .states = w[0],
        .edges = w[1],
        .begin = w + 2,
        .final = w + 3 + w[0],
        .edge = (const struct automaton_edge *)(const void *)(w + 3 + 2 * (size_t)w[0]),
    };
}

/* ---- what was computed before ------------------------------------------------------------- */

static struct known *known_at(const struct automata *a, uint32_t operation, uint32_t one,
                              uint32_t other)
{
    size_t i = (size_t)words_mix(words_mix(operation, one), other) & (a->known_slots - 1);
    for (; a->known[i].result; i = (i + 1) & (a->known_slots - 1))
        if (a->known[i].operation == operation && a->known[i].one == one
            && a->known[i].other == other)
            break;
    return &a->known[i];
}

static bool knows(const struct automata *a, uint32_t operation, uint32_t one, uint32_t other,
                  uint32_t *result)
{
    const struct known *k = known_at(a, operation, one, other);
    *result = k->result - 1;
    return k->result;
}

static uint32_t remember(struct automata *a, uint32_t operation, uint32_t one, uint32_t other,
                         uint32_t result)
{
    *known_at(a, operation, one, other) = (struct known){ operation, one, other, result + 1 };
    if (2 * ++a->knowns > a->known_slots) {
        struct known *old = a->known;
        size_t slots = a->known_slots;
        a->known_slots *= 2;
        a->known = words_resize(NULL, a->known_slots * sizeof *a->known);
        memset(a->known, 0, a->known_slots * sizeof *a->known);
        for (size_t i = 0; i < slots; i++)
            if (old[i].result)
                *known_at(a, old[i].operation, old[i].one, old[i].other) = old[i];
        free(old);
    }
    return result;
}

/* ---- questions ---------------------------------------------------------------------------- */

bool automata_has_empty_word(const struct automata *a, uint32_t language)
{
    struct automaton m = automata_get(a, language);
    return m.states && m.final[0];
}

bool automata_any_symbol(const struct automata *a, uint32_t language,
                         bool (*is)(const void *user, uint32_t symbol), const void *user)
{
    struct automaton m = automata_get(a, language);
    for (uint32_t e = 0; e < m.edges; e++)
        if (is(user, m.edge[e].symbol))
            return true;
    return false;
}

static uint32_t follow_edge(const struct automaton *m, uint32_t state, uint32_t symbol)
{
    for (uint32_t e = m->begin[state]; e < m->begin[state + 1]; e++)
        if (m->edge[e].symbol == symbol)
            return m->edge[e].to;
    return UINT32_MAX;
}

/* Pairs of states of two automata that are walked together. */
struct pairs {
    uint64_t *pair;
    size_t count, capacity;
};

static uint32_t pair_number(struct pairs *p, uint64_t one, uint64_t other)
{
    uint64_t pair = one << 32 | other;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->pair[i] == pair)
            return i;
    p->pair = words_room(p->pair, p->count, &p->capacity, sizeof *p->pair);
    p->pair[p->count] = pair;
    return (uint32_t)p->count++;
}

bool automata_includes(struct automata *a, uint32_t big, uint32_t small)
{
    uint32_t result;
    if (big == small || small == LANGUAGE_NONE)
        return true;
    if (big == LANGUAGE_NONE || knows(a, INCLUDES, big, small, &result))
        return big != LANGUAGE_NONE && result;
    struct automaton b = automata_get(a, big), s = automata_get(a, small);
    struct pairs p = { 0 };
    bool in = true;
    pair_number(&p, 0, 0);
    for (size_t i = 0; in && i < p.count; i++) {
        uint32_t at = (uint32_t)(p.pair[i] >> 32), other = (uint32_t)p.pair[i];
        in = !s.final[at] || b.final[other];
        for (uint32_t e = s.begin[at]; in && e < s.begin[at + 1]; e++) {
            uint32_t to = follow_edge(&b, other, s.edge[e].symbol);
            in = to != UINT32_MAX;
            if (in)
                pair_number(&p, s.edge[e].to, to);
        }
    }
    free(p.pair);
    return remember(a, INCLUDES, big, small, in);
}

/* ---- operations --------------------------------------------------------------------------- */

/* A copy of a language's automaton in `n`; its first state's number there. */
static uint32_t add_copy(const struct automata *a, struct nfa *n, uint32_t language)
{
    struct automaton m = automata_get(a, language);
    uint32_t base = n->states;
    for (uint32_t s = 0; s < m.states; s++)
        nfa_state(n, m.final[s] ? NFA_FINAL : 0);
    for (uint32_t s = 0; s < m.states; s++)
        for (uint32_t e = m.begin[s]; e < m.begin[s + 1]; e++)
            nfa_edge(n, base + s, m.edge[e].symbol, base + m.edge[e].to);
    return base;
}

/* The same of one where words begin. */
static uint32_t add_first(const struct automata *a, struct nfa *n, uint32_t language)
{
    uint32_t first = add_copy(a, n, language);
    n->mark[first] |= NFA_FIRST;
    return first;
}

/* From its final states, which are none any more, to `to`. */
static void lead_finals(struct nfa *n, uint32_t states, uint32_t symbol, uint32_t to)
{
    for (uint32_t s = 0; s < states; s++)
        if (n->mark[s] & NFA_FINAL) {
            n->mark[s] &= (uint8_t)~NFA_FINAL;
            nfa_edge(n, s, symbol, to);
        }
}

uint32_t automata_append(struct automata *a, uint32_t language, uint32_t symbol)
{
    uint32_t result;
    if (language == LANGUAGE_NONE || knows(a, APPEND, language, symbol, &result))
        return language == LANGUAGE_NONE ? language : result;
    struct nfa n = { 0 };
    add_first(a, &n, language);
    uint32_t states = n.states, end = nfa_state(&n, 0);
    lead_finals(&n, states, symbol, end);
    n.mark[end] |= NFA_FINAL;
    return remember(a, APPEND, language, symbol, language_of(a, &n));
}

uint32_t automata_quotient(struct automata *a, uint32_t language, uint32_t symbol)
{
    uint32_t result;
    if (language == LANGUAGE_NONE || knows(a, QUOTIENT, language, symbol, &result))
        return language == LANGUAGE_NONE ? language : result;
    struct nfa n = { 0 };
    struct automaton m = automata_get(a, language);
    uint32_t to = follow_edge(&m, 0, symbol), first = add_copy(a, &n, language);
    if (to != UINT32_MAX)
        n.mark[first + to] |= NFA_FIRST;
    return remember(a, QUOTIENT, language, symbol, language_of(a, &n));
}

uint32_t automata_union(struct automata *a, uint32_t one, uint32_t other)
{
    uint32_t result;
    if (one == LANGUAGE_NONE || other == LANGUAGE_NONE || one == other)
        return one == LANGUAGE_NONE ? other : one;
    if (knows(a, UNION, one, other, &result))
        return result;
    struct nfa n = { 0 };
    add_first(a, &n, one);
    add_first(a, &n, other);
    return remember(a, UNION, one, other, language_of(a, &n));
}

/* Their automata side by side; symbols that are not kept are of the first alone. */
static uint32_t together(struct automata *a, uint32_t one, uint32_t other,
                         bool (*keep)(const void *user, uint32_t symbol), const void *user)
{
    struct automaton m = automata_get(a, one), o = automata_get(a, other);
    struct pairs p = { 0 };
    struct nfa n = { 0 };
    if (!m.states || !o.states)
        return LANGUAGE_NONE;
    pair_number(&p, 0, 0);
    for (uint32_t i = 0; i < p.count; i++) {
        uint32_t at = (uint32_t)(p.pair[i] >> 32), second = (uint32_t)p.pair[i];
        uint8_t final = m.final[at] && o.final[second] ? NFA_FINAL : 0;
        nfa_state(&n, (uint8_t)(final | (i ? 0 : NFA_FIRST)));
        for (uint32_t e = m.begin[at]; e < m.begin[at + 1]; e++) {
            uint32_t symbol = m.edge[e].symbol;
            uint32_t to = !keep || keep(user, symbol) ? follow_edge(&o, second, symbol) : second;
            if (to != UINT32_MAX)
                nfa_edge(&n, i, symbol, pair_number(&p, m.edge[e].to, to));
        }
    }
    free(p.pair);
    return language_of(a, &n);
}

uint32_t automata_intersect(struct automata *a, uint32_t one, uint32_t other)
{
    uint32_t result;
    if (one == other || knows(a, INTERSECT, one, other, &result))
        return one == other ? one : result;
    return remember(a, INTERSECT, one, other, together(a, one, other, NULL, NULL));
}

uint32_t automata_lift(struct automata *a, uint32_t language, uint32_t projection,
                       bool (*keep)(const void *user, uint32_t symbol), const void *user)
{
    return together(a, language, projection, keep, user);
}

uint32_t automata_project(struct automata *a, uint32_t language,
                          bool (*keep)(const void *user, uint32_t symbol), const void *user)
{
    struct nfa n = { 0 };
    if (language == LANGUAGE_NONE)
        return language;
    add_first(a, &n, language);
    for (size_t e = 0; e < n.edges; e++)
        if (!keep(user, n.edge[e].symbol))
            n.edge[e].symbol = AUTOMATON_EPSILON;
    return language_of(a, &n);
}

uint32_t automata_repeat(struct automata *a, uint32_t language, const uint32_t *word, size_t n)
{
    struct nfa m = { 0 };
    if (language == LANGUAGE_NONE || !n)
        return language;
    add_first(a, &m, language);
    uint32_t states = m.states, loop = nfa_state(&m, 0), at = loop;
    lead_finals(&m, states, AUTOMATON_EPSILON, loop);
    m.mark[loop] |= NFA_FINAL;
    for (size_t k = 0; k < n; k++) {
        uint32_t to = k + 1 < n ? nfa_state(&m, 0) : loop;
        nfa_edge(&m, at, word[k], to);
        at = to;
    }
    return language_of(a, &m);
}

/* ---- words -------------------------------------------------------------------------------- */

/* A shortest word; its length, or -1: there is none, or it has more than `most` symbols. */
static int shortest_word(const struct automata *a, uint32_t language, uint32_t *word, size_t most)
{
    struct automaton m = automata_get(a, language);
    struct {
        uint32_t before, symbol, length;
        bool seen;
    } *way = words_resize(NULL, (m.states + 1) * sizeof *way);
    uint32_t *queue = words_resize(NULL, (m.states + 1) * sizeof *queue), read = 0, write = 0, end;
    memset(way, 0, (m.states + 1) * sizeof *way);
    if (m.states)
        queue[write++] = 0;
    way[0].seen = true;
    for (; read < write && !m.final[queue[read]]; read++)
        for (uint32_t e = m.begin[queue[read]]; e < m.begin[queue[read] + 1]; e++) {
            uint32_t to = m.edge[e].to;
            if (way[to].seen)
                continue;
            way[to].before = queue[read];
            way[to].symbol = m.edge[e].symbol;
            way[to].length = way[queue[read]].length + 1;
            way[to].seen = true;
            queue[write++] = to;
        }
    end = read < write ? queue[read] : 0;
    int length = read < write && way[end].length <= most ? (int)way[end].length : -1;
    for (int k = length; k > 0; end = way[end].before)
        word[--k] = way[end].symbol;
    free(way);
    free(queue);
    return length;
}

int automata_growth(struct automata *a, uint32_t before, uint32_t after, uint32_t *word,
                    size_t most)
{
    enum { LONGEST = 256 };
    uint32_t one[LONGEST], other[LONGEST], grows = before;
    int short_before = shortest_word(a, before, one, LONGEST);
    int short_after = shortest_word(a, after, other, LONGEST), length = short_after - short_before;
    if (before == after)
        return 0;
    if (short_before < 0 || length <= 0 || (size_t)length > most)
        return -1;
    memcpy(word, other + short_before, (size_t)length * sizeof *word);
    for (int k = 0; k < length; k++)
        grows = automata_append(a, grows, word[k]);
    return grows == after ? length : -1;
}

/* Whether taking the word away at the end and putting it back there leaves the same. */
bool automata_ends_with(struct automata *a, uint32_t language, const uint32_t *word, size_t n)
{
    struct automaton m = automata_get(a, language);
    struct nfa without = { 0 };
    if (!m.states)
        return true;
    add_first(a, &without, language);
    for (uint32_t s = 0; s < m.states; s++) {
        uint32_t at = s;
        for (size_t k = 0; k < n && at != UINT32_MAX; k++)
            at = follow_edge(&m, at, word[k]);
        without.mark[s] &= (uint8_t)~NFA_FINAL;
        if (at != UINT32_MAX && m.final[at])
            without.mark[s] |= NFA_FINAL;
    }
    uint32_t back = language_of(a, &without);
    for (size_t k = 0; k < n; k++)
        back = automata_append(a, back, word[k]);
    return back == language;
}

/* ---- splitting ---------------------------------------------------------------------------- */

struct walk {
    struct {
        uint32_t state;
        uint64_t seen;
    } * at;
    size_t count, capacity;
};

static uint32_t walk_number(struct walk *w, uint32_t state, uint64_t seen)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (w->at[i].state == state && w->at[i].seen == seen)
            return i;
    w->at = words_room(w->at, w->count, &w->capacity, sizeof *w->at);
    w->at[w->count].state = state;
    w->at[w->count].seen = seen;
    return (uint32_t)w->count++;
}

static int by_seen(const void *a, const void *b)
{
    const struct automaton_part *x = a, *y = b;
    return x->seen < y->seen ? -1 : x->seen > y->seen;
}

/* Where words may end; true: it is one more thing that can have been seen. */
static bool note_part(struct automaton_part *part, int parts, uint64_t seen)
{
    for (int i = 0; i < parts; i++)
        if (part[i].seen == seen)
            return false;
    return true;
}

static uint32_t part_language(struct automata *a, const struct automaton *m, const struct nfa *all,
                              const struct walk *w, uint64_t seen)
{
    struct nfa n = { 0 };
    for (uint32_t s = 0; s < w->count; s++) {
        bool final = m->final[w->at[s].state] && w->at[s].seen == seen;
        nfa_state(&n, (uint8_t)((final ? NFA_FINAL : 0) | (s ? 0 : NFA_FIRST)));
    }
    for (size_t e = 0; e < all->edges; e++)
        nfa_edge(&n, all->edge[e].from, all->edge[e].symbol, all->edge[e].to);
    return language_of(a, &n);
}

int automata_split(struct automata *a, uint32_t language,
                   uint64_t (*next)(const void *user, uint64_t seen, uint32_t symbol),
                   const void *user, struct automaton_part *part, size_t most)
{
    struct automaton m = automata_get(a, language);
    struct walk w = { 0 };
    struct nfa all = { 0 };
    int parts = 0;
    if (m.states)
        walk_number(&w, 0, 0);
    for (uint32_t i = 0; i < w.count && parts >= 0; i++) {
        uint32_t at = w.at[i].state;
        uint64_t seen = w.at[i].seen;
        for (uint32_t e = m.begin[at]; e < m.begin[at + 1]; e++)
            nfa_edge(&all, i, m.edge[e].symbol,
                     walk_number(&w, m.edge[e].to, next(user, seen, m.edge[e].symbol)));
        if (m.final[at] && note_part(part, parts, seen)) {
            if ((size_t)parts < most)
                part[parts++].seen = seen;
            else
                parts = -1;
        }
    }
    for (int k = 0; k < parts; k++)
        part[k].language = part_language(a, &m, &all, &w, part[k].seen);
    if (parts > 1)
        qsort(part, (size_t)parts, sizeof *part, by_seen);
    nfa_free(&all);
    free(w.at);
    return parts;
}
