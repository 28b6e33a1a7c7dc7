/* SPDX-License-Identifier: Apache-2.0 */
/* The `sim` target: simulated cycles a second on one core, and how much of the time of `ordeal run
 * --check` the machine itself has. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "program.h"
#include "targets/target.h"

static const struct speed { uint32_t harts; const char *config; double asked; } speeds[] = {
    /* thousand cycles a second; 0: nothing is asked */
    { 1, NULL, 0 }, { 2, NULL, 600 }, { 4, NULL, 300 }, { 4, "checks=0", 0 }, { 8, NULL, 0 },
};

#define ONE "--sizes usual"
static const struct {
    const char *name, *words;
    unsigned tests;
    double share;
} runs[] = {
    /* the least share of the time that is to be the machine's, in percent; 0: none is asked */
    { "2 harts, 2 x 100", ONE " --harts 2", 600, 60 },
    { "4 harts, 4 x 100", ONE " --set threads=4", 300, 60 },
    { "4 harts, zoo.bias", ONE " --bias examples/zoo.bias", 300, 60 },
    { "4 harts, 4 x 100, visible", ONE " --set threads=4 --visible", 300, 60 },
    { "4 harts, 4 x 100, one machine", ONE " --set threads=4 --jobs 1", 300, 60 },
    { "4 harts, 4 x 100, all sizes", "--set threads=4", 300, 60 },
};

static bool outcome(void *user, uint64_t iteration, const uint64_t *values)
{
    (void)user, (void)iteration, (void)values;
    return true;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Cycles a second of processor time, tests loaded and records read: the best of some runs. */
static double measure_speed(void *machine, const struct program *p, double seconds)
{
    const struct target_sink sink = { .outcome = outcome };
    struct why why = { "" };
    double best = NAN, end = bench_clock() + seconds;
    for (uint64_t i = 0; bench_clock() < end; i += 20) {
        double start = cpu_seconds();
        uint64_t before = target_sim.cycles(machine);
        if (target_sim.run(machine, p, i, 20, &sink, &why) != TARGET_DONE) {
            fprintf(stderr, "bench: %s\n", why.text);
            return NAN;
        }
        double speed = (double)(target_sim.cycles(machine) - before) / (cpu_seconds() - start);
        best = isnan(best) || speed > best ? speed : best;
    }
    return best;
}

static double speed_of(const struct bench *b, const struct speed *s, const struct program *p)
{
    struct target_options options = {
        .seed = b->seed, .harts = s->harts, .config = s->config, .sizes = "usual"
    };
    struct why why = { "" };
    void *machine;
    if (!target_sim.open(&options, &machine, &why)) {
        fprintf(stderr, "bench: %s\n", why.text);
        return NAN;
    }
    double speed = measure_speed(machine, p, b->quick ? 2 : 6);
    target_sim.close(machine);
    return speed;
}

static bool make_program(const struct bench *b, uint32_t threads, struct ordeal *o,
                         struct ordeal_trace **test, struct program *p)
{
    char setting[64];
    snprintf(setting, sizeof setting, "test.threads=%u", threads);
    return bench_program(b, (const char *const[]){ setting, NULL }, o, test, p);
}

static void speed_row(struct bench *b, const struct speed *s)
{
    struct ordeal *o = ordeal_new(NULL);
    struct ordeal_trace *test = NULL;
    struct program p = { 0 };
    char asked[32], name[64];
    bool made = o && make_program(b, s->harts, o, &test, &p);
    double speed = made ? speed_of(b, s, &p) / 1e3 : NAN;
    snprintf(name, sizeof name, "%u harts%s%s", s->harts, s->config ? ", " : "",
             s->config ? s->config : "");
    snprintf(asked, sizeof asked, "%.0f Kcycles/s", s->asked);
    cJSON *row = row_new();
    row_text(row, "machine", name);
    row_number(row, "seconds", NAN);
    row_number(row, "Kcycles/s", speed);
    row_number(row, "Kops/s", NAN);
    row_number(row, "inside %", NAN);
    row_target(row, s->asked > 0 ? asked : NULL, speed >= s->asked);
    row_end(&b->report, row);
    if (made)
        program_free(&p);
    ordeal_trace_free(test);
    ordeal_free(o);
}

/* The number after `name=` in the summary. */
static double field(const char *summary, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(summary, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

static void run_row(struct bench *b, size_t i)
{
    char command[512], line[1024] = "", asked[32];
    unsigned tests = b->quick ? runs[i].tests / 5 : runs[i].tests;
    snprintf(command, sizeof command, "'%s' run --target sim --check --no-save --count %u %s",
             b->program, tests, runs[i].words);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) /* the last line sums up */
        ;
    bool good = pipe && pclose(pipe) == 0;
    snprintf(asked, sizeof asked, "%.0f %% inside", runs[i].share);
    cJSON *row = row_new();
    row_text(row, "machine", runs[i].name);
    row_number(row, "seconds", field(line, "seconds"));
    row_number(row, "Kcycles/s", field(line, "cycles_per_second") / 1e3);
    row_number(row, "Kops/s", field(line, "ops_per_second") / 1e3);
    row_number(row, "inside %", field(line, "running_percent"));
    row_target(row, asked, good && field(line, "running_percent") >= runs[i].share);
    row_end(&b->report, row);
}

void table_sim(struct bench *b)
{
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        speed_row(b, &speeds[i]);
    for (size_t i = 0; b->program && i < sizeof runs / sizeof *runs; i++)
        run_row(b, i);
}
