/* SPDX-License-Identifier: Apache-2.0 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint.h"
#include "contention.h"
#include "exploration.h"
#include "fence_machine.h"
#include "memory_model.h"
#include "reserve.h"

const char *const explore_model_names[EXPLORE_MODELS] = { "sc", "tso", "pso", "pslo" };

const char *explore_error_text(enum explore_error e)
{
    static const char *const text[EXPLORE_ERRORS] = {
        "none",      "assertion",   "reached",    "abort",       "exclusion",  "unmapped",
        "read-only", "freed",       "misaligned", "double-free", "late-store", "deadlock",
        "unlock",    "instruction", "stack",      "not-there",
    };
    return text[e];
}

const struct memory_model *memory_model_of(const struct explore_options *o)
{
    if (o->symbolic)
        return o->symbolic->robust ? &o->symbolic->attacks : &fence_model;
    switch (o->model) {
    case EXPLORE_SC: return &sc_model;
    case EXPLORE_PSO: return &pso_model;
    case EXPLORE_PSLO: return &pslo_model;
    default: return o->plain_flush ? &tso_model : &tso_delayed_model;
    }
}

static enum ordeal_status fail(struct ordeal_error *error, enum ordeal_status status,
                               const char *reason)
{
    *error = (struct ordeal_error){ .status = status };
    snprintf(error->reason, sizeof error->reason, "%s", reason);
    return status;
}

static enum ordeal_status check_options(const struct explore_options *o, struct ordeal_error *error)
{
    bool reorders = o->model == EXPLORE_PSO || o->model == EXPLORE_PSLO;
    if (reorders && o->local & EXPLORE_LOCAL_DYNAMIC)
        return fail(error, ORDEAL_BAD_USAGE,
                    "dynamic detection of local memory (d) is not sound where stores are reordered "
                    "(pso, pslo); use --local s or none");
    if (o->nondet_low > o->nondet_high)
        return fail(error, ORDEAL_BAD_USAGE, "the range of nondeterministic values is empty");
    if (o->checkpoint && o->depth_first)
        return fail(
            error, ORDEAL_BAD_USAGE,
            "checkpoints are of searches in breadth; leave out --order depth or --checkpoint");
    if (o->buffers > 1024)
        return fail(error, ORDEAL_BAD_USAGE, "buffers have at most 1024 entries, or are unbounded");
    return ORDEAL_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { SAVE_SECONDS = 30 };

static void exploration_free(struct exploration *x)
{
    if (x->explorer)
        for (uint32_t i = 0; i < x->options->jobs; i++)
            explorer_finish(&x->explorer[i]);
    free(x->explorer);
    reserve_free(x->parent, (size_t)x->pieces.states.most * 4);
    pieces_free(&x->pieces);
    intern_free(&x->outcomes);
    program_code_free(&x->code);
    free(x->found);
    ranks_free(&x->ranks);
    free(x->pool.item);
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
}

static bool exploration_make(struct exploration *x)
{
    const struct explore_options *o = x->options;
    x->explorer = calloc(o->jobs, sizeof *x->explorer);
    uint32_t row = (uint32_t)((o->outcomes + 1) / 2 * 8);
    bool made = x->explorer && pieces_new(&x->pieces, o->jobs > 1)
             && (x->parent = reserve((size_t)x->pieces.states.most * 4))
             && intern_new(&x->outcomes, row ? row : 8, 1 << 12, 1 << 24, false);
    if (made && o->jobs > 1)
        made = ranks_new(&x->ranks, 1, x->pieces.states.most);
    for (uint32_t i = 0; made && i < o->jobs; i++)
        made = explorer_init(&x->explorer[i], x);
    return made;
}

static void store_first(struct exploration *x)
{
    struct explorer *e = &x->explorer[0];
    bool is_new;
    state_begin(e->s);
    while (packer_pack_whole(e->k, &is_new) == PACK_FULL)
        if (!pieces_grow(&x->pieces))
            x->no_memory = true;
    state_mark(e->s);
    x->high = 1;
    exploration_next_level(x);
    x->depth = 0;
}

/* ---- while it goes on --------------------------------------------------------------------- */

static void look_at(struct exploration *x, double began, struct explore_progress *p)
{
    pthread_mutex_lock(&x->lock);
    uint32_t count = atomic_load(&x->pieces.states.count);
    p->states = count - 1 - x->skipped;
    p->transitions = atomic_load(&x->transitions);
    p->frontier = count - atomic_load(&x->next);
    p->depth = x->depth;
    p->seconds = now() - began;
    p->bytes = pieces_bytes(&x->pieces) + (size_t)count * 4;
    pthread_mutex_unlock(&x->lock);
}

static void stop_here(struct exploration *x)
{
    atomic_store(&x->limited, true);
    atomic_store(&x->stop, true);
}

static void watch(struct exploration *x, double began)
{
    const struct explore_options *o = x->options;
    struct explore_progress p;
    look_at(x, began, &p);
    if (o->progress && o->progress(o->user, &p)) {
        exploration_note(x, "interrupted");
        stop_here(x);
    }
    if (o->most_seconds > 0 && p.seconds > o->most_seconds) {
        exploration_note(x, "the limit of %g seconds", o->most_seconds);
        stop_here(x);
    }
    if (o->most_bytes && p.bytes > o->most_bytes) {
        exploration_note(x, "the limit of %zu MB", o->most_bytes >> 20);
        stop_here(x);
    }
}

static bool wait_a_little(struct exploration *x)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&x->lock);
    if (x->finished < x->options->jobs)
        pthread_cond_timedwait(&x->changed, &x->lock, &until);
    bool done = x->finished == x->options->jobs;
    pthread_mutex_unlock(&x->lock);
    return done;
}

static bool run_workers(struct exploration *x, double began)
{
    uint32_t started = 0, jobs = x->options->jobs;
    while (started < jobs
           && !pthread_create(&x->explorer[started].thread, NULL, explorer_main,
                              &x->explorer[started]))
        started++;
    if (started < jobs) {
        atomic_store(&x->stop, true);
        return false;
    }
    double last = began;
    double saved = began;
    while (!wait_a_little(x)) {
        if (now() - last < 0.09)
            continue;
        last = now();
        watch(x, began);
        if (x->options->checkpoint && last - saved > SAVE_SECONDS) {
            saved = last;
            atomic_store(&x->save, true);
            atomic_store(&x->grow, true);
        }
    }
    for (uint32_t i = 0; i < jobs; i++)
        pthread_join(x->explorer[i].thread, NULL);
    return true;
}

/* ---- what came out ------------------------------------------------------------------------ */

static bool add_contended(const struct exploration *x, struct explore_path *path)
{
    if (!x->contention)
        return true;
    const uint32_t *word = contention_words(x->contention, &path->contendeds);
    path->learned = true;
    path->contended = malloc((path->contendeds + 1) * sizeof *path->contended);
    if (path->contended && path->contendeds)
        memcpy(path->contended, word, path->contendeds * sizeof *word);
    return path->contended != NULL;
}

static bool add_findings(struct exploration *x, struct explore_result *r)
{
    r->finding = calloc(x->founds ? x->founds : 1, sizeof *r->finding);
    if (!r->finding)
        return false;
    for (size_t i = 0; i < x->founds; i++) {
        const struct found *f = &x->found[i];
        struct explore_finding *to = &r->finding[r->findings++];
        to->error = f->error;
        to->path.not_local = x->not_local;
        to->thread = f->thread;
        to->pc = f->pc;
        memcpy(to->text, f->text, sizeof to->text);
        if (!exploration_path(x, f, &to->path) || !add_contended(x, &to->path))
            return false;
        if (to->error == EXPLORE_FREED)
            follow_finding(&x->code, x->options, to);
    }
    return true;
}

static int compare_rows(const void *a, const void *b, void *length)
{
    const uint32_t *x = a, *y = b;
    for (size_t i = 0; i < *(const size_t *)length; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool add_outcomes(struct exploration *x, struct explore_result *r)
{
    size_t n = x->options->outcomes;
    uint32_t rows = atomic_load(&x->outcomes.count) - 1;
    if (!n)
        return true;
    r->outcome = malloc((rows * n + 1) * sizeof *r->outcome);
    if (!r->outcome)
        return false;
    for (uint32_t i = 0; i < rows; i++)
        memcpy(r->outcome + i * n, intern_get(&x->outcomes, i + 1), n * sizeof *r->outcome);
    qsort_r(r->outcome, rows, n * sizeof *r->outcome, compare_rows, &n);
    r->outcome_rows = rows;
    return true;
}

/* What was not finished can go on from there; what was needs it no more. */
static void leave_checkpoint(struct exploration *x)
{
    const char *name = x->options->checkpoint;
    if (!name)
        return;
    if (x->over && (x->complete || x->founds))
        unlink(name);
    else if (exploration_is_worth(x)
             && !checkpoint_write(x, x->save_failed, sizeof x->save_failed)) {
        size_t length = strlen(x->note);
        snprintf(x->note + length, sizeof x->note - length, "%s%s", length ? "; " : "",
                 x->save_failed);
    }
}

static void add_remark(char *note, size_t size, const char *remark)
{
    size_t length = strlen(note);
    snprintf(note + length, size - length, "%s%s", length ? "; " : "", remark);
}

static void add_remarks(const struct exploration *x, char *note, size_t size)
{
    char unjoined[80];
    snprintf(unjoined, sizeof unjoined, "%u thread%s not joined at the exit", x->unjoined,
             x->unjoined == 1 ? " is" : "s are");
    if (x->unjoined)
        add_remark(note, size, unjoined);
    if (!x->ends)
        add_remark(note, size, "no execution ends");
    if (x->not_local)
        add_remark(
            note, size,
            "a thread knows another's memory by a pointer in disguise: --local d was left out");
}

static struct explore_result *result_of(struct exploration *x, double began)
{
    struct explore_result *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    look_at(x, began, &r->at_end);
    for (uint32_t i = 0; i < x->options->jobs; i++)
        r->at_end.states -= packer_unused_numbers(x->explorer[i].k);
    r->stored_bytes = r->at_end.bytes;
    if (!add_findings(x, r) || !add_outcomes(x, r)) {
        explore_result_free(r);
        return NULL;
    }
    r->verdict = r->findings              ? EXPLORE_FAIL
               : x->complete && !*x->note ? EXPLORE_PASS
                                          : EXPLORE_UNDECIDED;
    memcpy(r->note, x->note, sizeof r->note);
    if (r->verdict == EXPLORE_PASS)
        add_remarks(x, r->note, sizeof r->note);
    return r;
}

void explore_result_free(struct explore_result *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->findings; i++) {
        free(r->finding[i].path.step);
        free(r->finding[i].path.choice);
        free(r->finding[i].path.contended);
    }
    free(r->finding);
    free(r->outcome);
    free(r);
}

/* Better said before hours of search than after. */
static enum ordeal_status try_checkpoint(struct exploration *x, struct ordeal_error *error)
{
    char reason[sizeof x->save_failed];
    if (checkpoint_write(x, reason, sizeof reason))
        return ORDEAL_OK;
    return fail(error, ORDEAL_IO, reason);
}

static enum ordeal_status begin(struct exploration *x, struct ordeal_error *error)
{
    enum ordeal_status status = x->options->checkpoint ? checkpoint_read(x, error) : ORDEAL_END;
    if (status == ORDEAL_END) {
        store_first(x);
        status = x->options->checkpoint ? try_checkpoint(x, error) : ORDEAL_OK;
    }
    x->active = x->options->jobs;
    return status;
}

/* What was taken for granted was not so, and nothing else ended the search: it is to be done again. */
static bool was_wrong(struct exploration *x)
{
    bool surprised = x->contention && contention_surprised(x->contention);
    if (surprised)
        x->founds = 0; /* behind a word that changed under a thread's hands */
    return x->strange || (surprised && !x->limited);
}

/* One search. Nothing in *result with ORDEAL_OK: it is to be done again, with what was learned or
 * without the memory that was thought local. */
static enum ordeal_status search_once(struct exploration *x, const struct image *image,
                                      double began, struct explore_result **result,
                                      struct ordeal_error *error)
{
    if (!program_code_new(&x->code, image, error))
        return error->status;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    enum ordeal_status status = exploration_make(x) ? begin(x, error) : ORDEAL_NO_MEMORY;
    if (!status && !x->strange && (x->no_memory || !run_workers(x, began) || x->no_memory))
        status = ORDEAL_NO_MEMORY;
    if (!status && !was_wrong(x)) {
        leave_checkpoint(x);
        *result = result_of(x, began);
        status = *result ? ORDEAL_OK : ORDEAL_NO_MEMORY;
    }
    exploration_free(x);
    if (status != ORDEAL_NO_MEMORY)
        return status;
    return fail(error, status,
                "no memory for the search, or no 32 GB of addresses: "
                "'ulimit -v' may forbid them");
}

/* Searches again until nothing was wrong about memory that is local or contended for. */
static enum ordeal_status search(const struct explore_options *options, const struct image *image,
                                 struct contention *contention, struct explore_result **result,
                                 struct ordeal_error *error)
{
    struct explore_options o = *options;
    double began = now();
    uint8_t not_local = 0;
    enum ordeal_status status = ORDEAL_OK;
    for (*result = NULL; !status && !*result;) {
        struct exploration x = { .options = &o, .not_local = not_local, .contention = contention };
        o.local = options->local & (uint8_t)~not_local;
        if (contention && !contention_accept(contention))
            return fail(error, ORDEAL_NO_MEMORY, "no memory for the search");
        status = search_once(&x, image, began, result, error);
        if (x.strange)
            not_local = EXPLORE_LOCAL_DYNAMIC;
    }
    return status;
}

/* A few executions from beginning to end, in depth, show most of the words that are contended for. */
static enum ordeal_status look_ahead(const struct explore_options *options,
                                     const struct image *image, struct contention *contention,
                                     struct ordeal_error *error)
{
    enum { STATES = 500 };
    struct explore_options o = *options;
    struct explore_result *r;
    contention_expect(contention, o.outcome_address, o.outcomes);
    o.depth_first = o.all_errors = true;
    o.jobs = 1;
    o.checkpoint = NULL;
    o.outcomes = 0;
    o.most_states = STATES;
    enum ordeal_status status = search(&o, image, contention, &r, error);
    explore_result_free(r);
    return status;
}

enum ordeal_status explore(const struct image *image, const struct explore_options *options,
                           struct explore_result **result, struct ordeal_error *error)
{
    struct explore_options o = *options;
    enum ordeal_status status = check_options(&o, error);
    struct contention *contention = NULL;
    *result = NULL;
    if (status)
        return status;
    if (!o.jobs)
        o.jobs = 1;
    if (!o.no_reduction && !(contention = contention_new()))
        return fail(error, ORDEAL_NO_MEMORY, "no memory for the search");
    if (contention)
        status = look_ahead(&o, image, contention, error);
    if (!status)
        status = search(&o, image, contention, result, error);
    contention_free(contention);
    return status;
}
