/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal monitor` on the programs of Figure 4(a) of Burckhardt and Musuvathi (Effective program
 * verification for relaxed memory models, 2008): executions by how often a thread is interrupted, how many
 * are borderline, how soon the first is found, and what the monitor takes. Theirs are C# programs, and an
 * interruption may come before any access, as here. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "dpor.h"

static const struct monitored {
    const char *name, *path;
    const char *define[2];
    uint32_t context, quick;
    bool fenced;
} programs[] = {
    { "dekker", "examples/programs/dekker.c", { "ROUNDS=2" }, 4, 3, false },
    { "bakery", "examples/programs/bakery.c", { "ROUNDS=3" }, 3, 2, false },
    { "deque", "examples/programs/the_deque.c", { "ITEMS=3", "STEALS=3" }, 3, 2, false },
    { "dekker fenced", "examples/programs/dekker.c", { "FENCED", "ROBUST" }, 4, 3, true },
    { "bakery fenced", "examples/programs/bakery.c", { "FENCED", "ROBUST" }, 3, 2, true },
    { "deque fenced", "examples/programs/the_deque.c", { "FENCED" }, 3, 2, true },
};

/* Bounds on preemptions, or all traces. NULL: it said why. */
static struct dpor_result *follow(const struct image *image, bool bounded, uint32_t context,
                                  bool unmonitored)
{
    struct dpor_options options = {
        .program = { .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC, .jobs = 1 },
        .unmonitored = unmonitored,
        .all = true,
        .bounded = bounded,
        .context = context,
        .most_steps = 2000,
        .most_seconds = 60,
    };
    struct dpor_result *r = NULL;
    struct ordeal_error error = { 0 };
    if (dpor_explore(image, &options, &r, &error) != ORDEAL_OK)
        fprintf(stderr, "bench: %s\n", error.reason);
    return r;
}

/* Seconds of the processor, the fewest of some turns with the monitor and without. */
static void compare_times(const struct image *image, double best[2])
{
    best[0] = best[1] = INFINITY;
    for (int turn = 0; turn < 30; turn++) {
        clock_t began = clock();
        dpor_result_free(follow(image, false, 0, turn % 2));
        double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        best[turn % 2] = fmin(best[turn % 2], seconds);
    }
}

static void add_row(struct bench *b, const struct monitored *p, const char *bound,
                    const struct dpor_row *row, double first, const double best[2])
{
    cJSON *line = row_new();
    row_text(line, "program", p->name);
    row_text(line, "context", bound);
    row_number(line, "executions", (double)row->executions);
    row_number(line, "borderline", (double)row->borderline_executions);
    row_number(line, "traces", (double)row->traces);
    row_number(line, "first s", first < 0 ? NAN : first);
    row_number(line, "seconds", row->seconds);
    row_number(line, "overhead %", best ? 100 * (best[0] / best[1] - 1) : NAN);
    row_target(line,
               best        ? "overhead at most 6"
               : p->fenced ? "0 borderline"
                           : NULL,
               best ? best[0] <= 1.06 * best[1] : row->borderline_executions == 0);
    row_end(&b->report, line);
}

static void bounds(struct bench *b, const struct monitored *p, const struct image *image)
{
    uint32_t context = b->quick ? p->quick : p->context;
    struct dpor_result *r = follow(image, true, context, false);
    for (uint32_t i = 0; r && i < r->rows; i++) {
        char bound[16];
        snprintf(bound, sizeof bound, "%u", i);
        add_row(b, p, bound, &r->row[i], r->first_seconds, NULL);
    }
    dpor_result_free(r);
}

static void all_traces(struct bench *b, const struct monitored *p, const struct image *image)
{
    struct dpor_result *r = p->fenced ? follow(image, false, 0, false) : NULL;
    double best[2];
    if (r && r->complete) {
        compare_times(image, best);
        add_row(b, p, "all", &r->total, r->first_seconds, best);
    }
    dpor_result_free(r);
}

void table_monitor(struct bench *b)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct monitored *p = &programs[i];
        struct image *image = bench_image(p->path, p->define, p->define[1] ? 2 : 1);
        if (!image)
            continue;
        bounds(b, p, image);
        all_traces(b, p, image);
        image_free(image);
    }
}
