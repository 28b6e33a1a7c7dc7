/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal fence`: the fences that a program needs under TSO and PSO. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/interrupt.h"
#include "base/options.h"
#include "base/output.h"
#include "base/progress.h"
#include "program/fence_apply.h"
#include "program/fence_words.h"
#include "program/program_file.h"
#include "tell/output_line.h"

struct fencing {
    int model, atomics;
    bool minimal, all_minimal, robust, optimise, json;
    uint64_t limit;
    double seconds;
    size_t memory;
    const char *apply;
    struct words define;

    const struct command *command;
    char **file;
    int files;
    struct program_file program;
    struct fence_options how;
    struct progress progress;
    int status;
};

/* ---- options ----------------------------------------------------------------------------- */

static const char *const machine_names[] = { "tso", "pso", NULL };
static const char *const atomics_names[] = { "riscv", "x86", NULL };
static const char *machine_choice(int i) { return machine_names[i]; }
static const char *atomics_choice(int i) { return atomics_names[i]; }

static bool find_choice(const char *text, const char *const *names, int *value)
{
    *value = 0;
    while (names[*value] && strcmp(names[*value], text) != 0)
        ++*value;
    return names[*value];
}
static bool parse_machine(const char *text, void *field)
{
    return find_choice(text, machine_names, field);
}
static bool parse_atomics(const char *text, void *field)
{
    return find_choice(text, atomics_names, field);
}
static const struct option_type option_machine = { parse_machine, NULL, machine_choice };
static const struct option_type option_atomics = { parse_atomics, NULL, atomics_choice };

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
    OPTION(fencing, atomics, "atomics", 0, "HOW", atomics, "riscv",
           "how C11's atomics are compiled:"),
    OPTION(fencing, optimise, "optimise", 'O', NULL, flag, NULL,
           "compile with -O2; without it -O0, whose accesses are those of the source"),
    OPTION(fencing, define, "define", 'D', "NAME=VALUE", words, NULL,
           "a macro for the compiler; may be given many times"),
    OPTION(fencing, limit, "limit", 0, "STATES", whole, NULL,
           "give up after so many states: UNDECIDED"),
    OPTION(fencing, seconds, "seconds", 0, "SECONDS", seconds, NULL,
           "give up after this time: UNDECIDED"),
    OPTION(fencing, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when the states take more memory: UNDECIDED; without it half of\n"
           "the computer's"),
    OPTION(fencing, json, "json", 0, NULL, flag, NULL,
           "output for programs: one object for the program, with its fences"),
    OPTION_END
};
/* clang-format on */

static int refuse(const struct fencing *x)
{
    if (!x->files)
        return complain(x->command, "which program? Name its sources (.c, .cpp), or an ELF file");
    bool source = compile_is_source(x->file[0]);
    for (int i = 1; i < x->files; i++)
        if (!source || !compile_is_source(x->file[i]))
            return complain(x->command, "%s: name the sources of one program, or one ELF file",
                            x->file[i]);
    if (!source && (x->apply || x->define.count || x->optimise))
        return complain(x->command,
                        "%s: is taken for an ELF file; --apply, --define and --optimise are for "
                        "sources (.c, .cpp)",
                        x->file[0]);
    if (x->robust && x->model)
        return complain(x->command, "--robust is about TSO: say --model tso, too");
    if (x->robust && x->apply)
        return complain(x->command, "--apply explores what the program's own assertions say: leave "
                                    "out --robust, or put these fences there by hand");
    if (x->minimal && x->all_minimal)
        return complain(x->command, "--minimal gives one set of fences, --all-minimal every one: "
                                    "leave one of them out");
    return -1;
}

static bool tell_progress(void *user, const struct explore_progress *p)
{
    struct fencing *x = user;
    char phase[160];
    snprintf(phase, sizeof phase, "%" PRIu64 " states, depth %" PRIu32 ", frontier %" PRIu64,
             p->states, p->depth, p->frontier);
    return progress_callback(&x->progress, phase, -1);
}

static void fill_options(struct fencing *x)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    x->how.all_minimal = x->all_minimal;
    x->how.robust = x->robust;
    x->how.explore = (struct explore_options){
        .model = x->model ? EXPLORE_PSO : EXPLORE_TSO,
        .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
        .locked_atomics = x->atomics,
        .jobs = 1,
        .most_states = x->limit,
        .most_seconds = x->seconds,
        .most_bytes = x->memory             ? x->memory
                    : pages > 0 && size > 0 ? (size_t)pages / 2 * (size_t)size
                                            : 0,
        .nondet_high = 1,
        .progress = tell_progress,
        .user = x,
    };
}

/* ---- lines ------------------------------------------------------------------------------- */

static void report_error(struct fencing *x, struct ordeal_error *e)
{
    if (!e->file[0])
        snprintf(e->file, sizeof e->file, "%s", x->file[0]);
    progress_erase(&x->progress);
    x->status = exit_worst(x->status, EXIT_BAD);
    output_line_print(output_line_error(e), x->json);
}

/* Its verdict, and what to exit with. */
static cJSON *new_line(struct fencing *x, const char *file, enum explore_verdict verdict)
{
    static const struct {
        enum ordeal_result word;
        int status;
    } of[] = { [EXPLORE_PASS] = { ORDEAL_PASS, EXIT_FINE },
               [EXPLORE_FAIL] = { ORDEAL_FAIL, EXIT_VIOLATION },
               [EXPLORE_UNDECIDED] = { ORDEAL_UNDECIDED, EXIT_UNDECIDED } };
    struct input in = { .name = file, .number = 1 };
    cJSON *line = output_line_new(verdict_words[of[verdict].word], &in);
    progress_erase(&x->progress);
    x->status = exit_worst(x->status, of[verdict].status);
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
    cJSON *line = new_line(x, x->file[0], r->verdict);
    fence_words_line(line, x->program.image, r, x->json);
    add_note(line, r->verdict, r->note);
    output_line_print(line, x->json);
    if (!x->json)
        fence_words_print(x->program.image, r, stdout);
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
    output_line_print(line, x->json);
}

static struct compile_request request_of(const struct fencing *x)
{
    return (struct compile_request){
        .source = (const char *const *)x->file,
        .sources = (size_t)x->files,
        .optimise = x->optimise,
        .x86_atomics = x->atomics,
        .define = x->define.word,
        .defines = x->define.count,
    };
}

/* The sources with the fences of the first set, explored again without a bound and with small ones. */
static void apply(struct fencing *x, const struct fence_result *r)
{
    struct fence_application a = {
        .to = x->apply,
        .image = x->program.image,
        .set = &r->set[0],
        .explore = &x->how.explore,
        .request = request_of(x),
        .tell = report_again,
        .user = x,
    };
    struct why why = { "" };
    if (!fence_apply(&a, &why))
        x->status = exit_worst(x->status, complain(x->command, "--apply: %s", why.text));
}

static bool load(struct fencing *x)
{
    struct compile_request request = request_of(x);
    struct ordeal_error error = { 0 };
    bool fine = program_file_load(&x->program, &request, &error);
    if (x->program.messages && !interrupted())
        escape_write(x->program.messages, true, stderr);
    if (!fine && !interrupted())
        report_error(x, &error);
    return fine;
}

static void find(struct fencing *x)
{
    struct fence_result *r = NULL;
    struct ordeal_error error = { 0 };
    fill_options(x);
    enum ordeal_status status = fence_find(x->program.image, &x->how, &r, &error);
    if (status == ORDEAL_OK) {
        report(x, r);
        if (x->apply && r->verdict == EXPLORE_PASS && r->sets)
            apply(x, r);
    } else {
        error.status = status;
        report_error(x, &error);
    }
    fence_result_free(r);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct fencing x = { .command = self };
    int operand, status = options_parse(self, argc, argv, &x, &operand);
    if (status >= 0)
        return status;
    x.file = argv + operand;
    x.files = argc - operand;
    status = refuse(&x);
    if (status >= 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    interrupt_watch();
    progress_start(&x.progress, x.file[0]);
    if (load(&x))
        find(&x);
    program_file_free(&x.program);
    return interrupted() ? exit_worst(x.status, EXIT_INTERRUPTED) : x.status;
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
