/* SPDX-License-Identifier: Apache-2.0 */
/* Program order puts the operations of a thread in their places, so a form depends on the order of
 * the threads alone, and the canonical one is the smallest text of all orders. Colours of threads,
 * refined by what they share, leave few orders to be tried. */
#include "core_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "test/kinds.h"

enum { MOST_ORDERS = 5040, MOST_OPS = 1000 };

struct piece {
    char location[64];
    uint32_t base, line;
    uint64_t offset, initial;
};
struct value {
    uint32_t piece;
    uint64_t value;
};

/* One word access of an operation of the core. */
struct access {
    uint32_t op, piece, value;
    uint64_t offset;
    bool store;
};
struct link {
    uint8_t rule;
    uint32_t from, to;           /* operations of the core; NONE: an initial store */
    uint32_t from_name, to_name; /* in the text that is being written */
};
struct core_thread {
    uint32_t number;
    uint64_t colour;
};

struct forming {
    const struct ordeal_trace *trace;
    const struct ordeal_verdict *verdict;
    const uint32_t *ops;
    size_t count;
    LIST(struct access) accesses; /* by operation */
    LIST(struct piece) pieces;
    LIST(struct value) values;
    LIST(struct link) links;
    LIST(struct core_thread) threads;
    uint32_t lines;
    /* Names that were given so far in the text that is being written, from 1; 0: none. */
    uint32_t *line_name, *piece_name, *words_of_line, *value_name, *values_of_piece, *op_name;
    uint32_t lines_named, ops_named;
};

uint64_t core_form_hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

/* ---- what the core has ------------------------------------------------------------------------ */

static const struct ordeal_op *op_at(const struct forming *f, size_t i)
{
    return ordeal_trace_op(f->trace, f->ops[i]);
}

/* The place of an operation in the core, or NONE. */
static uint32_t find_op(const struct forming *f, uint32_t op)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->ops[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->count && f->ops[low] == op ? (uint32_t)low : ORDEAL_NONE;
}

static bool same_line(const struct ordeal_op *a, const struct ordeal_op *b)
{
    return a->base == b->base && (a->base || a->address >> 6 == b->address >> 6);
}

/* The number of the line that the operation goes to: that of an earlier one, or a new one. */
static uint32_t line_of(struct forming *f, uint32_t op)
{
    for (size_t i = 0; i < f->accesses.count; i++)
        if (same_line(op_at(f, f->accesses.data[i].op), op_at(f, op)))
            return f->pieces.data[f->accesses.data[i].piece].line;
    return f->lines++;
}

/* Where the word lies: the 10 of "A+10", or its address. */
static uint64_t offset_of(const char *location)
{
    const char *plus = strrchr(location, '+');
    if (plus)
        return strtoull(plus + 1, NULL, 0);
    return location[0] >= '0' && location[0] <= '9' ? strtoull(location, NULL, 0) : 0;
}

static bool add_piece(struct forming *f, uint32_t op, const struct ordeal_event *e, uint32_t *piece)
{
    for (*piece = 0; *piece < f->pieces.count; ++*piece)
        if (strcmp(f->pieces.data[*piece].location, e->location) == 0)
            return true;
    struct piece p = { .base = op_at(f, op)->base,
                       .line = line_of(f, op),
                       .offset = offset_of(e->location) };
    memcpy(p.location, e->location, sizeof p.location);
    return LIST_PUSH(&f->pieces, p);
}

static bool add_value(struct forming *f, uint32_t piece, uint64_t value, uint32_t *number)
{
    for (*number = 0; *number < f->values.count; ++*number) {
        const struct value *v = &f->values.data[*number];
        if (v->piece == piece && v->value == value)
            return true;
    }
    return LIST_PUSH(&f->values, ((struct value){ piece, value }));
}

static int by_op(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : x->store - y->store;
}

static bool gather_accesses(struct forming *f)
{
    struct ordeal_event e;
    uint32_t events = ordeal_verdict_events(f->verdict);
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(f->verdict, i, &e);
        struct access a = { .op = e.op == ORDEAL_NONE ? ORDEAL_NONE : find_op(f, e.op),
                            .store = e.store };
        if (a.op == ORDEAL_NONE)
            continue;
        if (!add_piece(f, a.op, &e, &a.piece) || !add_value(f, a.piece, e.value, &a.value))
            return false;
        a.offset = f->pieces.data[a.piece].offset;
        if (!LIST_PUSH(&f->accesses, a))
            return false;
    }
    for (uint32_t i = 0; i < events; i++) {
        ordeal_verdict_event(f->verdict, i, &e);
        for (size_t p = 0; e.op == ORDEAL_NONE && p < f->pieces.count; p++)
            if (strcmp(f->pieces.data[p].location, e.location) == 0)
                f->pieces.data[p].initial = e.value;
    }
    LIST_SORT(&f->accesses, by_op);
    return true;
}

/* What cannot be seen in the operations themselves. */
static bool is_told(uint8_t rule)
{
    return rule == ORDEAL_RULE_FINAL || rule == ORDEAL_RULE_ORDER || rule == ORDEAL_RULE_TIME
        || rule == ORDEAL_RULE_DEP;
}

static uint32_t op_of_event(const struct forming *f, uint32_t event)
{
    struct ordeal_event e;
    ordeal_verdict_event(f->verdict, event, &e);
    return e.op == ORDEAL_NONE ? ORDEAL_NONE : find_op(f, e.op);
}

static bool add_link(struct forming *f, const struct ordeal_edge *e)
{
    struct link fresh = { .rule = e->rule,
                          .from = op_of_event(f, e->from),
                          .to = op_of_event(f, e->to) };
    for (size_t i = 0; i < f->links.count; i++) {
        const struct link *l = &f->links.data[i];
        if (l->rule == fresh.rule && l->from == fresh.from && l->to == fresh.to)
            return true;
    }
    return LIST_PUSH(&f->links, fresh);
}

static bool gather_links(struct forming *f)
{
    struct ordeal_step step;
    size_t steps = ordeal_verdict_steps(f->verdict);
    for (size_t s = 0; s < steps; s++) {
        ordeal_verdict_step(f->verdict, s, &step);
        for (size_t i = 0; i < step.edge_count; i++)
            if (is_told(step.edges[i].rule) && !add_link(f, &step.edges[i]))
                return false;
    }
    return true;
}

static bool gather_threads(struct forming *f)
{
    for (size_t i = 0; i < f->count; i++) {
        uint32_t number = op_at(f, i)->thread;
        size_t k = 0;
        while (k < f->threads.count && f->threads.data[k].number != number)
            k++;
        if (k == f->threads.count
            && !LIST_PUSH(&f->threads, (struct core_thread){ .number = number }))
            return false;
    }
    return true;
}

/* ---- the text of one order of the threads ------------------------------------------------------ */

static const char *const kind_words[ORDEAL_OP_KINDS] = {
    [ORDEAL_LOAD] = "L",
    [ORDEAL_STORE] = "S",
    [ORDEAL_SWAP] = "SWAP",
    [ORDEAL_CAS] = "CAS",
    [ORDEAL_MEMBAR] = "MEMBAR",
    [ORDEAL_TX_BEGIN] = "TX.BEGIN",
    [ORDEAL_TX_END] = "TX.END",
    [ORDEAL_TX_ABORT] = "TX.ABORT",
    [ORDEAL_AMO] = "AMO",
    [ORDEAL_LOAD_RESERVED] = "LR",
    [ORDEAL_STORE_CONDITIONAL] = "SC",
};

static void forget_names(struct forming *f)
{
    memset(f->line_name, 0, f->lines * sizeof *f->line_name);
    memset(f->words_of_line, 0, f->lines * sizeof *f->words_of_line);
    memset(f->piece_name, 0, f->pieces.count * sizeof *f->piece_name);
    memset(f->values_of_piece, 0, f->pieces.count * sizeof *f->values_of_piece);
    memset(f->value_name, 0, f->values.count * sizeof *f->value_name);
    memset(f->op_name, 0, f->count * sizeof *f->op_name);
    f->lines_named = f->ops_named = 0;
}

static void write_place(struct forming *f, uint32_t piece, FILE *out)
{
    const struct piece *p = &f->pieces.data[piece];
    if (!f->line_name[p->line])
        f->line_name[p->line] = ++f->lines_named;
    if (!f->piece_name[piece])
        f->piece_name[piece] = ++f->words_of_line[p->line];
    uint32_t line = f->line_name[p->line] - 1;
    fputc('a' + (int)(line % 26), out);
    if (line >= 26)
        fprintf(out, "%" PRIu32, line / 26);
    if (f->piece_name[piece] > 1)
        fprintf(out, ".%" PRIu32, f->piece_name[piece] - 1);
    if (p->base && ordeal_trace_memory_of(f->trace, p->base) & ORDEAL_UNCACHED)
        fputc('~', out);
}

static uint32_t name_value(struct forming *f, uint32_t value)
{
    const struct value *v = &f->values.data[value];
    if (v->value == f->pieces.data[v->piece].initial)
        return 0;
    if (!f->value_name[value])
        f->value_name[value] = ++f->values_of_piece[v->piece];
    return f->value_name[value];
}

static void write_flavours(uint8_t barrier, FILE *out)
{
    static const char *const flavours[] = { "LL", "LS", "SL", "SS" };
    for (int i = 0; i < 4 && barrier != ORDEAL_FULL; i++)
        if (barrier >> i & 1)
            fprintf(out, ".%s", flavours[i]);
}

static const struct access *first_access(const struct forming *f, uint32_t op)
{
    size_t i = 0;
    while (i < f->accesses.count && f->accesses.data[i].op < op)
        i++;
    return f->accesses.data + i;
}

static void write_accesses(struct forming *f, uint32_t op, FILE *out)
{
    const struct access *a = first_access(f, op), *end = f->accesses.data + f->accesses.count;
    for (const struct access *before = NULL; a < end && a->op == op; before = a++) {
        if (!before || before->piece != a->piece) {
            fputc(before ? ',' : ' ', out);
            write_place(f, a->piece, out);
        }
        fprintf(out, "%c%" PRIu32, a->store ? '#' : '=', name_value(f, a->value));
    }
}

static void write_op(struct forming *f, uint32_t i, FILE *out)
{
    const struct ordeal_op *op = op_at(f, i);
    fputs(kind_words[op->kind] ? kind_words[op->kind] : "?", out);
    if (op->kind == ORDEAL_MEMBAR)
        write_flavours(op->barrier, out);
    if (kind_is_access(op->kind) && op->size_log2 != 2)
        fprintf(out, "/%u", 1u << op->size_log2);
    write_accesses(f, i, out);
    f->op_name[i] = ++f->ops_named;
}

static void write_thread(struct forming *f, uint32_t thread, FILE *out)
{
    bool first = true;
    for (uint32_t i = 0; i < f->count; i++)
        if (op_at(f, i)->thread == thread) {
            fputs(first ? "" : "; ", out);
            write_op(f, i, out);
            first = false;
        }
}

static uint32_t link_end(const struct forming *f, uint32_t op)
{
    return op == ORDEAL_NONE ? 0 : f->op_name[op];
}

static int by_name(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    if (x->from_name != y->from_name)
        return x->from_name < y->from_name ? -1 : 1;
    return x->to_name < y->to_name ? -1 : x->to_name > y->to_name;
}

static void write_links(struct forming *f, FILE *out)
{
    for (size_t i = 0; i < f->links.count; i++) {
        struct link *l = &f->links.data[i];
        l->from_name = link_end(f, l->from);
        l->to_name = link_end(f, l->to);
    }
    LIST_SORT(&f->links, by_name);
    for (size_t i = 0; i < f->links.count; i++) {
        const struct link *l = &f->links.data[i];
        fprintf(out, " | %s %" PRIu32 "<%" PRIu32, ordeal_rule_name(l->rule), l->from_name,
                l->to_name);
    }
}

/* NULL: out of memory. */
static char *write_form(struct forming *f, const struct core_thread *threads, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    forget_names(f);
    for (size_t k = 0; k < count; k++) {
        fputs(k ? " | " : "", out);
        write_thread(f, threads[k].number, out);
    }
    if (count == f->threads.count)
        write_links(f, out);
    bool good = !ferror(out);
    if (fclose(out) == 0 && good)
        return text;
    free(text);
    return NULL;
}

/* ---- colours ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b ^ a >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + b;
    return (a ^ a >> 32) * UINT64_C(0x94d049bb133111eb);
}

static struct core_thread *thread_of(struct forming *f, uint32_t op)
{
    size_t k = 0;
    while (f->threads.data[k].number != op_at(f, op)->thread)
        k++;
    return &f->threads.data[k];
}

/* The place of an operation in its thread. */
static uint64_t position(const struct forming *f, uint32_t op)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < op; i++)
        before += op_at(f, i)->thread == op_at(f, op)->thread;
    return before;
}

static uint64_t access_colour(struct forming *f, const struct access *a)
{
    bool initial = f->values.data[a->value].value == f->pieces.data[a->piece].initial;
    return mix(mix(thread_of(f, a->op)->colour, position(f, a->op)), a->store * 2u + initial);
}

/* Sums do not depend on the order of what is added. A value's colour tells who else has it, a
 * line's who else goes there. */
static bool refine(struct forming *f)
{
    size_t room = f->values.count + f->lines + 1;
    uint64_t *sums = calloc(room, sizeof *sums),
             *fresh = calloc(f->threads.count + 1, sizeof *fresh);
    bool good = sums && fresh;
    for (size_t i = 0; good && i < f->accesses.count; i++) {
        const struct access *a = &f->accesses.data[i];
        sums[a->value] += access_colour(f, a);
        sums[f->values.count + f->pieces.data[a->piece].line] += mix(access_colour(f, a), 7);
    }
    for (size_t i = 0; good && i < f->accesses.count; i++) {
        const struct access *a = &f->accesses.data[i];
        uint64_t shared = mix(sums[a->value],
                              sums[f->values.count + f->pieces.data[a->piece].line]);
        fresh[thread_of(f, a->op) - f->threads.data] += mix(access_colour(f, a), shared);
    }
    for (size_t k = 0; good && k < f->threads.count; k++)
        f->threads.data[k].colour = mix(f->threads.data[k].colour, fresh[k]);
    free(sums);
    free(fresh);
    return good;
}

static int by_colour(const void *a, const void *b)
{
    const struct core_thread *x = a, *y = b;
    return x->colour == y->colour ? 0 : x->colour < y->colour ? -1 : 1;
}

static bool colour(struct forming *f)
{
    for (size_t k = 0; k < f->threads.count; k++) {
        char *own = write_form(f, &f->threads.data[k], 1);
        if (!own)
            return false;
        f->threads.data[k].colour = core_form_hash(own);
        free(own);
    }
    for (size_t round = 0; round < f->threads.count; round++)
        if (!refine(f))
            return false;
    LIST_SORT(&f->threads, by_colour);
    return true;
}

/* ---- the smallest of all orders -------------------------------------------------------------- */

static size_t count_orders(const struct forming *f)
{
    size_t orders = 1, alike = 1;
    for (size_t k = 1; k < f->threads.count && orders <= MOST_ORDERS; k++) {
        alike = f->threads.data[k].colour == f->threads.data[k - 1].colour ? alike + 1 : 1;
        orders *= alike;
    }
    return orders;
}

static void exchange(struct core_thread *a, struct core_thread *b)
{
    struct core_thread c = *a;
    *a = *b;
    *b = c;
}

static bool keep_smaller(struct forming *f, char **best)
{
    char *text = write_form(f, f->threads.data, f->threads.count);
    if (!text)
        return false;
    if (*best && strcmp(*best, text) <= 0) {
        free(text);
        return true;
    }
    free(*best);
    *best = text;
    return true;
}

/* All orders of the threads from place k on that keep colours sorted. */
static bool try_orders(struct forming *f, size_t k, char **best)
{
    if (k >= f->threads.count)
        return keep_smaller(f, best);
    struct core_thread *t = f->threads.data;
    bool good = true;
    for (size_t i = k; good && i < f->threads.count && t[i].colour == t[k].colour; i++) {
        exchange(&t[k], &t[i]);
        good = try_orders(f, k + 1, best);
        exchange(&t[k], &t[i]);
    }
    return good;
}

/* Threads one by one, with the colours that tell what they share: the same for all orders. */
static char *write_apart(struct forming *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool good = out;
    for (size_t k = 0; good && k < f->threads.count; k++) {
        char *own = write_form(f, &f->threads.data[k], 1);
        good = own && fprintf(out, "%s%s", k ? " || " : "", own) >= 0;
        free(own);
    }
    for (size_t k = 0; good && k < f->threads.count; k++)
        good = fprintf(out, " %016" PRIx64, f->threads.data[k].colour) >= 0;
    if (out && fclose(out) == 0 && good)
        return text;
    free(text);
    return NULL;
}

static bool make_names(struct forming *f)
{
    size_t room[] = { f->lines,        f->pieces.count, f->lines,
                      f->values.count, f->pieces.count, f->count };
    uint32_t **names[] = { &f->line_name,  &f->piece_name,      &f->words_of_line,
                           &f->value_name, &f->values_of_piece, &f->op_name };
    bool good = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *names[i] = calloc(room[i] + 1, sizeof **names[i]);
        good = good && *names[i];
    }
    return good;
}

static void release(struct forming *f)
{
    uint32_t *names[] = { f->line_name,  f->piece_name,      f->words_of_line,
                          f->value_name, f->values_of_piece, f->op_name };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]);
    LIST_FREE(&f->accesses);
    LIST_FREE(&f->pieces);
    LIST_FREE(&f->values);
    LIST_FREE(&f->links);
    LIST_FREE(&f->threads);
}

static bool form_text(struct forming *f, struct core_form *form)
{
    if (f->count > MOST_OPS) {
        char text[32];
        snprintf(text, sizeof text, "%zu operations", f->count);
        return (form->text = strdup(text));
    }
    if (!gather_accesses(f) || !gather_links(f) || !gather_threads(f) || !make_names(f)
        || !colour(f))
        return false;
    form->exact = count_orders(f) <= MOST_ORDERS;
    if (form->exact)
        return try_orders(f, 0, &form->text);
    form->text = write_apart(f);
    return form->text;
}

bool core_form_make(struct core_form *form, const struct ordeal_trace *t,
                    const struct ordeal_verdict *v)
{
    struct forming f = { .trace = t, .verdict = v };
    f.count = ordeal_verdict_core(v, &f.ops);
    *form = (struct core_form){ 0 };
    bool good = form_text(&f, form);
    release(&f);
    if (good)
        form->hash = core_form_hash(form->text);
    else
        core_form_free(form);
    return good;
}

void core_form_free(struct core_form *f)
{
    free(f->text);
    *f = (struct core_form){ 0 };
}
