/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of an execution that is borderline, or in which the program goes wrong: one of each kind and
 * place. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dpor_parts.h"

/* As choices that explore_follow() can do again. */
static bool add_step(struct walk *w, struct explore_path *p, const struct frame *f, size_t *choices)
{
    enum { MOST = 64 };
    uint32_t drawn[MOST], count = 0;
    if (f->choices > 1)
        count = sc_choices(w->g, f->state, f->thread, f->which, drawn, MOST);
    uint32_t *more = realloc(p->choice, (*choices + count + 1) * sizeof *more);
    if (!more)
        return false;
    p->choice = more;
    memcpy(p->choice + *choices, drawn, count * sizeof *drawn);
    p->step[p->steps++] = (struct explore_step){ (uint16_t)f->thread, 0, (uint32_t)*choices,
                                                 count };
    *choices += count;
    return true;
}

static void make_path(struct walk *w, struct explore_path *p, size_t steps)
{
    size_t choices = 0;
    p->step = malloc((steps + 1) * sizeof *p->step);
    w->no_memory |= !p->step;
    for (size_t i = 0; i < steps && !w->no_memory; i++)
        w->no_memory |= !add_step(w, p, &w->stack.data[i], &choices);
    p->not_local = w->r->not_local;
}

static struct dpor_finding *add_finding(struct walk *w)
{
    struct dpor_result *r = w->r;
    struct dpor_finding *more = realloc(r->finding, (r->findings + 1) * sizeof *more);
    struct timespec t;
    if (!more) {
        w->no_memory = true;
        return NULL;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    r->finding = more;
    more[r->findings] = (struct dpor_finding){ .execution = r->total.executions + 1,
                                               .seconds = (double)t.tv_sec
                                                        + (double)t.tv_nsec * 1e-9 - w->started };
    return &more[r->findings++];
}

static void drop_last(struct dpor_result *r)
{
    struct dpor_finding *last = &r->finding[--r->findings];
    free(last->path.step);
    free(last->path.choice);
}

/* Where one is wanted, the last is it, or stands behind the first; then the walk ends, or goes on to count. */
static void settle(struct walk *w)
{
    enum { PATIENCE = 40 };
    struct dpor_result *r = w->r;
    struct dpor_finding *last = &r->finding[r->findings - 1];
    if (w->o->all)
        return;
    w->preferred = last->error || !w->o->prefer || w->o->prefer(w->o->user, last);
    if (r->findings > 1) {
        struct dpor_finding other = r->finding[0];
        if (w->preferred) {
            r->finding[0] = *last;
            *last = other;
        }
        drop_last(r);
    }
    if (!w->o->count && (w->preferred || ++w->judged == PATIENCE))
        w->over = true;
    w->judged += w->o->count;
    w->preferred |= w->judged >= PATIENCE;
}

/* All that the monitor was fed, again. */
static struct monitor_access *all_accesses(const struct walk *w, const uint32_t **number)
{
    size_t count = w->access_step.count, n = 0;
    struct monitor_access *all = malloc((count + 1) * sizeof *all);
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    for (size_t i = 0; all && numbers && i < w->stack.count && n < count; i++)
        for (uint32_t k = 0; k < w->stack.data[i].step.accesses && n < count; k++, n++) {
            numbers[n] = w->stack.data[i].step.access_first + k;
            const struct sc_access *a = &sc_accesses(w->g)[numbers[n]];
            all[n] = (struct monitor_access){ a->kind, a->thread, a->locations,
                                              sc_locations(w->g) + a->first };
        }
    *number = numbers;
    return all;
}

static void add_pairs(const struct walk *w, struct dpor_finding *found,
                      const struct monitor_finding *f, const struct monitor_access *all,
                      const uint32_t *number)
{
    enum { MOST = sizeof found->pair / sizeof *found->pair };
    struct monitor_pair pair[MOST];
    found->pairs = monitor_pairs(w->o->model, all, f, pair, MOST);
    for (uint32_t i = 0; i < found->pairs; i++) {
        const struct sc_access *first = &sc_accesses(w->g)[number[pair[i].first]];
        const struct sc_access *second = &sc_accesses(w->g)[number[pair[i].second]];
        found->pair[i].first_step = w->access_step.data[pair[i].first];
        found->pair[i].second_step = w->access_step.data[pair[i].second];
        found->pair[i].first_pc = first->pc;
        found->pair[i].second_pc = second->pc;
        found->pair[i].thread = first->thread;
        found->pair[i].second_kind = second->kind;
    }
}

static bool is_known(const struct walk *w, uint32_t access_pc, uint32_t missed_pc)
{
    if (!w->o->all)
        return w->preferred;
    for (size_t i = 0; i < w->r->findings; i++) {
        const struct dpor_finding *f = &w->r->finding[i];
        if (!f->error && f->access_pc == access_pc && f->missed_pc == missed_pc)
            return true;
    }
    return false;
}

void dpor_found(struct walk *w, uint32_t event, const struct monitor_finding *f)
{
    const uint32_t *number;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (w->r->first_seconds < 0)
        w->r->first_seconds = (double)t.tv_sec + (double)t.tv_nsec * 1e-9 - w->started;
    uint32_t missed_step = w->access_step.data[f->missed];
    struct monitor_access *all = all_accesses(w, &number);
    if (!all || !number)
        w->no_memory = true;
    else if (!is_known(w, sc_accesses(w->g)[number[f->access]].pc,
                       sc_accesses(w->g)[number[f->missed]].pc)) {
        struct dpor_finding *found = add_finding(w);
        if (found) {
            const struct sc_access *a = &sc_accesses(w->g)[number[f->access]];
            const struct sc_access *b = &sc_accesses(w->g)[number[f->missed]];
            found->access = event;
            found->missed = missed_step;
            found->access_pc = found->pc = a->pc;
            found->access_kind = a->kind;
            found->missed_pc = b->pc;
            found->access_thread = found->thread = a->thread;
            found->missed_thread = b->thread;
            add_pairs(w, found, f, all, number);
            make_path(w, &found->path, event + 1);
            settle(w);
        }
    }
    free(all);
    free((void *)(uintptr_t)number);
}

void dpor_failed(struct walk *w, enum explore_error error, const struct sc_step *step)
{
    for (size_t i = 0; i < w->r->findings; i++)
        if (w->r->finding[i].error == error && w->r->finding[i].pc == (step ? step->pc : 0))
            return;
    struct dpor_finding *f = add_finding(w);
    if (!f)
        return;
    f->error = error;
    f->pc = step ? step->pc : 0;
    f->thread = step ? w->stack.data[w->stack.count - 1].thread : 0;
    snprintf(f->text, sizeof f->text, "%s",
             step ? (step->text ? step->text : "") : "threads wait for ever");
    make_path(w, &f->path, step ? w->stack.count : w->stack.count - 1);
    settle(w);
}
