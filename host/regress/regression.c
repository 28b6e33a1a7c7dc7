/* SPDX-License-Identifier: Apache-2.0 */
#include "regression.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/tree.h"
#include "regression_parts.h"

static const double glance = 0.005;  /* seconds between two looks at the workers */
static const double farewell = 30.0; /* for workers after ^C */

const char *const regression_ends[] = { "done", "budget", "interrupted", "error", "error" };

/* ---- jobs ---------------------------------------------------------------------------------------- */

void regression_folder(const struct regression *r, const struct task *t, const char *name,
                       char *path, size_t size)
{
    snprintf(path, size, "%.3000s/work/%" PRIu64 "%s%s", store_folder(r->plan->store), t->id,
             *name ? "/" : "", name);
}

void regression_forget(struct regression *r, struct task *t)
{
    char path[PATH_MAX];
    regression_folder(r, t, "", path, sizeof path);
    tree_remove(path);
    size_t at = (size_t)(t - r->tasks.data);
    memmove(t, t + 1, (r->tasks.count - at - 1) * sizeof *t);
    r->tasks.count--;
}

bool regression_is_alone(const struct plan_run *run)
{
    return strcmp(run->target->name, "native") == 0 || run->target->connected;
}

bool regression_start(struct regression *r, struct task *t, const char *const *more)
{
    LIST(char *) words = { 0 };
    char folder[PATH_MAX], record[PATH_MAX], jobs[] = "--jobs", one[] = "1", check[] = "--check",
                                             to[] = "--record", *end = NULL;
    const struct plan_run *run = r->works.data[t->run].plan;
    t->id = ++r->ids;
    t->started = now_seconds();
    regression_folder(r, t, "", folder, sizeof folder);
    regression_folder(r, t, "record", record, sizeof record);
    bool good = LIST_PUSH(&words, (char *)r->plan->program);
    for (size_t i = 0; good && i < run->words.count; i++)
        good = LIST_PUSH(&words, run->words.data[i]);
    good = good && LIST_PUSH(&words, check) && LIST_PUSH(&words, to) && LIST_PUSH(&words, record);
    if (good && !run->target->connected)
        good = LIST_PUSH(&words, jobs) && LIST_PUSH(&words, one);
    for (; good && *more; more++)
        good = LIST_PUSH(&words, (char *)*more);
    good = good && LIST_PUSH(&words, end) && LIST_PUSH(&r->tasks, *t);
    struct engine_job job = { .id = t->id,
                              .words = words.data,
                              .folder = folder,
                              .alone = regression_is_alone(run),
                              .seconds = r->plan->plan->worker };
    if (!good)
        why_say(r->why, "out of memory");
    else if (mkdir(folder, 0777) != 0)
        good = why_say(r->why, "%.300s: it cannot be made", folder);
    else
        good = r->plan->engine->start(r->engine, &job, r->why);
    LIST_FREE(&words);
    r->running += good;
    r->alone |= good && job.alone;
    return good;
}

static struct task *find_task(struct regression *r, uint64_t id)
{
    for (size_t i = 0; i < r->tasks.count; i++)
        if (r->tasks.data[i].id == id)
            return &r->tasks.data[i];
    return NULL;
}

bool regression_poll(struct regression *r)
{
    struct engine_end end;
    bool some = false;
    while (r->plan->engine->poll(r->engine, &end)) {
        struct task *t = find_task(r, end.id);
        some = true;
        if (end.broken)
            r->failed_badly = !why_say(r->why, "%s", end.why.text);
        if (end.broken || !t || t->ended)
            continue; /* told twice */
        t->ended = true;
        t->end = end;
        r->running--;
        r->alone &= r->running > 0;
    }
    return some;
}

const char *regression_complaint(const struct engine_end *end)
{
    const char *at = strstr(end->why.text, "ordeal run: ");
    return at ? at + strlen("ordeal run: ") : end->why.text;
}

bool regression_incident(struct regression *r, const struct work *w, uint64_t first,
                         enum incident_kind kind, const char *text)
{
    char named[1200];
    bool there = w->store.id != 0;
    snprintf(named, sizeof named, "%s%s%s", there ? "" : w->plan->name, there ? "" : ": ", text);
    if (!store_incident(r->plan->store, there ? &w->store : NULL, first, kind, named, r->why))
        return false;
    r->incidents++;
    r->plan->incident(r->plan->user, w->plan, kind, text);
    return true;
}

/* ---- the loop ------------------------------------------------------------------------------------ */

double regression_elapsed(const struct regression *r)
{
    return r->elapsed_before + now_seconds() - r->began;
}

bool regression_is_late(const struct regression *r)
{
    double most = r->plan->plan->budget.seconds;
    return most > 0 && regression_elapsed(r) >= most;
}

/* How much of the budget is used, of whichever kind that is. */
static void fill_progress(const struct regression *r, struct regression_progress *p)
{
    double most = r->plan->plan->budget.seconds, share = 0, weights = 0;
    *p = (struct regression_progress){
        .failed = r->failed, .incidents = r->incidents, .workers = r->running, .left = -1
    };
    for (size_t i = 0; i < r->works.count; i++) {
        const struct work *w = &r->works.data[i];
        const struct plan_budget *b = &w->plan->budget;
        double used = b->tests ? (double)w->store.next / (double)b->tests : 0;
        if (b->cycles && (double)w->store.cycles / (double)b->cycles > used)
            used = (double)w->store.cycles / (double)b->cycles;
        if (b->seconds > 0 && w->store.seconds / b->seconds > used)
            used = w->store.seconds / b->seconds;
        p->tests += w->store.next;
        p->of += b->tests;
        share += w->plan->weight * (used < 1 && !w->out ? used : 1);
        weights += w->plan->weight;
    }
    p->share = weights > 0 ? share / weights : 0;
    if (most > 0 && regression_elapsed(r) / most > p->share)
        p->share = regression_elapsed(r) / most;
    double spent = now_seconds() - r->began;
    if (p->share > 0.01 && p->share <= 1)
        p->left = spent / p->share * (1 - p->share);
    if (most > 0 && p->left > most - regression_elapsed(r))
        p->left = most - regression_elapsed(r);
    for (size_t i = 0; i < r->tasks.count; i++)
        p->shrinking += r->tasks.data[i].kind == TASK_SHRINK;
}

static void tick(const struct regression *r)
{
    struct regression_progress p;
    fill_progress(r, &p);
    r->plan->tick(r->plan->user, &p);
}

static bool has_units(const struct regression *r)
{
    for (size_t i = 0; i < r->tasks.count; i++)
        if (r->tasks.data[i].kind == TASK_UNIT)
            return true;
    return false;
}

/* Units first; when none is left, what was found is made small. */
static bool hand_out(struct regression *r)
{
    bool started = true;
    while (started && !r->stopping) {
        started = false;
        if (!regression_hand_out(r, &started))
            return false;
        if (!started && !has_units(r) && !regression_shrink(r, &started))
            return false;
    }
    return true;
}

static bool step(struct regression *r)
{
    if (interrupted() && !r->stopping) {
        r->stopping = true;
        r->plan->engine->ask(r->engine);
    }
    bool some = regression_poll(r);
    if (some && !regression_settle(r))
        return false;
    if (r->failed_badly || !hand_out(r))
        return false;
    tick(r);
    if (r->running && !some)
        pause_for(glance);
    return true;
}

static bool loop(struct regression *r)
{
    double asked = 0;
    bool good = regression_settle(r) && hand_out(r);
    while (good && r->running) {
        good = step(r);
        if (r->stopping && asked == 0)
            asked = now_seconds();
        if (asked > 0 && now_seconds() - asked > farewell)
            break;
    }
    return good;
}

static bool begin(struct regression *r)
{
    const struct regression_plan *p = r->plan;
    char folder[PATH_MAX];
    for (size_t i = 0; i < p->plan->runs.count; i++) {
        struct work w = { .plan = &p->plan->runs.data[i], .end = UINT64_MAX };
        if (w.plan->budget.tests)
            w.end = w.plan->budget.tests;
        if (!LIST_PUSH(&r->works, w))
            return why_say(r->why, "out of memory");
    }
    snprintf(folder, sizeof folder, "%.3000s/work", store_folder(p->store));
    struct engine_setup setup = {
        .jobs = p->jobs, .folder = folder, .words = p->words, .queue = p->queue
    };
    r->elapsed_before = store_elapsed(p->store);
    r->began = now_seconds();
    return p->engine->open(&r->engine, &setup, r->why)
        && store_begin_session(p->store, p->engine->name, r->why);
}

static void end_all(struct regression *r)
{
    if (r->engine)
        r->plan->engine->close(r->engine);
    while (r->tasks.count)
        regression_forget(r, &r->tasks.data[0]);
    LIST_FREE(&r->tasks);
    for (size_t i = 0; i < r->works.count; i++)
        LIST_FREE(&r->works.data[i].again);
    LIST_FREE(&r->works);
}

enum regression_end regression_run(const struct regression_plan *plan, struct why *why)
{
    struct regression r = { .plan = plan, .shrunk = -1, .why = why };
    bool refused = false;
    bool good = begin(&r) && regression_probe(&r, &refused);
    if (good && !refused && !r.stopping)
        good = loop(&r);
    enum regression_end end = refused                ? REGRESSION_REFUSED
                            : !good                  ? REGRESSION_ERROR
                            : interrupted()          ? REGRESSION_INTERRUPTED
                            : regression_is_late(&r) ? REGRESSION_BUDGET
                                                     : REGRESSION_DONE;
    struct why unheard;
    end_all(&r);
    if (!store_end_session(plan->store, regression_ends[end], good ? why : &unheard) && good)
        end = REGRESSION_ERROR;
    return end;
}
