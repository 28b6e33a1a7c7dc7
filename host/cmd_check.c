/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal check`: traces to verdicts, one line each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "tell/input.h"
#include "base/options.h"
#include "base/output.h"
#include "base/plain_file.h"
#include "tell/output_line.h"
#include "targets/elf/signature.h"

struct check {
    struct choice model;
    enum ordeal_algorithm algorithm;
    bool time_order, no_certify, no_core, json;
    double limit;
    size_t memory;
    const char *witness, *verify, *signature;
    enum ordeal_format format;

    const struct command *command;
    int status;
};

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(check, model, "model", 'm', "MODEL", model, NULL,
           "memory model; without it the trace's own, else TSO:"),
    OPTION(check, algorithm, "algorithm", 'a', "NAME", algorithm, "auto",
           "how to decide"),
    OPTION(check, time_order, "time-order", 0, NULL, flag, NULL,
           "take the cycles in the trace as order, not only as hints"),
    OPTION(check, limit, "limit", 0, "SECONDS", seconds, NULL,
           "give up on a trace after this time: UNDECIDED"),
    OPTION(check, memory, "memory", 0, "MB", megabytes, NULL,
           "give up on a file that needs more memory: UNDECIDED"),
    OPTION(check, witness, "witness", 'w', "FILE", text, NULL,
           "write what proves the verdict: an order or a proof"),
    OPTION(check, verify, "verify", 0, "FILE", text, NULL,
           "do not search: check what --witness wrote"),
    OPTION(check, signature, "signature", 0, "FILE", text, NULL,
           "check what a bare-metal program saved ('run --emit'); the file is its test"),
    OPTION(check, format, "format", 'f', "FORMAT", format_read, NULL,
           "how traces are written; without it guessed:"),
    OPTION(check, no_certify, "no-certify", 0, NULL, flag, NULL,
           "skip the independent proof of each verdict"),
    OPTION(check, no_core, "no-core", 0, NULL, flag, NULL,
           "skip the search for the smallest violation"),
    OPTION(check, json, "json", 'j', NULL, flag, NULL,
           "one JSON object a line"),
    OPTION_END
};
/* clang-format on */

static double rounded(double x) { return (double)(long long)(x * 1000 + 0.5) / 1000; }

static void note_verdict(struct check *c, enum ordeal_result result)
{
    static const int status[] = { [ORDEAL_PASS] = EXIT_FINE, [ORDEAL_FAIL] = EXIT_VIOLATION,
                                  [ORDEAL_UNDECIDED] = EXIT_UNDECIDED };
    c->status = exit_worst(c->status, interrupted() ? EXIT_INTERRUPTED : status[result]);
}

/* Why a file or trace has no verdict: an ERROR line, or UNDECIDED where a limit was in the way. A
 * refused verdict is no verdict: it goes to standard error alone. */
static void report_error(struct check *c, const struct input *in, const struct ordeal_error *e)
{
    if (e->status == ORDEAL_INTERNAL) {
        complain(c->command, "%s: internal error: the verdict could not be proved: %s; "
                             "please report this with the trace", in->label, e->reason);
        c->status = exit_worst(c->status, EXIT_INTERNAL);
        return;
    }
    if (e->status == ORDEAL_LIMIT) {
        cJSON *line = output_line_new(verdict_words[ORDEAL_UNDECIDED], in);
        cJSON_AddStringToObject(line, "note", e->reason);
        note_verdict(c, ORDEAL_UNDECIDED);
        output_line_print(line, c->json);
        return;
    }
    struct ordeal_error named = *e;
    if (!named.file[0])
        snprintf(named.file, sizeof named.file, "%s", in->name);
    c->status = exit_worst(c->status, EXIT_BAD);
    output_line_print(output_line_error(&named), c->json);
}

static void report_verdict(struct check *c, const struct input *in, const struct ordeal_verdict *v,
                           enum ordeal_model model, double seconds)
{
    enum ordeal_result result = ordeal_verdict_result(v);
    cJSON *line = output_line_new(verdict_words[result], in);
    cJSON_AddStringToObject(line, "model", ordeal_model_name(model));
    if (!c->verify)
        cJSON_AddStringToObject(line, "algorithm", ordeal_algorithm_name(c->algorithm));
    output_line_counters(line, v);
    cJSON_AddNumberToObject(line, "seconds", rounded(seconds));
    cJSON_AddNumberToObject(line, "memory_mb",
                            rounded((double)ordeal_memory_peak(in->o) / 1048576));
    if (c->verify)
        cJSON_AddBoolToObject(line, "verified", true);
    else if (result != ORDEAL_UNDECIDED)
        cJSON_AddBoolToObject(line, "certified", !c->no_certify);
    if (result == ORDEAL_FAIL) {
        output_line_core(line, in->trace, v);
        output_line_reason(line, in, v);
        output_line_signature_of(line, in->trace, v);
    }
    if (ordeal_verdict_note(v)[0])
        cJSON_AddStringToObject(line, "note", ordeal_verdict_note(v));
    note_verdict(c, result);
    output_line_print(line, c->json);
}

static void write_witness(struct check *c, const struct ordeal_verdict *v, struct output *out)
{
    if (ordeal_verdict_result(v) == ORDEAL_UNDECIDED) {
        complain(c->command, "%s is not written: an undecided trace has no proof", c->witness);
        return;
    }
    int error = output_open(out, c->witness);
    if (!error && ordeal_witness_write(v, out->file) != ORDEAL_OK) {
        error = errno ? errno : EIO;
        output_abandon(out);
    }
    if (error)
        c->status = exit_worst(c->status, complain_unwritten(c->command, c->witness, error));
}

static void check_trace(struct check *c, struct input *in, struct output *witness)
{
    struct ordeal_options how = { .model = ORDEAL_TSO, .algorithm = c->algorithm,
                                  .time_order = c->time_order, .no_certify = c->no_certify,
                                  .no_core = c->no_core };
    ordeal_trace_claimed(in->trace, &how.model);
    if (c->model.given)
        how.model = (enum ordeal_model)c->model.value;
    double start = now_seconds();
    struct ordeal_verdict *v = NULL;
    enum ordeal_status status = ordeal_check(in->trace, &how, &v);
    progress_erase(&in->progress);
    if (status == ORDEAL_OK) {
        report_verdict(c, in, v, how.model, now_seconds() - start);
        if (c->witness)
            write_witness(c, v, witness);
    } else {
        struct ordeal_error e = *ordeal_last_error(in->o);
        e.status = status;
        report_error(c, in, &e);
    }
    ordeal_verdict_free(v);
}

static void verify_trace(struct check *c, struct input *in)
{
    const char *reason;
    FILE *file = plain_file_open(c->verify, &reason);
    if (!file) {
        c->status = complain(c->command, "%s: %s", c->verify, reason);
        return;
    }
    double start = now_seconds();
    struct ordeal_verdict *v = NULL;
    enum ordeal_status status = ordeal_witness_verify(in->trace, file, c->verify, &v);
    progress_erase(&in->progress);
    fclose(file);
    if (status == ORDEAL_OK) {
        report_verdict(c, in, v, ordeal_verdict_model(v), now_seconds() - start);
    } else {
        /* Here a refusal is the answer asked for, not a defect. */
        struct ordeal_error e = *ordeal_last_error(in->o);
        e.status = status == ORDEAL_LIMIT ? status : ORDEAL_BAD_INPUT;
        if (!e.file[0])
            snprintf(e.file, sizeof e.file, "%s", c->verify);
        report_error(c, in, &e);
    }
    ordeal_verdict_free(v);
}

/* A witness speaks of one trace; false and a complaint when the file has another. */
static bool is_alone(struct check *c, struct input *in)
{
    if (in->number < 2 || !(c->witness || c->verify))
        return true;
    c->status = exit_worst(c->status, complain(c->command, "%s holds several traces, and a witness "
                           "speaks of one; put each in a file of its own", in->label));
    return false;
}

static void check_file(struct check *c, const char *name)
{
    struct input in;
    struct output witness = { 0 };
    struct ordeal_limits limits = { .seconds = c->limit, .bytes = c->memory };
    enum ordeal_status status = input_open(&in, name, c->format, &limits);
    bool alone = true;
    while (status == ORDEAL_OK && alone && !interrupted()) {
        status = input_next(&in);
        if (status != ORDEAL_OK || !(alone = is_alone(c, &in)))
            break;
        if (c->verify)
            verify_trace(c, &in);
        else
            check_trace(c, &in, &witness);
    }
    if (status != ORDEAL_OK && status != ORDEAL_END) {
        in.number++; /* the one that could not be read */
        report_error(c, &in, &in.error);
    } else if (status == ORDEAL_END && in.number == 0) {
        struct ordeal_error e = { .status = ORDEAL_BAD_INPUT,
                                  .reason = "there is no trace in it; expected 'ordeal 1' first" };
        report_error(c, &in, &e);
    }
    int error = witness.file && alone ? output_commit(&witness) : 0;
    if (error)
        c->status = exit_worst(c->status, complain_unwritten(c->command, c->witness, error));
    output_abandon(&witness);
    input_close(&in);
}

/* ---- signatures: the test is the file, its iterations are the traces ---------------------- */

static void refuse_signature(struct check *c, const struct input *in, const struct why *why)
{
    struct ordeal_error e;
    error_set(&e, ORDEAL_BAD_INPUT, c->signature, why->text);
    report_error(c, in, &e);
}

/* What a machine's registers held tells of a mistake that is none of its memory. */
static void report_broke(struct check *c, const struct input *in, const struct why *why)
{
    cJSON *line = output_line_new(verdict_words[ORDEAL_FAIL], in);
    cJSON_AddBoolToObject(line, "broke", true);
    cJSON_AddStringToObject(line, "reason", why->text);
    note_verdict(c, ORDEAL_FAIL);
    output_line_print(line, c->json);
}

static void check_iterations(struct check *c, struct input *in, const struct program *p,
                             const struct signature *s)
{
    struct machine_claims claims = signature_claims(s->xlen, ORDEAL_RVWMO);
    struct ordeal_trace *test = in->trace;
    uint64_t *values = calloc((size_t)s->slots + s->finals + 1, sizeof *values);
    struct extension registers = { 0 };
    struct why why;
    ordeal_trace_claimed(test, &claims.model);
    bool room = values && signature_extension(s, p, &registers);
    enum ordeal_status status = room ? ORDEAL_OK : ORDEAL_NO_MEMORY;
    for (uint32_t i = 0; i < s->iterations && status == ORDEAL_OK && !interrupted(); i++) {
        in->number = i + 1;
        if (!signature_values(s, i, &registers, values, &why)) {
            report_broke(c, in, &why);
            continue;
        }
        in->trace = NULL;
        status = program_trace(p, s->first + i, values, &claims, in->o, &in->trace);
        if (status == ORDEAL_OK)
            check_trace(c, in, NULL);
        ordeal_trace_free(in->trace);
        in->trace = test;
    }
    if (status == ORDEAL_OK && !interrupted() && !signature_interrupts(s, p, &why))
        report_broke(c, in, &why);
    if (status != ORDEAL_OK) {
        struct ordeal_error e = { .status = ORDEAL_NO_MEMORY, .reason = "out of memory" };
        if (room) {
            e = *ordeal_last_error(in->o);
            snprintf(e.file, sizeof e.file, "%s", c->signature);
        }
        report_error(c, in, &e);
    }
    extension_close(&registers);
    free(values);
}

/* Of several tests in the file the one that the signature is of. */
static void check_signature(struct check *c, const char *name, const uint8_t *bytes, size_t length)
{
    struct input in;
    struct ordeal_limits limits = { .seconds = c->limit, .bytes = c->memory };
    struct why why = { "there is no test in the other file" };
    bool found = false;
    enum ordeal_status status = input_open(&in, name, c->format, &limits);
    while (status == ORDEAL_OK && !found && (status = input_next(&in)) == ORDEAL_OK) {
        struct program p;
        struct signature s;
        if (!program_compile(&p, in.trace, name, &in.error)) {
            status = in.error.status;
            break;
        }
        found = signature_open(&s, bytes, length, &p, &why);
        if (found)
            check_iterations(c, &in, &p, &s);
        program_free(&p);
    }
    if (status != ORDEAL_OK && status != ORDEAL_END)
        report_error(c, &in, &in.error);
    else if (!found)
        refuse_signature(c, &in, &why);
    input_close(&in);
}

static void check_signature_file(struct check *c, const char *name)
{
    struct input in = { .name = c->signature, .label = c->signature };
    struct why why;
    uint8_t *bytes;
    size_t length;
    const char *reason;
    FILE *file = plain_file_open(c->signature, &reason);
    bool fine = file ? signature_read(fileno(file), SIGNATURE_MOST, &bytes, &length, &why)
                     : why_say(&why, "%s", reason);
    if (file)
        fclose(file);
    if (fine) {
        check_signature(c, name, bytes, length);
        free(bytes);
    } else {
        refuse_signature(c, &in, &why);
    }
}

static int check_usage(const struct check *c, int files)
{
    if (files == 0)
        return complain(c->command, "which traces? Name files, or '-' for standard input");
    if ((c->witness || c->verify) && files > 1)
        return complain(c->command, "--%s speaks of one trace, not %d; check them one by one",
                        c->witness ? "witness" : "verify", files);
    if (c->signature && (files > 1 || c->witness || c->verify))
        return complain(c->command, "--signature goes with one test, and not with --witness or "
                                    "--verify");
    if (c->verify && (c->witness || c->model.given || c->algorithm != ORDEAL_AUTO || c->time_order
                      || c->no_certify || c->no_core))
        return complain(c->command, "--verify does not search, and takes the model from the "
                                    "witness; give it --format, --limit, --memory or --json only");
    return -1;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct check c = { .command = self };
    int operand, status = options_parse(self, argc, argv, &c, &operand);
    if (status < 0)
        status = check_usage(&c, argc - operand);
    if (status >= 0)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    interrupt_watch();
    for (int i = operand; i < argc && !interrupted() && !ferror(stdout); i++)
        (c.signature ? check_signature_file : check_file)(&c, argv[i]);
    return interrupted() ? exit_worst(c.status, EXIT_INTERRUPTED) : c.status;
}

const struct command command_check = {
    .name = "check",
    .summary = "decide whether traces obey a memory model",
    .operands = "FILE...",
    .description =
        "Prints one line a trace, in order: PASS, FAIL, UNDECIDED or ERROR, the file, then\n"
        "key=value fields. '-' is standard input; the second trace of a file is file#2. A FAIL\n"
        "has reason=, and core= counts the operations that already violate the model;\n"
        "'ordeal show' explains it. A file that cannot be read gets an ERROR line and the\n"
        "others are still checked. With --signature the file is a test and every iteration of\n"
        "it in the signature one trace.\n\n"
        "Exit status: 0 all PASS; 1 some FAIL; else 2 some ERROR; else 4 some UNDECIDED;\n"
        "130 after ^C; 70 if a verdict could not be proved, a defect of ordeal.",
    .example = "  $ ordeal check --model TSO --limit 10 monday/*.trace\n"
               "  $ ordeal check --witness run7.proof run7.trace\n"
               "  $ ordeal check --verify run7.proof run7.trace\n"
               "  $ ordeal check --signature board.sig test.test\n",
    .options = options,
    .run = run,
};
