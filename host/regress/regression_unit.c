/* SPDX-License-Identifier: Apache-2.0 */
/* Units: whose turn it is, how many tests it gets, and what is done with what it brings. */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command.h"
#include "regression_parts.h"

/* That a unit is to take: a start costs a tenth of a second, a kill all that was not merged. The longer
 * a regression runs the longer they get. */
static const double short_unit = 6, long_unit = 60, part_of_session = 0.15, least_seconds = 1;
enum {
    FIRST_UNIT = 8,       /* tests of the first, of which nobody knows how long they take */
    GROWTH = 8,           /* from one unit to the next, at most */
    MOST_TRIES = 2,       /* of a unit that brings nothing */
    MOST_MISFORTUNES = 5, /* in a row, before a run is given up for now */
};

/* ---- whose turn it is ---------------------------------------------------------------------------- */

/* With what is on its way. */
static double cycles_expected(const struct work *w)
{
    return (double)w->store.cycles + (double)w->flying_tests * w->cycles_per_test;
}

static double seconds_expected(const struct work *w)
{
    return w->store.seconds + (double)w->flying_tests * w->per_test;
}

static bool is_used_up(const struct work *w)
{
    const struct plan_budget *b = &w->plan->budget;
    return (b->cycles && cycles_expected(w) >= (double)b->cycles)
        || (b->seconds > 0 && seconds_expected(w) >= b->seconds);
}

/* Before the first unit is back nobody knows how much to give: one at a time. */
static bool has_work(const struct work *w, bool sized)
{
    if (w->out || !w->known)
        return false;
    if (w->again.count)
        return true;
    return w->handed < w->end && !is_used_up(w) && (sized || w->per_test > 0 || !w->flying);
}

/* How far it is: of what it may use, or for its weight. */
static double used(const struct regression *r, const struct work *w)
{
    const struct plan_budget *b = &w->plan->budget;
    double share = 0;
    if (r->plan->plan->budget.seconds > 0)
        return seconds_expected(w) / w->plan->weight;
    if (b->tests)
        share = (double)w->handed / (double)b->tests;
    if (b->cycles && cycles_expected(w) / (double)b->cycles > share)
        share = cycles_expected(w) / (double)b->cycles;
    if (b->seconds > 0 && seconds_expected(w) / b->seconds > share)
        share = seconds_expected(w) / b->seconds;
    return share;
}

static struct work *choose(struct regression *r)
{
    struct work *best = NULL;
    bool sized = r->plan->plan->batch;
    for (size_t i = 0; i < r->works.count; i++) {
        struct work *w = &r->works.data[i];
        if (has_work(w, sized) && (!best || used(r, w) < used(r, best)))
            best = w;
    }
    return best;
}

/* ---- how much it gets ---------------------------------------------------------------------------- */

static uint64_t at_most(uint64_t a, double b)
{
    return b < 1 ? 1 : (double)a > b ? (uint64_t)b : a;
}

static double seconds_of_unit(const struct regression *r)
{
    double seconds = part_of_session * (now_seconds() - r->began);
    return seconds < short_unit ? short_unit : seconds < long_unit ? seconds : long_unit;
}

/* A few seconds' worth, less towards the end, so that all workers end together. */
static uint64_t size_of_unit(const struct regression *r, const struct work *w)
{
    const struct plan *p = r->plan->plan;
    const struct plan_budget *b = &w->plan->budget;
    uint64_t left = w->end - w->handed, count = p->batch;
    if (count)
        return count < left ? count : left;
    count = FIRST_UNIT;
    if (w->per_test > 0)
        count = at_most(w->last_count * GROWTH, seconds_of_unit(r) / w->per_test);
    if (w->per_test > 0 && p->budget.seconds > 0)
        count = at_most(count, (p->budget.seconds - regression_elapsed(r)) / w->per_test + 1);
    if (w->cycles_per_test > 0 && b->cycles)
        count = at_most(count, ((double)b->cycles - cycles_expected(w)) / w->cycles_per_test + 1);
    if (w->per_test > 0 && b->seconds > 0)
        count = at_most(count, (b->seconds - seconds_expected(w)) / w->per_test + 1);
    uint64_t jobs = (uint64_t)r->plan->engine->jobs(r->engine), share = (left + jobs - 1) / jobs;
    uint64_t least = w->per_test > 0 ? at_most(left, least_seconds / w->per_test) : 1;
    if (w->end != UINT64_MAX && count > share)
        count = share > least ? share : least;
    return count < left ? count : left;
}

static struct piece next_piece(const struct regression *r, struct work *w)
{
    if (w->again.count) {
        struct piece piece = w->again.data[0];
        memmove(w->again.data, w->again.data + 1, --w->again.count * sizeof piece);
        return piece;
    }
    struct piece piece = { w->handed, size_of_unit(r, w), 0 };
    w->handed += piece.count;
    return piece;
}

static bool start_unit(struct regression *r, struct work *w, struct task *t)
{
    char first[24], count[24], examples[24], save[PATH_MAX], cover[PATH_MAX];
    const struct plan *p = r->plan->plan;
    struct task named = { .id = r->ids + 1 };
    regression_folder(r, &named, "save", save, sizeof save);
    regression_folder(r, &named, "cover", cover, sizeof cover);
    snprintf(first, sizeof first, "%" PRIu64, t->piece.first);
    snprintf(count, sizeof count, "%" PRIu64, t->piece.count);
    snprintf(examples, sizeof examples, "%" PRIu64, p->examples);
    const char *more[] = {
        "--keep-going", "--first", first,    "--count", count,
        "--examples",   examples,  "--save", save,      p->coverage ? "--cover" : NULL,
        cover,          NULL
    };
    w->flying++;
    w->flying_tests += t->piece.count;
    return regression_start(r, t, more);
}

bool regression_hand_out(struct regression *r, bool *started)
{
    if (r->running >= r->plan->engine->jobs(r->engine) || r->alone || regression_is_late(r))
        return true;
    struct work *w = choose(r);
    if (!w)
        return true;
    bool alone = regression_is_alone(w->plan);
    if (alone && r->running)
        return true; /* its turn comes when the others are done */
    struct task t = { .kind = TASK_UNIT,
                      .run = (size_t)(w - r->works.data),
                      .piece = next_piece(r, w) };
    *started = true;
    return start_unit(r, w, &t);
}

/* ---- what it brings ------------------------------------------------------------------------------ */

static bool try_again(struct regression *r, struct work *w, struct piece piece)
{
    if (!piece.count)
        return true;
    if (!LIST_PUSH(&w->again, piece))
        return why_say(r->why, "out of memory");
    for (size_t i = w->again.count - 1;
         i > 0 && w->again.data[i].first < w->again.data[i - 1].first; i--) {
        struct piece other = w->again.data[i - 1];
        w->again.data[i - 1] = w->again.data[i];
        w->again.data[i] = other;
    }
    return true;
}

static bool skip(struct regression *r, struct work *w, uint64_t count)
{
    if (!store_skip(r->plan->store, &w->store, count, r->why))
        return false;
    if (++w->misfortunes < MOST_MISFORTUNES)
        return true;
    w->out = true;
    return regression_incident(r, w, w->store.next, INCIDENT_TARGET,
                               "given up until the next start: nothing works any more");
}

/* Died, or brought what is no record. If there was no machine to begin with, a board that was unplugged, or
 * the computer was at its end, its disk full, the tests are none the worse for it: they are not left out,
 * but wait for the next start. */
static bool no_record(struct regression *r, struct work *w, const struct task *t, const char *text)
{
    struct piece piece = t->piece;
    bool gone = t->end.ended && t->end.status == EXIT_TARGET;
    bool unable = gone || (t->end.ended && t->end.status == EXIT_BAD);
    if (r->stopping)
        return true;
    if (!regression_incident(r, w, piece.first, gone ? INCIDENT_TARGET : INCIDENT_WORKER,
                             unable ? regression_complaint(&t->end) : text))
        return false;
    if (++piece.attempt < MOST_TRIES)
        return try_again(r, w, piece);
    w->out = unable;
    return unable || skip(r, w, piece.count);
}

/* The rest of a unit that ended early: a test that ends the machine twice is left out. */
static bool take_rest(struct regression *r, struct work *w, const struct task *t, uint64_t done,
                      bool badly)
{
    struct piece rest = { t->piece.first + done, t->piece.count - done, 0 };
    if (badly)
        rest.attempt = done ? 1 : t->piece.attempt + 1;
    if (rest.attempt >= MOST_TRIES) {
        if (!skip(r, w, 1))
            return false;
        rest = (struct piece){ rest.first + 1, rest.count - 1, 0 };
    }
    return try_again(r, w, rest);
}

/* Of a budget in cycles: how many of the tests are within it. */
static size_t tests_within(const struct work *w, const struct record *record)
{
    uint64_t most = w->plan->budget.cycles, sum = w->store.cycles;
    size_t n = 0;
    while (n < record->tests.count && (!most || sum < most))
        sum += record->tests.data[n++].cycles;
    return n;
}

static void note_speed(struct work *w, const struct record *record)
{
    uint64_t cycles = 0;
    double n = (double)record->tests.count;
    for (size_t i = 0; i < record->tests.count; i++)
        cycles += record->tests.data[i].cycles;
    if (!record->tests.count)
        return;
    w->per_test = record->seconds > 0 ? record->seconds / n : 1e-9;
    w->cycles_per_test = (double)cycles / n;
    w->last_count = record->tests.count;
    w->misfortunes = 0;
}

static void tell(struct regression *r, const struct work *w, const struct record *record)
{
    for (size_t i = 0; i < record->tests.count; i++)
        if (record->tests.data[i].failure) {
            r->failed++;
            r->plan->failed(r->plan->user, w->plan, &record->tests.data[i]);
        }
    for (size_t i = 0; i < record->incidents.count; i++) {
        r->incidents++;
        r->plan->incident(r->plan->user, w->plan, record->incidents.data[i].kind,
                          record->incidents.data[i].text);
    }
}

static bool merge(struct regression *r, struct work *w, const struct task *t,
                  const struct record *record)
{
    char save[PATH_MAX];
    struct store_unit unit = { .run = &w->store,
                               .folders = save,
                               .examples = r->plan->plan->examples };
    size_t within = tests_within(w, record);
    bool badly = strcmp(record->end, "target") == 0 || strcmp(record->end, "error") == 0;
    if (within < record->tests.count) { /* once more, and no further: so that counts are exact */
        w->end = t->piece.first + within;
        return try_again(r, w, (struct piece){ t->piece.first, within, 0 });
    }
    regression_folder(r, t, "save", save, sizeof save);
    if (!store_merge(r->plan->store, &unit, record, r->why))
        return false;
    note_speed(w, record);
    tell(r, w, record);
    return take_rest(r, w, t, record->tests.count, badly);
}

/* Is it what was asked for? */
static bool is_of(const struct work *w, const struct task *t, const struct record *record,
                  struct why *why)
{
    if (strcmp(record->program, ORDEAL_VERSION) != 0)
        return why_say(why, "the worker is of another version: %.40s", record->program);
    if (strcmp(record->machine.identity, w->machine.identity) != 0)
        return why_say(why, "the worker has another machine: %.200s", record->machine.description);
    return (record->first == t->piece.first && record->tests.count <= t->piece.count
            && (!record->tests.count
                || record->tests.data[record->tests.count - 1].number
                       == record->first + record->tests.count - 1))
        || why_say(why, "the worker did other tests than it was asked for");
}

static bool settle_unit(struct regression *r, struct task *t)
{
    struct work *w = &r->works.data[t->run];
    struct record record;
    struct why why;
    char file[PATH_MAX];
    regression_folder(r, t, "record", file, sizeof file);
    assert(w->flying && w->flying_tests >= t->piece.count);
    w->flying--;
    w->flying_tests -= t->piece.count;
    bool there = access(file, F_OK) == 0 || (t->end.ended && t->end.status == 0);
    bool whole = record_load(&record, file, &why) && is_of(w, t, &record, &why);
    bool good = whole ? merge(r, w, t, &record)
                      : no_record(r, w, t, there ? why.text : t->end.why.text);
    record_free(&record);
    return good;
}

/* What nobody waits for any more: it is behind the end of its run, which became known only now, or behind
 * the place where its run was given up. */
static bool is_in_vain(const struct work *w, const struct task *t)
{
    return t->piece.first >= w->end || (w->out && t->piece.first != w->store.next);
}

static struct task *next_to_settle(struct regression *r)
{
    for (size_t i = 0; i < r->tasks.count; i++) {
        struct task *t = &r->tasks.data[i];
        const struct work *w = &r->works.data[t->run];
        if (t->ended
            && (t->kind != TASK_UNIT || t->piece.first == w->store.next || is_in_vain(w, t)))
            return t;
    }
    return NULL;
}

bool regression_settle(struct regression *r)
{
    bool good = true;
    struct task *t;
    while (good && (t = next_to_settle(r))) {
        struct work *w = &r->works.data[t->run];
        if (t->kind == TASK_SHRINK) {
            good = regression_take_small(r, t);
        } else if (is_in_vain(w, t)) {
            w->flying--;
            w->flying_tests -= t->piece.count;
        } else {
            good = settle_unit(r, t);
        }
        regression_forget(r, t);
    }
    return good;
}
