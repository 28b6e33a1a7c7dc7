/* SPDX-License-Identifier: Apache-2.0 */
#include "fence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence_parts.h"
#include "ordeal.h"

/* ---- one exploration ---------------------------------------------------------------------- */

static const uint8_t fence_of_model[EXPLORE_MODELS] = {
    [EXPLORE_TSO] = FENCE_AFTER_STORE, [EXPLORE_PSO] = FENCE_BEFORE_STORE
};

enum explore_verdict fence_explore(struct placing *p, struct fence_outcome *o)
{
    struct fence_result *r = p->result;
    p->how.local = p->options->explore.local & (uint8_t)~p->not_local;
    if (p->how.model == EXPLORE_PSO)
        p->how.local &= (uint8_t)~EXPLORE_LOCAL_DYNAMIC;
    if (!fence_search(&p->how, &r->total, p->began, o)) {
        p->no_memory = true;
        o->verdict = EXPLORE_UNDECIDED;
    }
    r->searches++;
    r->total.states += o->states;
    r->total.transitions += o->transitions;
    if (o->longest > r->total.depth)
        r->total.depth = o->longest;
    if (o->strange && !p->not_local) {
        fence_outcome_free(o);
        p->not_local = EXPLORE_LOCAL_DYNAMIC;
        return fence_explore(p, o);
    }
    return o->verdict;
}

void fence_note_undecided(struct placing *p, const struct fence_outcome *o)
{
    p->result->verdict = EXPLORE_UNDECIDED;
    snprintf(p->result->note, sizeof p->result->note, "%s: %.240s",
             explore_model_names[p->how.model], o->note);
}

void fence_note_failed(struct placing *p, const struct fence_outcome *o)
{
    struct fence_result *r = p->result;
    r->verdict = EXPLORE_FAIL;
    r->model = p->how.model;
    r->error = o->error;
    r->thread = o->thread;
    r->pc = o->pc;
    snprintf(r->text, sizeof r->text, "%s", o->text);
    snprintf(r->note, sizeof r->note, "no %s between the program's stores stops it",
             p->how.model == EXPLORE_TSO ? "mfence" : "sfence");
}

void fence_put(struct placing *p, struct fence_place place, bool there)
{
    fence_machine_set(&p->machine, place.pc, place.fence, there);
}

/* ---- until it is right, and back ----------------------------------------------------------- */

static void add_needed(struct fence_set *set, struct fence_place place)
{
    set->fence = words_resize(set->fence, (set->fences + 1) * sizeof *set->fence);
    set->fence[set->fences++] = (struct fence_needed){ .place = place };
}

/* The first of the places that has no fence yet; false: there is none. */
static bool choose_place(const struct placing *p, const struct fence_place *from, size_t count,
                         struct fence_place *place)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t at = (from[i].pc - p->code.base) / 4;
        *place = from[i];
        if (!(p->machine.fence[at] & from[i].fence))
            return true;
    }
    return false;
}

static bool insert(struct placing *p, struct fence_set *set)
{
    struct fence_outcome o;
    struct fence_place place;
    bool goes_on = true;
    while (goes_on && fence_explore(p, &o) == EXPLORE_FAIL) {
        p->result->iterations++;
        goes_on = choose_place(p, o.latest, o.latests, &place)
               || choose_place(p, o.cover, o.covers, &place);
        if (goes_on) {
            add_needed(set, place);
            fence_put(p, place, true);
        } else {
            fence_note_failed(p, &o);
        }
        fence_outcome_free(&o);
    }
    if (!goes_on)
        return false;
    p->result->iterations++;
    set->states = o.states;
    if (o.verdict == EXPLORE_UNDECIDED)
        fence_note_undecided(p, &o);
    fence_outcome_free(&o);
    return o.verdict == EXPLORE_PASS;
}

/* Is it right without this one? Says of it what goes wrong if not. */
static bool goes_without(struct placing *p, struct fence_needed *f)
{
    struct fence_outcome o;
    fence_put(p, f->place, false);
    enum explore_verdict verdict = fence_explore(p, &o);
    if (verdict != EXPLORE_PASS)
        fence_put(p, f->place, true);
    if (verdict == EXPLORE_FAIL) {
        f->without = o.error;
        f->thread = o.thread;
        f->pc = o.pc;
        snprintf(f->text, sizeof f->text, "%.*s", (int)sizeof f->text - 1, o.text);
    }
    if (verdict == EXPLORE_UNDECIDED && !p->result->note[0])
        snprintf(p->result->note, sizeof p->result->note,
                 "whether every fence is needed is not decided: %.200s", o.note);
    fence_outcome_free(&o);
    return verdict == EXPLORE_PASS;
}

/* Remark 2. One that was needed while others were there is needed without them, too. */
static void remove_needless(struct placing *p, struct fence_set *set, size_t from)
{
    bool removed = false;
    for (size_t i = from; i < set->fences;) {
        if (goes_without(p, &set->fence[i])) {
            memmove(&set->fence[i], &set->fence[i + 1], (--set->fences - i) * sizeof *set->fence);
            removed = true;
        } else {
            i++;
        }
    }
    struct fence_outcome o;
    if (removed && fence_explore(p, &o) == EXPLORE_PASS)
        set->states = o.states;
    if (removed)
        fence_outcome_free(&o);
}

static int by_place(const void *a, const void *b)
{
    const struct fence_needed *x = a, *y = b;
    if (x->place.fence != y->place.fence)
        return x->place.fence < y->place.fence ? -1 : 1;
    return x->place.pc < y->place.pc ? -1 : x->place.pc > y->place.pc;
}

void fence_set_finish(struct fence_set *set)
{
    if (set->fences)
        qsort(set->fence, set->fences, sizeof *set->fence, by_place);
    set->mfences = 0;
    for (size_t i = 0; i < set->fences; i++)
        set->mfences += set->fence[i].place.fence == FENCE_AFTER_STORE;
}

struct fence_set *fence_new_set(struct placing *p)
{
    struct fence_result *r = p->result;
    r->set = words_resize(r->set, (r->sets + 1) * sizeof *r->set);
    r->set[r->sets] = (struct fence_set){ .fence = NULL };
    return &r->set[r->sets++];
}

/* Those to begin with that this model is about. */
static void put_given(struct placing *p, struct fence_set *set)
{
    for (size_t i = 0; i < p->options->givens; i++) {
        struct fence_place place = p->options->given[i];
        if (place.fence != fence_of_model[p->how.model])
            continue;
        add_needed(set, place);
        fence_put(p, place, true);
    }
}

static void find_one(struct placing *p)
{
    struct fence_set *set = fence_new_set(p);
    enum explore_model last = p->options->explore.model;
    for (enum explore_model m = EXPLORE_TSO; m <= last; m++) {
        size_t from = set->fences;
        p->how.model = m;
        put_given(p, set);
        if (!insert(p, set))
            break;
        uint32_t added = (uint32_t)(set->fences - from);
        if (fence_of_model[m] == FENCE_AFTER_STORE)
            p->result->mfences = added;
        else
            p->result->sfences = added;
        remove_needless(p, set, from);
    }
    fence_set_finish(set);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* What goes wrong under SC no fence mends. */
static enum ordeal_status check_sc(struct placing *p, const struct image *image,
                                   struct ordeal_error *error)
{
    struct explore_options sc = p->options->explore;
    struct explore_result *e = NULL;
    struct fence_result *r = p->result;
    sc.model = EXPLORE_SC;
    enum ordeal_status status = explore(image, &sc, &e, error);
    if (status != ORDEAL_OK)
        return status;
    r->total.transitions += e->at_end.transitions;
    r->verdict = e->verdict;
    r->model = EXPLORE_SC;
    if (e->verdict == EXPLORE_UNDECIDED)
        snprintf(r->note, sizeof r->note, "sc: %.240s", e->note);
    if (e->verdict == EXPLORE_FAIL) {
        r->error = e->finding[0].error;
        r->thread = e->finding[0].thread;
        r->pc = e->finding[0].pc;
        memcpy(r->text, e->finding[0].text, sizeof r->text);
        snprintf(r->note, sizeof r->note, "no fence helps: it goes wrong under sc, too");
    }
    explore_result_free(e);
    return ORDEAL_OK;
}

static enum ordeal_status place_fences(struct placing *p, const struct image *image,
                                       struct ordeal_error *error)
{
    if (!program_code_new(&p->code, image, error))
        return error->status;
    enum ordeal_status status = ORDEAL_NO_MEMORY;
    if (fence_machine_new(&p->machine, &p->code)) {
        p->how.symbolic = &p->machine;
        p->machine.robust = p->options->robust;
        p->machine.wrong = p->options->wrong;
        p->machine.user = p->options->user;
        status = check_sc(p, image, error);
        p->how.most_seconds = p->options->explore.most_seconds;
        if (status == ORDEAL_OK && p->result->verdict == EXPLORE_PASS) {
            if (p->options->all_minimal)
                fence_find_all(p);
            else
                find_one(p);
        }
    }
    fence_machine_free(&p->machine);
    program_code_free(&p->code);
    return p->no_memory ? ORDEAL_NO_MEMORY : status;
}

/* Where memory runs out it ends here. What the search held then is lost: nothing of it could be told. */
static enum ordeal_status place_within_memory(struct placing *p, const struct image *image,
                                              struct ordeal_error *error)
{
    jmp_buf without_memory;
    if (setjmp(without_memory) != 0) {
        words_without_memory = NULL;
        return ORDEAL_NO_MEMORY;
    }
    words_without_memory = &without_memory;
    enum ordeal_status status = place_fences(p, image, error);
    words_without_memory = NULL;
    return status;
}

enum ordeal_status fence_find(const struct image *image, const struct fence_options *options,
                              struct fence_result **result, struct ordeal_error *error)
{
    struct placing p = { .options = options, .how = options->explore, .began = fence_now() };
    *error = (struct ordeal_error){ .status = ORDEAL_OK };
    *result = p.result = calloc(1, sizeof *p.result);
    enum ordeal_status status = p.result ? place_within_memory(&p, image, error) : ORDEAL_NO_MEMORY;
    if (status == ORDEAL_NO_MEMORY)
        snprintf(error->reason, sizeof error->reason, "no memory for the search");
    error->status = status;
    if (p.result)
        p.result->total.seconds = fence_now() - p.began;
    return status;
}

void fence_result_free(struct fence_result *r)
{
    for (size_t i = 0; r && i < r->sets; i++)
        free(r->set[i].fence);
    if (r)
        free(r->set);
    free(r);
}
