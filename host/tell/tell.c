/* SPDX-License-Identifier: Apache-2.0 */
#include "tell.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "test/kinds.h"

static const char *model_name(const struct told *t)
{
    return ordeal_model_name(ordeal_verdict_model(t->verdict));
}

/* ---- a table of operations, a column a thread ------------------------------------------------ */

struct column {
    uint32_t thread, number;   /* number: the n of Pn */
    LIST(uint32_t) ops;
    size_t width;
};
struct table { LIST(struct column) columns; };

static struct column *column_of(struct told *t, struct table *table, uint32_t thread)
{
    for (size_t i = 0; i < table->columns.count; i++)
        if (table->columns.data[i].thread == thread)
            return &table->columns.data[i];
    struct column fresh = { .thread = thread, .number = thread_number(&t->names, thread) };
    if (!LIST_PUSH(&table->columns, fresh))
        return NULL;
    return &table->columns.data[table->columns.count - 1];
}

static int format_cell(struct told *t, uint32_t op, char *buffer, size_t size)
{
    return snprintf(buffer, size, "%" PRIu32 ": %s", line_of_op(&t->names, op),
                    name_op_bare(&t->names, op));
}

static void tell_columns(struct told *t, const struct table *table, size_t first, size_t last)
{
    size_t rows = 0;
    for (size_t c = first; c < last; c++) {
        const struct column *column = &table->columns.data[c];
        fprintf(t->out, "  %-*s", c + 1 < last ? (int)column->width : 0,
                name_thread(&t->names, column->thread));
        rows = column->ops.count > rows ? column->ops.count : rows;
    }
    fputc('\n', t->out);
    for (size_t row = 0; row < rows; row++) {
        size_t reach = first; /* no blanks at the end of a line */
        for (size_t c = first; c < last; c++)
            if (row < table->columns.data[c].ops.count)
                reach = c + 1;
        for (size_t c = first; c < reach; c++) {
            const struct column *column = &table->columns.data[c];
            char cell[NAME_SIZE + 16] = "";
            if (row < column->ops.count)
                format_cell(t, column->ops.data[row], cell, sizeof cell);
            fprintf(t->out, "  %-*s", c + 1 < reach ? (int)column->width : 0, cell);
        }
        fputc('\n', t->out);
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct column *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool fill_table(struct told *t, struct table *table, const uint32_t *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct column *c = column_of(t, table, ordeal_trace_op(t->in->trace, ops[i])->thread);
        char cell[NAME_SIZE + 16];
        size_t width = (size_t)format_cell(t, ops[i], cell, sizeof cell);
        if (!c || !LIST_PUSH(&c->ops, ops[i]))
            return false;
        if (width > c->width)
            c->width = width;
    }
    if (table->columns.count)
        qsort(table->columns.data, table->columns.count, sizeof *table->columns.data, by_thread);
    return true;
}

/* As many threads side by side as the page is wide, the others below. */
static bool tell_table(struct told *t, const uint32_t *ops, size_t count)
{
    enum { PAGE = 100 };
    struct table table = { 0 };
    bool whole = fill_table(t, &table, ops, count);
    for (size_t first = 0, last; first < table.columns.count && whole; first = last) {
        size_t width = 0;
        for (last = first; last < table.columns.count; last++) {
            width += table.columns.data[last].width + 2;
            if (last > first && width > PAGE)
                break;
        }
        if (first)
            fputc('\n', t->out);
        tell_columns(t, &table, first, last);
    }
    for (size_t i = 0; i < table.columns.count; i++)
        LIST_FREE(&table.columns.data[i].ops);
    LIST_FREE(&table.columns);
    return whole;
}

/* ---- FAIL ---------------------------------------------------------------------------- */

/* "12.    P1 S[A]#1 is before ... (R7; step 8) [3,5]" */
static void write_step(const struct explained *e, size_t number, FILE *out)
{
    fprintf(out, "%4zu. %*s%s", number, (int)e->depth * 3, "", e->text);
    if (e->rule || e->because.count) {
        fprintf(out, " (%s%s", e->rule ? e->rule : "", e->rule && e->because.count ? "; " : "");
        for (size_t i = 0; i < e->because.count; i++)
            fprintf(out, "%s%u",
                    i                      ? ", "
                    : e->because.count > 1 ? "steps "
                                           : "step ",
                    e->because.data[i]);
        fputc(')', out);
    }
    for (size_t i = 0; i < e->lines.count; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : " [", e->lines.data[i]);
    fputs(e->lines.count ? "]\n" : "\n", out);
}

static bool tell_core(struct told *t)
{
    const uint32_t *ops;
    size_t count = ordeal_verdict_core(t->verdict, &ops);
    if (count == 0)
        return true;
    if (count == 1)
        fputs("\nThis operation alone already violates it (with its line in the trace):\n\n",
              t->out);
    else
        fprintf(t->out,
                "\nThese %zu operations alone already violate it (with their lines in the "
                "trace):\n\n",
                count);
    return tell_table(t, ops, count);
}

/* The stores to the word of a load that saw what nobody wrote, and the word's initial value. */
static bool writes_same_word(const struct ordeal_op *a, const struct ordeal_op *load)
{
    uint64_t a_end = a->address + (UINT64_C(1) << a->size_log2);
    uint64_t load_end = load->address + (UINT64_C(1) << load->size_log2);
    return kind_writes(a->kind) && a->base == load->base && a->address < load_end
        && load->address < a_end;
}

static void tell_writer(struct told *t, size_t i)
{
    const struct ordeal_op *op = ordeal_trace_op(t->in->trace, i);
    fprintf(t->out, "  %s [%s:%" PRIu32 "]", name_op(&t->names, i), t->in->name,
            line_of_op(&t->names, i));
    if (op->kind == ORDEAL_AMO && op->flags & ORDEAL_HAS_VALUE)
        fprintf(t->out, ", which wrote %" PRIu64, ordeal_op_written(op));
    fputc('\n', t->out);
}

static void tell_unwritten(struct told *t, uint32_t event)
{
    enum { SHOWN = 20 };
    struct ordeal_event e, initial;
    ordeal_verdict_event(t->verdict, event, &e);
    fprintf(t->out, "\n%s [%s:%" PRIu32 "] saw %" PRIu64 " in %s, but nobody ever wrote that "
                    "there.\nWhat was written there:\n", name_op(&t->names, e.op), t->in->name,
            line_of_op(&t->names, e.op), e.value, e.location);
    uint32_t events = ordeal_verdict_events(t->verdict);
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(t->verdict, i, &initial);
        if (initial.op != ORDEAL_NONE)
            break; /* initial stores come first */
        if (strcmp(initial.location, e.location) == 0)
            fprintf(t->out, "  %s\n", name_event(&t->names, i, ORDEAL_NONE));
    }
    const struct ordeal_trace *trace = t->in->trace;
    size_t found = 0, length = ordeal_trace_length(trace);
    for (size_t i = 0; i < length; i++)
        if (writes_same_word(ordeal_trace_op(trace, i), ordeal_trace_op(trace, e.op))
            && ++found <= SHOWN)
            tell_writer(t, i);
    if (found > SHOWN)
        fprintf(t->out, "  and %zu more\n", found - SHOWN);
}

/* Of a word that ended with what nobody wrote: its initial value, and the stores that count. */
static void tell_unwritten_final(struct told *t, uint32_t event, uint64_t value)
{
    enum { SHOWN = 20 };
    struct ordeal_event initial, e;
    ordeal_verdict_event(t->verdict, event, &initial);
    fprintf(t->out,
            "\nIn the end memory holds %" PRIu64 " in %s, but nobody ever wrote that there.\n"
            "What was written there:\n  %s\n",
            value, initial.location, name_event(&t->names, event, ORDEAL_NONE));
    uint32_t found = 0, events = ordeal_verdict_events(t->verdict);
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(t->verdict, i, &e);
        if (e.store && e.op != ORDEAL_NONE && strcmp(e.location, initial.location) == 0
            && ++found <= SHOWN)
            tell_writer(t, e.op);
    }
    if (found > SHOWN)
        fprintf(t->out, "  and %" PRIu32 " more\n", found - SHOWN);
}

/* ---- two cases side by side -------------------------------------------------------------- */

/* The steps first .. second-1 are the one case, second .. end-1 the other. */
struct cases {
    size_t first, second, end, rows; /* 0 rows: no cases, or one below the other */
};

static size_t branch_end(const struct explanation *e, size_t i, unsigned branch)
{
    while (i < e->steps.count && e->steps.data[i].branch == branch)
        i++;
    return i;
}

static struct cases cases_at(const struct explanation *e, size_t i)
{
    enum { MOST_ROWS = 8 };
    size_t second = branch_end(e, i, 1), end = branch_end(e, second, 2);
    size_t left = second - i, right = end - second, rows = left > right ? left : right;
    bool alike = 2 * left >= right && 2 * right >= left;
    return (struct cases){ .first = i,
                           .second = second,
                           .end = end,
                           .rows = left && right && alike && rows <= MOST_ROWS ? rows : 0 };
}

/* NULL: out of memory. */
static char *step_text(const struct explanation *e, size_t i)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_stream(&text, &size);
    if (!out)
        return NULL;
    write_step(&e->steps.data[i], i + 1, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

enum { NUMBER_WIDTH = 6, CASE_WIDTH = 53 };

/* Takes as many words as fit off the text, and gives their length. */
static size_t take_words(const char **text, size_t width)
{
    const char *begin = *text, *end = begin + strcspn(begin, "\n");
    size_t fits = (size_t)(end - begin);
    if (fits > width)
        for (fits = width; fits > 0 && begin[fits] != ' ';)
            fits--;
    if (fits == 0) /* a word that is too long stays whole */
        fits = NUMBER_WIDTH + strcspn(begin + NUMBER_WIDTH, " \n");
    *text = begin + fits + strspn(begin + fits, " \n");
    return fits;
}

/* One line of a cell; later lines stand below the first one's words. */
static void write_cell(const char **text, bool begun, bool padded, FILE *out)
{
    size_t indent = begun && **text ? NUMBER_WIDTH : 0;
    const char *words = *text;
    size_t length = **text ? take_words(text, CASE_WIDTH - indent) : 0;
    size_t blanks = CASE_WIDTH > indent + length ? CASE_WIDTH - indent - length : 0;
    fprintf(out, "%*s%.*s%*s", (int)indent, "", (int)length, words, padded ? (int)blanks : 0, "");
}

static void write_row(const char *left, const char *right, FILE *out)
{
    for (bool begun = false; *left || *right; begun = true) {
        write_cell(&left, begun, true, out);
        fputs(*right ? " | " : " |", out);
        write_cell(&right, begun, false, out);
        fputc('\n', out);
    }
}

static bool tell_cases(struct told *t, const struct cases *c)
{
    bool whole = true;
    for (size_t row = 0; row < c->rows && whole; row++) {
        bool left = c->first + row < c->second, right = c->second + row < c->end;
        char *a = left ? step_text(t->why, c->first + row) : strdup("");
        char *b = right ? step_text(t->why, c->second + row) : strdup("");
        whole = a && b;
        if (whole)
            write_row(a, b, t->out);
        free(a);
        free(b);
    }
    return whole;
}

/* In chains rules have but their names: what those mean, in a line. */
static void tell_rules(const struct told *t)
{
    const char *joint = "\nIn chains: ";
    bool said[ORDEAL_RULE_COUNT] = { false };
    for (size_t i = 0; i < t->why->edges.count; i++) {
        const struct explained_edge *e = &t->why->edges.data[i];
        if (t->why->steps.data[e->step - 1].edges.count > 1 && rule_is_plain(e->edge.rule))
            said[e->edge.rule] = true;
    }
    for (unsigned rule = 0; rule < ORDEAL_RULE_COUNT; rule++) {
        if (!said[rule])
            continue;
        fprintf(t->out, "%s%s, %s", joint, ordeal_rule_name(rule), ordeal_rule_text(rule));
        joint = "; ";
    }
    fputs(*joint == '\n' ? "" : ".\n", t->out);
}

/* False: out of memory. */
static bool tell_why(struct told *t)
{
    if (t->why->steps.count == 0)
        return true;
    fputc('\n', t->out);
    for (size_t i = 0; i < t->why->story.count; i++)
        fprintf(t->out, "%s\n", t->why->story.data[i]);
    fputs("\nStep by step (< is before; lines of the trace in brackets):\n\n", t->out);
    bool whole = true;
    for (size_t i = 0, next; i < t->why->steps.count && whole; i = next) {
        struct cases cases = cases_at(t->why, i);
        if (cases.rows)
            whole = tell_cases(t, &cases);
        else
            write_step(&t->why->steps.data[i], i + 1, t->out);
        next = cases.rows ? cases.end : i + 1;
    }
    tell_rules(t);
    return whole;
}

static bool tell_fail(struct told *t)
{
    uint64_t value;
    fprintf(t->out, "FAIL %s violates %s.\n", t->in->label, model_name(t));
    uint32_t unwritten = ordeal_verdict_unwritten(t->verdict);
    uint32_t unwritten_final = ordeal_verdict_unwritten_final(t->verdict, &value);
    if (unwritten != ORDEAL_NONE || unwritten_final != ORDEAL_NONE) {
        if (unwritten != ORDEAL_NONE)
            tell_unwritten(t, unwritten);
        else
            tell_unwritten_final(t, unwritten_final, value);
        return true;
    }
    if (!tell_core(t))
        return false;
    return tell_why(t);
}

/* ---- PASS ---------------------------------------------------------------------------- */

static void tell_place(struct told *t, const struct ordeal_place *p, size_t number)
{
    uint32_t line = line_of_event(&t->names, p->event);
    fprintf(t->out, "%6zu. %s", number, name_event(&t->names, p->event, p->view));
    if (line)
        fprintf(t->out, " [%s:%" PRIu32 "]", t->in->name, line);
    fputc('\n', t->out);
}

static void tell_pass(struct told *t)
{
    enum { EDGE = 10 };
    const struct ordeal_place *places;
    size_t count = ordeal_verdict_order(t->verdict, &places);
    fprintf(t->out, "PASS %s obeys %s.\n\nAn order that proves it, earliest first "
                    "(an atomic group is named by its first operation):\n\n", t->in->label,
            model_name(t));
    for (size_t i = 0; i < count && !ferror(t->out); i++) {
        if (!t->all && count > 2 * EDGE && i == EDGE) {
            fprintf(t->out, "        ... %zu more, shown with --all\n", count - 2 * EDGE);
            i = count - EDGE;
        }
        tell_place(t, &places[i], i + 1);
    }
}

/* -------------------------------------------------------------------------------------- */

static void tell_statistics(const struct told *t)
{
    const char *name;
    uint64_t value;
    fputs("\nStatistics:", t->out);
    for (size_t i = 0; ordeal_verdict_counter(t->verdict, i, &name, &value); i++)
        fprintf(t->out, " %s=%" PRIu64, name, value);
    fputc('\n', t->out);
}

bool tell_verdict(struct told *t)
{
    enum ordeal_result result = ordeal_verdict_result(t->verdict);
    const char *note = ordeal_verdict_note(t->verdict);
    bool whole = true;
    t->names = (struct naming){ .trace = t->in->trace, .verdict = t->verdict,
                                .views = ordeal_verdict_model(t->verdict) == ORDEAL_PC };
    if (result == ORDEAL_FAIL)
        whole = tell_fail(t);
    else if (result == ORDEAL_PASS)
        tell_pass(t);
    else
        fprintf(t->out, "UNDECIDED %s: whether it obeys %s is not known.\n", t->in->label,
                model_name(t));
    if (note[0])
        fprintf(t->out, "\nNote: %s\n", note);
    tell_statistics(t);
    return whole;
}
