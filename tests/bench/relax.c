/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal relax` on dekker, whose trials the paper's authors ran at one or two a second (Table 1): phase II
 * over all predicted cycles, in the time of one core. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "program/program_file.h"
#include "program/relax_trials.h"

static const char path[] = "examples/programs/relax/dekker.c";

struct measured {
    double predicted, confirmed, trials, executions, seconds;
};

static bool try_all(const struct relax_plan *plan, const struct relax_cycles *cycles,
                    enum explore_model model, struct measured *m)
{
    struct ordeal_error error = { 0 };
    struct relax_runner *r = relax_plan_runner(plan, model, &error);
    bool fine = r != NULL;
    clock_t began = clock();
    for (size_t i = 0; fine && i < cycles->count; i++) {
        struct relax_tried tried;
        if (!relax_worth_trying(&cycles->cycle[i], model))
            continue;
        fine = relax_phase_two(plan, r, &cycles->cycle[i], model, &tried);
        m->predicted++;
        m->confirmed += tried.confirmed > 0;
        m->trials += (double)tried.trials;
        m->executions += (double)tried.executions;
    }
    m->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    relax_runner_free(r);
    return fine;
}

static void row(struct bench *b, enum explore_model model, uint64_t repeat,
                const struct measured *m)
{
    cJSON *row = row_new();
    row_text(row, "model", explore_model_names[model]);
    row_number(row, "repeat", (double)repeat);
    row_number(row, "cycles", m->predicted);
    row_number(row, "confirmed", m->confirmed);
    row_number(row, "trials", m->trials);
    row_number(row, "executions", m->executions);
    row_number(row, "trials/s", m->trials / m->seconds);
    row_number(row, "executions/s", m->executions / m->seconds);
    row_target(row, repeat == 1 ? "100 trials/s" : NULL, m->trials / m->seconds >= 100);
    row_end(&b->report, row);
}

static void under_all(struct bench *b, struct relax_plan *plan)
{
    struct ordeal_error error = { 0 };
    struct relax_runner *sc = relax_plan_runner(plan, EXPLORE_SC, &error);
    struct relax_predicted p = { .runs = 0 };
    bool fine = sc && relax_phase_one(plan, sc, &p);
    for (int model = EXPLORE_TSO; fine && model < EXPLORE_MODELS; model++)
        for (uint64_t repeat = 1; fine && repeat <= 100; repeat *= 100) {
            struct measured m = { 0 };
            plan->repeat = repeat;
            plan->trials = (b->quick ? 30 : 300) / repeat + 1;
            fine = try_all(plan, &p.cycles, (enum explore_model)model, &m);
            if (fine)
                row(b, (enum explore_model)model, repeat, &m);
        }
    relax_cycles_free(&p.cycles);
    relax_runner_free(sc);
}

void table_relax(struct bench *b)
{
    const char *const source = path;
    struct compile_request request = { .source = &source, .sources = 1 };
    struct program_file program = { 0 };
    struct statement_labels labels = { 0 };
    struct ordeal_error error = { 0 };
    if (!program_file_load(&program, &request, &error))
        fprintf(stderr, "bench: %s: %s\n", path, error.reason);
    else if (statement_labels_find(&labels, program.image, path)) {
        struct relax_plan plan = { .image = program.image,
                                   .labels = &labels,
                                   .seed = b->seed,
                                   .runs = 100,
                                   .steps = 20000,
                                   .length = 4 };
        under_all(b, &plan);
    }
    statement_labels_free(&labels);
    program_file_free(&program);
}
