/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal litmus`: all final states of litmus tests that a memory model allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/options.h"
#include "base/output.h"
#include "base/plain_file.h"
#include "base/progress.h"
#include "litmus/litmus_condition.h"
#include "litmus/litmus_tell.h"
#include "tell/output_line.h"

enum { LARGEST_FILE = 1 << 20, MOST_WAYS = 1 << 20 };

struct litmus_command {
    struct choice model;
    uint64_t unroll;
    double limit;
    size_t memory;
    const char *execution, *outcome;
    bool brief, json, no_certify;

    const struct command *command;
    struct progress progress;
    int status;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(litmus_command, model, "model", 'm', "MODEL", model, NULL,
           "memory model; without it RVWMO for RISCV files, TSO for X86 and X86_64:"),
    OPTION(litmus_command, unroll, "unroll", 0, "N", whole, "2",
           "jump back to the same instruction N times at most"),
    OPTION(litmus_command, execution, "execution", 0, "FILE", text, NULL,
           "of one test: write an execution in which its condition holds, as a\n"
           "trace; where the model allows none, one that it forbids"),
    OPTION(litmus_command, outcome, "outcome", 0, "CONDITION", text, NULL,
           "another condition for --execution, as '0:x5=1 /\\ x=2'"),
    OPTION(litmus_command, limit, "limit", 0, "SECONDS", seconds, NULL,
           "give up on a test after this time: UNDECIDED"),
    OPTION(litmus_command, memory, "memory", 0, "MB", megabytes, NULL,
           "give up on a test whose checks need more memory: UNDECIDED"),
    OPTION(litmus_command, no_certify, "no-certify", 0, NULL, flag, NULL,
           "skip the independent proof of each verdict"),
    OPTION(litmus_command, brief, "brief", 'b', NULL, flag, NULL, "one line a test"),
    OPTION(litmus_command, json, "json", 'j', NULL, flag, NULL,
           "one JSON object a test, with its states"),
    OPTION_END
};
/* clang-format on */

/* ---- what is told ------------------------------------------------------------------------ */

static void tell_error(struct litmus_command *c, const char *name, const struct ordeal_error *e)
{
    struct input in = { .name = name };
    if (e->status == ORDEAL_INTERNAL) {
        complain(c->command,
                 "%s: internal error: a verdict could not be proved: %s; please report "
                 "this with the file",
                 name, e->reason);
        c->status = exit_worst(c->status, EXIT_INTERNAL);
    } else if (e->status == ORDEAL_LIMIT) {
        cJSON *line = output_line_new(verdict_words[ORDEAL_UNDECIDED], &in);
        cJSON_AddStringToObject(line, "note", e->reason);
        c->status = exit_worst(c->status, interrupted() ? EXIT_INTERRUPTED : EXIT_UNDECIDED);
        output_line_print(line, c->json);
    } else {
        struct ordeal_error named = *e;
        snprintf(named.file, sizeof named.file, "%s", name);
        c->status = exit_worst(c->status, EXIT_BAD);
        output_line_print(output_line_error(&named), c->json);
    }
}

static double rounded(double x) { return (double)(long long)(x * 1e6 + 0.5) / 1e6; }

static void tell(struct litmus_command *c, const char *name, const struct litmus *test,
                 const struct litmus_result *result, enum ordeal_model model, double seconds)
{
    struct input in = { .name = name };
    if (!c->brief && !c->json) {
        litmus_tell(test, result, stdout);
        return;
    }
    cJSON *line = output_line_new(litmus_holds(test, result) ? "Ok" : "No", &in);
    litmus_line(line, test, result, model, c->json);
    cJSON_AddNumberToObject(line, "seconds", rounded(seconds));
    output_line_print(line, c->json);
}

static void write_execution(struct litmus_command *c, const struct litmus_result *result)
{
    struct output out;
    if (!result->execution) {
        complain(c->command,
                 "%s is not written: there is no execution with that outcome, allowed "
                 "or not",
                 c->execution);
        return;
    }
    int error = output_open(&out, c->execution);
    if (!error) {
        error = ordeal_write_text(result->execution, out.file) ? (errno ? errno : EIO)
                                                               : output_commit(&out);
        output_abandon(&out);
    }
    if (error)
        c->status = exit_worst(c->status, complain_unwritten(c->command, c->execution, error));
}

/* ---- one test ---------------------------------------------------------------------------- */

/* The whole of a file. NULL: `e`. */
static char *read_file(const char *name, size_t *length, struct ordeal_error *e)
{
    const char *reason = NULL;
    bool standard = strcmp(name, "-") == 0;
    FILE *file = standard ? stdin : plain_file_open(name, &reason);
    char *text = file ? malloc(LARGEST_FILE + 1) : NULL;
    if (!file) {
        error_set(e, ORDEAL_IO, name, reason);
        return NULL;
    }
    *length = text ? fread(text, 1, LARGEST_FILE + 1, file) : 0;
    bool broken = ferror(file);
    if (!standard)
        fclose(file);
    if (text && !broken && *length <= LARGEST_FILE)
        return text;
    if (!text)
        error_out_of_memory(e, name);
    else if (broken)
        error_set(e, ORDEAL_IO, name, "it cannot be read");
    else
        error_bad(e, name, 0, "a litmus test has at most %d bytes", LARGEST_FILE);
    free(text);
    return NULL;
}

static bool read_test(const struct litmus_command *c, const char *name, struct litmus *test,
                      struct ordeal_error *e)
{
    size_t length;
    char *text = read_file(name, &length, e);
    bool fine = text && litmus_read(test, text, length, name, e);
    free(text);
    if (fine && c->execution)
        test->outcome = test->condition;
    return fine;
}

static enum ordeal_model model_of(const struct litmus_command *c, const struct litmus *test)
{
    return c->model.given             ? (enum ordeal_model)c->model.value
         : test->arch == LITMUS_RISCV ? ORDEAL_RVWMO
                                      : ORDEAL_TSO;
}

static void run_test(struct litmus_command *c, const char *name, struct litmus *test)
{
    struct litmus_run_options how = {
        .model = model_of(c, test),
        .threads = { .unroll = (uint32_t)c->unroll, .most = MOST_WAYS },
        .seconds = c->limit,
        .bytes = c->memory,
        .no_certify = c->no_certify,
        .progress = progress_callback,
        .user = &c->progress,
    };
    struct ordeal_error e = { 0 };
    struct litmus_result result;
    struct ordeal *o = ordeal_new(NULL);
    double start = now_seconds();
    progress_start(&c->progress, name);
    bool fine = o && litmus_run(test, &how, name, o, &result, &e);
    progress_erase(&c->progress);
    if (!o)
        error_out_of_memory(&e, name);
    if (fine)
        tell(c, name, test, &result, how.model, now_seconds() - start);
    else
        tell_error(c, name, &e);
    if (fine && c->execution)
        write_execution(c, &result);
    if (o)
        litmus_result_free(&result);
    ordeal_free(o);
}

static void run_file(struct litmus_command *c, const char *name)
{
    struct litmus test = { 0 };
    struct ordeal_error e = { 0 };
    bool fine = read_test(c, name, &test, &e);
    if (fine && c->outcome && !litmus_read_outcome(&test, c->outcome, &e)) {
        char text[1024];
        error_format(&e, text, sizeof text);
        c->status = exit_worst(c->status, complain(c->command, "%s: %s", name, text));
    } else if (fine) {
        run_test(c, name, &test);
    } else {
        tell_error(c, name, &e);
    }
    litmus_free(&test);
}

static int refuse(const struct litmus_command *c, int files)
{
    if (files == 0)
        return complain(c->command, "which tests? Name litmus files, or '-' for standard input");
    if (c->execution && files > 1)
        return complain(c->command, "--execution is of one test; name one file");
    if (c->outcome && !c->execution)
        return complain(c->command,
                        "--outcome says which execution to write; add --execution FILE");
    if (c->unroll > 1000)
        return complain(c->command, "--unroll goes up to 1000");
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct litmus_command c = { .command = self };
    int operand, status = options_parse(self, argc, argv, &c, &operand);
    if (status < 0)
        status = refuse(&c, argc - operand);
    if (status >= 0)
        return status;
    interrupt_watch();
    for (int i = operand; i < argc && !interrupted(); i++)
        run_file(&c, argv[i]);
    return interrupted() ? exit_worst(c.status, EXIT_INTERRUPTED) : c.status;
}

const struct command command_litmus = {
    .name = "litmus",
    .summary = "all outcomes of litmus tests that a memory model allows",
    .operands = "FILE...",
    .description =
        "Reads litmus tests as herd7 does, of RISC-V and x86, and tells all final states that\n"
        "the model allows, in herd7's words: 'Ok' or 'No', whether what the test says of them\n"
        "holds, and how many make its condition true (Positive) or not. Each execution that may\n"
        "be is decided by what decides traces, with a certified order or proof. A file that is\n"
        "not understood is an ERROR with line and column, and the others go on. '-' is standard\n"
        "input. docs/litmus.md says what is read. Exit status: 0 all tests were decided, 'No'\n"
        "or not; 2 bad usage or bad input; 4 undecided.",
    .example = "  $ ordeal litmus MP.litmus\n"
               "  $ ordeal litmus --brief --model TSO *.litmus\n"
               "  $ ordeal litmus --execution mp.trace MP.litmus && ordeal show mp.trace\n",
    .options = options,
    .run = run,
};
