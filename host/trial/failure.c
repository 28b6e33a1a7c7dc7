/* SPDX-License-Identifier: Apache-2.0 */
#include "failure.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "judge.h"
#include "test/outcomes.h"
#include "tell/output_line.h"
#include "saved.h"
#include "shrink.h"

enum {
    MOST_REPLAY_WORDS = 64,
    EFFORT = 10,                 /* how much more is run of a candidate than was of the test */
    MOST_TRIALS = 1 << 20,       /* executions of it */
    TRIAL_BYTES = 4 << 20,       /* outcomes remembered of it */
};

static bool stop_on_interrupt(void *user, const char *phase, double share)
{
    (void)user, (void)phase, (void)share;
    return interrupted();
}

/* After ^C what is known is still told, without looking any further. */
static struct ordeal_limits limits_of(const struct failure_plan *plan)
{
    return (struct ordeal_limits){ .seconds = plan->limit,
                                   .progress = interrupted() ? NULL : stop_on_interrupt };
}

/* ---- the line ------------------------------------------------------------------------------ */

static void tell_verdict(cJSON *line, const struct input *in, const struct ordeal_verdict *v)
{
    output_line_counters(line, v);
    if (ordeal_verdict_result(v) == ORDEAL_FAIL) {
        cJSON_AddBoolToObject(line, "certified", true);
        output_line_core(line, in->trace, v);
        output_line_reason(line, in, v);
        cJSON_DeleteItemFromObject(line, "at"); /* its lines are of no file; the folder has one */
    }
    if (ordeal_verdict_note(v)[0])
        cJSON_AddStringToObject(line, "note", ordeal_verdict_note(v));
}

/* ---- the folder ---------------------------------------------------------------------------- */

struct replay {
    const char *words[MOST_REPLAY_WORDS + 1];
    size_t count;
    char numbers[3][24];
};

/* Which of the machine's sizes ran it; NULL: it comes in one. */
static const char *size_of(const struct failure_plan *plan, const struct program *p,
                           uint64_t iteration)
{
    return plan->target->size ? plan->target->size(plan->machine, p, iteration) : NULL;
}


static void add_word(struct replay *r, const char *word)
{
    if (r->count < MOST_REPLAY_WORDS)
        r->words[r->count++] = word;
    r->words[r->count] = NULL;
}

static void add_number(struct replay *r, const char *option, int which, uint64_t number)
{
    snprintf(r->numbers[which], sizeof r->numbers[which], "%" PRIu64, number);
    add_word(r, option);
    add_word(r, r->numbers[which]);
}

/* Where the seed tells all, that one execution; elsewhere the test as often as it was run. */
static void replay_of(struct replay *r, const struct failure_plan *plan,
                      const struct pipeline_test *t)
{
    bool exact = plan->target->exact;
    r->count = 0;
    add_word(r, "run");
    add_word(r, "--target");
    add_word(r, plan->target->name);
    if (plan->machine_model) {
        add_word(r, "--model");
        add_word(r, plan->machine_model);
    }
    for (const char *const *word = plan->machine_words; *word; word++)
        add_word(r, *word);
    const char *size = size_of(plan, t->program, t->iteration);
    if (size) {
        add_word(r, "--sizes");
        add_word(r, size);
    }
    add_number(r, "--seed", 0, plan->seed);
    add_number(r, "--first-iteration", 1, exact ? t->iteration : plan->first_iteration);
    add_number(r, "--iterations", 2, exact ? 1 : plan->iterations);
    add_word(r, "--no-save");
    add_word(r, "--against");
    add_word(r, ordeal_model_name(plan->model));
    add_word(r, SAVED_TEST);
}

static bool save(const struct failure_plan *plan, const struct pipeline_test *t,
                 const struct ordeal_trace *trace, char *path, size_t size, struct why *why)
{
    struct replay replay;
    char label[32];
    replay_of(&replay, plan, t);
    snprintf(label, sizeof label, "test-%06" PRIu64, t->number);
    struct saved_failure f = {
        .directory = plan->directory,
        .label = label,
        .bias = plan->bias,
        .seed = plan->seed,
        .test = t->test,
        .trace = trace,
        .broke = t->broke,
        .model = plan->model,
        .machine = size_of(plan, t->program, t->iteration),
        .replay = replay.words,
    };
    return saved_write(&f, path, size, why);
}

/* The run once more with all signals written down, and where to look in it: the verdict on its
 * trace knows, or what the machine said that broke. */
static bool add_waves(const struct failure_plan *plan, const struct program *p, uint64_t iteration,
                      const struct ordeal_trace *trace, const struct ordeal_verdict *v,
                      const char *broke, const char *path, const char *prefix, struct why *why)
{
    struct waves_view view = { 0 };
    char fst[PATH_MAX];
    snprintf(fst, sizeof fst, "%s/%s%s", path, prefix, SAVED_WAVES);
    if (!plan->target->waves(plan->machine, p, iteration, fst, why))
        return false;
    if (v)
        waves_of_verdict(&view, trace, v);
    else if (broke)
        waves_of_words(&view, broke);
    return saved_add_view(path, prefix, &view, why);
}

/* ---- made small ---------------------------------------------------------------------------- */

/* Candidates on trial; what the last one that failed did is kept. */
struct trial {
    const struct failure_plan *plan;
    uint64_t first;              /* iteration to begin with */
    uint64_t operations;         /* to be run of each */
    struct judge *judge;
    struct outcomes *seen;
    bool to_break;               /* failing is to break the machine; else, to violate the model */
    bool failed;
    uint64_t identity, iteration;
    uint64_t *values;
    struct why broke;
};

struct attempt { struct trial *trial; const struct program *p; uint64_t runs; };

static bool on_trial(void *user, uint64_t iteration, const uint64_t *values)
{
    struct attempt *a = user;
    struct trial *t = a->trial;
    enum ordeal_result result;
    a->runs++;
    if (t->to_break)
        return !interrupted();
    if (!outcomes_add(t->seen, iteration, values))
        return !interrupted();
    if (judge_outcome(t->judge, iteration, values, &result) != ORDEAL_OK || interrupted())
        return false;
    if (result != ORDEAL_FAIL)
        return true;
    struct machine_claims claims = t->plan->target->claims(t->plan->machine);
    size_t bytes = (program_words(a->p, &claims) + 1) * sizeof *values;
    uint64_t *kept = realloc(t->values, bytes);
    if (!kept)
        return false;
    t->values = kept;
    memcpy(kept, values, bytes - sizeof *values);
    t->iteration = iteration;
    t->identity = program_identity(a->p);
    t->failed = true;
    return false;
}

/* Small ones are run more often: they take less time, and have less to make them fail by. */
static uint64_t trials(const struct trial *t, const struct program *p)
{
    uint64_t n = t->operations / (p->operations ? p->operations : 1) + 1;
    return n < MOST_TRIALS ? n : MOST_TRIALS;
}

static void try_program(struct trial *t, const struct program *p)
{
    char reason[256];
    struct why why;
    struct attempt a = { t, p, 0 };
    struct target_sink sink = { .outcome = on_trial, .user = &a };
    struct abilities can = t->plan->target->can(t->plan->machine);
    t->failed = false;
    if (target_refusal(&can, p, reason, sizeof reason) != 0)
        return;
    judge_begin(t->judge, p);
    outcomes_begin(t->seen, p);
    enum target_result end = t->plan->target->run(t->plan->machine, p, t->first, trials(t, p),
                                                  &sink, &why);
    judge_begin(t->judge, NULL);
    if (t->to_break && end == TARGET_BROKE) {
        t->failed = true;
        t->identity = program_identity(p);
        t->iteration = t->first + a.runs;
        t->broke = why;
    }
}

static bool still_fails(void *user, const struct ordeal_trace *test)
{
    struct trial *t = user;
    struct program p;
    struct ordeal_error e;
    if (!program_compile(&p, test, "candidate", &e))
        return false;
    try_program(t, &p);
    program_free(&p);
    return t->failed;
}

static bool stop_shrinking(void *user)
{
    (void)user;
    return interrupted();
}

/* What the small test did: its failure when it was found, or another one. */
static bool tell_small(struct trial *t, const struct ordeal_trace *small, const char *path,
                       struct ordeal *o, struct why *why)
{
    const struct failure_plan *plan = t->plan;
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_options how = { .model = plan->model };
    struct ordeal_trace *trace = NULL;
    struct ordeal_verdict *v = NULL;
    struct program p;
    struct ordeal_error e;
    if (!program_compile(&p, small, "small", &e))
        return why_say(why, "what it was shrunk to cannot be run");
    if (t->identity != program_identity(&p))
        try_program(t, &p);
    bool good = t->identity == program_identity(&p)
             && (t->to_break
                 || program_trace(&p, t->iteration, t->values, &claims, o, &trace) == ORDEAL_OK);
    if (!good)
        why_say(why, "what it was shrunk to did not fail again");
    good = good
        && saved_add_small(path,
                           &(struct saved_failure){ .test = small,
                                                    .trace = trace,
                                                    .broke = t->broke.text,
                                                    .model = plan->model,
                                                    .machine = size_of(plan, &p, t->iteration) },
                           why);
    if (good && plan->waves && !interrupted()) {
        if (trace)
            ordeal_check(trace, &how, &v);
        good = add_waves(plan, &p, t->iteration, trace, v, t->broke.text, path, SAVED_SMALL, why);
    }
    ordeal_verdict_free(v);
    ordeal_trace_free(trace);
    program_free(&p);
    return good;
}

static bool keep_small(struct trial *t, const struct pipeline_test *test,
                       const struct shrink_hint *hint, const char *path, struct ordeal *o,
                       cJSON *line, struct why *why)
{
    struct shrink_judge judge = { .fails = still_fails, .stop = stop_shrinking, .user = t };
    struct shrink_report report;
    struct ordeal_trace *small = NULL;
    bool good = shrink_test(test->test, hint, o, &judge, &small, &report) == ORDEAL_OK;
    if (!good)
        why_say(why, "out of memory in shrinking it");
    else if (report.kept == 0)
        cJSON_AddStringToObject(line, "small", "as it was");
    else
        good = tell_small(t, small, path, o, why);
    if (good && report.kept)
        cJSON_AddNumberToObject(line, "small", (double)report.after.operations);
    ordeal_trace_free(small);
    return good;
}

/* On the size of the machine that it failed on. */
static bool shrink(const struct failure_plan *plan, const struct pipeline_test *test,
                   const struct shrink_hint *hint, const char *path, struct ordeal *o, cJSON *line,
                   struct why *why)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_limits limits = limits_of(plan);
    struct trial t = { .plan = plan, .to_break = test->broke,
                       .first = plan->target->exact ? test->iteration : plan->first_iteration,
                       .operations = EFFORT * plan->iterations * test->program->operations };
    const char *size = size_of(plan, test->program, test->iteration);
    if (size)
        plan->target->hold(plan->machine, size);
    t.judge = judge_new(plan->model, &claims, &limits);
    t.seen = outcomes_new(TRIAL_BYTES, &claims);
    bool good = t.judge && t.seen ? keep_small(&t, test, hint, path, o, line, why)
                                  : why_say(why, "out of memory");
    judge_free(t.judge);
    outcomes_free(t.seen);
    free(t.values);
    if (size)
        plan->target->hold(plan->machine, NULL);
    return good;
}

/* -------------------------------------------------------------------------------------------- */

/* Into a folder, with waves, and made small. */
static bool keep(const struct failure_plan *plan, const struct pipeline_test *t,
                 const struct input *in, const struct ordeal_verdict *v, cJSON *line,
                 struct why *why)
{
    char path[PATH_MAX];
    if (!save(plan, t, in->trace, path, sizeof path, why))
        return false;
    cJSON_AddStringToObject(line, "saved", path);
    bool good = true;
    if (plan->waves && !interrupted())
        good = add_waves(plan, t->program, t->iteration, in->trace, v, t->broke, path, "", why);
    if (good && plan->shrink && !interrupted()) {
        uint32_t *ops = NULL;
        struct shrink_hint hint = { 0 };
        if (v && shrink_find_hint(t->test, in->trace, v, &ops, &hint.count))
            hint.ops = ops;
        good = shrink(plan, t, hint.ops ? &hint : NULL, path, in->o, line, why);
        free(ops);
    }
    return good;
}

static bool tell_trace(const struct failure_plan *plan, const struct pipeline_test *t,
                       struct input *in, cJSON *line, struct why *why)
{
    struct ordeal_verdict *v = NULL;
    struct ordeal_options how = { .model = plan->model, .no_core = interrupted() };
    if (ordeal_check(in->trace, &how, &v) == ORDEAL_OK)
        tell_verdict(line, in, v);
    bool good = t->result != ORDEAL_FAIL || !plan->directory || keep(plan, t, in, v, line, why);
    ordeal_verdict_free(v);
    return good;
}

static bool tell_broke(const struct failure_plan *plan, const struct pipeline_test *t,
                       struct input *in, cJSON *line, struct why *why)
{
    cJSON_AddBoolToObject(line, "broke", true);
    cJSON_AddStringToObject(line, "reason", t->broke);
    return !plan->directory || keep(plan, t, in, NULL, line, why);
}

bool failure_tell(const struct failure_plan *plan, const struct pipeline_test *t, cJSON **line,
                  struct why *why)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_limits limits = limits_of(plan);
    char label[320];
    struct input in = { .name = label, .o = ordeal_new(NULL) };
    snprintf(label, sizeof label, "%s#%" PRIu64, t->name, t->iteration);
    *line = output_line_new(verdict_words[t->result], &in);
    cJSON_AddStringToObject(*line, "model", ordeal_model_name(plan->model));
    output_line_machine(*line, size_of(plan, t->program, t->iteration));
    if (!in.o || !(t->values || t->broke))
        return ordeal_free(in.o), why_say(why, "out of memory");
    ordeal_set_limits(in.o, &limits);
    bool good;
    if (t->broke)
        good = tell_broke(plan, t, &in, *line, why);
    else if (program_trace(t->program, t->iteration, t->values, &claims, in.o, &in.trace)
             == ORDEAL_OK)
        good = tell_trace(plan, t, &in, *line, why);
    else
        good = why_say(why, "%s", ordeal_last_error(in.o)->reason);
    ordeal_trace_free(in.trace);
    ordeal_free(in.o);
    return good;
}
