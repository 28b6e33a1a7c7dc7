#include "failure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "outcomes.h"
#include "progress.h"
#include "record.h"
#include "saved.h"
#include "shrink.h"

enum {
    MOST_REPLAY_WORDS = 40,
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

static bool say(struct why *why, const char *text)
{
    snprintf(why->text, sizeof why->text, "%s", text);
    return false;
}

/* ---- the line ------------------------------------------------------------------------------ */

static void tell_verdict(cJSON *record, const struct input *in, const struct ordeal_verdict *v)
{
    record_counters(record, v);
    if (ordeal_verdict_result(v) == ORDEAL_FAIL) {
        cJSON_AddBoolToObject(record, "certified", true);
        record_core(record, in->trace, v);
        record_reason(record, in, v);
        cJSON_DeleteItemFromObject(record, "at"); /* its lines are of no file; the folder has one */
    }
    if (ordeal_verdict_note(v)[0])
        cJSON_AddStringToObject(record, "note", ordeal_verdict_note(v));
}

/* ---- the folder ---------------------------------------------------------------------------- */

struct replay {
    const char *words[MOST_REPLAY_WORDS + 1];
    size_t count;
    char numbers[3][24];
};

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
                      const struct stream_test *t)
{
    bool exact = plan->target->exact;
    r->count = 0;
    add_word(r, "run");
    add_word(r, "--target");
    add_word(r, plan->target->name);
    for (const char *const *word = plan->machine_words; *word; word++)
        add_word(r, *word);
    add_number(r, "--seed", 0, plan->seed);
    add_number(r, "--first-iteration", 1, exact ? t->iteration : plan->first_iteration);
    add_number(r, "--iterations", 2, exact ? 1 : plan->iterations);
    add_word(r, "--no-save");
    add_word(r, "--against");
    add_word(r, ordeal_model_name(plan->model));
    add_word(r, SAVED_TEST);
}

static bool save(const struct failure_plan *plan, const struct stream_test *t,
                 const struct ordeal_trace *trace, char *path, size_t size, struct why *why)
{
    struct replay replay;
    char label[32];
    replay_of(&replay, plan, t);
    snprintf(label, sizeof label, "test-%06" PRIu64, t->number);
    struct saved_failure f = {
        .directory = plan->directory, .label = label, .bias = plan->bias, .seed = plan->seed,
        .test = t->test, .trace = trace, .model = plan->model, .replay = replay.words,
    };
    return saved_write(&f, path, size, why);
}

/* ---- made small ---------------------------------------------------------------------------- */

/* Candidates on trial; what the last one that failed did is kept. */
struct trial {
    const struct failure_plan *plan;
    uint64_t first;              /* iteration to begin with */
    uint64_t operations;         /* to be run of each */
    struct judge *judge;
    struct outcomes *seen;
    bool failed;
    uint64_t identity, iteration;
    uint64_t *values;
};

struct attempt { struct trial *trial; const struct program *p; };

static bool on_trial(void *user, uint64_t iteration, const uint64_t *values)
{
    const struct attempt *a = user;
    struct trial *t = a->trial;
    enum ordeal_result result;
    if (!outcomes_add(t->seen, iteration, values))
        return !interrupted();
    if (judge_outcome(t->judge, iteration, values, &result) != ORDEAL_OK || interrupted())
        return false;
    if (result != ORDEAL_FAIL)
        return true;
    size_t bytes = ((size_t)a->p->slots + 1) * sizeof *values;
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
    struct attempt a = { t, p };
    struct target_sink sink = { .outcome = on_trial, .user = &a };
    struct abilities can = t->plan->target->can(t->plan->machine);
    t->failed = false;
    if (target_refusal(&can, p, reason, sizeof reason) != 0)
        return;
    judge_begin(t->judge, p);
    outcomes_begin(t->seen, p);
    t->plan->target->run(t->plan->machine, p, t->first, trials(t, p), &sink, &why);
    judge_begin(t->judge, NULL);
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

/* The trace of the small test: of its failure when it was found, or of another one. */
static bool trace_of_small(struct trial *t, const struct ordeal_trace *small, struct ordeal *o,
                           struct ordeal_trace **trace)
{
    struct program p;
    struct ordeal_error e;
    struct machine_claims claims = t->plan->target->claims(t->plan->machine);
    *trace = NULL;
    if (!program_compile(&p, small, "small", &e))
        return false;
    if (t->identity != program_identity(&p))
        try_program(t, &p);
    if (t->identity == program_identity(&p))
        program_trace(&p, t->iteration, t->values, &claims, o, trace);
    program_free(&p);
    return *trace != NULL;
}

static bool keep_small(struct trial *t, const struct stream_test *test,
                       const struct shrink_hint *hint, const char *path, struct ordeal *o,
                       cJSON *record, struct why *why)
{
    struct shrink_judge judge = { .fails = still_fails, .stop = stop_shrinking, .user = t };
    struct shrink_report report;
    struct ordeal_trace *small = NULL, *trace = NULL;
    bool good = shrink_test(test->test, hint, o, &judge, &small, &report) == ORDEAL_OK;
    if (!good)
        say(why, "out of memory in shrinking it");
    else if (report.kept == 0)
        cJSON_AddStringToObject(record, "small", "as it was");
    else if (!trace_of_small(t, small, o, &trace))
        good = say(why, "what it was shrunk to did not fail again");
    else
        good = saved_add_small(path, small, trace, t->plan->model, why);
    if (good && report.kept)
        cJSON_AddNumberToObject(record, "small", (double)report.after.operations);
    ordeal_trace_free(trace);
    ordeal_trace_free(small);
    return good;
}

static bool shrink(const struct failure_plan *plan, const struct stream_test *test,
                   const struct shrink_hint *hint, const char *path, struct ordeal *o,
                   cJSON *record, struct why *why)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_limits limits = limits_of(plan);
    struct trial t = { .plan = plan,
                       .first = plan->target->exact ? test->iteration : plan->first_iteration,
                       .operations = EFFORT * plan->iterations * test->program->operations };
    t.judge = judge_new(plan->model, &claims, &limits);
    t.seen = outcomes_new(TRIAL_BYTES);
    bool good = t.judge && t.seen ? keep_small(&t, test, hint, path, o, record, why)
                                  : say(why, "out of memory");
    judge_free(t.judge);
    outcomes_free(t.seen);
    free(t.values);
    return good;
}

/* -------------------------------------------------------------------------------------------- */

static bool tell_trace(const struct failure_plan *plan, const struct stream_test *t,
                       struct input *in, cJSON *record, struct why *why)
{
    struct ordeal_verdict *v = NULL;
    struct ordeal_options how = { .model = plan->model, .no_core = interrupted() };
    char path[4096];
    bool good = true;
    if (ordeal_check(in->trace, &how, &v) == ORDEAL_OK)
        tell_verdict(record, in, v);
    if (t->result == ORDEAL_FAIL && plan->directory) {
        good = save(plan, t, in->trace, path, sizeof path, why);
        if (good)
            cJSON_AddStringToObject(record, "saved", path);
        if (good && plan->shrink && !interrupted()) {
            uint32_t *ops = NULL;
            struct shrink_hint hint = { 0 };
            if (v && shrink_find_hint(t->test, in->trace, v, &ops, &hint.count))
                hint.ops = ops;
            good = shrink(plan, t, hint.ops ? &hint : NULL, path, in->o, record, why);
            free(ops);
        }
    }
    ordeal_verdict_free(v);
    return good;
}

bool failure_tell(const struct failure_plan *plan, const struct stream_test *t, cJSON **record,
                  struct why *why)
{
    struct machine_claims claims = plan->target->claims(plan->machine);
    struct ordeal_limits limits = limits_of(plan);
    char label[320];
    struct input in = { .name = label, .o = ordeal_new(NULL) };
    snprintf(label, sizeof label, "%s#%" PRIu64, t->name, t->iteration);
    *record = record_new(verdict_words[t->result], &in);
    cJSON_AddStringToObject(*record, "model", ordeal_model_name(plan->model));
    if (!in.o || !t->values)
        return ordeal_free(in.o), say(why, "out of memory");
    ordeal_set_limits(in.o, &limits);
    enum ordeal_status status = program_trace(t->program, t->iteration, t->values, &claims, in.o,
                                              &in.trace);
    bool good = status == ORDEAL_OK ? tell_trace(plan, t, &in, *record, why)
                                    : say(why, ordeal_last_error(in.o)->reason);
    ordeal_trace_free(in.trace);
    ordeal_free(in.o);
    return good;
}
