/* SPDX-License-Identifier: Apache-2.0 */
/* Every minimal set of fences. An error says of which places every safe set has one (the cover of
 * fence_search.h); sets grow by each of them in turn, the small ones first, so that whatever is safe
 * and has no safe set within is minimal. */
#include <stdlib.h>
#include <string.h>

#include "fence_parts.h"

struct pcs {
    uint32_t *pc; /* ascending */
    size_t count;
    uint64_t states;
};
struct family {
    struct placing *p;
    uint8_t fence;
    struct pcs *set; /* to look at, in this order */
    size_t sets, capacity, safe;
    struct fence_outcome failed; /* of a set that nothing can be added to */
    bool hopeless, undecided;
};

/* The first instruction that comes from the same place. */
static uint32_t first_pc(const struct placing *p, uint32_t pc)
{
    for (uint32_t at = p->code.base; at < pc; at += 4)
        if (p->code.at[(at - p->code.base) / 4].operation >= OPERATION_SB
            && fence_same_place(&p->code, at, pc))
            return at;
    return pc;
}

static bool within(const struct pcs *small, const struct pcs *big)
{
    size_t k = 0;
    for (size_t i = 0; i < big->count && k < small->count; i++)
        k += small->pc[k] == big->pc[i];
    return k == small->count;
}

/* The set with one more, unless it is there or has a safe one within it. */
static void add_with(struct family *f, const struct pcs *set, uint32_t pc)
{
    struct pcs more = { words_resize(NULL, (set->count + 1) * sizeof *more.pc), 0, 0 };
    size_t k = 0;
    for (; k < set->count && set->pc[k] < pc; k++)
        more.pc[more.count++] = set->pc[k];
    bool there = k < set->count && set->pc[k] == pc;
    more.pc[more.count++] = pc;
    for (; k < set->count; k++)
        more.pc[more.count++] = set->pc[k];
    for (size_t i = 0; i < f->sets && !there; i++)
        there = (f->set[i].count == more.count || i < f->safe) && within(&f->set[i], &more);
    if (there) {
        free(more.pc);
        return;
    }
    f->set = words_room(f->set, f->sets, &f->capacity, sizeof *f->set);
    f->set[f->sets++] = more;
}

static void put_all(struct family *f, const struct pcs *set, bool there)
{
    for (size_t i = 0; i < set->count; i++)
        fence_put(f->p, (struct fence_place){ set->pc[i], f->fence }, there);
}

/* True: it is safe. */
static bool try_set(struct family *f, size_t i)
{
    struct fence_outcome o;
    struct pcs set = f->set[i];
    put_all(f, &set, true);
    enum explore_verdict verdict = fence_explore(f->p, &o);
    put_all(f, &set, false);
    f->set[i].states = o.states;
    if (verdict == EXPLORE_UNDECIDED) {
        fence_note_undecided(f->p, &o);
        f->undecided = true;
    }
    size_t before = f->sets;
    for (size_t k = 0; verdict == EXPLORE_FAIL && k < o.covers; k++)
        add_with(f, &set, first_pc(f->p, o.cover[k].pc));
    if (verdict == EXPLORE_FAIL && f->sets == before && !f->hopeless) {
        f->hopeless = true;
        f->failed = o;
        f->failed.latest = f->failed.cover = NULL; /* nobody needs them */
        f->failed.rows = (struct word_table){ .word = NULL };
    }
    fence_outcome_free(&o);
    return verdict == EXPLORE_PASS;
}

/* A safe one within it that was found after it was put there. */
static bool needless(const struct family *f, size_t i)
{
    for (size_t k = 0; k < f->safe; k++)
        if (within(&f->set[k], &f->set[i]))
            return true;
    return false;
}

/* Safe sets come to the front. */
static void find_family(struct family *f)
{
    f->set = words_resize(NULL, 16 * sizeof *f->set);
    f->capacity = 16;
    f->set[f->sets++] = (struct pcs){ words_resize(NULL, sizeof(uint32_t)), 0, 0 };
    for (size_t i = 0; i < f->sets && !f->undecided; i++) {
        if (needless(f, i) || !try_set(f, i))
            continue;
        struct pcs found = f->set[i];
        memmove(&f->set[f->safe + 1], &f->set[f->safe], (i - f->safe) * sizeof found);
        f->set[f->safe++] = found;
    }
}

static void free_family(struct family *f)
{
    for (size_t i = 0; i < f->sets; i++)
        free(f->set[i].pc);
    free(f->set);
}

static void add_fences(struct fence_set *to, const struct pcs *set, uint8_t fence)
{
    to->fence = words_resize(to->fence, (to->fences + set->count + 1) * sizeof *to->fence);
    for (size_t i = 0; i < set->count; i++)
        to->fence[to->fences++] = (struct fence_needed){ .place = { set->pc[i], fence } };
}

static void keep(struct placing *p, const struct pcs *mfences, const struct pcs *sfences)
{
    struct fence_set *set = fence_new_set(p);
    add_fences(set, mfences, FENCE_AFTER_STORE);
    if (sfences)
        add_fences(set, sfences, FENCE_BEFORE_STORE);
    set->states = (sfences ? sfences : mfences)->states;
    fence_set_finish(set);
}

static void find_sfences(struct placing *p, struct family *tso, const struct pcs *mfences)
{
    struct family pso = { .p = p, .fence = FENCE_BEFORE_STORE };
    p->how.model = EXPLORE_PSO;
    put_all(tso, mfences, true);
    find_family(&pso);
    put_all(tso, mfences, false);
    for (size_t i = 0; i < pso.safe; i++)
        keep(p, mfences, &pso.set[i]);
    if (!pso.safe && !pso.undecided)
        fence_note_failed(p, &pso.failed);
    tso->undecided |= pso.undecided;
    free_family(&pso);
}

void fence_find_all(struct placing *p)
{
    struct family tso = { .p = p, .fence = FENCE_AFTER_STORE };
    p->how.model = EXPLORE_TSO;
    find_family(&tso);
    for (size_t i = 0; i < tso.safe && !tso.undecided; i++) {
        if (p->options->explore.model == EXPLORE_PSO)
            find_sfences(p, &tso, &tso.set[i]);
        else
            keep(p, &tso.set[i], NULL);
    }
    if (!tso.safe && !tso.undecided)
        fence_note_failed(p, &tso.failed);
    free_family(&tso);
}
