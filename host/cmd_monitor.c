/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal monitor`: is a program, or one execution of it, one access away from what no sequentially
 * consistent machine does? */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/plain_file.h"
#include "cmd_program.h"
#include "program/monitor_trace.h"
#include "program/monitor_words.h"
#include "tell/output_line.h"

struct context {
    bool given;
    uint32_t bound;
};

struct monitoring {
    struct program_command p;
    int model;
    struct context context;
    bool count, all, first, unmonitored;
    uint64_t limit, steps;
    double seconds;
    size_t memory;
    const char *trace;

    struct dpor_options how;
    struct explore_options follow;
    uint32_t undecided; /* borderline executions of which it is not known how well they show it */
    struct ordeal_error why;
};

/* ---- options ----------------------------------------------------------------------------- */

static const char *const machine_names[] = { "tso", "pso", NULL };
static const char *machine_choice(int i) { return machine_names[i]; }
static bool parse_machine(const char *text, void *field)
{
    return program_find_name(text, machine_names, field);
}
static const struct option_type option_machine = { parse_machine, NULL, machine_choice };

static bool parse_context(const char *text, void *field)
{
    struct context *c = field;
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    *c = (struct context){ true, (uint32_t)n };
    return *text >= '0' && *text <= '9' && !*end && !errno && n <= 1000;
}
static const struct option_type option_context = { parse_context, "a number from 0 to 1000", NULL };

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(monitoring, model, "model", 'm', "MODEL", machine, "tso",
           "memory model against which it is to be safe:"),
    OPTION(monitoring, context, "context", 'c', "N", context, NULL,
           "only executions in which at most N times a thread is interrupted that\n"
           "could go on: first none, then one, and so on up to N"),
    OPTION(monitoring, all, "all", 'a', NULL, flag, NULL,
           "go on after the first borderline execution: one for each pair of places"),
    OPTION(monitoring, first, "first", 0, NULL, flag, NULL,
           "stop at the first; this is the default"),
    OPTION(monitoring, count, "count", 0, NULL, flag, NULL,
           "follow all, and count interleavings, traces, and those that are borderline"),
    PROGRAM_OPTIONS(monitoring, p),
    OPTION(monitoring, steps, "steps", 0, "N", positive, "2000",
           "follow an execution no further than so many steps"),
    OPTION(monitoring, limit, "limit", 0, "EXECUTIONS", whole, NULL,
           "give up after so many executions: UNDECIDED"),
    OPTION(monitoring, seconds, "seconds", 0, "SECONDS", seconds, NULL,
           "give up after this time: UNDECIDED"),
    OPTION(monitoring, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when it takes more memory: UNDECIDED; without it half of the\n"
           "computer's"),
    OPTION(monitoring, unmonitored, "unmonitored", 0, NULL, flag, NULL,
           "explore without the monitor, to compare times: nothing is found"),
    OPTION(monitoring, trace, "trace", 0, "FILE", text, NULL,
           "write the borderline execution as a trace, and the one next to it that\n"
           "is not sequentially consistent as FILE with -tso or -pso in its name"),
    OPTION(monitoring, p.json, "json", 0, NULL, flag, NULL,
           "output for programs: one object a finding"),
    OPTION_END
};
/* clang-format on */

static int refuse(const struct monitoring *x)
{
    if (!x->p.files)
        return complain(x->p.command,
                        "what? Name the sources of a program (.c, .cpp), an ELF file, or "
                        "a trace");
    int status = program_refuse(&x->p);
    if (status >= 0)
        return status;
    if (x->first && (x->all || x->count))
        return complain(x->p.command, "--first stops where --all and --count go on: leave one out");
    if (x->trace && x->all)
        return complain(x->p.command, "--trace writes one execution; leave out --all");
    return -1;
}

static bool tell_progress(void *user, const struct dpor_progress *p)
{
    struct monitoring *x = user;
    char phase[160];
    snprintf(phase, sizeof phase,
             "%" PRIu64 " executions, %" PRIu64 " borderline, %" PRIu64 " states, %.0f/s",
             p->executions, p->borderline, p->states,
             p->seconds > 0 ? (double)p->executions / p->seconds : 0.0);
    return progress_callback(&x->p.progress, phase, -1);
}

/* Its values show that it is not sequentially consistent. */
static bool prefer(void *user, const struct dpor_finding *f)
{
    struct monitoring *x = user;
    struct ordeal_error why = { 0 };
    struct monitor_story s = {
        .image = x->p.program.image, .finding = f, .options = &x->follow, .model = x->how.model
    };
    bool differs = false, decided = monitor_story_make(&s, &why)
                                 && monitor_story_judge(&s, &differs, &why) != ACCOUNT_NO_VERDICT
                                 && s.account.relaxed != ACCOUNT_UNDECIDED;
    if (!decided && !x->undecided++)
        x->why = why;
    monitor_story_free(&s);
    return differs;
}

/* Which execution is shown may then be another than usual. */
static void report_undecided(const struct monitoring *x)
{
    if (x->undecided)
        complain(x->p.command,
                 "%s: of %" PRIu32 " borderline executions it was not found out whether their "
                 "values show it, and another may be shown: %s",
                 x->p.file[0], x->undecided, x->why.reason);
}

static void fill_options(struct monitoring *x)
{
    x->follow = (struct explore_options){
        .model = EXPLORE_SC,
        .local = EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC,
        .locked_atomics = x->p.atomics,
        .no_reduction = true,
        .jobs = 1,
        .nondet_high = 1,
    };
    x->how = (struct dpor_options){
        .program = x->follow,
        .model = x->model ? MONITOR_PSO : MONITOR_TSO,
        .unmonitored = x->unmonitored,
        .all = x->all,
        .count = x->count,
        .bounded = x->context.given,
        .context = x->context.bound,
        .most_steps = (uint32_t)(x->steps < 1000000 ? x->steps : 1000000),
        .most_executions = x->limit,
        .most_seconds = x->seconds,
        .most_bytes = x->memory ? x->memory : program_memory(0.5),
        .prefer = prefer,
        .progress = tell_progress,
        .user = x,
    };
}

/* ---- lines ------------------------------------------------------------------------------- */

static cJSON *new_line(struct monitoring *x, enum explore_verdict verdict)
{
    cJSON *line = program_verdict_line(&x->p, x->p.file[0], verdict);
    cJSON_AddStringToObject(line, "model", machine_names[x->model]);
    cJSON_AddStringToObject(line, "atomics", program_atomics[x->p.atomics]);
    cJSON_AddBoolToObject(line, "optimise", x->p.optimise);
    if (x->context.given)
        cJSON_AddNumberToObject(line, "context", x->context.bound);
    return line;
}

static void add_number(cJSON *line, const char *name, const struct dpor_number *n)
{
    char text[160];
    dpor_number_print(n, text);
    if (n->too_large)
        cJSON_AddStringToObject(line, name, "many");
    else if (strlen(text) < 16)
        cJSON_AddNumberToObject(line, name, strtod(text, NULL));
    else
        cJSON_AddStringToObject(line, name, text);
}

static double rounded(double n) { return (double)(long long)(n * 10000 + 0.5) / 10000; }

static void add_counts(const struct monitoring *x, const struct dpor_result *r, cJSON *line)
{
    if (x->context.given)
        cJSON_AddNumberToObject(line, "executions", (double)r->total.executions);
    cJSON_AddNumberToObject(line, "traces", (double)r->total.traces);
    if (x->context.given)
        cJSON_AddNumberToObject(line, "borderline_executions",
                                (double)r->total.borderline_executions);
    cJSON_AddNumberToObject(line, "borderline_traces", (double)r->total.borderline_traces);
    if (x->count) {
        add_number(line, "interleavings", &r->interleavings);
        add_number(line, "borderline_interleavings", &r->borderline_interleavings);
    }
    if (!x->context.given)
        cJSON_AddNumberToObject(line, "redundant", (double)r->redundant);
    cJSON_AddBoolToObject(line, "complete", r->complete);
    cJSON_AddNumberToObject(line, "steps", (double)r->steps);
    cJSON_AddNumberToObject(line, "states", (double)r->states);
    if (r->first_seconds >= 0)
        cJSON_AddNumberToObject(line, "first_seconds", rounded(r->first_seconds));
    cJSON_AddNumberToObject(line, "seconds", rounded(r->total.seconds));
}

static void add_rows(const struct dpor_result *r, cJSON *line)
{
    cJSON *rows = cJSON_AddArrayToObject(line, "bounds");
    for (uint32_t i = 0; i < r->rows; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddNumberToObject(row, "context", i);
        cJSON_AddNumberToObject(row, "executions", (double)r->row[i].executions);
        cJSON_AddNumberToObject(row, "borderline_executions",
                                (double)r->row[i].borderline_executions);
        cJSON_AddNumberToObject(row, "traces", (double)r->row[i].traces);
        cJSON_AddNumberToObject(row, "borderline_traces", (double)r->row[i].borderline_traces);
        cJSON_AddNumberToObject(row, "seconds", rounded(r->row[i].seconds));
        cJSON_AddItemToArray(rows, row);
    }
}

static void print_rows(const struct dpor_result *r)
{
    printf("  %8s %12s %12s %12s %12s %10s\n", "context", "executions", "borderline", "traces",
           "borderline", "seconds");
    for (uint32_t i = 0; i < r->rows; i++)
        printf("  %8" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10.4f\n", i,
               r->row[i].executions, r->row[i].borderline_executions, r->row[i].traces,
               r->row[i].borderline_traces, r->row[i].seconds);
}

/* ---- traces ------------------------------------------------------------------------------ */

static void write_trace(struct monitoring *x, const char *name, struct monitor_story *s,
                        bool relaxed)
{
    struct account_trace t;
    if (monitor_story_trace(s, relaxed, &t))
        program_write_trace(&x->p, name, t.trace);
    else
        program_report_memory(&x->p);
    account_trace_free(&t);
}

/* "bad.trace" and "bad-tso.trace". */
static void write_traces(struct monitoring *x, struct monitor_story *s)
{
    char name[4096];
    const char *slash = strrchr(x->trace, '/'), *dot = strrchr(x->trace, '.');
    if (!dot || (slash && dot < slash) || dot == x->trace)
        dot = x->trace + strlen(x->trace);
    snprintf(name, sizeof name, "%.*s-%s%s", (int)(dot - x->trace), x->trace,
             machine_names[x->model], dot);
    write_trace(x, x->trace, s, false);
    if (!s->finding->error)
        write_trace(x, name, s, true);
}

/* The execution next to it must be one of the model, as the checker sees it. */
static void confirm(struct monitoring *x, struct monitor_story *s, cJSON *line)
{
    struct ordeal_error why = { 0 };
    bool differs;
    switch (monitor_story_judge(s, &differs, &why)) {
    case ACCOUNT_CONFIRMED:
        if (s->account.relaxed != ACCOUNT_UNDECIDED) {
            cJSON_AddBoolToObject(line, "seen", differs);
            break;
        }
        /* fall through */
    case ACCOUNT_NO_VERDICT:
        complain(x->p.command, "%s: the checker did not decide about the execution: %s",
                 x->p.file[0], why.reason);
        break;
    case ACCOUNT_REFUSED:
        program_report_internal(
            &x->p,
            "the execution next to it is none of the model: %s; please report this with the program",
            why.reason);
    }
}

static void report_finding(struct monitoring *x, const struct dpor_result *r,
                           const struct dpor_finding *f)
{
    struct monitor_story s = {
        .image = x->p.program.image, .finding = f, .options = &x->follow, .model = x->how.model
    };
    struct ordeal_error why = { 0 };
    if (monitor_story_make(&s, &why)) {
        cJSON *line = new_line(x, EXPLORE_FAIL);
        monitor_story_line(&s, line, x->p.json);
        if (!f->error)
            confirm(x, &s, line);
        add_counts(x, r, line);
        if (x->p.json && x->context.given)
            add_rows(r, line);
        output_line_print(line, x->p.json);
        if (!x->p.json)
            monitor_story_print(&s, stdout);
        if (x->trace)
            write_traces(x, &s);
    } else {
        program_report_error(&x->p, &why);
    }
    monitor_story_free(&s);
}

static void report(struct monitoring *x, const struct dpor_result *r)
{
    report_undecided(x);
    for (size_t i = 0; i < r->findings; i++)
        report_finding(x, r, &r->finding[i]);
    if (r->verdict != EXPLORE_FAIL) {
        cJSON *line = new_line(x, r->verdict);
        add_counts(x, r, line);
        if (x->p.json && x->context.given)
            add_rows(r, line);
        if (r->note[0])
            cJSON_AddStringToObject(line, "why", r->note);
        output_line_print(line, x->p.json);
    }
    if (!x->p.json && x->context.given)
        print_rows(r);
}

/* ---- what is monitored --------------------------------------------------------------------- */

static void explore_program(struct monitoring *x)
{
    struct dpor_result *r = NULL;
    struct ordeal_error error = { 0 };
    if (!program_load(&x->p))
        return;
    fill_options(x);
    if (dpor_explore(x->p.program.image, &x->how, &r, &error) == ORDEAL_OK)
        report(x, r);
    else
        program_report_error(&x->p, &error);
    dpor_result_free(r);
}

/* ---- traces that were captured ------------------------------------------------------------- */

static void print_operation(const struct input *in, uint32_t op)
{
    char text[256];
    ordeal_trace_format(in->trace, op, text, sizeof text);
    uint32_t line = ordeal_trace_op(in->trace, op)->line;
    printf("      %s:%" PRIu32 ": %s\n", in->label, line, text);
}

static void add_operation(const struct input *in, cJSON *line, const char *name, uint32_t op)
{
    char text[256];
    ordeal_trace_format(in->trace, op, text, sizeof text);
    cJSON_AddStringToObject(line, name, text);
}

static void print_near(const struct input *in, const struct monitor_near *n)
{
    printf("  This access could have come before that of the other thread, which it follows:\n");
    print_operation(in, n->access);
    print_operation(in, n->missed);
    for (uint32_t i = 0; i < n->pairs; i++) {
        printf("  A fence is missing between\n");
        print_operation(in, n->pair[i].first);
        print_operation(in, n->pair[i].second);
    }
}

static void report_run(struct monitoring *x, struct input *in, const struct monitor_run *r)
{
    bool bad = r->borderline;
    cJSON *line = output_line_new(verdict_words[bad ? ORDEAL_FAIL : ORDEAL_PASS], in);
    cJSON_AddStringToObject(line, "model", machine_names[x->model]);
    cJSON_AddNumberToObject(line, "accesses", (double)r->accesses);
    cJSON_AddNumberToObject(line, "borderline", (double)r->borderline);
    if (bad) {
        add_operation(in, line, "access", r->near.data[0].access);
        add_operation(in, line, "missed", r->near.data[0].missed);
    }
    output_line_print(line, x->p.json);
    for (size_t i = 0; i < r->near.count && !x->p.json; i++)
        print_near(in, &r->near.data[i]);
    x->p.status = exit_worst(x->p.status, bad ? EXIT_VIOLATION : EXIT_FINE);
}

/* It has no order under SC, or none was found. */
static void report_no_order(struct monitoring *x, struct input *in, const char *why)
{
    cJSON *line = output_line_new(verdict_words[ORDEAL_UNDECIDED], in);
    cJSON_AddStringToObject(line, "model", machine_names[x->model]);
    cJSON_AddStringToObject(line, "why", why);
    output_line_print(line, x->p.json);
    x->p.status = exit_worst(x->p.status, EXIT_UNDECIDED);
}

static void monitor_trace(struct monitoring *x, struct input *in)
{
    struct ordeal_options how = { .model = ORDEAL_SC, .algorithm = ORDEAL_AUTO };
    struct ordeal_verdict *v = NULL;
    struct monitor_run r = { .accesses = 0 };
    const char *reason = "";
    enum ordeal_status status = ordeal_check(in->trace, &how, &v);
    progress_erase(&in->progress);
    if (status != ORDEAL_OK) {
        struct ordeal_error e = *ordeal_last_error(in->o);
        e.status = status;
        program_report_error(&x->p, &e);
        return;
    }
    if (ordeal_verdict_result(v) == ORDEAL_FAIL)
        report_no_order(x, in,
                        "no sequentially consistent machine does this: it is past the border");
    else if (ordeal_verdict_result(v) != ORDEAL_PASS)
        report_no_order(x, in, ordeal_verdict_note(v));
    else if (monitor_run(in->trace, v, x->model ? MONITOR_PSO : MONITOR_TSO, x->all, &r, &reason))
        report_run(x, in, &r);
    else
        report_no_order(x, in, reason);
    monitor_run_free(&r);
    ordeal_verdict_free(v);
}

static void monitor_traces(struct monitoring *x)
{
    struct input in;
    struct ordeal_limits limits = { .seconds = x->seconds, .bytes = x->memory };
    enum ordeal_status status = input_open(&in, x->p.file[0], ORDEAL_FORMAT_GUESS, &limits);
    while (status == ORDEAL_OK && !interrupted()) {
        status = input_next(&in);
        if (status == ORDEAL_OK)
            monitor_trace(x, &in);
    }
    if (status != ORDEAL_OK && status != ORDEAL_END) {
        program_report_error(&x->p, &in.error);
    } else if (status == ORDEAL_END && in.number == 0) {
        struct ordeal_error e = { .status = ORDEAL_BAD_INPUT,
                                  .reason = "there is no trace in it; expected 'ordeal 1' first" };
        program_report_error(&x->p, &e);
    }
    input_close(&in);
}

/* A trace may come through a pipe, of which nothing is taken here. */
static bool is_elf(const char *name)
{
    char magic[4] = "";
    const char *reason;
    FILE *f = plain_file_open(name, &reason);
    bool is = f && fread(magic, 1, 4, f) == 4 && memcmp(magic, "\177ELF", 4) == 0;
    if (f)
        fclose(f);
    return is;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct monitoring x = { .model = 0 };
    int status = program_parse(&x.p, self, argc, argv, &x);
    if (status < 0)
        status = refuse(&x);
    if (status >= 0)
        return status;
    program_begin(&x.p);
    if (compile_is_source(x.p.file[0]) || is_elf(x.p.file[0]))
        explore_program(&x);
    else
        monitor_traces(&x);
    return program_end(&x.p);
}

const struct command command_monitor = {
    .name = "monitor",
    .summary = "is a program, or a run, one access away from what SC does not allow?",
    .operands = "FILE...",
    .description =
        "Follows a program (.c, .i, .cpp, or an ELF file) on a sequentially consistent machine alone,\n"
        "one execution of all that differ only in the order of unrelated accesses, and monitors each.\n"
        "FAIL: one is borderline: a load could come before a store of another thread that it follows,\n"
        "as machines with store buffers do, and then no order of all accesses explains it. PASS: none\n"
        "is, so that with store buffers the program does what it does without. UNDECIDED: a limit was\n"
        "reached. Below a FAIL stand the stores and loads between which a fence is missing.\n"
        "seen=yes: the checker has proved that the values of the execution next to it cannot be had\n"
        "without store buffers; it always proves that the model allows them.\n\n"
        "A trace, as 'ordeal run' writes them, is monitored by itself: it must have an order under SC,\n"
        "which is found first, and the stores and loads are named.\n\n"
        "Exit status: 0 PASS; 1 FAIL; 2 bad input; 4 UNDECIDED; 130 after ^C, with what was found\n"
        "until then.",
    .example = "  $ ordeal monitor examples/programs/dekker.c\n"
               "  $ ordeal monitor --model pso --trace near.trace queue.cpp\n"
               "  $ ordeal monitor --context 3 --count examples/programs/bakery.c\n"
               "  $ ordeal monitor captured.trace\n",
    .options = options,
    .run = run,
};
