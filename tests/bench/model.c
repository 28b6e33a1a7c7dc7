/* SPDX-License-Identifier: Apache-2.0 */
/* The `model` target: operations a second of every machine, on one core. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "program.h"
#include "targets/target.h"

enum { ASKED = 5 };            /* million operations a second */
enum { OPERATIONS = 1000 };    /* of a thread */

static const struct kind {
    const char *name, *tm;     /* tm: NULL, no transactions in the test */
    enum ordeal_model model;
} kinds[] = {
    { "SC", NULL, ORDEAL_SC },             { "TSO", NULL, ORDEAL_TSO },
    { "PSO", NULL, ORDEAL_PSO },           { "PC", NULL, ORDEAL_PC },
    { "RMO", NULL, ORDEAL_RMO },           { "TSO, TM lazy", "lazy", ORDEAL_TSO },
    { "TSO, TM eager", "eager", ORDEAL_TSO },
};

static bool outcome(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user;
    (void)iteration;
    (void)values;
    return true;
}

static bool make_program(const struct bench *b, uint32_t threads, bool transactions,
                         struct ordeal *o, struct ordeal_trace **test, struct program *p)
{
    char settings[4][64];
    snprintf(settings[0], sizeof settings[0], "test.threads=%u", threads);
    snprintf(settings[1], sizeof settings[1], "test.operations=%d", OPERATIONS);
    snprintf(settings[2], sizeof settings[2], "test.locations=64");
    snprintf(settings[3], sizeof settings[3], "transactions.share=%d", transactions ? 30 : 0);
    const char *set[] = { settings[0], settings[1], settings[2], settings[3], NULL };
    return bench_program(b, set, o, test, p);
}

/* Of this process: others on the machine do not count. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Operations a second of processor time: the best of some runs. */
static double speed_of(const struct target *target, const struct target_options *options,
                       const struct program *p, int runs)
{
    struct why why = { "" };
    void *machine;
    const struct target_sink sink = { .outcome = outcome };
    double best = NAN;
    if (!target->open(options, &machine, &why)) {
        fprintf(stderr, "bench: %s\n", why.text);
        return NAN;
    }
    uint64_t count = 1 + 2000000 / p->operations;
    for (int i = 0; i < runs; i++) {
        double start = cpu_seconds();
        if (target->run(machine, p, (uint64_t)i * count, count, &sink, &why) != TARGET_DONE)
            break;
        double speed = (double)(p->operations * count) / (cpu_seconds() - start);
        if (isnan(best) || speed > best)
            best = speed;
    }
    target->close(machine);
    return best;
}

static void measure_kind(struct bench *b, const struct kind *k, uint32_t threads)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *test = NULL;
    struct program p = { 0 };
    double speed = NAN;
    struct target_options options = { .model = k->model, .model_given = true, .seed = b->seed,
                                      .tm = k->tm };
    bool made = o && make_program(b, threads, k->tm != NULL, o, &test, &p);
    if (made)
        speed = speed_of(&target_model, &options, &p, b->quick ? 2 : 5) / 1e6;
    cJSON *row = row_new();
    row_text(row, "machine", k->name);
    row_number(row, "threads", threads);
    row_number(row, "Mops/s", speed);
    row_target(row, "5 Mops/s", speed >= ASKED);
    row_end(&b->report, row);
    if (made)
        program_free(&p);
    ordeal_trace_free(test);
    ordeal_free(o);
}

void table_model(struct bench *b)
{
    static const uint32_t threads[] = { 2, 4, 64, 256 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
            measure_kind(b, &kinds[k], threads[t]);
}
