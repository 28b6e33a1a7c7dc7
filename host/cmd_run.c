/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run`: tests on a target; what they did as traces, or checked at once. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cover/cover_keep.h"
#include "cover/cover_rtl.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/output.h"
#include "chip/chip_run.h"
#include "regress/recorder.h"
#include "tell/output_line.h"
#include "trial/go_on.h"
#include "trial/setup.h"

struct run {
    struct setup setup;
    struct choice against;
    uint64_t count, first, first_iteration, stop_after, most_cycles;
    bool check, shrink, waves, keep_going;
    bool prepare;
    double shrink_seconds;
    const char *output, *cover_file, *record;
    enum ordeal_format format;
    struct words program, define, include; /* --program, and how it is compiled */
    bool optimise;
    uint64_t patience;
    const char *outcomes;

    struct ordeal *o;            /* of the traces that are written */
    struct cover_keep cover;     /* what all tests reach, and those before that the file had */
    struct output out;
    bool traces_to_stdout;
    struct failure_plan failures;
    struct recorder recorder;
    struct progress progress;
    char *const *words; /* of the command line */
    int word_count;
    bool endless;                /* nobody said how many tests */
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
    OPTION(run, shrink, "shrink", 0, NULL, flag, NULL,
           "make what is kept small: a line SMALL tells what came of it"),
    OPTION(run, shrink_seconds, "shrink-limit", 0, "SECONDS", seconds, NULL,
           "the same, and no longer than this for each (default: 600)"),
    OPTION(run, output, "output", 'o', "OUT", text, NULL,
           "write the traces there, with --check too; '-' is standard output"),
    OPTION(run, format, "format", 'f', "FORMAT", format, NULL,
           "of the traces; without it binary where OUT ends with .otr, else text:"),
    OPTION(run, cover_file, "cover", 0, "FILE", text, NULL,
           "add what the tests reach to the points in FILE; 'ordeal cover FILE'\n"
           "tells what that is"),
    OPTION(run, record, "record", 0, "FILE", text, NULL,
           "write what each test brought there, for programs; with --cover, what\n"
           "it reached, too; of the machine, what it was built from"),
    OPTION(run, recorder.examples, "examples", 0, "N", positive, NULL,
           "with --record: of failures that look alike keep N folders, and those\n"
           "of smaller tests"),
    OPTION(run, prepare, "prepare", 0, NULL, flag, NULL,
           "make the machine ready and look whether all options go together, but\n"
           "run nothing"),
    OPTION(run, program, "program", 'p', "FILE", words, NULL,
           "sim, board: run not tests but this program, threads on harts: its\n"
           "sources in C or C++, or a program.elf that was kept. Every execution\n"
           "is checked; --count and --iterations say how many there are"),
    OPTION(run, define, "define", 'D', "NAME=VALUE", words, NULL,
           "with --program: a macro for the compiler"),
    OPTION(run, include, "include", 'I', "DIR", words, NULL,
           "with --program: a folder with headers"),
    OPTION(run, optimise, "optimise", 'O', NULL, flag, NULL,
           "with --program: compile with -O2; without it -O0"),
    OPTION(run, patience, "patience", 0, "CYCLES", positive, NULL,
           "with --program: an execution that takes longer is UNDECIDED\n"
           "(default: 2000000)"),
    OPTION(run, outcomes, "outcomes", 0, "NAMES", text, NULL,
           "with --program: count the last values of these global variables:\n"
           "x,flag[1]"),
    OPTION(run, waves, "waves", 0, NULL, flag, NULL,
           "sim: keep what all signals did in failing tests, for GTKWave"),
    OPTION(run, setup.jobs, "jobs", 'J', "N", positive, NULL,
           "model, sim, elf, board: run on so many machines at a time, with the same\n"
           "results (but on elf, where chance plays; default: as many as cores on\n"
           "sim, as boards that are there on board, else 1)"),
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
    const char *idle = r->stop_after                      ? "stop-after"
                     : r->keep_going                      ? "keep-going"
                     : r->setup.save                      ? "save"
                     : r->setup.no_save                   ? "no-save"
                     : r->shrink || r->shrink_seconds > 0 ? "shrink"
                     : r->waves                           ? "waves"
                                                          : NULL;
    r->check |= r->against.given;
    r->shrink |= r->shrink_seconds > 0;
    if (idle && !r->check)
        return complain(r->setup.command, "--%s is about tests that fail; add --check", idle);
    if (r->record && !r->check)
        return complain(r->setup.command, "--record is of verdicts; add --check");
    if (r->recorder.examples && !r->record)
        return complain(r->setup.command, "--examples goes with --record");
    if (r->stop_after && r->keep_going)
        return complain(r->setup.command, "--stop-after and --keep-going exclude each other");
    if (r->setup.no_save && !r->setup.save && (r->shrink || r->waves))
        return complain(r->setup.command, "--%s is of what is kept, and nothing is: add --save DIR",
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
    if (cover_keep_open(&r->cover, r->cover_file, &e))
        return -1;
    if (e.status != ORDEAL_BAD_INPUT)
        return complain(r->setup.command, "--cover '%s': %s", r->cover_file, e.reason);
    setup_bad(&r->setup, &e);
    return complain(r->setup.command,
                    "--cover adds to a file that is there; name another one, or remove "
                    "'%s'",
                    r->cover_file);
}

/* What was said of the machine and the tests, as text. */
static void write_how(const struct run *r, char *const *files, FILE *out)
{
    struct target_option_words words;
    target_option_words(&r->setup.how, &words);
    fprintf(out, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int)r->setup.claims.model,
            r->setup.iterations, r->setup.early_tests, r->setup.early_iterations,
            r->first_iteration);
    for (const char *const *w = words.word; *w; w++)
        fprintf(out, "%s\n", *w);
    for (; *files; files++)
        fprintf(out, "%s\n", *files);
    if (r->setup.bias)
        bias_write(r->setup.bias, out, false);
}

/* A number for the way in which tests are made and run, the same for the same way. */
static uint64_t how_made(const struct run *r, char *const *files)
{
    char *text = NULL;
    size_t size = 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    FILE *out = text_stream(&text, &size);
    if (!out)
        return 0;
    write_how(r, files, out);
    if (fclose(out) != 0)
        return 0;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    free(text);
    return hash;
}

static void begin_cover(struct run *r, char *const *files)
{
    struct abilities can = r->setup.target->can(r->setup.machines.machine[0]);
    struct cover_can machine = cover_can_of(&can, &r->setup.claims, r->setup.target->events);
    struct cover_run run = { .target = r->setup.target->name,
                             .seed = r->setup.how.seed,
                             .how = how_made(r, files),
                             .first = r->first,
                             .next = *files ? UINT64_MAX : r->first + r->count };
    uint64_t again = cover_keep_begin(&r->cover, &run, &machine);
    if (again)
        complain(r->setup.command,
                 "'%s' has %" PRIu64 " of these tests already: they count again; --first goes on "
                 "behind them, another --seed makes others",
                 r->cover_file, again);
}

static void plan_failures(struct run *r)
{
    r->failures = setup_failures(&r->setup);
    if (r->against.given)
        r->failures.model = (enum ordeal_model)r->against.value;
    r->failures.first_iteration = r->first_iteration;
    r->failures.shrink = r->shrink;
    r->failures.waves = r->waves;
    if (r->shrink_seconds > 0)
        r->failures.shrink_seconds = r->shrink_seconds;
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
    int error = errno;
    ordeal_trace_free(trace);
    if (status == ORDEAL_IO && interrupted()) /* ^C while it waited for a reader */
        return false;
    if (status == ORDEAL_IO)
        r->status = exit_worst(r->status, complain_unwritten(r->setup.command, r->output,
                                                             error ? error : EIO));
    else if (status != ORDEAL_OK)
        r->status = exit_worst(r->status, complain(r->setup.command, "%s: %s", r->output,
                                                   ordeal_last_error(r->o)->reason));
    return status == ORDEAL_OK;
}

/* What of this run the file has that could not be written just now. */
static void tell_kept(const struct run *r, int error, const char *then)
{
    const struct cover_keep *k = &r->cover;
    char tests[64] = "no test";
    if (k->kept > k->run.first)
        snprintf(tests, sizeof tests, "the tests up to number %" PRIu64, k->kept - 1);
    complain(r->setup.command, "--cover '%s': %s; the file has %s of this run%s", r->cover_file,
             strerror(error), tests, then);
}

static bool note_cover(struct run *r, const struct pipeline_test *t)
{
    const char *label = r->setup.bias ? t->profile : t->name;
    struct cover_origin test = { r->setup.how.seed, t->number, label };
    int before = r->cover.error;
    if (!r->cover.set || t->behind)
        return true;
    bool good = cover_keep_add(&r->cover, t->lost ? NULL : t->hits, &test);
    if (r->cover.error && !before)
        tell_kept(r, r->cover.error, ", which goes on");
    if (good)
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
    return printed && !ferror(stdout);
}

/* What is to be said of it; false: nothing more is to be run. */
static bool tell_test(struct run *r, const struct pipeline_test *t)
{
    if (!note_cover(r, t))
        return false;
    if (t->lost)
        return on_lost(r, t);
    if (t->result == ORDEAL_PASS)
        return true;
    if (!r->check) { /* standard output has the traces */
        r->status = exit_worst(r->status, EXIT_VIOLATION);
        complain(r->setup.command, "%s#%" PRIu64 ": %s", t->name, t->iteration, t->broke);
        return true;
    }
    r->recorder.note = (struct failure_note){ 0 };
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
    r->cycles += t->behind ? 0 : t->cycles;
    bool more = tell_test(r, t);
    if (r->recorder.on)
        recorder_add(&r->recorder, t);
    return more && !cycles_are_used(r);
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

static const char *word_of_end(const struct run *r, enum pipeline_end end)
{
    return end == PIPELINE_STOPPED && cycles_are_used(r) ? "cycles" : ends[end];
}

static void print_summary(struct run *r, const struct pipeline_totals *t, enum pipeline_end end)
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
    const char *how = word_of_end(r, end);
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
    if (json_failed() || !text)
        r->status = exit_worst(r->status, complain(r->setup.command, "out of memory"));
    else
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(object);
}

/* Of traces that were to be written nothing is kept to go on with. */
static void tell_how_to_go_on(const struct run *r, uint64_t next)
{
    struct go_on rest = { .first = next,
                          .count = r->endless ? 0 : r->first + r->count - next,
                          .cycles = r->most_cycles ? r->most_cycles - r->cycles : 0 };
    bool traces_alone = r->output && !r->cover_file;
    if (!r->setup.bias || traces_alone || cycles_are_used(r) || (!r->endless && !rest.count))
        return;
    char *command = go_on_command(r->word_count, r->words, &rest);
    if (command)
        complain(r->setup.command, "this goes on with the rest: %s", command);
    free(command);
}

static void note_end(struct run *r, enum pipeline_end end, const struct pipeline_report *report)
{
    r->status = exit_worst(r->status, setup_end(&r->setup, end, report));
    if (end == PIPELINE_STOPPED && r->failed == r->stop_after && r->failed)
        complain(r->setup.command,
                 "stopped after %" PRIu64 " failing test%s; --stop-after takes another number, "
                 "--keep-going runs all",
                 r->failed, r->failed > 1 ? "s" : "");
    if (end == PIPELINE_STOPPED || end == PIPELINE_INTERRUPTED || end == PIPELINE_TARGET)
        tell_how_to_go_on(r, report->totals.next);
}

static void close_output(struct run *r)
{
    int error = 0;
    bool whole = r->status != EXIT_INTERRUPTED && r->status != EXIT_BAD
              && r->status != EXIT_UNWRITTEN;
    if (r->out.file && whole)
        error = output_commit(&r->out);
    output_abandon(&r->out);
    if (error)
        r->status = exit_worst(r->status, complain_unwritten(r->setup.command, r->output, error));
}

/* What a machine reached of its RTL, through a file that is gone afterwards. */
static bool add_rtl_of(struct run *r, void *machine, int part, const char *file)
{
    struct cover_origin first = { r->setup.how.seed, r->first, NULL };
    struct ordeal_error e = { .reason = "cannot be read back" };
    if (!r->setup.target->coverage(machine, part, file))
        return false;
    FILE *stream = fopen(file, "re");
    bool good = stream && cover_rtl_read(r->cover.set, stream, file, &first, &e);
    if (!good)
        r->status = exit_worst(r->status, setup_bad(&r->setup, &e));
    if (stream)
        fclose(stream);
    return good;
}

static void add_rtl(struct run *r)
{
    struct temporary room;
    struct why why;
    char file[PATH_MAX];
    if (!r->cover.set || !r->setup.target->coverage)
        return;
    if (!temporary_room(&room, "cover", &why)) {
        r->status = exit_worst(r->status, complain(r->setup.command, "%s", why.text));
        return;
    }
    snprintf(file, sizeof file, "%s/rtl.dat", room.path);
    for (int i = 0; i < r->setup.machines.jobs; i++)
        for (int part = 0; add_rtl_of(r, r->setup.machines.machine[i], part, file);)
            part++;
    temporary_remove(&room);
}

/* What was settled counts, whatever ended the run. */
static int save_cover(struct run *r)
{
    int error = cover_keep_save(&r->cover);
    if (error) {
        tell_kept(r, error, "");
        r->status = exit_worst(r->status, EXIT_UNWRITTEN);
    }
    return r->status;
}

static void begin_record(struct run *r, char *const *files)
{
    int error = recorder_begin(&r->recorder, r->record, &r->setup, &r->failures, r->first,
                               how_made(r, files), r->cover.set);
    if (error)
        r->status = exit_worst(r->status, complain(r->setup.command, "--record '%s': %s", r->record,
                                                   strerror(error)));
}

/* What ended it is no verdict, but belongs to it. */
static void close_record(struct run *r, enum pipeline_end end, const struct pipeline_report *report)
{
    char reason[1024] = "";
    bool bad = end == PIPELINE_BAD || end == PIPELINE_TARGET || end == PIPELINE_INTERNAL;
    if (bad) {
        error_format(&report->error, reason, sizeof reason);
        recorder_add_incident(&r->recorder,
                              end == PIPELINE_TARGET ? INCIDENT_TARGET : INCIDENT_INPUT,
                              report->totals.next, reason);
    }
    int error = recorder_end(&r->recorder, word_of_end(r, end), reason, report->totals.seconds,
                             r->cover.set);
    if (error)
        r->status = exit_worst(r->status, complain(r->setup.command, "--record '%s': %s", r->record,
                                                   strerror(error)));
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
        .early_tests = *files ? 0 : r->setup.early_tests,
        .early_iterations = r->setup.early_iterations,
        .check = r->check,
        .model = r->failures.model,
        .limit = r->setup.limit,
        .cover = r->cover.set,
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
    enum pipeline_end end = PIPELINE_DONE;
    if (r->prepare)
        report = (struct pipeline_report){ .totals.next = r->first };
    else
        end = pipeline_run(&plan, &report);
    progress_erase(&r->progress);
    note_end(r, end, &report);
    close_output(r);
    if (r->recorder.on)
        close_record(r, end, &report);
    if (!ferror(r->traces_to_stdout ? stderr : stdout))
        print_summary(r, &report.totals, end);
}

static int make_ready(struct run *r, char *const *files)
{
    int status = -1;
    if (!*files)
        status = setup_bias(&r->setup);
    if (status < 0 && r->cover_file)
        status = open_cover(r);
    r->setup.how.events = r->cover.set;
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

/* What is about tests does not go with a program, nor the other way round. */
static int program_usage(struct run *r, char *const *files)
{
    const struct {
        const char *name;
        bool given;
    } of_tests[] = { { "bias", r->setup.bias_files.count },
                     { "set", r->setup.set.count },
                     { "first", r->first },
                     { "cycles", r->most_cycles },
                     { "shrink", r->shrink || r->shrink_seconds > 0 },
                     { "cover", r->cover_file },
                     { "record", r->record },
                     { "examples", r->recorder.examples },
                     { "prepare", r->prepare },
                     { "format", r->format != ORDEAL_FORMAT_GUESS },
                     { "final", r->setup.how.final },
                     { "jobs", r->setup.jobs > 1 } },
      of_programs[] = { { "define", r->define.count },
                        { "include", r->include.count },
                        { "optimise", r->optimise },
                        { "patience", r->patience },
                        { "outcomes", r->outcomes } };
    for (size_t i = 0; r->program.count && i < sizeof of_tests / sizeof *of_tests; i++)
        if (of_tests[i].given)
            return complain(r->setup.command, "--%s is about tests; it does not go with --program",
                            of_tests[i].name);
    for (size_t i = 0; !r->program.count && i < sizeof of_programs / sizeof *of_programs; i++)
        if (of_programs[i].given)
            return complain(r->setup.command, "--%s is about a program; add --program FILE",
                            of_programs[i].name);
    if (r->program.count && *files)
        return complain(r->setup.command, "a program, or tests: --program does not go with '%s'",
                        *files);
    if (r->program.count && !r->setup.target->image)
        return complain(r->setup.command, "--program runs on sim and board; '%s' runs tests alone",
                        r->setup.target->name);
    if (r->program.count > 1)
        for (size_t i = 0; i < r->program.count; i++)
            if (!compile_is_source(r->program.word[i]))
                return complain(r->setup.command,
                                "%s: an ELF file is taken as it is; name it alone, or sources",
                                r->program.word[i]);
    return -1;
}

static int usage(struct run *r, char *const *files)
{
    int status = target_usage(r);
    if (status < 0)
        status = program_usage(r, files);
    if (status < 0 && r->program.count) {
        r->check = true;
        return r->stop_after && r->keep_going
                 ? complain(r->setup.command, "--stop-after and --keep-going exclude each other")
                 : -1;
    }
    if (status < 0)
        status = tests_usage(r, files);
    if (status < 0)
        status = check_usage(r);
    if (status < 0)
        status = output_usage(r);
    r->endless = !r->count && r->most_cycles;
    if (!r->count)
        r->count = r->most_cycles ? UINT64_MAX - r->first : 1;
    if (!r->stop_after)
        r->stop_after = FAILURES_KEPT;
    r->all = *files || r->most_cycles ? 0 : r->count;
    return status;
}

/* When stores left their buffers is told wherever the machine knows it. */
static bool tells_visible(const struct run *r)
{
    const char *config = r->setup.how.config;
    return r->setup.target == &target_sim && !r->setup.how.soc
        && !(config && strstr(config, "lean"));
}

static int run_program(struct run *r)
{
    enum { USUAL_RUNS = 10, USUAL_PATIENCE = 2000000 };
    uint64_t each = r->setup.iterations ? r->setup.iterations : r->count ? 1 : USUAL_RUNS;
    bool visible = r->setup.how.visible;
    r->setup.jobs = 1;
    r->setup.how.visible |= tells_visible(r);
    int status = setup_machines(&r->setup);
    if (status >= 0)
        return status;
    struct chip_plan plan = {
        .setup = &r->setup,
        .request = { .source = r->program.word,
                     .sources = r->program.count,
                     .optimise = r->optimise,
                     .chip = true,
                     .define = r->define.word,
                     .defines = r->define.count,
                     .include = r->include.word,
                     .includes = r->include.count },
        .first = r->first_iteration,
        .count = (r->count ? r->count : 1) * each,
        .stop_after = r->keep_going ? 0
                    : r->stop_after ? r->stop_after
                                    : FAILURES_KEPT,
        .most_cycles = r->patience ? r->patience : USUAL_PATIENCE,
        .high = 1,
        .model = r->against.given ? (enum ordeal_model)r->against.value : r->setup.claims.model,
        .outcomes = r->outcomes,
        .output = r->output,
        .waves = r->waves,
        .visible = visible,
    };
    return chip_run(&plan);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct run r = { .setup.command = self, .words = argv, .word_count = argc };
    int operand, status = options_parse(self, argc, argv, &r, &operand);
    if (status < 0)
        status = setup_bug_list(&r.setup);
    if (status < 0)
        status = usage(&r, argv + operand);
    if (status >= 0)
        return status;
    interrupt_watch();
    if (r.program.count) {
        status = run_program(&r);
        setup_close(&r.setup);
        return status;
    }
    status = make_ready(&r, argv + operand);
    bool ready = status < 0;
    if (ready) {
        plan_failures(&r);
        if (r.cover.set)
            begin_cover(&r, argv + operand);
        if (r.record)
            begin_record(&r, argv + operand);
        if (r.status == EXIT_FINE)
            run_pipeline(&r, argv + operand);
        add_rtl(&r);
    }
    if (ready)
        status = save_cover(&r);
    setup_close(&r.setup);
    output_abandon(&r.out);
    recorder_abandon(&r.recorder);
    cover_keep_close(&r.cover);
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
        "sums up; next= is the number to go on with, and a run that ended early says the whole\n"
        "command that does.\n"
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
