/* SPDX-License-Identifier: Apache-2.0 */
/* Before anything runs: is every machine there, do its options and its bias go together, and is it what
 * the database has of this run? `ordeal run --prepare` tells. */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "regression_parts.h"

static bool is_seed(const struct plan_run *run, size_t word)
{
    return strcmp(run->words.data[word], "--seed") == 0
        || (word > 0 && strcmp(run->words.data[word - 1], "--seed") == 0);
}

/* All words but that of the seed. */
static bool same_machine(const struct plan_run *a, const struct plan_run *b)
{
    if (a->words.count != b->words.count)
        return false;
    for (size_t i = 0; i < a->words.count; i++)
        if (strcmp(a->words.data[i], b->words.data[i]) != 0 && !(is_seed(a, i) && is_seed(b, i)))
            return false;
    return true;
}

/* The first run that it is like. */
static void group(struct regression *r)
{
    for (size_t i = 0; i < r->works.count; i++) {
        size_t k = 0;
        while (k < i && !same_machine(r->works.data[k].plan, r->works.data[i].plan))
            k++;
        r->works.data[i].probe = (int)k;
    }
}

/* Of how the tests of a run are made and run: words but for the names of files, whose contents are in
 * `how`. */
static void identify(struct work *w, const char *how)
{
    struct hash h;
    hash_begin(&h);
    hash_text(&h, how);
    hash_text(&h, w->machine.identity);
    for (size_t i = 0; i < w->plan->words.count; i++)
        if (!w->plan->is_file.data[i])
            hash_text(&h, w->plan->words.data[i]);
    hash_end(&h, w->identity);
}

static bool take_machine(struct regression *r, size_t leader, const struct record *record)
{
    for (size_t i = leader; i < r->works.count; i++) {
        struct work *w = &r->works.data[i];
        if (w->probe != (int)leader)
            continue;
        w->machine = record->machine;
        w->known = true;
        identify(w, record->how);
    }
    return true;
}

static bool give_up(struct regression *r, size_t leader, enum incident_kind kind, const char *text)
{
    bool good = true;
    for (size_t i = leader; good && i < r->works.count; i++) {
        struct work *w = &r->works.data[i];
        if (w->probe != (int)leader)
            continue;
        w->out = true;
        good = regression_incident(r, w, 0, kind, text);
    }
    return good;
}

/* `refused`: something is wrong with the plan. */
static bool take_probe(struct regression *r, struct task *t, bool *refused)
{
    enum { BAD = 2 };
    struct record record = { 0 };
    struct why why;
    char file[PATH_MAX];
    const struct plan_run *run = r->works.data[t->run].plan;
    regression_folder(r, t, "record", file, sizeof file);
    bool good = true, fine = t->end.ended && t->end.status == 0 && record_load(&record, file, &why);
    if (fine)
        good = take_machine(r, t->run, &record);
    else if (t->end.ended && t->end.status == BAD && !*refused)
        *refused = !why_say(r->why, "%.300s:%u: run '%.100s': %.500s", r->plan->plan->file,
                            run->line, run->name, regression_complaint(&t->end));
    else if (!r->stopping && t->end.ended && t->end.status == 0)
        good = give_up(r, t->run, INCIDENT_WORKER, why.text);
    else if (!r->stopping)
        good = give_up(r, t->run, run->target->connected ? INCIDENT_TARGET : INCIDENT_BUILD,
                       regression_complaint(&t->end));
    record_free(&record);
    return good;
}

static bool start_probe(struct regression *r, size_t run)
{
    static const char *const more[] = { "--prepare", "--no-save", NULL };
    struct task t = { .kind = TASK_PROBE, .run = run };
    return regression_start(r, &t, more);
}

static bool wait_for_probe(struct regression *r, bool *refused)
{
    bool good = true;
    if (interrupted() && !r->stopping) {
        r->stopping = true;
        r->plan->engine->ask(r->engine);
    }
    if (!regression_poll(r))
        pause_for(0.002);
    for (size_t i = r->tasks.count; good && i-- > 0;)
        if (r->tasks.data[i].ended) {
            good = take_probe(r, &r->tasks.data[i], refused);
            regression_forget(r, &r->tasks.data[i]);
        }
    return good && !r->failed_badly;
}

/* Each against what the database has of it. */
static bool take_runs(struct regression *r, bool *refused)
{
    for (size_t i = 0; i < r->works.count && !*refused; i++) {
        struct work *w = &r->works.data[i];
        if (!w->known)
            continue;
        w->store.plan = w->plan;
        w->store.identity = w->identity;
        w->store.machine = &w->machine;
        *refused = !store_take_run(r->plan->store, &w->store, r->why);
        w->handed = w->store.next;
    }
    return true;
}

bool regression_probe(struct regression *r, bool *refused)
{
    bool good = true;
    int most = r->plan->engine->jobs(r->engine);
    group(r);
    for (size_t i = 0; good && !*refused && !r->stopping && i < r->works.count; i++) {
        if (r->works.data[i].probe != (int)i)
            continue;
        while (good && r->running >= most)
            good = wait_for_probe(r, refused);
        good = good && !*refused && !r->stopping ? start_probe(r, i) : good;
    }
    while (good && r->running)
        good = wait_for_probe(r, refused);
    return good && (*refused || r->stopping || take_runs(r, refused));
}
