/* SPDX-License-Identifier: Apache-2.0 */
/* Replays beside full checks: how fast, and how many executions they prove, of tests from the
 * generator on this machine's CPU and on the machine of the model, and of workloads. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/generate.h"
#include "targets/target.h"

struct shape { uint32_t threads, operations, locations; };
static const struct shape native_shapes[] = {
    { 2, 100, 16 }, { 2, 1000, 4 }, { 2, 1000, 16 }, { 2, 1000, 64 },
};
static const struct shape model_shapes[] = {
    { 2, 1000, 16 }, { 4, 500, 16 }, { 4, 500, 64 }, { 8, 250, 64 },
};
static const struct workload_spec workloads[] = {
    { .ops = 2000, .threads = 2, .words = 16 },
    { .ops = 2000, .threads = 4, .words = 16 },
    { .ops = 2000, .threads = 4, .words = 64, .mix = WORKLOAD_LOAD },
};

/* ---- executions and their measurement ----------------------------------------------------- */

/* Executions of one test: `count` times `slots` values. */
struct executions {
    uint64_t *values;
    size_t slots, count, most;
    double operations;           /* of one execution */
};

struct sums { double replay, check, operations, checked; size_t passed, executions; };

static bool reads(const struct ordeal_op *op)
{
    return op->kind == ORDEAL_LOAD || op->kind == ORDEAL_SWAP || op->kind == ORDEAL_CAS;
}

/* The fastest of several rounds. */
static void time_replay(struct ordeal_replay *r, const struct executions *x, struct sums *sums)
{
    double best = INFINITY;
    size_t passed = 0;
    for (int round = 0; round < 5; round++) {
        double start = bench_clock();
        passed = 0;
        for (size_t i = 0; i < x->count; i++)
            passed += ordeal_replay_passes(r, x->values + i * x->slots);
        best = fmin(best, bench_clock() - start);
    }
    sums->replay += best;
    sums->passed += passed;
    sums->executions += x->count;
    sums->operations += (double)x->count * x->operations;
}

static void time_check(struct ordeal *o, const struct ordeal_trace *t, double operations,
                       struct sums *sums)
{
    struct ordeal_options options = { .model = ORDEAL_TSO };
    struct measurement m = measure_trace(o, t, &options, 10);
    if (isnan(m.seconds))
        return;
    sums->check += m.seconds;
    sums->checked += operations;
}

static void sum_row(struct bench *b, const char *machine, const struct shape *s,
                    const struct sums *sums, double asked)
{
    char target[32];
    double proved = 100.0 * (double)sums->passed / (double)sums->executions;
    snprintf(target, sizeof target, "%.0f %%", asked);
    cJSON *row = row_new();
    row_text(row, "machine", machine);
    row_number(row, "threads", s->threads);
    row_number(row, "ops", s->operations);
    row_number(row, "locations", s->locations);
    row_number(row, "proved %", proved);
    row_number(row, "ns/op", 1e9 * sums->replay / sums->operations);
    row_number(row, "Mops/s", 1e-6 * sums->operations / sums->replay);
    row_number(row, "check ns/op", 1e9 * sums->check / sums->checked);
    row_target(row, asked > 0 ? target : NULL, proved >= asked);
    row_end(&b->report, row);
}

/* ---- tests from the generator --------------------------------------------------------------- */

static bool keep_values(void *user, uint64_t iteration, const uint64_t *values)
{
    struct executions *x = user;
    (void)iteration;
    memcpy(x->values + x->count++ * x->slots, values, x->slots * sizeof *values);
    return x->count < x->most;
}

static struct generator *generator_of(struct bias *bias, const struct shape *s, uint64_t seed)
{
    const struct { const char *key; uint32_t value; } keys[] = {
        { "test.threads", s->threads }, { "test.operations", s->operations },
        { "test.locations", s->locations } };
    struct ordeal_error e;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s=%u", keys[i].key, keys[i].value);
        if (!bias_set(bias, text, &e))
            return NULL;
    }
    return bias_check(bias, &e) ? generator_new(bias, seed) : NULL;
}

static void measure_program(const struct target *target, void *machine, const struct program *p,
                            struct ordeal *o, struct sums *sums)
{
    struct machine_claims claims = target->claims(machine);
    struct executions x = { .slots = program_telling_words(p, &claims),
                            .most = 200,
                            .operations = (double)p->operations };
    struct target_sink sink = { keep_values, &x };
    struct ordeal_trace *straight = NULL, *trace = NULL;
    struct ordeal_replay *r = NULL;
    struct why why;
    x.values = malloc(x.most * x.slots * sizeof *x.values);
    if (x.values && target->run(machine, p, 0, x.most, &sink, &why) != TARGET_FAILED
        && program_trace(p, 0, NULL, &claims, o, &straight) == ORDEAL_OK
        && ordeal_replay_new(straight, ORDEAL_TSO, &r) == ORDEAL_OK)
        time_replay(r, &x, sums);
    if (x.count && program_trace(p, 0, x.values, &claims, o, &trace) == ORDEAL_OK)
        time_check(o, trace, x.operations, sums);
    ordeal_replay_free(r);
    ordeal_trace_free(straight);
    ordeal_trace_free(trace);
    free(x.values);
}

static void target_row(struct bench *b, const struct target *target, const struct shape *s,
                       double asked)
{
    struct target_options options = { .seed = b->seed, .timeout = 60, .quiet = true,
                                      .model = ORDEAL_TSO, .model_given = target == &target_model };
    struct sums sums = { 0 };
    struct bias *bias = bias_new();
    struct ordeal *o = ordeal_new(NULL);
    struct generator *g = bias && o ? generator_of(bias, s, b->seed) : NULL;
    struct why why;
    void *machine;
    if (g && target->open(&options, &machine, &why)) {
        for (uint64_t number = 0; number < (b->quick ? 5 : 20); number++) {
            struct ordeal_trace *test;
            struct ordeal_error e;
            struct program p;
            if (generator_make(g, number, o, &test) != ORDEAL_OK)
                continue;
            if (program_compile(&p, test, "bench", &e)) {
                if (!p.branches && !p.retries)
                    measure_program(target, machine, &p, o, &sums);
                program_free(&p);
            }
            ordeal_trace_free(test);
        }
        target->close(machine);
        if (sums.executions)
            sum_row(b, target->name, s, &sums, asked);
    }
    generator_free(g);
    bias_free(bias);
    ordeal_free(o);
}

/* ---- workloads ------------------------------------------------------------------------------ */

static void measure_workload(const struct workload *w, struct sums *sums)
{
    struct executions x = { .count = 1, .operations = w->spec.ops };
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *t = o ? ordeal_trace_new(o) : NULL;
    struct ordeal_replay *r = NULL;
    x.values = malloc(w->spec.ops * sizeof *x.values);
    if (x.values && t && workload_trace(w, WORKLOAD_BY_THREAD, 0, t) == ORDEAL_OK
        && ordeal_replay_new(t, ORDEAL_TSO, &r) == ORDEAL_OK) {
        for (size_t i = 0; i < ordeal_trace_length(t); i++)
            if (reads(ordeal_trace_op(t, i)))
                x.values[x.slots++] = ordeal_trace_op(t, i)->read;
        time_replay(r, &x, sums);
        time_check(o, t, x.operations, sums);
    }
    ordeal_replay_free(r);
    ordeal_trace_free(t);
    ordeal_free(o);
    free(x.values);
}

static void workload_row(struct bench *b, struct workload_spec spec)
{
    struct sums sums = { 0 };
    for (unsigned i = 0; i < (b->quick ? 50u : 200u); i++) {
        spec.seed = b->seed + i;
        struct workload *w = workload_run(&spec);
        if (!w)
            return;
        measure_workload(w, &sums);
        workload_free(w);
    }
    struct shape s = { spec.threads, spec.ops / spec.threads, spec.words };
    if (sums.executions)
        sum_row(b, "workload", &s, &sums, 0);
}

void table_replay(struct bench *b)
{
    for (size_t i = 0; i < sizeof native_shapes / sizeof *native_shapes; i++)
        target_row(b, &target_native, &native_shapes[i], 99);
    for (size_t i = 0; i < sizeof model_shapes / sizeof *model_shapes; i++)
        target_row(b, &target_model, &model_shapes[i], 0);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        workload_row(b, workloads[i]);
}
