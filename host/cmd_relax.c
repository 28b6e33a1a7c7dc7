/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal relax`: violations of sequential consistency that a program may have, predicted and made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "chip/chip_relax.h"
#include "cmd_program.h"
#include "program/relax_trace.h"
#include "program/relax_trials.h"
#include "relax_graph.h"
#include "tell/output_line.h"

enum { ALL_MODELS = EXPLORE_MODELS };

struct relaxing {
    struct program_command p;
    int model;
    bool replay;
    uint64_t runs, trials, repeat, steps, seed, length, trial, explore, buffers;
    const char *cycle, *trace, *traces, *waves;
    struct program_machine on;

    struct statement_labels labels;
    struct relax_plan plan;
    struct relax_cycles cycles; /* to be tried */
    struct relax_graph graph;   /* of the model that is tried; made when it is wanted */
    char phase[160];

    /* On a machine: */
    struct chip_relax chip;
    struct statement_labels chip_labels;
};

/* What came out under one model. */
struct tally {
    enum explore_model model;
    uint64_t predicted, confirmed, buggy, uncertified, executions;
    uint64_t others;               /* executions that went wrong without the cycle looked for */
    uint64_t explored, infeasible; /* of those that no trial confirmed */
    double probability;            /* summed over those that were confirmed */
    double seconds;
};

/* ---- options ----------------------------------------------------------------------------- */

static const char *const models[] = { "tso", "pso", "pslo", "all", NULL };

static const char *model_choice(int i) { return models[i]; }
static bool parse_model(const char *text, void *field)
{
    int *model = field;
    bool known = program_find_name(text, models, model);
    *model += EXPLORE_TSO;
    return known;
}
static bool parse_length(const char *text, void *field)
{
    uint64_t *length = field;
    *length = (uint64_t)(*text - '0');
    return (*length == 4 || *length == 6 || *length == 8) && !text[1];
}
static const struct option_type option_weak = { parse_model, NULL, model_choice };
static const struct option_type option_length = { parse_length, "4, 6 or 8", NULL };

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(relaxing, model, "model", 'm', "MODEL", weak, "all",
           "memory model under which cycles are tried:"),
    OPTION(relaxing, runs, "runs", 0, "N", positive, "100",
           "runs under sc, by random schedules, that predict cycles"),
    OPTION(relaxing, length, "length", 0, "LABELS", length, "4",
           "longest cycles that are predicted: 4, 6 or 8 labels"),
    OPTION(relaxing, trials, "trials", 0, "N", positive, NULL,
           "trials of each cycle (default: 30; with --target 3)"),
    OPTION(relaxing, repeat, "repeat", 0, "N", positive, NULL,
           "executions of a trial, at most; it ends with the first that has the\n"
           "cycle (default: 100; with --target 40)"),
    OPTION(relaxing, steps, "steps", 0, "N", positive, "20000",
           "accesses of an execution, at most; it is left then"),
    OPTION(relaxing, seed, "seed", 's', "N", whole, "1",
           "what chance is made from"),
    OPTION(relaxing, explore, "explore", 0, "STATES", whole, "100000",
           "look for a cycle that no trial confirmed in all executions, as far as\n"
           "they have no more states; 0: do not; TSO and PSO alone"),
    OPTION(relaxing, buffers, "buffers", 'b', "N", positive, "4",
           "entries of a thread's store buffer there; trials have no bound"),
    OPTION(relaxing, cycle, "cycle", 'c', "LABELS", text, NULL,
           "try this cycle alone, predicted or not: 1,2,11,12"),
    OPTION(relaxing, trial, "trial", 0, "N", positive, NULL,
           "do this trial of --cycle again, under one --model"),
    OPTION(relaxing, replay, "replay", 0, NULL, flag, NULL,
           "with --trial: show the execution that has the cycle, step by step"),
    OPTION(relaxing, trace, "trace", 0, "FILE", text, NULL,
           "with --trial: write that execution as a trace for 'ordeal check'"),
    OPTION(relaxing, traces, "traces", 0, "FOLDER", text, NULL,
           "write such a trace for each cycle that was confirmed: MODEL-LABELS.trace"),
    OPTION(relaxing, waves, "waves", 0, "FOLDER", text, NULL,
           "with --target sim: write what all signals did for each cycle that was\n"
           "confirmed, for GTKWave: MODEL-LABELS.fst"),
    MACHINE_OPTIONS(relaxing, on),
    PROGRAM_OPTIONS(relaxing, p),
    OPTION(relaxing, p.json, "json", 0, NULL, flag, NULL,
           "output for programs: one object a line"),
    OPTION_END
};
/* clang-format on */

/* An execution on a machine takes tens of milliseconds. */
static void give_defaults(struct relaxing *x)
{
    if (!x->trials)
        x->trials = x->on.target ? 3 : 30;
    if (!x->repeat)
        x->repeat = x->on.target ? 40 : 100;
}

static struct chip_try_options chip_options(const struct relaxing *x, enum explore_model model)
{
    enum {
        PATIENCE = 20,
        LINK_PATIENCE = 60
    }; /* seconds of a check; of an execution, for a board */
    struct chip_try_options o = { .command = x->p.command,
                                  .target = x->on.target,
                                  .how = x->on.how,
                                  .model = account_trace_model(model),
                                  .most_cycles = x->on.patience,
                                  .seconds = PATIENCE,
                                  .request = program_request(&x->p) };
    o.how.seed = x->seed;
    o.how.timeout = LINK_PATIENCE;
    return o;
}

static int refuse_machine(const struct relaxing *x)
{
    const char *given = x->waves ? "waves" : program_machine_option(&x->on);
    if (!x->on.target)
        return given ? complain(x->p.command, "--%s is about a machine: add --target", given) : -1;
    if (x->p.atomics)
        return complain(x->p.command, "--atomics x86 is not for a machine of RISC-V");
    if (!compile_is_source(x->p.file[0]))
        return complain(x->p.command, "--target compiles for the machine: name sources (.c, .cpp)");
    struct chip_try_options o = chip_options(x, EXPLORE_TSO);
    return chip_try_refuse(&o);
}

static int refuse(const struct relaxing *x)
{
    int status = program_refuse(&x->p);
    if (status < 0)
        status = refuse_machine(x);
    if (status >= 0)
        return status;
    if (x->trial && (!x->cycle || x->model == ALL_MODELS))
        return complain(x->p.command, "--trial is one of a cycle under a model: name them, "
                                      "--cycle LABELS --model tso|pso|pslo");
    if (x->trial && x->trial > x->trials)
        return complain(x->p.command, "--trial %" PRIu64 ": there are %" PRIu64, x->trial,
                        x->trials);
    if ((x->replay || x->trace) && !x->trial)
        return complain(x->p.command,
                        "--%s is about one execution: name it by --cycle, --model and "
                        "--trial",
                        x->replay ? "replay" : "trace");
    if (x->replay && x->p.json)
        return complain(x->p.command, "--replay is for people: leave out --json");
    return -1;
}

/* ---- lines ------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool tell_progress(void *user, const char *what, uint64_t executions)
{
    struct relaxing *x = user;
    char text[256];
    if (executions % 64)
        return interrupted();
    snprintf(text, sizeof text, "%s%s, %" PRIu64 " executions", what, x->phase, executions);
    return progress_callback(&x->p.progress, text, -1);
}

static void report_broke(struct relaxing *x, const char *broke)
{
    struct ordeal_error e = { 0 };
    error_bad(&e, x->p.file[0], 0, "a run cannot go on: %s", broke);
    program_report_error(&x->p, &e);
}

static bool out_of_memory(struct relaxing *x)
{
    program_report_memory(&x->p);
    return false;
}

static cJSON *new_line(struct relaxing *x, const char *word, const char *model)
{
    cJSON *line = program_line(&x->p, word);
    cJSON_AddStringToObject(line, "model", model);
    if (x->chip.machine) {
        cJSON_AddStringToObject(line, "target", x->on.target);
        output_line_machine(line, chip_try_size(x->chip.machine));
    }
    return line;
}

static double share(const struct relax_tried *t)
{
    return t->trials ? (double)t->confirmed / (double)t->trials : 0;
}

static void add_places(const struct relaxing *x, const struct relax_cycle *c, cJSON *line)
{
    char text[1024];
    size_t n = 0;
    const char *file = NULL;
    for (uint32_t i = 0; i < c->length && n < sizeof text; i++) {
        const struct statement_label *l = &x->labels.label.data[c->label[i] - 1];
        bool same = file && strcmp(file, l->file) == 0;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.200s%s%" PRIu32, i ? "," : "",
                              same ? "" : lines_short_name(l->file), same ? "" : ":", l->line);
        file = l->file;
    }
    cJSON_AddStringToObject(line, "lines", text);
}

/* ---- one execution ----------------------------------------------------------------------- */

static bool write_traces(struct relaxing *x, const struct relax_cycle *c, enum explore_model model,
                         const struct relax_trace *t)
{
    char name[CYCLE_NAME], shown[4 * CYCLE_NAME], path[4096];
    statement_cycle_name(&x->labels, c, name);
    escape_text(shown, sizeof shown, name); /* it has names of files that the ELF file tells */
    snprintf(path, sizeof path, "%s/%s-%s.trace", x->traces, explore_model_names[model], shown);
    return program_write_trace(&x->p, path, t->trace.trace);
}

static bool show(const struct image *image, const struct event_list *events,
                 enum explore_model model)
{
    struct account a;
    bool fine = account_make(&a, image, events, model);
    if (fine) {
        printf("Steps:\n");
        account_steps(&a, stdout);
    }
    account_free(&a);
    return fine;
}

/* An execution as a trace, and what the checker says of it. */
static bool certify(struct relaxing *x, const struct image *image, const struct event_list *events,
                    const struct relax_cycle *c, enum explore_model model, const char **certified)
{
    enum { PATIENCE = 20 }; /* seconds */
    struct relax_trace t = { 0 };
    struct ordeal_error why = { 0 };
    bool fine = relax_trace_make(&t, image, events, model);
    if (fine) {
        enum account_judgement j = relax_trace_judge(&t, PATIENCE, &why);
        *certified = j == ACCOUNT_CONFIRMED ? "yes"
                   : j == ACCOUNT_REFUSED   ? "refused"
                                            : "undecided";
        if (j == ACCOUNT_REFUSED)
            program_report_internal(&x->p,
                                    "an execution with a cycle is not what it should be: %s; "
                                    "please report this with the program and the seed",
                                    why.reason);
        if (j == ACCOUNT_NO_VERDICT)
            complain(x->p.command, "%s: the checker did not decide about an execution: %s",
                     x->p.file[0], why.reason);
        if (x->traces)
            write_traces(x, c, model, &t);
        if (x->trace)
            program_write_trace(&x->p, x->trace, t.trace.trace);
    }
    if (fine && x->replay)
        fine = show(image, events, model);
    relax_trace_free(&t);
    return fine;
}

static bool certify_trial(struct relaxing *x, struct relax_runner *r, const struct relax_cycle *c,
                          enum explore_model model, const struct relax_witness *w,
                          const char **certified)
{
    struct event_list events = { NULL, 0 };
    const struct relax_run *run;
    bool fine = relax_events(r, c, w->seed, &events, &run)
             && certify(x, x->p.program.image, &events, c, model, certified);
    explore_events_free(&events);
    return fine;
}

/* ---- on a machine ------------------------------------------------------------------------ */

static bool stop_with(struct relaxing *x, const char *what, const struct why *why, int status)
{
    progress_erase(&x->p.progress);
    complain(x->p.command, "%s: %s%s", x->p.file[0], what, why->text);
    x->p.status = exit_worst(x->p.status, status);
    return false;
}

/* False: nothing more is to be tried, and why was told. */
static bool machine_goes_on(struct relaxing *x, const struct chip_relaxed *out)
{
    if (out->machine_wrong)
        return stop_with(x, "the machine is wrong, which 'ordeal run --program' keeps: ", &out->why,
                         EXIT_VIOLATION);
    if (out->bad)
        return stop_with(x, "", &out->why, EXIT_BAD);
    if (out->end == CHIP_TRY_FAILED)
        return stop_with(x, "", &out->why, EXIT_TARGET);
    if (out->end == CHIP_TRY_ERROR)
        return stop_with(x, "", &out->why, EXIT_INTERNAL);
    return true;
}

/* The cycle by the labels of the program as it is on the chip. */
static bool cycle_on_chip(struct relaxing *x, const struct relax_cycle *c, struct relax_cycle *to)
{
    char name[CYCLE_NAME], reason[256];
    statement_cycle_name(&x->labels, c, name);
    if (statement_cycle_parse(&x->chip_labels, name, to, reason, sizeof reason))
        return true;
    x->p.status = complain(x->p.command, "%s is not on the machine: %s", name, reason);
    return false;
}

static void write_waves(struct relaxing *x, const struct relax_cycle *c,
                        const struct relax_cycle *on_chip, const struct relax_witness *w)
{
    char name[CYCLE_NAME], path[4096];
    struct why why = { "" };
    int error = output_directory(x->waves);
    statement_cycle_name(&x->labels, c, name);
    snprintf(path, sizeof path, "%s/%s-%s.fst", x->waves, explore_model_names[x->chip.model], name);
    if (error)
        x->p.status = complain_unwritten(x->p.command, x->waves, error);
    else if (!chip_relax_waves(&x->chip, on_chip, w, path, &why))
        stop_with(x, "no waves: ", &why, EXIT_UNWRITTEN);
}

static bool try_on_machine(struct relaxing *x, const struct relax_cycle *c, struct relax_tried *t,
                           const char **certified, bool *goes_on)
{
    struct relax_cycle on_chip;
    struct chip_relaxed out;
    enum explore_model model;
    *goes_on = cycle_on_chip(x, c, &on_chip);
    if (!*goes_on)
        return true;
    bool fine = chip_relax(&x->chip, &on_chip, x->trial ? x->trial : 1,
                           x->trial ? x->trial : x->trials, &out);
    *t = out.tried;
    *goes_on = fine && machine_goes_on(x, &out);
    if (fine && out.run) {
        const struct event_list *events = on_chip_events(out.run, &model);
        fine = certify(x, x->chip.plan.image, events, c, x->chip.model, certified);
        if (x->waves && *goes_on)
            write_waves(x, c, &on_chip, &t->witness);
    }
    chip_relaxed_free(&out);
    return fine;
}

/* The machine of the next model. */
static bool open_machine(struct relaxing *x, enum explore_model model)
{
    struct chip_try_options o = chip_options(x, model);
    int status;
    x->chip = (struct chip_relax){ .machine = chip_try_open(&o, &status), .model = model };
    if (!x->chip.machine) {
        x->p.status = exit_worst(x->p.status, status);
        return false;
    }
    x->chip.plan = x->plan;
    x->chip.plan.labels = &x->chip_labels;
    x->chip.plan.image = on_chip_image(chip_try_program(x->chip.machine));
    return statement_labels_find(&x->chip_labels, x->chip.plan.image, x->p.file[0])
        || out_of_memory(x);
}

static void close_machine(struct relaxing *x)
{
    statement_labels_free(&x->chip_labels);
    chip_try_close(x->chip.machine);
    x->chip.machine = NULL;
}

/* ---- a cycle that no trial confirmed ----------------------------------------------------- */

static bool stop_graph(void *user)
{
    struct relaxing *x = user;
    return progress_callback(&x->p.progress, "states", -1);
}

static bool make_graph(struct relaxing *x, enum explore_model model)
{
    const struct relax_options o = {
        .model = model,
        .labels = &x->labels.of,
        .locked_atomics = x->p.atomics,
        .nondet_high = 1,
    };
    uint64_t most = x->explore < 50000000 ? x->explore : 50000000;
    return x->graph.states
        || relax_graph_make(&x->graph, x->p.program.image, &o,
                            (uint32_t)(x->buffers < 1024 ? x->buffers : 1024), (uint32_t)most,
                            stop_graph, x);
}

static bool certify_path(struct relaxing *x, const struct relax_cycle *c, enum explore_model model,
                         const struct explore_path *path, const char **certified)
{
    struct event_list events = { NULL, 0 };
    struct ordeal_error error = { 0 };
    bool fine = explore_follow(x->p.program.image, &x->graph.how, path, &events, NULL, NULL, &error)
             == ORDEAL_OK;
    fine = fine && certify(x, x->p.program.image, &events, c, model, certified);
    explore_events_free(&events);
    return fine;
}

/* What exploring says: "FEASIBLE", "INFEASIBLE", or NULL; false: out of memory. */
static bool explore_cycle(struct relaxing *x, const struct relax_cycle *c, enum explore_model model,
                          const char **word, const char **certified)
{
    enum { NODES_OF_STATE = 8 };
    enum relax_answer answer = RELAX_OPEN;
    struct explore_path path = { .steps = 0 };
    bool fine = make_graph(x, model);
    fine = fine
        && relax_graph_search(&x->graph, c, (size_t)x->explore * NODES_OF_STATE, &answer, &path);
    if (fine && answer == RELAX_FEASIBLE)
        fine = certify_path(x, c, model, &path, certified);
    *word = answer == RELAX_FEASIBLE   ? "FEASIBLE"
          : answer == RELAX_INFEASIBLE ? "INFEASIBLE"
                                       : NULL;
    free(path.step);
    free(path.choice);
    return fine || interrupted();
}

/* ---- phase II ---------------------------------------------------------------------------- */

static cJSON *cycle_line(struct relaxing *x, const struct relax_cycle *c,
                         const struct relax_tried *t, enum explore_model model,
                         const char *explored)
{
    char name[CYCLE_NAME];
    const char *word = t->buggy     ? "BUGGY"
                     : t->confirmed ? "CONFIRMED"
                     : explored     ? explored
                                    : "UNCONFIRMED";
    cJSON *line = new_line(x, word, explore_model_names[model]);
    statement_cycle_name(&x->labels, c, name);
    cJSON_AddStringToObject(line, "cycle", name);
    add_places(x, c, line);
    cJSON_AddNumberToObject(line, "trials", (double)t->trials);
    cJSON_AddNumberToObject(line, "confirmed", (double)t->confirmed);
    cJSON_AddNumberToObject(line, "buggy", (double)t->buggy);
    cJSON_AddNumberToObject(line, "probability", program_rounded(share(t)));
    cJSON_AddNumberToObject(line, "executions", (double)t->executions);
    if (t->others)
        cJSON_AddNumberToObject(line, "other_errors", (double)t->others);
    return line;
}

static void add_witness(cJSON *line, const struct relax_witness *w, const char *certified)
{
    if (w->there)
        cJSON_AddNumberToObject(line, "trial", (double)w->trial);
    if (w->error)
        cJSON_AddStringToObject(line, "error", explore_error_text(w->error));
    if (*certified)
        cJSON_AddStringToObject(line, "certified", certified);
}

static void count(struct tally *tally, const struct relax_tried *t, const char *explored,
                  const char *certified)
{
    tally->explored += explored && *certified;
    tally->infeasible += explored && !*certified;
    tally->predicted++;
    tally->executions += t->executions;
    tally->confirmed += t->confirmed > 0;
    tally->buggy += t->buggy > 0;
    tally->others += t->others;
    tally->probability += share(t);
    tally->uncertified += *certified && strcmp(certified, "yes") != 0;
}

/* False: nothing more is to be done. */
static bool try_cycle(struct relaxing *x, struct relax_runner *r, const struct relax_cycle *c,
                      struct tally *tally, cJSON *lines)
{
    struct relax_tried t = { 0 };
    const char *certified = "", *explored = NULL;
    bool goes_on = true, fine;
    if (x->chip.machine)
        fine = try_on_machine(x, c, &t, &certified, &goes_on);
    else
        fine = x->trial ? relax_trial(&x->plan, r, c, tally->model, x->trial, &t)
                        : relax_phase_two(&x->plan, r, c, tally->model, &t);
    if (!fine)
        return out_of_memory(x);
    if (!goes_on)
        return false;
    if (t.broke[0]) {
        report_broke(x, t.broke);
        return false;
    }
    bool open = !t.confirmed && !t.stopped && !x->trial && x->explore
             && tally->model != EXPLORE_PSLO;
    if (open)
        fine = explore_cycle(x, c, tally->model, &explored, &certified);
    else if (t.witness.there && !x->chip.machine)
        fine = certify_trial(x, r, c, tally->model, &t.witness, &certified);
    if (!fine)
        return out_of_memory(x);
    cJSON *line = cycle_line(x, c, &t, tally->model, explored);
    add_witness(line, &t.witness, certified);
    if (open && !explored)
        cJSON_AddStringToObject(line, "why",
                                *x->graph.why ? x->graph.why : "the limit of states was reached");
    count(tally, &t, explored, certified);
    cJSON_AddItemToArray(lines, line);
    return !t.stopped && !interrupted();
}

static void report_model(struct relaxing *x, const struct tally *t, cJSON *lines)
{
    bool failed = t->buggy || t->others;
    enum ordeal_result result = failed        ? ORDEAL_FAIL
                              : interrupted() ? ORDEAL_UNDECIDED
                                              : ORDEAL_PASS;
    cJSON *line = new_line(x, verdict_words[result], explore_model_names[t->model]);
    cJSON_AddNumberToObject(line, "predicted", (double)t->predicted);
    cJSON_AddNumberToObject(line, "confirmed", (double)t->confirmed);
    cJSON_AddNumberToObject(line, "buggy", (double)t->buggy);
    if (t->others)
        cJSON_AddNumberToObject(line, "other_errors", (double)t->others);
    if (t->confirmed)
        cJSON_AddNumberToObject(line, "probability",
                                program_rounded(t->probability / (double)t->confirmed));
    if (t->explored)
        cJSON_AddNumberToObject(line, "feasible", (double)t->explored);
    if (t->infeasible)
        cJSON_AddNumberToObject(line, "infeasible", (double)t->infeasible);
    if (t->uncertified)
        cJSON_AddNumberToObject(line, "uncertified", (double)t->uncertified);
    cJSON_AddNumberToObject(line, "trials", (double)(x->trial ? 1 : x->trials));
    cJSON_AddNumberToObject(line, "executions", (double)t->executions);
    cJSON_AddNumberToObject(line, "seed", (double)x->seed);
    cJSON_AddNumberToObject(line, "seconds", program_rounded(t->seconds));
    if (interrupted())
        cJSON_AddStringToObject(line, "why", "interrupted");
    x->p.status = exit_worst(x->p.status, failed ? EXIT_VIOLATION : EXIT_FINE);
    output_line_print(line, x->p.json);
    while (cJSON_GetArraySize(lines))
        output_line_print(cJSON_DetachItemFromArray(lines, 0), x->p.json);
}

static bool under_model(struct relaxing *x, enum explore_model model)
{
    struct ordeal_error error = { 0 };
    struct relax_runner *r = relax_plan_runner(&x->plan, model, &error);
    struct tally tally = { .model = model };
    cJSON *lines = cJSON_CreateArray();
    double began = now();
    bool goes_on = r && lines && (!x->on.target || open_machine(x, model));
    if (!r)
        program_report_error(&x->p, &error);
    for (size_t i = 0; goes_on && i < x->cycles.count; i++) {
        const struct relax_cycle *c = &x->cycles.cycle[i];
        snprintf(x->phase, sizeof x->phase, " %s, cycle %zu of %zu", explore_model_names[model],
                 i + 1, x->cycles.count);
        if (relax_worth_trying(c, model))
            goes_on = try_cycle(x, r, c, &tally, lines);
    }
    tally.seconds = now() - began;
    progress_erase(&x->p.progress);
    if (goes_on || interrupted())
        report_model(x, &tally, lines);
    cJSON_Delete(lines);
    close_machine(x);
    relax_runner_free(r);
    relax_graph_free(&x->graph);
    return goes_on;
}

/* ---- phase I ----------------------------------------------------------------------------- */

/* A program that is wrong without any weak memory is not one to relax. */
static void report_wrong(struct relaxing *x, const struct relax_predicted *p)
{
    cJSON *line = new_line(x, verdict_words[ORDEAL_FAIL], "sc");
    cJSON_AddNumberToObject(line, "runs", (double)p->runs);
    cJSON_AddNumberToObject(line, "wrong", (double)p->wrong);
    cJSON_AddStringToObject(line, "error", explore_error_text(p->error));
    cJSON_AddStringToObject(line, "next", "mend it first: 'ordeal explore --model sc' shows how");
    x->p.status = exit_worst(x->p.status, EXIT_VIOLATION);
    output_line_print(line, x->p.json);
}

static void report_phase_one(struct relaxing *x, const struct relax_predicted *p, double seconds)
{
    cJSON *line = new_line(x, "PREDICTED", "sc");
    cJSON_AddNumberToObject(line, "cycles", (double)p->cycles.count);
    cJSON_AddNumberToObject(line, "length", (double)x->length);
    cJSON_AddNumberToObject(line, "runs", (double)p->runs);
    if (p->left)
        cJSON_AddNumberToObject(line, "left", (double)p->left);
    cJSON_AddNumberToObject(line, "seed", (double)x->seed);
    cJSON_AddNumberToObject(line, "seconds", program_rounded(seconds));
    output_line_print(line, x->p.json);
}

/* False: there is nothing to be tried. */
static bool predict(struct relaxing *x)
{
    struct ordeal_error error = { 0 };
    struct relax_predicted p = { .runs = 0 };
    double began = now();
    struct relax_runner *sc = relax_plan_runner(&x->plan, EXPLORE_SC, &error);
    bool fine = sc && relax_phase_one(&x->plan, sc, &p);
    relax_runner_free(sc);
    progress_erase(&x->p.progress);
    if (!sc)
        program_report_error(&x->p, &error);
    else if (!fine)
        out_of_memory(x);
    else if (p.broke[0])
        report_broke(x, p.broke);
    else if (p.wrong)
        report_wrong(x, &p);
    else
        report_phase_one(x, &p, now() - began);
    fine = fine && !p.broke[0] && !p.wrong && !p.stopped;
    x->cycles = p.cycles;
    return fine;
}

/* The cycles that are to be tried: the one that was named, or those that are predicted. */
static bool find_cycles(struct relaxing *x)
{
    char reason[256];
    struct relax_cycle *one = x->cycle ? calloc(1, sizeof *one) : NULL;
    if (!x->cycle)
        return predict(x);
    if (!one)
        return out_of_memory(x);
    x->cycles = (struct relax_cycles){ .cycle = one, .count = 1 };
    if (statement_cycle_parse(&x->labels, x->cycle, one, reason, sizeof reason))
        return true;
    x->p.status = complain(x->p.command, "--cycle %s: %s", x->cycle, reason);
    return false;
}

/* ---- the program ------------------------------------------------------------------------- */

static bool load(struct relaxing *x)
{
    return program_load(&x->p)
        && (statement_labels_find(&x->labels, x->p.program.image, x->p.file[0])
            || out_of_memory(x));
}

static void plan(struct relaxing *x)
{
    x->plan = (struct relax_plan){
        .image = x->p.program.image,
        .labels = &x->labels,
        .seed = x->seed,
        .runs = x->runs,
        .trials = x->trials,
        .repeat = x->repeat,
        .steps = x->steps,
        .length = (uint32_t)x->length,
        .locked_atomics = x->p.atomics,
        .nondet_high = 1,
        .progress = tell_progress,
        .user = x,
    };
}

static int run(const struct command *self, int argc, char **argv)
{
    struct relaxing x = { .model = 0 };
    int status = program_parse(&x.p, self, argc, argv, &x);
    give_defaults(&x);
    if (status < 0)
        status = refuse(&x);
    if (status >= 0)
        return status;
    program_begin(&x.p);
    if (load(&x)) {
        plan(&x);
        bool goes_on = find_cycles(&x);
        for (int m = EXPLORE_TSO; goes_on && m < EXPLORE_MODELS; m++)
            if (x.model == ALL_MODELS || x.model == m)
                goes_on = under_model(&x, (enum explore_model)m);
    }
    relax_cycles_free(&x.cycles);
    statement_labels_free(&x.labels);
    return program_end(&x.p);
}

const struct command command_relax = {
    .name = "relax",
    .summary = "predict violations of sequential consistency in a program, and make them happen",
    .operands = "FILE...",
    .description =
        "Runs one program with threads (sources .c, .i, .cpp, or an ELF file) under sequential\n"
        "consistency, by random schedules, and predicts from its races which cycles of statements\n"
        "a weaker memory could close. Then it runs the program under such a model and delays\n"
        "stores and loads so that each cycle comes about. A statement is named by the number of\n"
        "its line, or by what a comment there says: /* @12 */.\n\n"
        "Prints how many cycles were PREDICTED; for each model one line with the verdict and the\n"
        "mean probability with which a trial confirmed a cycle; and below that a line a cycle:\n"
        "BUGGY, the program went wrong by it; CONFIRMED, it did not. What no trial makes is sought\n"
        "in all executions: FEASIBLE, one has it; INFEASIBLE, none has; UNCONFIRMED, nobody knows.\n"
        "certified=yes: the checker has proved that the execution is none of sequential\n"
        "consistency, and one of the model. With --target the machine itself is steered to each\n"
        "cycle: its queues wait by label and hart. More is in docs/relax.md.\n\n"
        "Exit status: 0 no cycle went wrong; 1 one did, or the program is wrong under sc;\n"
        "2 a program that cannot be compiled or run; 3 the target failed; 130 after ^C, with what\n"
        "was found until then;\n"
        "70 if the checker refuses an execution, a defect of ordeal.",
    .example =
        "  $ ordeal relax examples/programs/relax/dekker.c\n"
        "  $ ordeal relax --model tso --cycle 1,2,11,12 --trial 1 --trace c.trace dekker.c\n"
        "  $ ordeal relax --target sim --model tso --waves waves examples/programs/relax/dekker.c\n",
    .options = options,
    .run = run,
};
