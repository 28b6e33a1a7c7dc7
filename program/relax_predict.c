/* SPDX-License-Identifier: Apache-2.0 */
/* Phase I (Relaxer, Algorithm 1), on groups of events: those of a thread that have a label, a place
 * and a kind in common race with the same others, and only their first and their last one matter for
 * program order, which is reflexive. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "relax.h"

struct group {
    const struct relax_access *access;
    size_t first, last;
};
struct predicting {
    struct group *group;
    size_t groups;
    uint32_t length;
    struct relax_cycles *cycles;
    size_t chain[RELAX_LONGEST];
    bool failed;
};

static bool same_group(const struct relax_access *a, const struct relax_access *b)
{
    return a->thread == b->thread && a->label == b->label && a->address == b->address
        && a->size == b->size && a->kind == b->kind && a->writes == b->writes;
}

static void find_groups(struct predicting *p, const struct relax_run *run)
{
    for (size_t i = 0, k; i < run->accesses; i++) {
        for (k = 0; k < p->groups && !same_group(p->group[k].access, &run->access[i]);)
            k++;
        if (k == p->groups)
            p->group[p->groups++] = (struct group){ &run->access[i], i, i };
        p->group[k].last = i;
    }
}

/* Definition 2. */
static bool race(const struct group *a, const struct group *b)
{
    return a->access->thread != b->access->thread && relax_overlap(a->access, b->access)
        && (a->access->writes || b->access->writes);
}

static bool in_order(const struct group *a, const struct group *b)
{
    return a->access->thread == b->access->thread && a->first <= b->last;
}

/* ---- the set of cycles -------------------------------------------------------------------- */

static int compare(const struct relax_cycle *a, const struct relax_cycle *b)
{
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    for (uint32_t i = 0; i < a->length; i++)
        if (a->label[i] != b->label[i])
            return a->label[i] < b->label[i] ? -1 : 1;
    return 0;
}

/* By pairs; of all rotations the least. */
static void rotate(struct relax_cycle *c)
{
    struct relax_cycle least = *c, turned = *c;
    for (uint32_t by = 2; by < c->length; by += 2) {
        for (uint32_t i = 0; i < c->length; i++) {
            turned.label[i] = c->label[(i + by) % c->length];
            turned.kind[i] = c->kind[(i + by) % c->length];
        }
        if (compare(&turned, &least) < 0)
            least = turned;
    }
    *c = least;
}

static size_t hash(const struct relax_cycle *c)
{
    uint64_t h = c->length;
    for (uint32_t i = 0; i < c->length; i++)
        h = (h ^ c->label[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return (size_t)h;
}

/* Its slot, or the free one where it belongs. */
static uint32_t *slot_of(const struct relax_cycles *s, const struct relax_cycle *c)
{
    for (size_t at = hash(c);; at++) {
        uint32_t *slot = &s->slot[at % s->slots];
        if (!*slot || !compare(&s->cycle[*slot - 1], c))
            return slot;
    }
}

static bool make_room(struct relax_cycles *s)
{
    if (s->count < s->capacity)
        return true;
    size_t capacity = s->capacity ? 2 * s->capacity : 256;
    void *cycles = realloc(s->cycle, capacity * sizeof *s->cycle);
    if (!cycles)
        return false;
    s->cycle = cycles;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return false;
    free(s->slot);
    s->capacity = capacity;
    s->slot = slots;
    s->slots = 2 * capacity;
    for (uint32_t i = 0; i < s->count; i++)
        *slot_of(s, &s->cycle[i]) = i + 1;
    return true;
}

static bool add(struct relax_cycles *s, struct relax_cycle c)
{
    rotate(&c);
    if (!make_room(s))
        return false;
    uint32_t *slot = slot_of(s, &c);
    if (!*slot) {
        s->cycle[s->count++] = c;
        *slot = (uint32_t)s->count;
        return true;
    }
    struct relax_cycle *known = &s->cycle[*slot - 1];
    for (uint32_t i = 0; i < c.length; i++)
        known->kind[i] |= c.kind[i];
    known->stores_first |= c.stores_first;
    return true;
}

static int by_labels(const void *a, const void *b) { return compare(a, b); }

void relax_cycles_sort(struct relax_cycles *s)
{
    if (!s->count)
        return;
    if (s->count)
        qsort(s->cycle, s->count, sizeof *s->cycle, by_labels);
    memset(s->slot, 0, s->slots * sizeof *s->slot);
    for (uint32_t i = 0; i < s->count; i++)
        *slot_of(s, &s->cycle[i]) = i + 1;
}

void relax_cycles_free(struct relax_cycles *s)
{
    free(s->cycle);
    free(s->slot);
    *s = (struct relax_cycles){ 0 };
}

bool relax_worth_trying(const struct relax_cycle *c, enum explore_model model)
{
    return model != EXPLORE_SC && (model != EXPLORE_TSO || c->stores_first);
}

/* ---- chains ------------------------------------------------------------------------------- */

static void report(struct predicting *p, uint32_t length)
{
    struct relax_cycle c = { .length = length, .stores_first = true };
    for (uint32_t i = 0; i < length; i++) {
        const struct relax_access *a = p->group[p->chain[i]].access;
        c.label[i] = a->label;
        c.kind[i] = a->kind;
        c.stores_first &= i % 2 || a->kind == RELAX_STORE;
    }
    p->failed |= !add(p->cycles, c);
}

static bool thread_is_new(const struct predicting *p, uint32_t length, size_t group)
{
    for (uint32_t i = 0; i < length; i += 2)
        if (p->group[p->chain[i]].access->thread == p->group[group].access->thread)
            return false;
    return true;
}

/* A chain of an even length, not itself a cycle, by one pair more. */
static void extend(struct predicting *p, uint32_t length)
{
    assert(length % 2 == 0 && length + 2 <= RELAX_LONGEST);
    for (size_t e = 0; e < p->groups && !p->failed; e++) {
        if (length
            && (!race(&p->group[p->chain[length - 1]], &p->group[e])
                || !thread_is_new(p, length, e)))
            continue;
        p->chain[length] = e;
        for (size_t f = 0; f < p->groups; f++) {
            if (!in_order(&p->group[e], &p->group[f]))
                continue;
            p->chain[length + 1] = f;
            if (length && race(&p->group[f], &p->group[p->chain[0]]))
                report(p, length + 2);
            else if (length + 4 <= p->length)
                extend(p, length + 2);
        }
    }
}

bool relax_predict(const struct relax_run *run, uint32_t length, struct relax_cycles *cycles)
{
    struct predicting p = { .length = length, .cycles = cycles };
    p.group = malloc((run->accesses + 1) * sizeof *p.group);
    if (!p.group)
        return false;
    find_groups(&p, run);
    extend(&p, 0);
    free(p.group);
    return !p.failed;
}
