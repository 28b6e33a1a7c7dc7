/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal fence`: the fences that a program needs under TSO and PSO. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "chip/chip_fence.h"
#include "cmd_program.h"
#include "program/account_trace.h"
#include "program/fence_apply.h"
#include "program/fence_words.h"
#include "tell/output_line.h"

struct fencing {
    struct program_command p;
    int model;
    bool minimal, all_minimal, robust;
    uint64_t limit;
    double seconds;
    size_t memory;
    const char *apply;
    struct program_machine on;
    uint64_t runs, seed;

    struct fence_options how;
    struct chip_fence chip;
    struct chip_fenced fenced;
};

/* ---- options ----------------------------------------------------------------------------- */

static const char *const machine_names[] = { "tso", "pso", NULL };
static const char *machine_choice(int i) { return machine_names[i]; }
static bool parse_machine(const char *text, void *field)
{
    return program_find_name(text, machine_names, field);
}
static const struct option_type option_machine = { parse_machine, NULL, machine_choice };

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(fencing, model, "model", 'm', "MODEL", machine, "pso",
           "the weakest machine on which the program is to be right; pso begins with\n"
           "tso:"),
    OPTION(fencing, minimal, "minimal", 0, NULL, flag, NULL,
           "take away what is not needed, one by one; this is the default"),
    OPTION(fencing, all_minimal, "all-minimal", 'a', NULL, flag, NULL,
           "every set of fences of which none can be left out"),
    OPTION(fencing, robust, "robust", 0, NULL, flag, NULL,
           "TSO alone: the program is to do what it does under SC, access by access,\n"
           "and not only what its own assertions say"),
    OPTION(fencing, apply, "apply", 0, "FILE", text, NULL,
           "write the source with these fences, and explore that, too; of several\n"
           "sources those that change, into this folder"),
    MACHINE_OPTIONS(fencing, on),
    OPTION(fencing, runs, "runs", 0, "N", positive, "100",
           "with --target: executions in a row that have to go right"),
    OPTION(fencing, seed, "seed", 's', "N", whole, "1",
           "with --target: what chance is made from, and delays of the machine"),
    PROGRAM_OPTIONS(fencing, p),
    OPTION(fencing, limit, "limit", 0, "STATES", whole, NULL,
           "give up after so many states: UNDECIDED"),
    OPTION(fencing, seconds, "seconds", 0, "SECONDS", seconds, NULL,
           "give up after this time: UNDECIDED"),
    OPTION(fencing, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when the states take more memory: UNDECIDED; without it half of\n"
           "the computer's"),
    OPTION(fencing, p.json, "json", 0, NULL, flag, NULL,
           "output for programs: one object for the program, with its fences"),
    OPTION_END
};
/* clang-format on */

static struct chip_try_options chip_options(const struct fencing *x)
{
    enum {
        PATIENCE = 20,
        LINK_PATIENCE = 60
    }; /* seconds of a check; of an execution, for a board */
    struct chip_try_options o = { .command = x->p.command,
                                  .target = x->on.target,
                                  .how = x->on.how,
                                  .model = x->model ? ORDEAL_PSO : ORDEAL_TSO,
                                  .most_cycles = x->on.patience,
                                  .seconds = PATIENCE,
                                  .request = program_request(&x->p) };
    o.how.seed = x->seed;
    o.how.timeout = LINK_PATIENCE;
    return o;
}

static int refuse_machine(const struct fencing *x)
{
    const char *given = program_machine_option(&x->on);
    if (!x->on.target)
        return given ? complain(x->p.command, "--%s is about a machine: add --target", given) : -1;
    if (x->robust || x->all_minimal)
        return complain(x->p.command, "--target goes by executions that go wrong: leave out --%s",
                        x->robust ? "robust" : "all-minimal");
    if (x->p.atomics)
        return complain(x->p.command, "--atomics x86 is not for a machine of RISC-V");
    if (!compile_is_source(x->p.file[0]))
        return complain(x->p.command, "--target compiles for the machine: name sources (.c, .cpp)");
    struct chip_try_options o = chip_options(x);
    return chip_try_refuse(&o);
}

static int refuse(const struct fencing *x)
{
    int status = program_refuse(&x->p);
    if (status < 0)
        status = refuse_machine(x);
    if (status >= 0)
        return status;
    if (x->apply && !compile_is_source(x->p.file[0]))
        return complain(x->p.command, "--apply writes sources (.c, .cpp), and %s is none",
                        x->p.file[0]);
    if (x->robust && x->model)
        return complain(x->p.command, "--robust is about TSO: say --model tso, too");
    if (x->robust && x->apply)
        return complain(x->p.command,
                        "--apply explores what the program's own assertions say: leave "
                        "out --robust, or put these fences there by hand");
    if (x->minimal && x->all_minimal)
        return complain(x->p.command, "--minimal gives one set of fences, --all-minimal every one: "
                                      "leave one of them out");
    return -1;
}

static bool tell_progress(void *user, const struct explore_progress *p)
{
    struct fencing *x = user;
    char phase[160];
    snprintf(phase, sizeof phase, "%" PRIu64 " states, depth %" PRIu32 ", frontier %" PRIu64,
             p->states, p->depth, p->frontier);
    return progress_callback(&x->p.progress, phase, -1);
}

static void fill_options(struct fencing *x)
{
    x->how.all_minimal = x->all_minimal;
    x->how.robust = x->robust;
    x->how.explore = (struct explore_options){
        .model = x->model ? EXPLORE_PSO : EXPLORE_TSO,
        .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
        .locked_atomics = x->p.atomics,
        .jobs = 1,
        .most_states = x->limit,
        .most_seconds = x->seconds,
        .most_bytes = x->memory ? x->memory : program_memory(0.5),
        .nondet_high = 1,
        .progress = tell_progress,
        .user = x,
    };
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Its verdict, and what to exit with. */
static cJSON *new_line(struct fencing *x, const char *file, enum explore_verdict verdict)
{
    cJSON *line = program_verdict_line(&x->p, file, verdict);
    cJSON_AddStringToObject(line, "model", machine_names[x->model]);
    return line;
}

static void add_note(cJSON *line, enum explore_verdict verdict, const char *note)
{
    if (verdict == EXPLORE_UNDECIDED)
        cJSON_AddStringToObject(line, "why", interrupted() ? "interrupted" : note);
    else if (note[0])
        cJSON_AddStringToObject(line, "note", note);
}

static void report(struct fencing *x, const struct fence_result *r)
{
    cJSON *line = new_line(x, x->p.file[0], r->verdict);
    fence_words_line(line, x->p.program.image, r, x->p.json);
    add_note(line, r->verdict, r->note);
    output_line_print(line, x->p.json);
    if (!x->p.json)
        fence_words_print(x->p.program.image, r, stdout);
}

static void report_again(void *user, const struct fence_again *again)
{
    struct fencing *x = user;
    cJSON *line = new_line(x, again->file, again->verdict);
    if (again->buffers)
        cJSON_AddNumberToObject(line, "buffers", again->buffers);
    else
        cJSON_AddStringToObject(line, "buffers", "unbounded");
    cJSON_AddNumberToObject(line, "states", (double)again->states);
    add_note(line, again->verdict, again->note);
    output_line_print(line, x->p.json);
}

/* The sources with the fences of the first set, explored again without a bound and with small ones. */
static void apply(struct fencing *x, const struct fence_result *r)
{
    struct fence_application a = {
        .to = x->apply,
        .image = x->p.program.image,
        .set = &r->set[0],
        .explore = &x->how.explore,
        .request = program_request(&x->p),
        .tell = report_again,
        .user = x,
    };
    struct why why = { "" };
    if (!fence_apply(&a, &why))
        x->p.status = exit_worst(x->p.status, complain(x->p.command, "--apply: %s", why.text));
}

/* ---- on a machine ------------------------------------------------------------------------ */

static bool tell_runs(void *user, uint64_t runs, size_t fences)
{
    struct fencing *x = user;
    char phase[96];
    snprintf(phase, sizeof phase, "%" PRIu64 " runs, %zu fences", runs, fences);
    return progress_callback(&x->p.progress, phase, -1) || interrupted();
}

static void print_asked(const struct fencing *x)
{
    struct lines l = { .image = x->chip.image };
    for (size_t i = 0; i < x->fenced.count; i++) {
        const struct chip_asked *a = &x->fenced.asked[i];
        printf("  run=%" PRIu64 " error=%s asks for: ", a->run,
               a->error ? explore_error_text(a->error) : "standstill");
        fence_words_one(&l, &(struct fence_needed){ .place = a->place }, stdout);
    }
    lines_free(&l);
}

static void add_asked(const struct fencing *x, cJSON *line)
{
    cJSON *list = cJSON_AddArrayToObject(line, "asked");
    for (size_t i = 0; i < x->fenced.count; i++) {
        const struct chip_asked *a = &x->fenced.asked[i];
        cJSON *o = fence_words_object(x->chip.image, &(struct fence_needed){ .place = a->place });
        cJSON_AddNumberToObject(o, "run", (double)a->run);
        cJSON_AddStringToObject(o, "error", a->error ? explore_error_text(a->error) : "standstill");
        cJSON_AddItemToArray(list, o);
    }
}

static size_t count_mfences(const struct chip_fenced *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->count; i++)
        n += f->asked[i].place.fence == FENCE_AFTER_STORE;
    return n;
}

static void report_machine(struct fencing *x, const char *file, const struct chip_fenced *f)
{
    enum explore_verdict verdict = f->right         ? EXPLORE_PASS
                                 : f->no_fence      ? EXPLORE_FAIL
                                 : f->machine_wrong ? EXPLORE_FAIL
                                                    : EXPLORE_UNDECIDED;
    cJSON *line = new_line(x, file, verdict);
    size_t mfences = count_mfences(f);
    cJSON_AddStringToObject(line, "target", x->on.target);
    output_line_machine(line, chip_try_size(x->chip.machine));
    cJSON_AddNumberToObject(line, "mfences", (double)mfences);
    cJSON_AddNumberToObject(line, "sfences", (double)(f->count - mfences));
    cJSON_AddNumberToObject(line, "runs", (double)f->runs);
    cJSON_AddNumberToObject(line, "wrong", (double)f->wrong);
    cJSON_AddNumberToObject(line, "cycles", (double)chip_try_cycles(x->chip.machine));
    cJSON_AddNumberToObject(line, "seed", (double)x->seed);
    if (f->no_fence)
        cJSON_AddStringToObject(line, "error",
                                f->error ? explore_error_text(f->error) : "standstill");
    add_note(line, verdict,
             f->no_fence        ? "no fence between the accesses of that execution stops it"
             : f->machine_wrong ? "the machine is wrong, which 'ordeal run --program' keeps"
                                : "");
    if (x->p.json && f == &x->fenced)
        add_asked(x, line);
    output_line_print(line, x->p.json);
    if (!x->p.json && f == &x->fenced)
        print_asked(x);
}

/* What ended the runs that is no verdict. */
static void report_trouble(struct fencing *x, const struct chip_fenced *f)
{
    int status = f->machine_wrong          ? EXIT_VIOLATION
               : f->bad                    ? EXIT_BAD
               : f->end == CHIP_TRY_FAILED ? EXIT_TARGET
               : f->end == CHIP_TRY_ERROR  ? EXIT_INTERNAL
                                           : EXIT_FINE;
    progress_erase(&x->p.progress);
    if (status)
        complain(x->p.command, "%s: %s", x->p.file[0], f->why.text);
    x->p.status = exit_worst(x->p.status, status);
}

static bool run_machine(struct fencing *x, const char *file, struct chip_fenced *f)
{
    if (!chip_fence(&x->chip, f)) {
        program_report_memory(&x->p);
        return false;
    }
    if (f->right || f->no_fence || f->stopped || f->machine_wrong)
        report_machine(x, file, f);
    report_trouble(x, f);
    return f->right;
}

/* Runs the program until it goes right; what that took is what exploring begins with. */
static bool fence_on_machine(struct fencing *x, struct fence_place **given)
{
    struct chip_try_options o = chip_options(x);
    int status;
    x->chip = (struct chip_fence){ .machine = chip_try_open(&o, &status),
                                   .source = x->p.file[0],
                                   .runs = x->runs,
                                   .seed = x->seed,
                                   .progress = tell_runs,
                                   .user = x };
    if (!x->chip.machine) {
        x->p.status = exit_worst(x->p.status, status);
        return false;
    }
    x->chip.image = on_chip_image(chip_try_program(x->chip.machine));
    if (!run_machine(x, x->p.file[0], &x->fenced))
        return false;
    *given = calloc(x->fenced.count + 1, sizeof **given);
    if (!*given) {
        program_report_memory(&x->p);
        return false;
    }
    x->how.given = *given;
    for (size_t i = 0; i < x->fenced.count; i++)
        x->how.givens += chip_fence_place(x->chip.image, &x->fenced.asked[i].place,
                                          x->p.program.image, &(*given)[x->how.givens]);
    return true;
}

/* The set that exploring has left, on the machine again. */
static void run_again(struct fencing *x, const struct fence_set *set)
{
    struct chip_fenced f = { .end = CHIP_TRY_DONE };
    f.asked = calloc(set->fences + 1, sizeof *f.asked);
    for (size_t i = 0; f.asked && i < set->fences; i++)
        f.count += chip_fence_place(x->p.program.image, &set->fence[i].place, x->chip.image,
                                    &f.asked[f.count].place);
    if (f.asked)
        run_machine(x, x->p.file[0], &f);
    else
        program_report_memory(&x->p);
    chip_fenced_free(&f);
}

/* ------------------------------------------------------------------------------------------ */

static void find(struct fencing *x)
{
    struct fence_result *r = NULL;
    struct fence_place *given = NULL;
    struct ordeal_error error = { 0 };
    fill_options(x);
    if (x->on.target && !fence_on_machine(x, &given)) {
        free(given);
        return;
    }
    enum ordeal_status status = fence_find(x->p.program.image, &x->how, &r, &error);
    if (status == ORDEAL_OK) {
        report(x, r);
        if (x->apply && r->verdict == EXPLORE_PASS && r->sets)
            apply(x, r);
        if (x->on.target && r->verdict == EXPLORE_PASS && r->sets)
            run_again(x, &r->set[0]);
    } else {
        error.status = status;
        program_report_error(&x->p, &error);
    }
    fence_result_free(r);
    free(given);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct fencing x = { .model = 0 };
    int status = program_parse(&x.p, self, argc, argv, &x);
    if (status < 0)
        status = refuse(&x);
    if (status >= 0)
        return status;
    program_begin(&x.p);
    if (program_load(&x.p))
        find(&x);
    chip_fenced_free(&x.fenced);
    chip_try_close(x.chip.machine);
    return program_end(&x.p);
}

const struct command command_fence = {
    .name = "fence",
    .summary = "find the fences that a C or C++ program needs under TSO and PSO",
    .operands = "FILE...",
    .description =
        "Explores the program with store buffers of any size, and puts fences where it goes wrong:\n"
        "an mfence behind a store that a later load must not overtake, until the program is right\n"
        "under TSO; then an sfence before a store that must not overtake an earlier one, until it is\n"
        "under PSO. What is right is what the program says: assertions, critical sections, no bad\n"
        "access, no deadlock. Then fences are taken away again that it is right without.\n\n"
        "Prints one line: PASS with mfences=N and sfences=N, with which the program is right; FAIL,\n"
        "it goes wrong under sequential consistency, too, or no fence between its stores helps; or\n"
        "UNDECIDED, a limit was reached. Below a PASS stands a line for each fence: its place, and\n"
        "without=..., what goes wrong without it.\n"
        "With --target the program runs on a machine first; executions that go wrong ask for\n"
        "fences, with which exploring begins, and what is left is run again: a line each.\n\n"
        "Exit status: 0 PASS; 1 FAIL; 2 a program that cannot be compiled or run; 3 the target\n"
        "failed; 4 UNDECIDED; 130 after ^C.",
    .example = "  $ ordeal fence examples/programs/peterson.c\n"
               "  $ ordeal fence --model tso --all-minimal examples/programs/dekker.c\n"
               "  $ ordeal fence --apply fixed.c examples/programs/burns.c\n"
               "  $ ordeal fence --target sim --model tso examples/programs/dekker.c\n",
    .options = options,
    .run = run,
};
