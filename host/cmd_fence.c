/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal fence`: the fences that a program needs under TSO and PSO. */
#include <inttypes.h>

#include "base/interrupt.h"
#include "cmd_program.h"
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

    struct fence_options how;
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

static int refuse(const struct fencing *x)
{
    int status = program_refuse(&x->p);
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

static void find(struct fencing *x)
{
    struct fence_result *r = NULL;
    struct ordeal_error error = { 0 };
    fill_options(x);
    enum ordeal_status status = fence_find(x->p.program.image, &x->how, &r, &error);
    if (status == ORDEAL_OK) {
        report(x, r);
        if (x->apply && r->verdict == EXPLORE_PASS && r->sets)
            apply(x, r);
    } else {
        error.status = status;
        program_report_error(&x->p, &error);
    }
    fence_result_free(r);
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
        "without=..., what goes wrong without it.\n\n"
        "Exit status: 0 PASS; 1 FAIL; 2 a program that cannot be compiled or run; 4 UNDECIDED;\n"
        "130 after ^C.",
    .example = "  $ ordeal fence examples/programs/peterson.c\n"
               "  $ ordeal fence --model tso --all-minimal examples/programs/dekker.c\n"
               "  $ ordeal fence --apply fixed.c examples/programs/burns.c\n",
    .options = options,
    .run = run,
};
