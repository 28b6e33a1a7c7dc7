/* SPDX-License-Identifier: Apache-2.0 */
#include "failure.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "judge.h"
#include "test/outcomes.h"
#include "tell/output_line.h"
#include "saved.h"
#include "shrink.h"

enum {
    EFFORT = 10,           /* how much more is run of a candidate than was of the test, */
    ALONE = 3,             /* unless its iteration fails by itself so many times */
    MOST_TRIALS = 1 << 20, /* executions of it; */
    MOST_AGAIN = 32,       /* where one was enough before, and what is small is to become smaller */
    TRIAL_BYTES = 4 << 20, /* outcomes remembered of it */
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

static void test_label(char *label, size_t size, const struct pipeline_test *t)
{
    snprintf(label, size, "%s#%" PRIu64, t->name, t->iteration);
}

/* ---- the line ------------------------------------------------------------------------------ */

static void tell_verdict(cJSON *line, const struct input *in, const struct ordeal_verdict *v,
                         const struct failure_signature *s)
{
    output_line_counters(line, v);
    if (ordeal_verdict_result(v) == ORDEAL_FAIL) {
        cJSON_AddBoolToObject(line, "certified", true);
        output_line_core(line, in->trace, v);
        output_line_reason(line, in, v);
        cJSON_DeleteItemFromObject(line, "at"); /* its lines are of no file; the folder has one */
        output_line_signature(line, s);
    }
    if (ordeal_verdict_note(v)[0])
        cJSON_AddStringToObject(line, "note", ordeal_verdict_note(v));
}

static void take_note(struct failure_note *note, const struct pipeline_test *t,
                      const struct failure_signature *s, const cJSON *line)
{
    const char *reason = cJSON_GetStringValue(cJSON_GetObjectItem(line, "reason"));
    bool known = *s->text;
    *note = (struct failure_note){ .kind = failure_kind_words[s->kind],
                                   .operations = t->program->operations,
                                   .cut = interrupted() };
    snprintf(note->signature, sizeof note->signature, "%s", known ? s->text : "unexplained");
    snprintf(note->title, sizeof note->title, "%s",
             known ? s->title : "a violation that was not explained within the limits");
    snprintf(note->reason, sizeof note->reason, "%s", reason ? reason : "");
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* Which of the machine's sizes ran it; NULL: it comes in one. */
static const char *size_of(const struct failure_plan *plan, const struct program *p,
                           uint64_t iteration)
{
    return plan->target->size ? plan->target->size(plan->machine, p, iteration) : NULL;
}

/* Where the seed tells all, that one execution; elsewhere the test as often as it was run. */
static struct saved_run run_of(const struct failure_plan *plan, const struct program *p,
                               uint64_t iteration, uint64_t iterations)
{
    bool exact = plan->target->exact;
    struct saved_run run = {
        .target = plan->target,
        .how = *plan->how,
        .against = plan->model,
        .first_iteration = exact ? iteration : plan->first_iteration,
        .iterations = exact ? 1 : iterations,
    };
    run.how.seed = plan->seed;
    run.how.sizes = size_of(plan, p, iteration);
    return run;
}

static bool save(const struct failure_plan *plan, const struct pipeline_test *t,
                 const struct ordeal_trace *trace, char *path, size_t size, struct why *why)
{
    struct saved_run run = run_of(plan, t->program, t->iteration, plan->iterations);
    char label[32];
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
        .machine = run.how.sizes,
        .profile = t->profile,
        .from = plan->bias ? NULL : t->name,
        .run = &run,
    };
    return saved_write(&f, path, size, why);
}

struct waves_run {
    const struct failure_plan *plan;
    const struct program *p;
    uint64_t iteration;
    bool none; /* the machine has none */
};

static bool run_for_waves(void *user, const char *fst, struct why *why)
{
    struct waves_run *r = user;
    enum target_waves end = r->plan->target->waves(r->plan->machine, r->p, r->iteration, fst, why);
    r->none = end == WAVES_NONE;
    return end == WAVES_WRITTEN;
}

/* The run once more with all signals written down, and where to look in it: the verdict on its
 * trace knows, or what the machine said that broke. */
static bool add_waves(const struct failure_plan *plan, const struct program *p, uint64_t iteration,
                      const struct ordeal_trace *trace, const struct ordeal_verdict *v,
                      const char *broke, const char *path, struct failure_told *told)
{
    struct waves_view view = { 0 };
    struct waves_run run = { .plan = plan, .p = p, .iteration = iteration };
    struct saved_waves_maker maker = { run_for_waves, &run };
    if (v)
        waves_of_verdict(&view, trace, v);
    else if (broke)
        waves_of_words(&view, broke);
    bool good = saved_add_waves(path, &maker, &view, &told->why);
    told->unwritten |= !good && !run.none;
    return good;
}

/* ---- made small ---------------------------------------------------------------------------- */

/* Candidates on trial; what the last one that failed did is kept. */
struct trial {
    const struct failure_plan *plan;
    uint64_t first;              /* iteration to begin with */
    uint64_t operations;         /* to be run of each */
    bool repeats;                /* that one iteration is enough: what failed, fails again */
    uint64_t most;               /* iterations of each */
    const char *label;           /* of the test, for the progress */
    size_t smallest, tried;
    double deadline;
    struct judge *judge;
    struct outcomes *seen;
    bool to_break;               /* failing is to break the machine; else, to violate the model */
    bool failed;
    struct why untried; /* why some candidate could not be run or judged */
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
    enum ordeal_status status = judge_outcome(t->judge, iteration, values, &result);
    if (status == ORDEAL_NO_MEMORY)
        why_say(&t->untried, "out of memory");
    if (status != ORDEAL_OK || interrupted())
        return false;
    if (result != ORDEAL_FAIL)
        return true;
    struct machine_claims claims = t->plan->target->claims(t->plan->machine);
    size_t bytes = (program_words(a->p, &claims) + 1) * sizeof *values;
    uint64_t *kept = realloc(t->values, bytes);
    if (!kept)
        return why_say(&t->untried, "out of memory");
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
    uint64_t most = t->repeats ? 1 : t->most;
    return n < most ? n : most;
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
    if (end == TARGET_FAILED)
        t->untried = why;
    if (t->to_break && end == TARGET_BROKE) {
        t->failed = true;
        t->identity = program_identity(p);
        t->iteration = t->first + a.runs;
        t->broke = why;
    }
}

static void tell_progress(struct trial *t)
{
    char phase[400];
    if (!t->plan->progress)
        return;
    snprintf(phase, sizeof phase, "%s is made small: %zu operations, %zu tests tried", t->label,
             t->smallest, t->tried);
    progress_callback(t->plan->progress, phase, -1);
}

static bool still_fails(void *user, const struct ordeal_trace *test)
{
    struct trial *t = user;
    struct program p;
    struct ordeal_error e;
    tell_progress(t);
    if (!program_compile(&p, test, "candidate", &e)) {
        if (e.status == ORDEAL_NO_MEMORY)
            why_say(&t->untried, "out of memory");
        return false;
    }
    try_program(t, &p);
    t->tried++;
    if (t->failed)
        t->smallest = p.operations;
    program_free(&p);
    return t->failed;
}

static bool stop_shrinking(void *user)
{
    const struct trial *t = user;
    return interrupted() || now_seconds() > t->deadline;
}

static bool save_small(const struct trial *t, const struct program *p,
                       const struct ordeal_trace *small, const struct ordeal_trace *trace,
                       const char *folder, char *path, size_t size, struct failure_told *told)
{
    const struct failure_plan *plan = t->plan;
    struct saved_run run = run_of(plan, p, t->iteration, trials(t, p));
    struct saved_failure f = {
        .directory = folder,
        .seed = plan->seed,
        .test = small,
        .trace = trace,
        .broke = t->broke.text,
        .model = plan->model,
        .machine = run.how.sizes,
        .run = &run,
    };
    told->unwritten = !saved_add_small(&f, path, size, &told->why);
    return !told->unwritten;
}

/* What the small test did: its failure when it was found, or another one. */
static bool tell_small(struct trial *t, const struct ordeal_trace *small, const char *folder,
                       struct ordeal *o, struct failure_told *told)
{
    char path[PATH_MAX];
    const struct failure_plan *plan = t->plan;
    struct machine_claims claims = plan->target->claims(plan->machine);
    claims.model = plan->model; /* the trace is judged again by what it says of itself */
    struct ordeal_options how = { .model = plan->model };
    struct ordeal_trace *trace = NULL;
    struct ordeal_verdict *v = NULL;
    struct program p;
    struct ordeal_error e;
    if (!program_compile(&p, small, "small", &e))
        return why_say(&told->why, "what it was shrunk to cannot be run");
    if (t->identity != program_identity(&p))
        try_program(t, &p);
    bool good = t->identity == program_identity(&p)
             && (t->to_break
                 || program_trace(&p, t->iteration, t->values, &claims, o, &trace) == ORDEAL_OK);
    if (!good)
        why_say(&told->why, "what it was shrunk to did not fail again");
    else
        good = save_small(t, &p, small, trace, folder, path, sizeof path, told);
    if (good && plan->waves && !interrupted()) {
        if (trace)
            ordeal_check(trace, &how, &v);
        good = add_waves(plan, &p, t->iteration, trace, v, t->broke.text, path, told);
    }
    ordeal_verdict_free(v);
    ordeal_trace_free(trace);
    program_free(&p);
    return good;
}

/* Where the target repeats itself with the iteration that failed alone, until nothing helps. That
 * is soon there, and not very small: a smaller test often fails in another iteration than the test
 * did. So then, as elsewhere from the beginning, with others, too. */
static bool shrink_both(struct trial *t, const struct ordeal_trace *test,
                        const struct shrink_hint *hint, struct ordeal *o,
                        struct ordeal_trace **small, struct shrink_report *report)
{
    struct shrink_judge judge = { .fails = still_fails, .stop = stop_shrinking, .user = t };
    if (shrink_test(test, hint, o, &judge, small, report) != ORDEAL_OK)
        return false;
    if (!t->repeats || report->stopped)
        return true;
    struct ordeal_trace *first = *small;
    struct shrink_report again;
    t->repeats = false;
    t->most = MOST_AGAIN;
    bool good = shrink_test(first, NULL, o, &judge, small, &again) == ORDEAL_OK;
    report->after = again.after;
    report->tried += again.tried;
    report->kept += again.kept;
    report->stopped = again.stopped;
    report->starved |= again.starved;
    ordeal_trace_free(first);
    return good;
}

/* Why it may not be as small as it could be. */
static void tell_ways_not_gone(const struct trial *t, const struct shrink_report *report,
                               cJSON *line)
{
    char note[sizeof t->untried.text + 64] = "";
    if (report->starved)
        snprintf(note, sizeof note, "memory ran out: with more it may become smaller");
    else if (*t->untried.text)
        snprintf(note, sizeof note, "not every smaller test could be tried: %s", t->untried.text);
    else if (report->stopped && !interrupted())
        snprintf(note, sizeof note, "--shrink-limit ended it: a longer one may make it smaller");
    if (*note)
        cJSON_AddStringToObject(line, "note", note);
}

static bool keep_small(struct trial *t, const struct pipeline_test *test,
                       const struct shrink_hint *hint, const char *path, struct ordeal *o,
                       struct failure_told *told)
{
    struct shrink_report report;
    struct ordeal_trace *small = NULL;
    bool good = shrink_both(t, test->test, hint, o, &small, &report);
    if (!good)
        why_say(&told->why, "out of memory in shrinking it");
    else if (report.kept == 0)
        cJSON_AddStringToObject(told->line, "small", "as it was");
    else
        good = tell_small(t, small, path, o, told);
    if (good && report.kept)
        cJSON_AddNumberToObject(told->line, "small", (double)report.after.operations);
    cJSON_AddNumberToObject(told->line, "tried", (double)report.tried);
    tell_ways_not_gone(t, &report, told->line);
    if (good && t->plan->note) {
        t->plan->note->shrunk = true;
        t->plan->note->small = report.kept ? report.after.operations : 0;
    }
    ordeal_trace_free(small);
    return good;
}

/* Where chance plays in the machine alone, not around it, the iteration may fail whenever it is run. */
static bool fails_alone(struct trial *t, const struct pipeline_test *test)
{
    uint64_t first = t->first;
    t->first = test->iteration;
    t->repeats = true;
    for (int i = 0; i < ALONE && t->repeats && !stop_shrinking(t); i++) {
        try_program(t, test->program);
        t->repeats = t->failed;
    }
    if (!t->repeats)
        t->first = first;
    return t->repeats;
}

/* On the size of the machine that it failed on. */
static bool shrink(const struct failure_plan *plan, const struct pipeline_test *test,
                   const struct shrink_hint *hint, const char *path, struct ordeal *o,
                   struct failure_told *told)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_limits limits = limits_of(plan);
    char label[320];
    struct trial t = { .plan = plan,
                       .to_break = test->broke,
                       .first = plan->target->exact ? test->iteration : plan->first_iteration,
                       .operations = EFFORT * plan->iterations * test->program->operations,
                       .repeats = plan->target->exact,
                       .most = MOST_TRIALS,
                       .label = label,
                       .smallest = test->program->operations,
                       .deadline = now_seconds() + plan->shrink_seconds };
    const char *size = size_of(plan, test->program, test->iteration);
    test_label(label, sizeof label, test);
    if (size)
        plan->target->hold(plan->machine, size);
    t.judge = judge_new(plan->model, &claims, &limits);
    t.seen = outcomes_new(TRIAL_BYTES, &claims);
    if (t.judge && t.seen && plan->target->several)
        fails_alone(&t, test);
    bool good = t.judge && t.seen ? keep_small(&t, test, hint, path, o, told)
                                  : why_say(&told->why, "out of memory");
    judge_free(t.judge);
    outcomes_free(t.seen);
    free(t.values);
    if (size)
        plan->target->hold(plan->machine, NULL);
    return good;
}

/* -------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct failure_plan *plan)
{
    return plan->directory && (!plan->wanted || plan->wanted(plan->user, plan->note));
}

/* The line of the failure is told before it is made small, which takes long: what comes of that is
 * on a line of its own. False: it could not be told. */
static bool tell_before(const struct failure_plan *plan, const struct pipeline_test *t,
                        struct failure_told *told)
{
    char label[320];
    test_label(label, sizeof label, t);
    bool good = plan->tell(plan->teller, told->line);
    told->line = output_line_new("SMALL", &(struct input){ .name = label });
    return good;
}

/* Into a folder, with waves, and made small. */
static bool keep(const struct failure_plan *plan, const struct pipeline_test *t,
                 const struct input *in, const struct ordeal_verdict *v, struct failure_told *told)
{
    char path[PATH_MAX];
    if (!save(plan, t, in->trace, path, sizeof path, &told->why))
        return false;
    cJSON_AddStringToObject(told->line, "saved", path);
    told->saved = true;
    if (plan->note)
        snprintf(plan->note->folder, sizeof plan->note->folder, "%s", path);
    bool good = true;
    if (plan->waves && !interrupted())
        good = add_waves(plan, t->program, t->iteration, in->trace, v, t->broke, path, told);
    if (good && plan->shrink && !interrupted() && tell_before(plan, t, told)) {
        uint32_t *ops = NULL;
        struct shrink_hint hint = { 0 };
        if (v && shrink_find_hint(t->test, in->trace, v, &ops, &hint.count))
            hint.ops = ops;
        good = shrink(plan, t, hint.ops ? &hint : NULL, path, in->o, told);
        free(ops);
    }
    return good;
}

static bool tell_trace(const struct failure_plan *plan, const struct pipeline_test *t,
                       struct input *in, struct failure_told *told)
{
    struct ordeal_verdict *v = NULL;
    struct ordeal_options how = { .model = plan->model, .no_core = interrupted() };
    struct why unexplained = { "" };
    struct failure_signature s = { 0 };
    enum ordeal_status status = ordeal_check(in->trace, &how, &v);
    if (status == ORDEAL_OK && ordeal_verdict_result(v) == ORDEAL_FAIL && !interrupted())
        failure_signature_of_verdict(&s, in->trace, v);
    if (status == ORDEAL_OK)
        tell_verdict(told->line, in, v, &s);
    else if (status != ORDEAL_LIMIT)
        why_say(&unexplained, "%s", ordeal_last_error(in->o)->reason);
    if (plan->note)
        take_note(plan->note, t, &s, told->line);
    bool good = t->result != ORDEAL_FAIL || !is_wanted(plan) || keep(plan, t, in, v, told);
    failure_signature_free(&s);
    ordeal_verdict_free(v);
    if (!good || !*unexplained.text)
        return good;
    return why_say(&told->why, "%s", unexplained.text);
}

static bool tell_broke(const struct failure_plan *plan, const struct pipeline_test *t,
                       struct input *in, struct failure_told *told)
{
    cJSON_AddBoolToObject(told->line, "broke", true);
    cJSON_AddStringToObject(told->line, "reason", t->broke);
    struct failure_signature s;
    failure_signature_of_break(&s, t->broke);
    output_line_signature(told->line, &s);
    if (plan->note)
        take_note(plan->note, t, &s, told->line);
    failure_signature_free(&s);
    return !is_wanted(plan) || keep(plan, t, in, NULL, told);
}

static bool tell_all(const struct failure_plan *plan, const struct pipeline_test *t,
                     struct input *in, struct failure_told *told)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    claims.model = plan->model; /* the trace is judged again by what it says of itself */
    struct ordeal_limits limits = limits_of(plan);
    if (!in->o || !(t->values || t->broke))
        return why_say(&told->why, "out of memory");
    ordeal_set_limits(in->o, &limits);
    if (t->broke)
        return tell_broke(plan, t, in, told);
    if (program_trace(t->program, t->iteration, t->values, &claims, in->o, &in->trace) != ORDEAL_OK)
        return why_say(&told->why, "%s", ordeal_last_error(in->o)->reason);
    return tell_trace(plan, t, in, told);
}

bool failure_tell(const struct failure_plan *plan, const struct pipeline_test *t,
                  struct failure_told *told)
{
    char label[320];
    struct input in = { .name = label, .o = ordeal_new(NULL) };
    test_label(label, sizeof label, t);
    *told = (struct failure_told){ .line = output_line_new(verdict_words[t->result], &in) };
    cJSON_AddStringToObject(told->line, "model", ordeal_model_name(plan->model));
    output_line_machine(told->line, size_of(plan, t->program, t->iteration));
    output_line_profile(told->line, t->profile);
    bool good = tell_all(plan, t, &in, told);
    if (!good && t->result == ORDEAL_FAIL && plan->directory)
        told->unwritten |= !told->saved;
    ordeal_trace_free(in.trace);
    ordeal_free(in.o);
    return good;
}
