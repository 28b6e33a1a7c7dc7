/* `ordeal show`: one verdict explained in words and as a picture. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "picture.h"
#include "record.h"

struct show {
    struct choice model;
    enum ordeal_algorithm algorithm;
    const char *dot, *svg;
    enum ordeal_format format;
    double limit;
    size_t memory;
    bool time_order, all, json;

    const struct command *command;
    struct input in;
    struct ordeal_verdict *verdict;
    struct naming names;
};

static const struct option_spec options[] = {
    OPTION(show, model, "model", 'm', "MODEL", model, NULL,
           "memory model; without it the trace's own, else TSO:"),
    OPTION(show, algorithm, "algorithm", 'a', "NAME", algorithm, "auto", "how to decide"),
    OPTION(show, time_order, "time-order", 0, NULL, flag, NULL,
           "take the cycles in the trace as order, not only as hints"),
    OPTION(show, dot, "dot", 0, "FILE", text, NULL, "draw the violation for Graphviz"),
    OPTION(show, svg, "svg", 0, "FILE", text, NULL, "draw the violation as a picture"),
    OPTION(show, all, "all", 0, NULL, flag, NULL,
           "of a PASS: the whole order, not only its first and last places"),
    OPTION(show, limit, "limit", 0, "SECONDS", seconds, NULL, "give up after this time: UNDECIDED"),
    OPTION(show, memory, "memory", 0, "MB", megabytes, NULL,
           "give up when more memory is needed: UNDECIDED"),
    OPTION(show, format, "format", 'f', "FORMAT", format, NULL,
           "how the trace is written; without it guessed:"),
    OPTION(show, json, "json", 'j', NULL, flag, NULL, "all of it as one JSON object"),
    OPTION_END
};

static const char *model_name(const struct show *s)
{
    return ordeal_model_name(ordeal_verdict_model(s->verdict));
}

/* ---- a table of operations, a column a thread ------------------------------------------------ */

struct column {
    uint32_t thread, number;   /* number: the n of Pn */
    LIST(uint32_t) ops;
    size_t width;
};
struct table { LIST(struct column) columns; bool out_of_memory; };

static struct column *column_of(struct show *s, struct table *t, uint32_t thread)
{
    for (size_t i = 0; i < t->columns.count; i++)
        if (t->columns.data[i].thread == thread)
            return &t->columns.data[i];
    struct column fresh = { .thread = thread, .number = thread_number(&s->names, thread) };
    if (!LIST_PUSH(&t->columns, fresh))
        return NULL;
    return &t->columns.data[t->columns.count - 1];
}

static int print_cell(struct show *s, uint32_t op, char *buffer, size_t size)
{
    return snprintf(buffer, size, "%" PRIu32 ": %s", line_of_op(&s->names, op),
                    name_op_bare(&s->names, op));
}

static void print_columns(struct show *s, const struct table *t, size_t first, size_t last)
{
    size_t rows = 0;
    for (size_t c = first; c < last; c++) {
        const struct column *column = &t->columns.data[c];
        printf("  %-*s", c + 1 < last ? (int)column->width : 0,
               name_thread(&s->names, column->thread));
        rows = column->ops.count > rows ? column->ops.count : rows;
    }
    putchar('\n');
    for (size_t row = 0; row < rows; row++) {
        size_t reach = first; /* no blanks at the end of a line */
        for (size_t c = first; c < last; c++)
            if (row < t->columns.data[c].ops.count)
                reach = c + 1;
        for (size_t c = first; c < reach; c++) {
            const struct column *column = &t->columns.data[c];
            char cell[NAME_SIZE + 16] = "";
            if (row < column->ops.count)
                print_cell(s, column->ops.data[row], cell, sizeof cell);
            printf("  %-*s", c + 1 < reach ? (int)column->width : 0, cell);
        }
        putchar('\n');
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* As many threads side by side as the page is wide, the others below. */
static void print_table(struct show *s, const uint32_t *ops, size_t count)
{
    enum { PAGE = 100 };
    struct table t = { 0 };
    for (size_t i = 0; i < count && !t.out_of_memory; i++) {
        struct column *c = column_of(s, &t, ordeal_trace_op(s->in.trace, ops[i])->thread);
        char cell[NAME_SIZE + 16];
        size_t width = (size_t)print_cell(s, ops[i], cell, sizeof cell);
        t.out_of_memory = !c || !LIST_PUSH(&c->ops, ops[i]);
        if (c && width > c->width)
            c->width = width;
    }
    if (t.columns.count)
        qsort(t.columns.data, t.columns.count, sizeof *t.columns.data, by_thread);
    for (size_t first = 0, last; first < t.columns.count && !t.out_of_memory; first = last) {
        size_t width = 0;
        for (last = first; last < t.columns.count; last++) {
            width += t.columns.data[last].width + 2;
            if (last > first && width > PAGE)
                break;
        }
        if (first)
            putchar('\n');
        print_columns(s, &t, first, last);
    }
    for (size_t i = 0; i < t.columns.count; i++)
        LIST_FREE(&t.columns.data[i].ops);
    LIST_FREE(&t.columns);
}

/* ---- FAIL ---------------------------------------------------------------------------- */

static void print_step(const struct show *s, const struct explained *e, size_t number)
{
    printf("%4zu. %*s%s", number, (int)e->depth * 3, "", e->text);
    if (e->rule || e->because.count) {
        printf(" (%s%s", e->rule ? e->rule : "", e->rule && e->because.count ? "; " : "");
        for (size_t i = 0; i < e->because.count; i++)
            printf("%s%u", i ? ", " : e->because.count > 1 ? "steps " : "step ",
                   e->because.data[i]);
        putchar(')');
    }
    if (e->lines.count)
        printf(" [%s:", s->in.name);
    for (size_t i = 0; i < e->lines.count; i++)
        printf("%s%" PRIu32, i ? "," : "", e->lines.data[i]);
    puts(e->lines.count ? "]" : "");
}

static cJSON *numbers_as_json(const uint32_t *numbers, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber(numbers[i]));
    return array;
}

static void record_steps(cJSON *record, const struct explanation *e)
{
    cJSON *steps = cJSON_AddArrayToObject(record, "steps");
    for (size_t i = 0; i < e->steps.count && steps; i++) {
        const struct explained *x = &e->steps.data[i];
        cJSON *step = cJSON_CreateObject();
        cJSON_AddNumberToObject(step, "step", (double)(i + 1));
        cJSON_AddNumberToObject(step, "depth", x->depth);
        cJSON_AddStringToObject(step, "text", x->text);
        if (x->rule)
            cJSON_AddStringToObject(step, "rule", x->rule);
        cJSON_AddItemToObject(step, "because",
                              numbers_as_json(x->because.data, x->because.count));
        cJSON_AddItemToObject(step, "lines", numbers_as_json(x->lines.data, x->lines.count));
        cJSON_AddItemToArray(steps, step);
    }
}

static void print_core(struct show *s)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(s->verdict, &ops);
    if (count == 0)
        return;
    printf("\nThese %zu operations alone already violate it (with their lines in the trace):\n\n",
           count);
    print_table(s, ops, count);
}

/* The stores to the word of a load that saw what nobody wrote, and the word's initial value. */
static bool writes_same_word(const struct ordeal_op *a, const struct ordeal_op *load)
{
    bool writes = a->kind == ORDEAL_STORE || a->kind == ORDEAL_SWAP || a->kind == ORDEAL_CAS;
    uint64_t a_end = a->address + (UINT64_C(1) << a->size_log2);
    uint64_t load_end = load->address + (UINT64_C(1) << load->size_log2);
    return writes && a->base == load->base && a->address < load_end && load->address < a_end;
}

static void print_unwritten(struct show *s, uint32_t event)
{
    enum { SHOWN = 20 };
    struct ordeal_event e, initial;
    ordeal_verdict_event(s->verdict, event, &e);
    printf("\n%s [%s:%" PRIu32 "] saw %" PRIu64 " in %s, but nobody ever wrote that there.\n",
           name_op(&s->names, e.op), s->in.name, line_of_op(&s->names, e.op), e.value, e.location);
    puts("What was written there:");
    uint32_t events = ordeal_verdict_events(s->verdict);
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(s->verdict, i, &initial);
        if (initial.op != ORDEAL_NONE)
            break; /* initial stores come first */
        if (strcmp(initial.location, e.location) == 0)
            printf("  %s\n", name_event(&s->names, i, ORDEAL_NONE));
    }
    size_t found = 0, length = ordeal_trace_length(s->in.trace);
    for (size_t i = 0; i < length; i++)
        if (writes_same_word(ordeal_trace_op(s->in.trace, i), ordeal_trace_op(s->in.trace, e.op))
            && ++found <= SHOWN)
            printf("  %s [%s:%" PRIu32 "]\n", name_op(&s->names, i), s->in.name,
                   line_of_op(&s->names, i));
    if (found > SHOWN)
        printf("  and %zu more\n", found - SHOWN);
}

static int write_picture(struct show *s, const struct proof *p, const char *file,
                         enum picture_format format)
{
    struct output out;
    int error = output_open(&out, file);
    if (error)
        return complain(s->command, "%s: %s", file, strerror(error));
    char title[1024];
    snprintf(title, sizeof title, "%s violates %s", s->in.label, model_name(s));
    errno = 0;
    if (!picture_write(p, &s->names, ordeal_verdict_model(s->verdict), title, format, out.stream)) {
        error = errno;
        output_abandon(&out);
        return complain(s->command, "%s: the picture could not be made%s%s", file,
                        error ? ": " : "", error ? strerror(error) : "");
    }
    error = output_commit(&out);
    return error ? complain(s->command, "%s: %s", file, strerror(error)) : EXIT_FINE;
}

static int draw(struct show *s, const struct proof *p)
{
    int status = EXIT_FINE;
    if ((s->dot || s->svg) && p->inferences.count == 0)
        return complain(s->command, "there is nothing to draw: the violation is a single value");
    if (s->dot)
        status = exit_worst(status, write_picture(s, p, s->dot, PICTURE_DOT));
    if (s->svg)
        status = exit_worst(status, write_picture(s, p, s->svg, PICTURE_SVG));
    return status;
}

static void print_fail(struct show *s, const struct explanation *e)
{
    printf("FAIL %s violates %s.\n", s->in.label, model_name(s));
    uint32_t unwritten = ordeal_verdict_unwritten(s->verdict);
    if (unwritten != ORDEAL_NONE) {
        print_unwritten(s, unwritten);
        return;
    }
    print_core(s);
    if (e->steps.count)
        puts("\nWhy no order of them is legal:\n");
    for (size_t i = 0; i < e->steps.count; i++)
        print_step(s, &e->steps.data[i], i + 1);
}

static int show_fail(struct show *s, cJSON *record)
{
    struct proof proof;
    struct explanation e = { 0 };
    int status = EXIT_VIOLATION;
    bool whole = proof_read(&proof, s->verdict)
              && explain(&e, &proof, &s->names, ordeal_verdict_model(s->verdict));
    if (!whole) {
        status = complain(s->command, "out of memory");
    } else if (s->json) {
        record_core(record, s->in.trace, s->verdict);
        if (ordeal_verdict_unwritten(s->verdict) != ORDEAL_NONE)
            cJSON_AddStringToObject(record, "unwritten",
                                    name_event(&s->names, ordeal_verdict_unwritten(s->verdict),
                                               ORDEAL_NONE));
        record_steps(record, &e);
    } else {
        print_fail(s, &e);
    }
    int drawn = whole ? draw(s, &proof) : EXIT_FINE;
    explanation_free(&e);
    proof_free(&proof);
    return drawn == EXIT_FINE ? status : drawn;
}

/* ---- PASS ---------------------------------------------------------------------------- */

static void print_place(struct show *s, const struct ordeal_place *p, size_t number)
{
    uint32_t line = line_of_event(&s->names, p->event);
    printf("%6zu. %s", number, name_event(&s->names, p->event, p->view));
    if (line)
        printf(" [%s:%" PRIu32 "]", s->in.name, line);
    putchar('\n');
}

static void print_pass(struct show *s)
{
    enum { EDGE = 10 };
    const struct ordeal_place *places;
    size_t count = ordeal_verdict_order(s->verdict, &places);
    printf("PASS %s obeys %s.\n\nAn order that proves it, earliest first "
           "(an atomic group is named by its first operation):\n\n", s->in.label, model_name(s));
    for (size_t i = 0; i < count && !ferror(stdout); i++) {
        if (!s->all && count > 2 * EDGE && i == EDGE) {
            printf("        ... %zu more, shown with --all\n", count - 2 * EDGE);
            i = count - EDGE;
        }
        print_place(s, &places[i], i + 1);
    }
}

static void record_order(struct show *s, cJSON *record)
{
    const struct ordeal_place *places;
    size_t count = ordeal_verdict_order(s->verdict, &places);
    cJSON *order = cJSON_AddArrayToObject(record, "order");
    for (size_t i = 0; i < count && order; i++) {
        cJSON *place = cJSON_CreateObject();
        cJSON_AddStringToObject(place, "op",
                                name_event(&s->names, places[i].event, places[i].view));
        cJSON_AddNumberToObject(place, "line", line_of_event(&s->names, places[i].event));
        cJSON_AddItemToArray(order, place);
    }
}

/* ---- the command ----------------------------------------------------------------------- */

static void print_statistics(const struct show *s)
{
    const char *name;
    uint64_t value;
    fputs("\nStatistics:", stdout);
    for (size_t i = 0; ordeal_verdict_counter(s->verdict, i, &name, &value); i++)
        printf(" %s=%" PRIu64, name, value);
    putchar('\n');
}

static int show_verdict(struct show *s)
{
    enum ordeal_result result = ordeal_verdict_result(s->verdict);
    const char *note = ordeal_verdict_note(s->verdict);
    cJSON *record = s->json ? record_new(verdict_words[result], &s->in) : NULL;
    int status = EXIT_FINE;
    if (record) {
        cJSON_AddStringToObject(record, "model", model_name(s));
        cJSON_AddStringToObject(record, "algorithm", ordeal_algorithm_name(s->algorithm));
        record_counters(record, s->verdict);
        if (note[0])
            cJSON_AddStringToObject(record, "note", note);
    }
    if (result == ORDEAL_FAIL) {
        status = show_fail(s, record);
    } else {
        if (result == ORDEAL_UNDECIDED)
            status = interrupted() ? EXIT_INTERRUPTED : EXIT_UNDECIDED;
        if (result == ORDEAL_PASS && s->json)
            record_order(s, record);
        else if (result == ORDEAL_PASS)
            print_pass(s);
        else if (!s->json)
            printf("UNDECIDED %s: whether it obeys %s is not known.\n", s->in.label,
                   model_name(s));
        if (s->dot || s->svg)
            complain(s->command, "no picture is written: there is no violation to draw");
    }
    if (s->json) {
        record_print(record, true);
        return status;
    }
    if (note[0])
        printf("\nNote: %s\n", note);
    print_statistics(s);
    return status;
}

static int show_error(const struct show *s, const struct ordeal_error *e)
{
    char text[1024];
    error_format(e, text, sizeof text);
    if (e->status == ORDEAL_INTERNAL) {
        complain(s->command, "%s: internal error: the verdict could not be proved: %s; please "
                             "report this with the trace", s->in.label, e->reason);
        return EXIT_INTERNAL;
    }
    complain(s->command, "%s", text);
    if (e->status == ORDEAL_LIMIT)
        return interrupted() ? EXIT_INTERRUPTED : EXIT_UNDECIDED;
    return EXIT_BAD;
}

static int show_trace(struct show *s)
{
    struct ordeal_options how = { .model = ORDEAL_TSO, .algorithm = s->algorithm,
                                  .time_order = s->time_order };
    ordeal_trace_claimed(s->in.trace, &how.model);
    if (s->model.given)
        how.model = (enum ordeal_model)s->model.value;
    enum ordeal_status status = ordeal_check(s->in.trace, &how, &s->verdict);
    progress_erase(&s->in.progress);
    if (status != ORDEAL_OK) {
        struct ordeal_error e = *ordeal_last_error(s->in.o);
        e.status = status;
        if (!e.file[0])
            snprintf(e.file, sizeof e.file, "%s", s->in.name);
        return show_error(s, &e);
    }
    s->names = (struct naming){ .trace = s->in.trace, .verdict = s->verdict,
                                .views = how.model == ORDEAL_PC };
    int shown = show_verdict(s);
    ordeal_verdict_free(s->verdict);
    return shown;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct show s = { .command = self };
    int operand, status = options_parse(self, argc, argv, &s, &operand);
    if (status >= 0)
        return status;
    if (argc - operand != 1)
        return complain(self, "%s", argc == operand
                        ? "which trace? Name a file, or '-' for standard input"
                        : "one trace at a time; 'ordeal check' takes several");
    interrupt_watch();
    struct ordeal_limits limits = { .seconds = s.limit, .bytes = s.memory };
    enum ordeal_status opened = input_open(&s.in, argv[operand], s.format, &limits);
    if (opened == ORDEAL_OK)
        opened = input_next(&s.in);
    if (opened == ORDEAL_OK)
        status = show_trace(&s);
    else if (opened == ORDEAL_END)
        status = complain(self, "%s: there is no trace in it; expected 'ordeal 1' first",
                          s.in.label);
    else
        status = show_error(&s, &s.in.error);
    input_close(&s.in);
    return status;
}

const struct command command_show = {
    .name = "show",
    .summary = "explain the verdict on one trace, in words and as a picture",
    .operands = "TRACE",
    .description =
        "Says whether the trace obeys the model and why. Of a violation it prints the operations\n"
        "that already violate it, a column a thread, and then one step a line: what must be\n"
        "before what, by which rule, from which earlier steps, [where in the trace]; the last\n"
        "step is the contradiction. --dot and --svg draw it. To ask what if, edit the trace and\n"
        "show it again. "
        "Of a file with several traces the first is shown.\n\n"
        "The rules: R1, R2, R3, PO, SA, DEP, T2, T3 keep program order (loads first, stores in\n"
        "order, membars, the model, same word, dependence, transactions); R4, R5, R6, R7 follow\n"
        "from the values that loads saw; INIT, A6, FIN, TIME from initial values, 'order' lines,\n"
        "final values and cycles; AT: a swap is one piece. Exit status as for 'ordeal check'.",
    .example = "  $ ordeal show --svg why.svg failing.trace\n"
               "  ...\n"
               "   1. P1 L[A]=2 saw P2 S[A]#2, so P2 S[A]#2 is before it (R4) "
               "[failing.trace:3,4]\n",
    .options = options,
    .run = run,
};
