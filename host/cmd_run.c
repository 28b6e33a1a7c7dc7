/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run`: tests on a target; what they did as traces, or checked at once. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cover/cover_rtl.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "targets/bug_list.h"
#include "base/output.h"
#include "tell/output_line.h"
#include "trial/setup.h"

struct run {
    struct setup setup;
    struct choice against;
    uint64_t count, first, first_iteration, stop_after, most_cycles;
    bool check, shrink, waves, keep_going;
    const char *output, *cover_file;
    enum ordeal_format format;

    struct ordeal *o;            /* of the traces that are written */
    struct cover *cover;         /* what all tests reach, and those before that the file had */
    struct output out;
    bool traces_to_stdout;
    struct failure_plan failures;
    struct progress progress;
    uint64_t failed, all;        /* tests that did; there are to be, 0: nobody knows */
    uint64_t cycles;             /* of the tests that are settled */
    int status;
};

enum { FAILURES_KEPT = 10 };

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(run, setup.target_name, "target", 't', "TARGET", text, NULL,
           "what to run the tests on: model, a machine made of software;\n"
           "native, this computer; elf, a bare-metal RISC-V machine; sim, the\n"
           "multiprocessor of rtl/ in simulation; board, the same on an FPGA"),
    OPTION(run, setup.bias_files, "bias", 'b', "FILE", words, NULL,
           "make tests of this kind, see 'ordeal gen'; of several files later\n"
           "ones override; without it all kinds that suit the target, which\n"
           "'ordeal gen --target' tells"),
    OPTION(run, setup.set, "set", 's', "KEY=VALUE", words, NULL,
           "a key of the bias; may be given many times"),
    OPTION(run, count, "count", 'n', "N", positive, NULL, "make so many tests (default: 1)"),
    OPTION(run, most_cycles, "cycles", 0, "N", positive, NULL,
           "sim, board: end after the test with which the machine has run for so\n"
           "many cycles; without --count so many tests are made as that takes"),
    OPTION(run, first, "first", 0, "N", whole, NULL,
           "begin with test number N: goes on where a run was stopped"),
    OPTION(run, setup.how.seed, "seed", 0, "S", whole, "1", "of the tests, and of the machine"),
    OPTION(run, setup.iterations, "iterations", 'i', "K", positive, NULL,
           "run each test so often; without it as the target likes"),
    OPTION(run, first_iteration, "first-iteration", 0, "I", whole, NULL,
           "number of the first of them (default: 0)"),
    OPTION(run, check, "check", 'c', NULL, flag, NULL,
           "check every execution; traces are not written"),
    OPTION(run, setup.model, "model", 'm', "MODEL", model, NULL,
           "what the machine obeys, and executions are checked for;\n"
           "without it what the target says:"),
    OPTION(run, against, "against", 0, "MODEL", model, NULL,
           "check for another model than the machine's; implies --check:"),
    OPTION(run, setup.limit, "limit", 0, "SECONDS", seconds, "60",
           "give up on an execution after this time: UNDECIDED"),
    OPTION(run, stop_after, "stop-after", 0, "N", positive, NULL,
           "end when so many tests have failed (default: 10)"),
    OPTION(run, keep_going, "keep-going", 'k', NULL, flag, NULL, "end when all tests are run"),
    OPTION(run, setup.save, "save", 0, "DIR", text, NULL,
           "keep failing tests in folders there (default: ordeal-failures)"),
    OPTION(run, setup.no_save, "no-save", 0, NULL, flag, NULL,
           "keep nothing of them, unless --save is given too"),
    OPTION(run, shrink, "shrink", 0, NULL, flag, NULL, "make what is kept small"),
    OPTION(run, output, "output", 'o', "OUT", text, NULL,
           "write the traces there, with --check too; '-' is standard output"),
    OPTION(run, format, "format", 'f', "FORMAT", format, NULL,
           "of the traces; without it binary where OUT ends with .otr, else text:"),
    OPTION(run, cover_file, "cover", 0, "FILE", text, NULL,
           "add what the tests reach to the points in FILE; 'ordeal cover FILE'\n"
           "tells what that is"),
    OPTION(run, waves, "waves", 0, NULL, flag, NULL,
           "sim: keep what all signals did in failing tests, for GTKWave"),
    OPTION(run, setup.jobs, "jobs", 'J', "N", positive, NULL,
           "model, sim, board: run on so many machines at a time, with the same\n"
           "results (default: as many as cores on sim, as boards that are there\n"
           "on board, else 1)"),
#define OPTION_OF_TARGETS(TYPE, FIELD, NAME, ARGUMENT, TARGETS, REPLAY, HELP) \
    OPTION(run, setup.how.FIELD, NAME, 0, ARGUMENT, TYPE, NULL, TARGETS ": " HELP),
    TARGET_OPTIONS(OPTION_OF_TARGETS)
#undef OPTION_OF_TARGETS
        OPTION(run, setup.how.timeout, "timeout", 0, "SECONDS", seconds, "60",
               "a test that takes longer hangs; a board is waited for as long when it\n"
               "is gone, but at most 30 s"),
    OPTION(run, setup.json, "json", 'j', NULL, flag, NULL, "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

/* ---- the options against each other -------------------------------------------------------- */

static int target_usage(struct run *r)
{
    int status = setup_target(&r->setup);
    if (status >= 0)
        return status;
    if (r->waves && !r->setup.target->waves)
        return complain(r->setup.command, "the target '%s' has no --waves", r->setup.target->name);
    if (r->most_cycles && !r->setup.target->cycles)
        return complain(r->setup.command, "the target '%s' counts no --cycles",
                        r->setup.target->name);
    return -1;
}

static int tests_usage(const struct run *r, char *const *files)
{
    const char *made_by = r->setup.bias_files.count ? "bias"
                        : r->setup.set.count        ? "set"
                        : r->count                  ? "count"
                        : r->first                  ? "first"
                        : r->most_cycles            ? "cycles"
                                                    : NULL;
    if (*files && made_by)
        return complain(r->setup.command, "tests are made or read: --%s does not go with '%s'",
                        made_by, *files);
    if (r->count > UINT64_MAX - r->first)
        return complain(r->setup.command, "there is no test number %" PRIu64 " + %" PRIu64,
                        r->first, r->count);
    if (r->setup.iterations > UINT64_MAX - r->first_iteration)
        return complain(r->setup.command, "there is no iteration number %" PRIu64 " + %" PRIu64,
                        r->first_iteration, r->setup.iterations);
    return -1;
}

static int check_usage(struct run *r)
{
    const char *idle = r->stop_after    ? "stop-after"
                     : r->keep_going    ? "keep-going"
                     : r->setup.save    ? "save"
                     : r->setup.no_save ? "no-save"
                     : r->shrink        ? "shrink"
                     : r->waves         ? "waves"
                                        : NULL;
    r->check |= r->against.given;
    if (idle && !r->check)
        return complain(r->setup.command, "--%s is about tests that fail; add --check", idle);
    if (r->stop_after && r->keep_going)
        return complain(r->setup.command, "--stop-after and --keep-going exclude each other");
    if (r->setup.no_save && !r->setup.save && (r->shrink || r->waves))
        return complain(r->setup.command, "--%s is of what is kept; give --save, or no --no-save",
                        r->shrink ? "shrink" : "waves");
    if (r->check && r->setup.how.emit)
        return complain(r->setup.command, "--emit runs nothing, so there is nothing to check; "
                                          "'ordeal check --signature' checks what came back");
    if (r->setup.how.emit && r->cover_file)
        return complain(r->setup.command, "--emit runs nothing, so nothing is reached for --cover");
    if (r->setup.how.emit && r->output)
        return complain(r->setup.command,
                        "--emit runs nothing, so there are no traces for --output");
    if (r->format && r->check && !r->output)
        return complain(r->setup.command, "--format is of traces; with --check they are written to "
                                          "--output alone");
    return -1;
}

static int output_usage(struct run *r)
{
    bool traces = r->output || !(r->check || r->setup.how.emit);
    if (traces && !r->output)
        r->output = "-";
    const char *ending = traces ? strrchr(r->output, '.') : NULL;
    if (ending && !r->format && strcmp(ending, ".otr") == 0)
        r->format = ORDEAL_FORMAT_BINARY;
    r->traces_to_stdout = traces && strcmp(r->output, "-") == 0;
    if (r->traces_to_stdout && r->check)
        return complain(r->setup.command,
                        "standard output has the verdicts; name a file for --output");
    if (r->traces_to_stdout && r->format == ORDEAL_FORMAT_BINARY && isatty(STDOUT_FILENO))
        return complain(r->setup.command, "a binary trace is not for a terminal; use -o FILE");
    return -1;
}

/* ---- making ready -------------------------------------------------------------------------- */

/* A file that is there is added to. */
static int open_cover(struct run *r)
{
    struct ordeal_error e;
    r->cover = cover_new();
    if (!r->cover)
        return complain(r->setup.command, "out of memory");
    if (access(r->cover_file, F_OK) != 0)
        return -1;
    if (cover_load(r->cover, r->cover_file, &e))
        return -1;
    setup_bad(&r->setup, &e);
    return complain(r->setup.command,
                    "--cover adds to a file that is there; name another one, or remove "
                    "'%s'",
                    r->cover_file);
}

static void plan_failures(struct run *r)
{
    r->failures = setup_failures(&r->setup);
    if (r->against.given)
        r->failures.model = (enum ordeal_model)r->against.value;
    r->failures.first_iteration = r->first_iteration;
    r->failures.shrink = r->shrink;
    r->failures.waves = r->waves;
}

/* ---- while it runs ------------------------------------------------------------------------- */

static enum ordeal_status write_trace(const struct run *r, const struct ordeal_trace *t)
{
    switch (r->format) {
    case ORDEAL_FORMAT_BINARY: return ordeal_write_binary(t, r->out.file, false);
    case ORDEAL_FORMAT_AXE: return ordeal_write_axe(t, r->out.file);
    default: return ordeal_write_text(t, r->out.file);
    }
}

static bool on_outcome(void *user, const struct pipeline_test *t, uint64_t iteration,
                       const uint64_t *values)
{
    struct run *r = user;
    struct ordeal_trace *trace;
    errno = 0;
    enum ordeal_status status = program_trace(t->program, iteration, values, &r->setup.claims, r->o,
                                              &trace);
    if (status == ORDEAL_BAD_INPUT) {
        complain(r->setup.command,
                 "%s#%" PRIu64 ": the target brought back values that this test cannot "
                 "have",
                 t->name, iteration);
        r->status = exit_worst(r->status, EXIT_TARGET);
        return false;
    }
    if (status == ORDEAL_OK)
        status = write_trace(r, trace);
    ordeal_trace_free(trace);
    if (status != ORDEAL_OK)
        r->status = exit_worst(r->status, complain(r->setup.command, "%s: %s", r->output,
                                                   status == ORDEAL_IO && errno
                                                       ? strerror(errno)
                                                       : ordeal_last_error(r->o)->reason));
    return status == ORDEAL_OK;
}

static bool note_cover(struct run *r, const struct pipeline_test *t)
{
    const char *label = r->setup.bias ? t->profile : t->name;
    struct cover_origin test = { r->setup.how.seed, t->number, label };
    if (!t->hits || cover_add(r->cover, t->hits, &test))
        return true;
    r->status = exit_worst(r->status, complain(r->setup.command, "out of memory"));
    return false;
}

/* No verdict, and no reason to end. */
static bool on_lost(struct run *r, const struct pipeline_test *t)
{
    char label[320];
    snprintf(label, sizeof label, "%s#%" PRIu64, t->name, t->iteration);
    r->status = exit_worst(r->status, EXIT_TARGET);
    progress_erase(&r->progress);
    if (!r->check) {
        complain(r->setup.command, "%s: lost: %s", label, t->lost);
        return true;
    }
    cJSON *line = output_line_new("LOST", &(struct input){ .name = label });
    cJSON_AddStringToObject(line, "reason", t->lost);
    bool printed = output_line_print(line, r->setup.json);
    fflush(stdout);
    return printed;
}

/* What is to be said of it; false: nothing more is to be run. */
static bool tell_test(struct run *r, const struct pipeline_test *t)
{
    if (t->lost)
        return on_lost(r, t);
    if (!note_cover(r, t))
        return false;
    if (t->result == ORDEAL_PASS)
        return true;
    if (!r->check) { /* standard output has the traces */
        r->status = exit_worst(r->status, EXIT_VIOLATION);
        complain(r->setup.command, "%s#%" PRIu64 ": %s", t->name, t->iteration, t->broke);
        return true;
    }
    bool printed = setup_tell(&r->setup, &r->failures, t, &r->progress, &r->status);
    r->failed += t->result == ORDEAL_FAIL;
    return printed && (r->keep_going || r->failed < r->stop_after);
}

static bool cycles_are_used(const struct run *r)
{
    return r->most_cycles && r->cycles >= r->most_cycles;
}

static bool on_settled(void *user, const struct pipeline_test *t)
{
    struct run *r = user;
    r->cycles += t->cycles;
    return tell_test(r, t) && !cycles_are_used(r);
}

static void *on_another(void *user, int at_work)
{
    struct run *r = user;
    struct why why;
    void *machine = machine_pool_another(&r->setup.machines, at_work, &why);
    if (machine || *why.text)
        progress_erase(&r->progress);
    if (machine)
        complain(r->setup.command, "another %s is there and takes part", r->setup.target->name);
    else if (*why.text)
        complain(r->setup.command, "another %s is there and is left alone: %s",
                 r->setup.target->name, why.text);
    return machine;
}

static void on_tick(void *user, const struct pipeline_totals *so_far)
{
    struct run *r = user;
    char text[256], total[32] = "", left[32] = "";
    if (!r->progress.terminal)
        return;
    if (r->all)
        snprintf(total, sizeof total, "/%" PRIu64, r->all);
    if (r->all && so_far->tests)
        snprintf(left, sizeof left, ", %.0f s left",
                 so_far->seconds / (double)so_far->tests * (double)(r->all - so_far->tests));
    int used = snprintf(text, sizeof text, "%" PRIu64 "%s tests, %.2f M operations/s",
                        so_far->tests, total,
                        (double)so_far->operations / so_far->seconds / 1e6);
    if (r->check)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %" PRIu64 " pass, %" PRIu64
                         " fail", so_far->results[ORDEAL_PASS], so_far->results[ORDEAL_FAIL]);
    snprintf(text + used, sizeof text - (size_t)used, "%s", left);
    progress_callback(&r->progress, text, -1);
}

/* ---- the end ------------------------------------------------------------------------------- */

static const char *const ends[] = {
    [PIPELINE_DONE] = "done",
    [PIPELINE_STOPPED] = "stopped",
    [PIPELINE_INTERRUPTED] = "interrupted",
    [PIPELINE_BAD] = "error",
    [PIPELINE_TARGET] = "target",
    [PIPELINE_INTERNAL] = "error",
};

static void print_summary(const struct run *r, const struct pipeline_totals *t,
                          enum pipeline_end end)
{
    double seconds = t->seconds > 0 ? t->seconds : 1e-9;
    bool cycles = r->setup.target->cycles, lost = r->setup.target->connected;
    const struct { const char *name; bool shown; double value; const char *format; } fields[] = {
        { "tests", true, (double)t->tests, "%.0f" },
        { "iterations", true, (double)t->iterations, "%.0f" },
        { "outcomes", r->check, (double)t->outcomes, "%.0f" },
        { "operations", true, (double)t->operations, "%.0f" },
        { "seconds", true, t->seconds, "%.3f" },
        { "ops_per_second", true, (double)t->operations / seconds, "%.0f" },
        { "pass", r->check, (double)t->results[ORDEAL_PASS], "%.0f" },
        { "fail", r->check, (double)t->results[ORDEAL_FAIL], "%.0f" },
        { "undecided", r->check, (double)t->results[ORDEAL_UNDECIDED], "%.0f" },
        { "lost", lost, (double)t->lost, "%.0f" },
        { "running_percent", true, t->running / seconds * 100, "%.1f" },
        { "cycles", cycles, (double)t->cycles, "%.0f" },
        { "cycles_per_second", cycles, (double)t->cycles / seconds, "%.0f" },
        { "next", true, (double)t->next, "%.0f" },
    };
    const char *how = end == PIPELINE_STOPPED && cycles_are_used(r) ? "cycles" : ends[end];
    FILE *out = r->traces_to_stdout ? stderr : stdout;
    cJSON *object = r->setup.json ? cJSON_CreateObject() : NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char text[64];
        if (!fields[i].shown)
            continue;
        snprintf(text, sizeof text, fields[i].format, fields[i].value);
        if (r->setup.json)
            cJSON_AddRawToObject(object, fields[i].name, text);
        else
            fprintf(out, "%s=%s ", fields[i].name, text);
    }
    if (!r->setup.json) {
        fprintf(out, "end=%s\n", how);
        return;
    }
    cJSON_AddStringToObject(object, "end", how);
    char *text = cJSON_PrintUnformatted(object);
    fprintf(out, "%s\n", text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(object);
}

static void note_end(struct run *r, enum pipeline_end end, const struct pipeline_report *report)
{
    r->status = exit_worst(r->status, setup_end(&r->setup, end, report));
    if (end == PIPELINE_STOPPED && r->failed == r->stop_after && r->failed)
        complain(r->setup.command,
                 "stopped after %" PRIu64 " failing test%s; --stop-after takes another number, "
                 "--keep-going runs all",
                 r->failed, r->failed > 1 ? "s" : "");
}

static void close_output(struct run *r)
{
    int error = 0;
    if (r->out.file && r->status != EXIT_INTERRUPTED && r->status != EXIT_BAD)
        error = output_commit(&r->out);
    output_abandon(&r->out);
    if (error)
        r->status = exit_worst(r->status,
                               complain(r->setup.command, "%s: %s", r->output, strerror(error)));
}

/* What a machine reached of its RTL, through a file that is gone afterwards. */
static bool add_rtl_of(struct run *r, void *machine, int part)
{
    struct cover_origin first = { r->setup.how.seed, r->first, NULL };
    struct ordeal_error e = { .reason = "cannot be read back" };
    char file[] = "/tmp/ordeal-cover-XXXXXX";
    int made = mkstemp(file);
    bool there = made >= 0 && r->setup.target->coverage(machine, part, file);
    FILE *stream = there ? fdopen(made, "r") : NULL;
    bool good = !there || (stream && cover_rtl_read(r->cover, stream, file, &first, &e));
    if (!good)
        r->status = exit_worst(r->status, setup_bad(&r->setup, &e));
    if (stream)
        fclose(stream);
    else if (made >= 0)
        close(made);
    if (made >= 0)
        unlink(file);
    return there && good;
}

static void add_rtl(struct run *r)
{
    for (int i = 0; r->cover && r->setup.target->coverage && i < r->setup.machines.jobs; i++)
        for (int part = 0; add_rtl_of(r, r->setup.machines.machine[i], part);)
            part++;
}

/* What was settled counts, whatever ended the run. */
static int close_cover(struct run *r)
{
    int error = r->cover ? cover_save(r->cover, r->cover_file) : 0;
    if (error)
        r->status = exit_worst(r->status, complain(r->setup.command, "--cover '%s': %s",
                                                   r->cover_file, strerror(error)));
    return r->status;
}

static void run_pipeline(struct run *r, char *const *files)
{
    bool all_that_come = r->setup.target->present && !r->setup.jobs && !r->setup.how.serial
                      && !r->setup.how.link;
    struct pipeline_plan plan = {
        .target = r->setup.target,
        .machines = r->setup.machines.machine,
        .machine_count = r->setup.machines.jobs,
        .source = { .bias = r->setup.bias,
                    .seed = r->setup.how.seed,
                    .first = r->first,
                    .count = r->count,
                    .files = files },
        .patient = true,
        .first_iteration = r->first_iteration,
        .iterations = r->setup.iterations,
        .check = r->check,
        .model = r->failures.model,
        .limit = r->setup.limit,
        .cover = r->cover,
        .outcome = r->out.file ? on_outcome : NULL,
        .settled = on_settled,
        .tick = on_tick,
        .another = all_that_come ? on_another : NULL,
        .user = r,
    };
    for (char *const *f = files; *f; f++)
        plan.patient &= strcmp(*f, "-") != 0;
    struct pipeline_report report;
    progress_start(&r->progress, "run");
    enum pipeline_end end = pipeline_run(&plan, &report);
    progress_erase(&r->progress);
    note_end(r, end, &report);
    close_output(r);
    print_summary(r, &report.totals, end);
}

static int make_ready(struct run *r, char *const *files)
{
    int status = -1;
    if (!*files)
        status = setup_bias(&r->setup);
    if (status < 0 && r->cover_file)
        status = open_cover(r);
    r->setup.how.events = r->cover;
    if (status < 0)
        status = setup_machines(&r->setup);
    if (status < 0 && !*files)
        status = setup_default_bias(&r->setup);
    if (status < 0 && !(r->o = ordeal_new(NULL)))
        status = complain(r->setup.command, "out of memory");
    if (status < 0 && r->output) {
        int error = output_open(&r->out, r->output);
        status = error ? complain(r->setup.command, "%s: %s", r->output, strerror(error)) : -1;
    }
    return status;
}

static int usage(struct run *r, char *const *files)
{
    int status = target_usage(r);
    if (status < 0)
        status = tests_usage(r, files);
    if (status < 0)
        status = check_usage(r);
    if (status < 0)
        status = output_usage(r);
    if (!r->count)
        r->count = r->most_cycles ? UINT64_MAX - r->first : 1;
    if (!r->stop_after)
        r->stop_after = FAILURES_KEPT;
    r->all = *files || r->most_cycles ? 0 : r->count;
    return status;
}

/* Of the target; without one, of all that can be broken. */
static int list_bugs(struct run *r)
{
    int status = r->setup.target_name ? target_usage(r) : -1;
    if (status >= 0)
        return status;
    bool first = true;
    for (const struct target *const *t = targets; *t; t++) {
        if (!(*t)->bugs || (r->setup.target && r->setup.target != *t))
            continue;
        if (!r->setup.target && !r->setup.json)
            printf("%s--target %s\n\n", first ? "" : "\n", (*t)->name);
        bugs_print((*t)->bugs, r->setup.json, stdout);
        first = false;
    }
    return EXIT_FINE;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct run r = { .setup.command = self };
    int operand, status = options_parse(self, argc, argv, &r, &operand);
    if (status < 0 && r.setup.how.bug && strcmp(r.setup.how.bug, "list") == 0)
        return list_bugs(&r);
    if (status < 0)
        status = usage(&r, argv + operand);
    if (status >= 0)
        return status;
    interrupt_watch();
    status = make_ready(&r, argv + operand);
    bool ready = status < 0;
    if (ready) {
        plan_failures(&r);
        run_pipeline(&r, argv + operand);
        add_rtl(&r);
    }
    if (ready)
        status = close_cover(&r);
    setup_close(&r.setup);
    output_abandon(&r.out);
    cover_free(r.cover);
    ordeal_free(r.o);
    return status;
}

const struct command command_run = {
    .name = "run",
    .summary = "run tests on a machine and check what it did",
    .operands = "--target TARGET [TEST...]",
    .description =
        "Runs tests, made from a bias or read from files ('-' is standard input), on a target.\n"
        "Without --check it writes the trace of every execution. With --check it prints a line\n"
        "for each test that fails, labelled TEST#ITERATION, and keeps it in a folder of its own\n"
        "with the command line that runs it again; repeated outcomes are checked once. It ends\n"
        "when all tests are run or ten have failed (--stop-after, --keep-going). The last line\n"
        "sums up; next= is the number to go on with: --first.\n"
        "A machine on 'sim' that comes to a standstill, or fails one of its own checks, fails\n"
        "the test. A board that is unplugged in the middle of a test may have LOST it; when it is\n"
        "back the run goes on with the next. One that is plugged in meanwhile takes part.\n\n"
        "Exit status: 0 nothing wrong was found; 1 some test failed; else 2 bad usage or input;\n"
        "else 3 the target failed, hung, is not there, or LOST a test; else 4 some UNDECIDED;\n"
        "130 after ^C or SIGTERM.",
    .example = "  $ ordeal run --target native --check --count 1000 --set test.threads=2\n"
               "  $ ordeal run --target model --model TSO --bug membar-ignored --check --shrink\n"
               "  $ ordeal run --target sim --bug upgrade-wins --config sets=1 --check --waves\n"
               "  $ ordeal run --target board --check --count 1000\n"
               "  $ ordeal gen -n 100 | ordeal run --target model - | ordeal check -\n",
    .options = options,
    .run = run,
};
