/* SPDX-License-Identifier: Apache-2.0 */
/* The example of each bucket made small, when all tests are done: the smallest that failed is then the
 * same, whoever was faster. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "regression_parts.h"

static struct work *work_of(struct regression *r, int64_t run)
{
    for (size_t i = 0; i < r->works.count; i++)
        if (r->works.data[i].store.id == run)
            return &r->works.data[i];
    return NULL;
}

static bool start(struct regression *r, struct work *w, struct task *t)
{
    char first[24], seconds[32], save[PATH_MAX];
    const struct plan *p = r->plan->plan;
    struct task named = { .id = r->ids + 1 };
    regression_folder(r, &named, "save", save, sizeof save);
    snprintf(first, sizeof first, "%" PRIu64, t->bucket.number);
    snprintf(seconds, sizeof seconds, "%g", p->shrink);
    const char *more[] = { "--first",
                           first,
                           "--count",
                           "1",
                           "--save",
                           save,
                           "--shrink-limit",
                           seconds,
                           p->waves && w->plan->target->waves ? "--waves" : NULL,
                           NULL };
    return regression_start(r, t, more);
}

bool regression_shrink(struct regression *r, bool *started)
{
    struct task t = { .kind = TASK_SHRINK };
    if (r->plan->plan->shrink <= 0 || r->alone || r->running >= r->plan->engine->jobs(r->engine)
        || !store_next_new(r->plan->store, r->shrunk, &t.bucket))
        return true;
    r->shrunk = t.bucket.id;
    *started = true;
    struct work *w = work_of(r, t.bucket.run);
    if (!w || w->out)
        return true; /* the plan has this run no more */
    t.run = (size_t)(w - r->works.data);
    return start(r, w, &t);
}

bool regression_take_small(struct regression *r, struct task *t)
{
    struct record record;
    struct why why;
    char file[PATH_MAX], save[PATH_MAX], path[PATH_MAX + 256];
    regression_folder(r, t, "record", file, sizeof file);
    regression_folder(r, t, "save", save, sizeof save);
    bool whole = record_load(&record, file, &why);
    const struct record_failure *f = whole && record.tests.count == 1 ? record.tests.data[0].failure
                                                                      : NULL;
    bool kept = f && f->folder;
    if (kept)
        snprintf(path, sizeof path, "%s/%.200s", save, f->folder);
    bool good = r->stopping
             || store_made_small(r->plan->store, &t->bucket, kept ? path : NULL,
                                 kept && f->shrunk ? f->small : 0, r->why);
    record_free(&record);
    return good;
}
