/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal explore`: all executions of a program under a memory model. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "cmd_program.h"
#include "program/account.h"
#include "program/account_trace.h"
#include "program/stepper.h"
#include "program/variables.h"
#include "tell/output_line.h"

struct buffers {
    bool given;
    uint32_t entries;
};
struct range {
    int32_t low, high;
};

struct exploring {
    struct program_command p;
    int model;
    struct choice flush, local;
    struct buffers buffers;
    bool no_reduction, all, replay;
    uint64_t jobs, limit;
    int order;
    double seconds;
    size_t memory;
    struct range nondet;
    const char *checkpoint, *outcomes, *svg, *trace, *keep_elf;

    struct explore_options how;
    struct outcome_names {
        char *text;
        LIST(const char *) name;
        LIST(uint32_t) address;
        LIST(uint8_t) size;
    } wanted;
};

/* ---- options ----------------------------------------------------------------------------- */

/* A type whose values are names: PARSE fills an int, or a struct choice. */
#define NAMES(TYPE, ...) \
    static const char *const TYPE##_names[] = { __VA_ARGS__, NULL }; \
    static const char *TYPE##_choice(int i) { return TYPE##_names[i]; }
#define NAMED(TYPE, ...) \
    NAMES(TYPE, __VA_ARGS__) \
    static bool TYPE##_parse(const char *text, void *field) \
    { \
        return program_find_name(text, TYPE##_names, field); \
    } \
    static const struct option_type option_##TYPE = { TYPE##_parse, NULL, TYPE##_choice };
#define NAMED_IF_GIVEN(TYPE, ...) \
    NAMES(TYPE, __VA_ARGS__) \
    static bool TYPE##_parse(const char *text, void *field) \
    { \
        struct choice *c = field; \
        return c->given = program_find_name(text, TYPE##_names, &c->value); \
    } \
    static const struct option_type option_##TYPE = { TYPE##_parse, NULL, TYPE##_choice };

NAMED(machine, "sc", "tso", "pso", "pslo") /* enum explore_model */
NAMED_IF_GIVEN(flush, "delayed", "plain")
NAMED_IF_GIVEN(local, "none", "s", "d", "sd") /* EXPLORE_LOCAL_... */
NAMED(order, "breadth", "depth")

static bool parse_buffers(const char *text, void *field)
{
    struct buffers *b = field;
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    b->given = true;
    b->entries = (uint32_t)n;
    if (strcmp(text, "unbounded") == 0)
        b->entries = 0;
    else if (*text < '1' || *text > '9' || *end || errno || n > 1000000)
        return false;
    return true;
}
static const struct option_type option_buffers = {
    parse_buffers, "a number of entries from 1 to 1000000, or 'unbounded'", NULL
};

static bool parse_range(const char *text, void *field)
{
    struct range *r = field;
    char *end;
    errno = 0;
    long low = strtol(text, &end, 0), high;
    if (end == text || strncmp(end, "..", 2) != 0)
        return false;
    const char *second = end + 2;
    high = strtol(second, &end, 0);
    if (end == second || *end || errno || low > high || low < INT32_MIN || high > INT32_MAX)
        return false;
    *r = (struct range){ (int32_t)low, (int32_t)high };
    return true;
}
static const struct option_type option_range = { parse_range,
                                                 "two whole numbers, the smaller first: LOW..HIGH",
                                                 NULL };

/* clang-format off */
static const struct option_spec options[] = {
    OPTION(exploring, model, "model", 'm', "MODEL", machine, "tso",
           "memory model of the machine:"),
    OPTION(exploring, flush, "flush", 0, "HOW", flush, NULL,
           "TSO alone: how stores leave buffers; delayed has fewer states and is\n"
           "the default:"),
    OPTION(exploring, buffers, "buffers", 'b', "N", buffers, NULL,
           "entries of a thread's store buffer, or 'unbounded'; without it 32"),
    OPTION(exploring, local, "local", 0, "WHICH", local, NULL,
           "which accesses to memory of one thread alone bypass its buffer:\n"
           "statically known ones (s), dynamically found ones (d, for sc and tso);\n"
           "without it sd, and s for pso and pslo:"),
    PROGRAM_OPTIONS(exploring, p),
    OPTION(exploring, nondet, "nondet", 0, "LOW..HIGH", range, "0..1",
           "what __VERIFIER_nondet_* returns: every value is tried"),
    OPTION(exploring, outcomes, "outcomes", 0, "NAMES", text, NULL,
           "print all final values of these global variables: x,flag[1]"),
    OPTION(exploring, all, "all", 'a', NULL, flag, NULL,
           "go on after the first error: one of each kind and place"),
    OPTION(exploring, order, "order", 0, "HOW", order, "breadth",
           "search breadth first for the shortest counterexample, or depth first:"),
    OPTION(exploring, no_reduction, "no-reduction", 0, NULL, flag, NULL,
           "all interleavings, also those that differ in nothing; for comparison"),
    OPTION(exploring, jobs, "jobs", 'j', "N", positive, NULL,
           "threads of the search; without it one a core"),
    OPTION(exploring, limit, "limit", 0, "STATES", whole, NULL,
           "give up after so many states: UNDECIDED"),
    OPTION(exploring, seconds, "seconds", 0, "SECONDS", seconds, NULL,
           "give up after this time: UNDECIDED"),
    OPTION(exploring, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when the states take more memory: UNDECIDED; without it\n"
           "three quarters of the computer's"),
    OPTION(exploring, checkpoint, "checkpoint", 0, "FILE", text, NULL,
           "keep how far the search is, and go on from there if FILE has it"),
    OPTION(exploring, replay, "replay", 0, NULL, flag, NULL,
           "of a counterexample every step with buffers and memory; on a terminal\n"
           "step by step"),
    OPTION(exploring, svg, "svg", 0, "FILE", text, NULL,
           "draw the counterexample"),
    OPTION(exploring, trace, "trace", 0, "FILE", text, NULL,
           "write the counterexample as a trace for 'ordeal check'"),
    OPTION(exploring, keep_elf, "keep-elf", 0, "FILE", text, NULL,
           "write what was compiled and linked"),
    OPTION(exploring, p.json, "json", 0, NULL, flag, NULL,
           "output for programs: one object a finding"),
    OPTION_END
};
/* clang-format on */

/* ---- what goes together ------------------------------------------------------------------ */

static int refuse_files(const struct exploring *x)
{
    int status = program_refuse(&x->p);
    if (status < 0 && x->keep_elf && !compile_is_source(x->p.file[0]))
        return complain(x->p.command,
                        "--keep-elf is for programs that are compiled; %s is one "
                        "already, or has no ending of a source (.c, .cpp)",
                        x->p.file[0]);
    return status;
}

static int refuse_options(const struct exploring *x)
{
    if (x->flush.given && x->model != EXPLORE_TSO)
        return complain(x->p.command, "--flush is about TSO; %s has one way alone: leave it out",
                        machine_names[x->model]);
    if (x->buffers.given && x->model == EXPLORE_SC)
        return complain(x->p.command, "--buffers: sc has none; leave it out, or use --model tso");
    if (x->local.given && (x->local.value & EXPLORE_LOCAL_DYNAMIC) && x->model >= EXPLORE_PSO)
        return complain(
            x->p.command,
            "--local %s is not sound under %s: it lets a store to memory that only this "
            "thread can reach go past older stores in its buffer, and under %s the store "
            "that publishes it may then overtake those; use --local s or none",
            local_names[x->local.value], machine_names[x->model], machine_names[x->model]);
    if (x->replay && x->p.json)
        return complain(x->p.command, "--replay is for people, --json for programs; the JSON of a "
                                      "counterexample has its steps: leave one of them out");
    if (x->all && (x->replay || x->svg || x->trace))
        return complain(x->p.command, "--%s shows one counterexample; leave out --all",
                        x->replay ? "replay"
                        : x->svg  ? "svg"
                                  : "trace");
    return -1;
}

static uint32_t cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static bool tell_progress(void *user, const struct explore_progress *p);

static void fill_options(struct exploring *x)
{
    bool weak = x->model == EXPLORE_PSO || x->model == EXPLORE_PSLO;
    int local = x->local.given ? x->local.value
              : weak           ? EXPLORE_LOCAL_STATIC
                               : EXPLORE_LOCAL_STATIC | EXPLORE_LOCAL_DYNAMIC;
    x->how = (struct explore_options){
        .model = (enum explore_model)x->model,
        .plain_flush = x->flush.given && x->flush.value,
        .buffers = x->buffers.given ? x->buffers.entries : 32,
        .local = (uint8_t)local,
        .locked_atomics = x->p.atomics,
        .no_reduction = x->no_reduction,
        .depth_first = x->order,
        .all_errors = x->all,
        .jobs = x->jobs ? (uint32_t)(x->jobs < 256 ? x->jobs : 256) : cores(),
        .most_states = x->limit,
        .most_seconds = x->seconds,
        .most_bytes = x->memory ? x->memory : program_memory(0.75),
        .nondet_low = x->nondet.low,
        .nondet_high = x->nondet.high,
        .checkpoint = x->checkpoint,
        .outcome_address = x->wanted.address.data,
        .outcome_size = x->wanted.size.data,
        .outcomes = x->wanted.name.count,
        .progress = tell_progress,
        .user = x,
    };
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool tell_progress(void *user, const struct explore_progress *p)
{
    struct exploring *x = user;
    char phase[160];
    double seconds = p->seconds > 0 ? p->seconds : 1;
    snprintf(phase, sizeof phase,
             "%" PRIu64 " states, depth %" PRIu32 ", frontier %" PRIu64 ", %.0f states/s, %.1f "
             "bytes/state",
             p->states, p->depth, p->frontier, (double)p->states / seconds,
             p->states ? (double)p->bytes / (double)p->states : 0.0);
    return progress_callback(&x->p.progress, phase, -1);
}

/* Verdict, file, and under which machine that is. */
static cJSON *new_line(struct exploring *x, enum explore_verdict verdict)
{
    cJSON *line = program_verdict_line(&x->p, x->p.file[0], verdict);
    cJSON_AddStringToObject(line, "model", machine_names[x->model]);
    if (x->model != EXPLORE_SC && x->how.buffers)
        cJSON_AddNumberToObject(line, "buffers", x->how.buffers);
    else if (x->model != EXPLORE_SC)
        cJSON_AddStringToObject(line, "buffers", "unbounded");
    if (x->model == EXPLORE_TSO)
        cJSON_AddStringToObject(line, "flush", flush_names[x->how.plain_flush]);
    cJSON_AddStringToObject(line, "local", local_names[x->how.local]);
    cJSON_AddStringToObject(line, "atomics", program_atomics[x->p.atomics]);
    cJSON_AddBoolToObject(line, "optimise", x->p.optimise);
    return line;
}

static void add_counts(cJSON *line, const struct explore_result *r)
{
    const struct explore_progress *p = &r->at_end;
    cJSON_AddNumberToObject(line, "states", (double)p->states);
    cJSON_AddNumberToObject(line, "transitions", (double)p->transitions);
    cJSON_AddNumberToObject(line, "depth", p->depth);
    cJSON_AddNumberToObject(line, "seconds", program_rounded(p->seconds));
    if (p->states)
        cJSON_AddNumberToObject(line, "bytes_per_state",
                                program_rounded((double)r->stored_bytes / (double)p->states));
}

/* ---- one counterexample ------------------------------------------------------------------ */

struct counterexample {
    const struct explore_finding *finding;
    struct event_list events;
    struct account account;
    struct account_trace trace;
};

/* The path must lead to the error again. */
static bool leads_to_error(const struct counterexample *c)
{
    for (size_t i = 0; i < c->events.count; i++)
        if (c->events.event[i].kind == EVENT_ERROR)
            return true;
    return c->finding->error == EXPLORE_DEADLOCK;
}

static bool understand(struct exploring *x, struct counterexample *c, struct ordeal_error *why)
{
    if (explore_follow(x->p.program.image, &x->how, &c->finding->path, &c->events, NULL, NULL, why)
        != ORDEAL_OK)
        return false;
    if (!leads_to_error(c)) {
        error_set(why, ORDEAL_INTERNAL, "", "its path does not lead to the error again");
        return false;
    }
    return (account_make(&c->account, x->p.program.image, &c->events, x->how.model)
            && account_trace_make(&c->trace, &c->account))
        || error_out_of_memory(why, x->p.file[0]);
}

/* Every counterexample is judged by the certified checker: it must be possible under the model. */
static void confirm(struct exploring *x, struct counterexample *c)
{
    enum { PATIENCE = 20 }; /* seconds */
    struct ordeal_error why = { 0 };
    switch (account_trace_judge(&c->trace, &c->account, PATIENCE, &why)) {
    case ACCOUNT_CONFIRMED:
        if (c->account.relaxed == ACCOUNT_UNDECIDED)
            complain(x->p.command,
                     "%s: the checker did not decide whether a sequentially consistent machine "
                     "can do it: %s",
                     x->p.file[0], why.reason);
        break;
    case ACCOUNT_NO_VERDICT:
        complain(x->p.command, "%s: the checker did not decide about the counterexample: %s",
                 x->p.file[0], why.reason);
        break;
    case ACCOUNT_REFUSED:
        program_report_internal(&x->p,
                                "the counterexample is not one of %s: %s; please report this with "
                                "the program and what --trace writes",
                                ordeal_model_name(account_trace_model(x->how.model)), why.reason);
    }
}

static bool write_svg(void *user, FILE *out)
{
    struct counterexample *c = user;
    return account_svg(&c->account, c->finding, out) && !ferror(out);
}

static void replay(struct exploring *x, struct counterexample *c)
{
    struct stepper s = { &c->account, &x->how, &c->finding->path };
    c->account.by_path = true;
    bool fine = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? stepper_interact(&s, stdin, stdout)
                                                              : stepper_print(&s, stdout);
    if (!fine)
        program_report_memory(&x->p);
}

static void add_finding(cJSON *line, const struct counterexample *c)
{
    const struct explore_finding *f = c->finding;
    struct program_event e = { .pc = f->pc };
    struct source_place at;
    char text[1024];
    for (size_t i = 0; i < c->events.count; i++)
        if (c->events.event[i].kind == EVENT_ERROR)
            e = c->events.event[i];
    cJSON_AddStringToObject(line, "error", explore_error_text(f->error));
    if (f->pc && lines_place(&c->account.lines, &e, &at)) {
        snprintf(text, sizeof text, "%s:%" PRIu32, lines_near_name(at.file), at.line);
        cJSON_AddStringToObject(line, "at", text);
    }
    if (f->error != EXPLORE_DEADLOCK)
        cJSON_AddNumberToObject(line, "thread", f->thread);
    if (f->text[0])
        cJSON_AddStringToObject(line, "what", f->text);
    cJSON_AddNumberToObject(line, "steps", (double)f->path.steps);
    if (c->account.relaxed != ACCOUNT_UNDECIDED)
        cJSON_AddBoolToObject(line, "relaxed", c->account.relaxed == ACCOUNT_RELAXED);
}

static void report_finding(struct exploring *x, const struct explore_result *r,
                           const struct explore_finding *f)
{
    struct counterexample c = { .finding = f };
    struct ordeal_error why = { 0 };
    if (understand(x, &c, &why)) {
        confirm(x, &c);
        cJSON *line = new_line(x, EXPLORE_FAIL);
        add_finding(line, &c);
        add_counts(line, r);
        if (x->p.json)
            account_json(&c.account, f, line);
        output_line_print(line, x->p.json);
        if (x->replay)
            replay(x, &c);
        else if (!x->p.json && !account_text(&c.account, f, stdout))
            program_report_memory(&x->p);
        if (x->svg)
            program_write(&x->p, x->svg, write_svg, &c);
        if (x->trace)
            program_write_trace(&x->p, x->trace, c.trace.trace);
    } else {
        if (why.status == ORDEAL_OK || why.status == ORDEAL_BAD_INPUT)
            why.status = ORDEAL_INTERNAL;
        program_report_error(&x->p, &why);
    }
    account_trace_free(&c.trace);
    account_free(&c.account);
    explore_events_free(&c.events);
}

/* ---- the result -------------------------------------------------------------------------- */

static int64_t outcome_value(const struct exploring *x, const uint32_t *row, size_t k)
{
    uint8_t size = x->wanted.size.data[k];
    return size == 1 ? (int8_t)row[k] : size == 2 ? (int16_t)row[k] : (int32_t)row[k];
}

static void add_outcomes(const struct exploring *x, const struct explore_result *r, cJSON *line)
{
    if (!x->p.json) {
        cJSON_AddNumberToObject(line, "outcomes", (double)r->outcome_rows);
        return;
    }
    cJSON *rows = cJSON_AddArrayToObject(line, "outcomes");
    for (size_t i = 0; i < r->outcome_rows; i++) {
        cJSON *row = cJSON_CreateObject();
        for (size_t k = 0; k < x->wanted.name.count; k++)
            cJSON_AddNumberToObject(row, x->wanted.name.data[k],
                                    (double)outcome_value(x, r->outcome + i * x->wanted.name.count,
                                                          k));
        cJSON_AddItemToArray(rows, row);
    }
}

static void print_outcomes(const struct exploring *x, const struct explore_result *r)
{
    for (size_t i = 0; i < r->outcome_rows; i++)
        for (size_t k = 0; k < x->wanted.name.count; k++)
            printf("%s=%" PRId64 "%c", x->wanted.name.data[k],
                   outcome_value(x, r->outcome + i * x->wanted.name.count, k),
                   k + 1 < x->wanted.name.count ? ' ' : '\n');
}

/* By a limit that was given, not by something that the program does. */
static bool is_limited(const struct explore_result *r)
{
    static const char limit[] = "the limit of ";
    return interrupted() || strncmp(r->note, limit, sizeof limit - 1) == 0;
}

/* Why it is not decided, and how to go on where that helps. */
static void add_why(const struct exploring *x, const struct explore_result *r, cJSON *line)
{
    char text[512];
    cJSON_AddStringToObject(line, "why", interrupted() ? "interrupted" : r->note);
    if (!is_limited(r))
        return;
    if (x->checkpoint)
        snprintf(text, sizeof text, "the same command with higher limits goes on from %s",
                 x->checkpoint);
    else
        snprintf(text, sizeof text, "raise the limit, or keep what is done: --checkpoint FILE");
    cJSON_AddStringToObject(line, "next", text);
}

static void report_result(struct exploring *x, const struct explore_result *r)
{
    for (size_t i = 0; i < r->findings; i++)
        report_finding(x, r, &r->finding[i]);
    if (r->verdict == EXPLORE_FAIL)
        return;
    cJSON *line = new_line(x, r->verdict);
    add_counts(line, r);
    if (x->wanted.name.count)
        add_outcomes(x, r, line);
    if (r->verdict == EXPLORE_UNDECIDED)
        add_why(x, r, line);
    else if (r->note[0])
        cJSON_AddStringToObject(line, "note", r->note);
    output_line_print(line, x->p.json);
    if (!x->p.json)
        print_outcomes(x, r);
}

static void search(struct exploring *x)
{
    struct explore_result *r = NULL;
    struct ordeal_error error = { 0 };
    enum ordeal_status status = explore(x->p.program.image, &x->how, &r, &error);
    if (status == ORDEAL_OK) {
        report_result(x, r);
    } else {
        error.status = status;
        program_report_error(&x->p, &error);
    }
    explore_result_free(r);
}

/* ---- the program ------------------------------------------------------------------------- */

/* "x,flag+4" to places; false: complained. */
static bool find_outcomes(struct exploring *x)
{
    struct outcome_names *w = &x->wanted;
    char *rest = x->outcomes ? strdup(x->outcomes) : NULL;
    w->text = rest;
    for (char *name; rest && (name = strsep(&rest, ","));) {
        struct variable v;
        struct why why;
        if (!*name || !variable_find(x->p.program.image, name, &v, &why)) {
            x->p.status = complain(x->p.command, "--outcomes: %s",
                                   *name ? why.text
                                         : "names of global variables with commas between "
                                           "them: x,y");
            return false;
        }
        if (!LIST_PUSH(&w->name, name) || !LIST_PUSH(&w->address, v.address)
            || !LIST_PUSH(&w->size, v.size)) {
            x->p.status = complain(x->p.command, "out of memory");
            return false;
        }
    }
    return true;
}

static bool write_elf(void *user, FILE *out)
{
    const struct program_file *p = user;
    return fwrite(p->elf, 1, p->size, out) == p->size;
}

static bool load(struct exploring *x)
{
    bool fine = program_load(&x->p);
    if (fine && x->keep_elf)
        program_write(&x->p, x->keep_elf, write_elf, &x->p.program);
    return fine;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct exploring x = { .model = 0 };
    int status = program_parse(&x.p, self, argc, argv, &x);
    if (status < 0)
        status = refuse_files(&x);
    if (status < 0)
        status = refuse_options(&x);
    if (status >= 0)
        return status;
    program_begin(&x.p);
    if (load(&x) && find_outcomes(&x)) {
        fill_options(&x);
        search(&x);
    }
    LIST_FREE(&x.wanted.name);
    LIST_FREE(&x.wanted.address);
    LIST_FREE(&x.wanted.size);
    free(x.wanted.text);
    return program_end(&x.p);
}

const struct command command_explore = {
    .name = "explore",
    .summary = "find every execution of a C or C++ program under a memory model",
    .operands = "FILE...",
    .description =
        "Compiles the sources of one program with threads (.c, .i, .cpp) for RISC-V, or takes an\n"
        "ELF file, and follows all that it can do on a machine whose stores wait in buffers.\n"
        "Prints one line: PASS, nothing goes wrong, within the buffers given and as compiled; FAIL,\n"
        "an assertion, a bad access, a deadlock, two threads in a critical section, ...; or\n"
        "UNDECIDED, a limit was reached. Below a FAIL stands how it comes to that, by lines of the\n"
        "source. relaxed=yes: a sequentially consistent machine cannot do it, as the checker of\n"
        "'ordeal check' has proved; it also proves that the model allows it.\n\n"
        "What of the C and C++ libraries is there is in docs/programs.md.\n\n"
        "Exit status: 0 PASS; 1 FAIL; 2 a program that cannot be compiled or run; 4 UNDECIDED;\n"
        "130 after ^C, with what was found until then; 70 if the checker refuses a\n"
        "counterexample, a defect of ordeal.",
    .example = "  $ ordeal explore --model tso examples/programs/dekker.c\n"
               "  $ ordeal explore --model pso --svg bad.svg --trace bad.trace queue.cpp\n"
               "  $ ordeal explore --outcomes r1,r2 sb.c\n"
               "  $ ordeal explore --checkpoint long.state --memory 8000 long.c\n",
    .options = options,
    .run = run,
};
