/* SPDX-License-Identifier: Apache-2.0 */
#include "rup.h"

#include <string.h>

#define NOBODY UINT32_MAX

bool rup_init(struct rup *r, struct ordeal *o, uint32_t variables)
{
    size_t literals = 2 * (size_t)variables;
    *r = (struct rup){ .o = o, .variables = variables };
    r->value = mem_zero(o, literals, sizeof *r->value);
    r->watchers = mem_array(o, literals, sizeof *r->watchers);
    r->rival = mem_array(o, variables, sizeof *r->rival);
    r->trail = mem_array(o, variables, sizeof *r->trail);
    if (!r->value || !r->watchers || !r->rival || !r->trail)
        return false;
    memset(r->watchers, 0xff, literals * sizeof *r->watchers);
    for (uint32_t v = 0; v < variables; v++)
        r->rival[v] = v;
    return true;
}

void rup_free(struct rup *r)
{
    size_t literals = 2 * (size_t)r->variables;
    mem_free(r->o, r->value, literals * sizeof *r->value);
    mem_free(r->o, r->watchers, literals * sizeof *r->watchers);
    mem_free(r->o, r->rival, r->variables * sizeof *r->rival);
    mem_free(r->o, r->trail, r->variables * sizeof *r->trail);
    VEC_FREE(r->o, &r->clauses);
    VEC_FREE(r->o, &r->literals);
}

static bool are_rivals(const struct rup *r, uint32_t a, uint32_t b)
{
    uint32_t v = a;
    do
        v = r->rival[v];
    while (v != a && v != b);
    return v == b;
}

void rup_rivals(struct rup *r, uint32_t a, uint32_t b)
{
    assert(a < r->variables && b < r->variables);
    assert_hot(!are_rivals(r, a, b)); /* or their circle would fall in two */
    uint32_t next = r->rival[a];
    r->rival[a] = r->rival[b];
    r->rival[b] = next;
}

/* False: it is false already. */
static bool make_true(struct rup *r, uint32_t literal)
{
    assert_hot(literal < 2 * (size_t)r->variables);
    assert_hot(r->value[literal] == -r->value[literal ^ 1]);
    if (r->value[literal])
        return r->value[literal] > 0;
    assert(r->trail_count < r->variables);
    r->value[literal] = 1;
    r->value[literal ^ 1] = -1;
    r->trail[r->trail_count++] = literal;
    return true;
}

static bool exclude_rivals(struct rup *r, uint32_t literal)
{
    if (literal & 1)
        return true;
    for (uint32_t v = r->rival[literal / 2]; v != literal / 2; v = r->rival[v])
        if (!make_true(r, 2 * v + 1))
            return false;
    return true;
}

/* Watch slot `slot` of the clause: hang it on the list of the literal that stands there. */
static void hang(struct rup *r, uint32_t clause, uint32_t slot)
{
    assert(clause < r->clauses.count && slot < 2);
    struct rup_clause *c = &r->clauses.data[clause];
    uint32_t *list = &r->watchers[r->literals.data[c->first + slot]];
    c->next[slot] = *list;
    *list = 2 * clause + slot;
}

/* The watched literal of the clause has become false: watch another or force the last one. */
static bool revisit(struct rup *r, uint32_t clause, uint32_t slot)
{
    const struct rup_clause *c = &r->clauses.data[clause];
    uint32_t *literals = r->literals.data + c->first;
    uint32_t gone = literals[slot];
    assert(c->count >= 2 && r->value[gone] < 0);
    if (r->value[literals[!slot]] <= 0)
        for (uint32_t i = 2; i < c->count; i++)
            if (r->value[literals[i]] >= 0) {
                literals[slot] = literals[i];
                literals[i] = gone;
                break;
            }
    hang(r, clause, slot);
    return literals[slot] != gone || make_true(r, literals[!slot]);
}

/* False: a contradiction. */
static bool propagate(struct rup *r)
{
    while (r->propagated < r->trail_count) {
        uint32_t literal = r->trail[r->propagated++];
        if (!exclude_rivals(r, literal))
            return false;
        uint32_t watcher = r->watchers[literal ^ 1];
        r->watchers[literal ^ 1] = NOBODY;
        while (watcher != NOBODY) {
            uint32_t clause = watcher / 2, slot = watcher % 2;
            uint32_t next = r->clauses.data[clause].next[slot];
            if (!revisit(r, clause, slot)) {
                /* The rest of the list stays as it was. */
                for (; next != NOBODY; next = watcher) {
                    watcher = r->clauses.data[next / 2].next[next % 2];
                    hang(r, next / 2, next % 2);
                }
                return false;
            }
            watcher = next;
        }
    }
    return true;
}

static void take_back(struct rup *r, size_t trail_count)
{
    assert(trail_count <= r->trail_count);
    while (r->trail_count > trail_count) {
        uint32_t literal = r->trail[--r->trail_count];
        r->value[literal] = r->value[literal ^ 1] = 0;
    }
    r->propagated = trail_count;
}

/* The trail says what is true; a clause is found through its first two literals, of which none is
 * false unless the other is true. */
static void check_whole(const struct rup *r)
{
    size_t watchers = 0;
    assert(r->propagated == r->trail_count && r->trail_count <= r->variables);
    for (size_t i = 0; i < r->trail_count; i++)
        assert(r->value[r->trail[i]] == 1 && r->value[r->trail[i] ^ 1] == -1);
    for (uint32_t l = 0; l < 2 * r->variables; l++)
        for (uint32_t w = r->watchers[l]; w != NOBODY; watchers++) {
            assert(w / 2 < r->clauses.count && watchers < 2 * r->clauses.count);
            const struct rup_clause *c = &r->clauses.data[w / 2];
            assert(r->literals.data[c->first + w % 2] == l);
            assert(r->value[l] >= 0 || r->value[r->literals.data[c->first + !(w % 2)]] > 0);
            w = c->next[w % 2];
        }
    assert(watchers == 2 * r->clauses.count);
}

bool rup_follows(struct rup *r, const uint32_t *literals, size_t count)
{
    size_t before = r->trail_count;
    assert(r->refuted || r->propagated == before);
    bool possible = !r->refuted;
    for (size_t i = 0; possible && i < count; i++)
        possible = make_true(r, literals[i] ^ 1);
    possible = possible && propagate(r);
    take_back(r, before);
    return !possible;
}

bool rup_add(struct rup *r, const uint32_t *literals, size_t count)
{
    struct rup_clause c = { .first = (uint32_t)r->literals.count };
    for (size_t i = 0; i < count; i++) {
        if (r->refuted || r->value[literals[i]] > 0) {
            r->literals.count = c.first;
            return true;
        }
        if (r->value[literals[i]] < 0)
            continue;
        if (!VEC_PUSH(r->o, &r->literals, literals[i]))
            return false;
        c.count++;
    }
    if (c.count < 2) {
        r->refuted = c.count == 0 || !make_true(r, r->literals.data[c.first]) || !propagate(r);
        r->literals.count = c.first;
        return true;
    }
    uint32_t clause = (uint32_t)r->clauses.count;
    if (!VEC_PUSH(r->o, &r->clauses, c))
        return false;
    hang(r, clause, 0);
    hang(r, clause, 1);
    if (now_and_then(r->clauses.count))
        check_hot(check_whole(r));
    return true;
}
