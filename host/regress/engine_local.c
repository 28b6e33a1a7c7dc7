/* SPDX-License-Identifier: Apache-2.0 */
/* Workers on this computer: children, as many at a time as there are cores. They die with us. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <limits.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"
#include "engine.h"

enum { MOST_WORKERS = 64 };

struct worker {
    struct child child;
    bool taken;
    uint64_t id;
    double deadline;
    char log[PATH_MAX];
};

struct local {
    int jobs;
    struct worker worker[MOST_WORKERS];
};

static int cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < MOST_WORKERS ? CPU_COUNT(&set) : MOST_WORKERS;
}

static bool local_open(void **state, const struct engine_setup *setup, struct why *why)
{
    struct local *l = *state = calloc(1, sizeof *l);
    if (!l)
        return why_say(why, "out of memory");
    l->jobs = setup->jobs ? setup->jobs : cores();
    return l->jobs <= MOST_WORKERS
        || why_say(why, "there are %d workers at most", (int)MOST_WORKERS);
}

static int local_jobs(const void *state) { return ((const struct local *)state)->jobs; }

static bool local_start(void *state, const struct engine_job *job, struct why *why)
{
    struct local *l = state;
    struct worker *w = l->worker;
    while (w < l->worker + l->jobs && w->taken)
        w++;
    if (w == l->worker + l->jobs)
        return why_say(why, "there is no worker free");
    snprintf(w->log, sizeof w->log, "%s/log", job->folder);
    w->taken = child_start(&w->child, job->words, NULL, w->log, why);
    w->id = job->id;
    w->deadline = now_seconds() + job->seconds;
    return w->taken;
}

static void tell_end(struct worker *w, struct engine_end *end)
{
    *end = (struct engine_end){ .id = w->id, .ended = WIFEXITED(w->child.status) };
    end->status = end->ended ? WEXITSTATUS(w->child.status) : -1;
    child_obituary(&w->child, "the worker", w->log, &end->why);
    w->taken = false;
}

static bool local_poll(void *state, struct engine_end *end)
{
    struct local *l = state;
    for (int i = 0; i < l->jobs; i++) {
        struct worker *w = &l->worker[i];
        if (!w->taken)
            continue;
        bool late = now_seconds() > w->deadline, running = child_running(&w->child);
        if (running && !late)
            continue;
        child_stop(&w->child);
        tell_end(w, end);
        if (running)
            why_say(&end->why, "the worker took too long and was stopped");
        return true;
    }
    return false;
}

static void local_ask(void *state)
{
    struct local *l = state;
    for (int i = 0; i < l->jobs; i++)
        if (l->worker[i].taken)
            child_ask(&l->worker[i].child);
}

static void local_close(void *state)
{
    struct local *l = state;
    for (int i = 0; l && i < MOST_WORKERS; i++)
        if (l->worker[i].taken)
            child_stop(&l->worker[i].child);
    free(l);
}

const struct engine engine_local = {
    .name = "local",
    .open = local_open,
    .jobs = local_jobs,
    .start = local_start,
    .poll = local_poll,
    .ask = local_ask,
    .close = local_close,
};
