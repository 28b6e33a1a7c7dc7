/* SPDX-License-Identifier: Apache-2.0 */
/* Axe traces (FORMAT.md): free-form tokens, several traces in a file parted by `check`.
 *
 * M[n], which Axe also writes vn, becomes the 4-byte word named vn. A read-modify-write is a SWAP,
 * a sync a full MEMBAR. The end of a store, which Axe's own checker refuses, is refused here. */
#include "read.h"

#include <inttypes.h>
#include <string.h>

struct axe {
    struct ordeal_reader *r;
    struct ordeal_trace *t;
    struct line line;
    const char *p;
    bool eof;
};

/* The place of a token, kept because what follows may be in another line. */
struct spot { uint64_t line, column; };

static struct spot here(const struct axe *a)
{
    return (struct spot){ a->r->line, (uint64_t)(a->p - a->line.begin) + 1 };
}

static enum ordeal_status wrong(struct axe *a, const char *what)
{
    if (a->eof)
        return fail_at(a->r->o, a->r->name, a->r->line + 1, 1,
                       "expected %s, found the end of the file", what);
    return expected(a->r, a->line.begin, a->p, "%s", what);
}

/* To the next token, over blanks, comments and line ends. */
static enum ordeal_status skip_space(struct axe *a)
{
    while (!a->eof) {
        assert(a->p >= a->line.begin && a->p <= a->line.end);
        while (is_blank(*a->p))
            a->p++;
        if (*a->p == '#') {
            const char *bad = scan_comment(a->p, a->line.end);
            if (bad)
                return expected(a->r, a->line.begin, bad, "the end of the comment");
            a->p = a->line.end;
        }
        if (a->p != a->line.end)
            return ORDEAL_OK;
        enum ordeal_status status = reader_line(a->r, &a->line);
        if (status == ORDEAL_END)
            a->eof = true;
        else if (status != ORDEAL_OK)
            return status;
        a->p = a->line.begin;
    }
    return ORDEAL_OK;
}

static bool at(const struct axe *a, char c) { return !a->eof && *a->p == c; }

/* The token, which must come next, and the space after it. */
static enum ordeal_status token(struct axe *a, const char *word)
{
    size_t length = strlen(word);
    if (a->eof || (size_t)(a->line.end - a->p) < length || memcmp(a->p, word, length) != 0) {
        char what[32];
        snprintf(what, sizeof what, "'%s'", word);
        return wrong(a, what);
    }
    a->p += length;
    return skip_space(a);
}

static enum ordeal_status bare_number(struct axe *a, const char *what, uint64_t most,
                                      uint64_t *value)
{
    const char *fault = "", *start = a->p;
    if (a->eof || !scan_number(&a->p, value, &fault))
        return wrong(a, *fault ? fault : what);
    if (*value > most) {
        a->p = start;
        return expected(a->r, a->line.begin, a->p, "%s up to %" PRIu64, what, most);
    }
    return ORDEAL_OK;
}

static enum ordeal_status number(struct axe *a, const char *what, uint64_t most, uint64_t *value)
{
    enum ordeal_status status = bare_number(a, what, most, value);
    return status == ORDEAL_OK ? skip_space(a) : status;
}

static enum ordeal_status value(struct axe *a, uint64_t *v)
{
    return number(a, "a value", UINT32_MAX, v);
}

/* `M[3]` or `v3` */
static enum ordeal_status location(struct axe *a, uint32_t *base)
{
    char name[32];
    uint64_t n = 0;
    enum ordeal_status status;
    if (at(a, 'M')) {
        a->p++;
        status = token(a, "[");
        if (status == ORDEAL_OK)
            status = number(a, "the number of a location", UINT64_MAX, &n);
        if (status == ORDEAL_OK)
            status = token(a, "]");
    } else if (at(a, 'v')) {
        a->p++;
        status = number(a, "the number of a location", UINT64_MAX, &n);
    } else
        status = wrong(a, "a location (M[0] or v0)");
    if (status != ORDEAL_OK)
        return status;
    int length = snprintf(name, sizeof name, "v%" PRIu64, n);
    return ordeal_trace_name(a->t, name, (size_t)length, base);
}

/* `{ M[n] == v ; M[n] := w }` */
static enum ordeal_status read_modify_write(struct axe *a, struct ordeal_op *op)
{
    uint32_t written = 0;
    op->kind = ORDEAL_SWAP;
    op->flags = ORDEAL_HAS_VALUE;
    enum ordeal_status status = token(a, "{");
    if (status == ORDEAL_OK)
        status = location(a, &op->base);
    if (status == ORDEAL_OK)
        status = token(a, "==");
    if (status == ORDEAL_OK)
        status = value(a, &op->read);
    if (status == ORDEAL_OK)
        status = token(a, ";");
    struct spot second = here(a);
    if (status == ORDEAL_OK)
        status = location(a, &written);
    if (status == ORDEAL_OK && written != op->base)
        return fail_at(a->r->o, a->r->name, second.line, second.column,
                       "expected the location read (%s), found %s: a read-modify-write is of one "
                       "location", ordeal_trace_name_text(a->t, op->base),
                       ordeal_trace_name_text(a->t, written));
    if (status == ORDEAL_OK)
        status = token(a, ":=");
    if (status == ORDEAL_OK)
        status = value(a, &op->write);
    return status == ORDEAL_OK ? token(a, "}") : status;
}

static enum ordeal_status load_or_store(struct axe *a, struct ordeal_op *op)
{
    enum ordeal_status status = location(a, &op->base);
    if (status != ORDEAL_OK)
        return status;
    if (at(a, '=')) {
        op->kind = ORDEAL_LOAD;
        op->flags = ORDEAL_HAS_VALUE;
        status = token(a, "==");
    } else if (at(a, ':')) {
        op->kind = ORDEAL_STORE;
        status = token(a, ":=");
    } else
        return wrong(a, "'==' (a load) or ':=' (a store)");
    if (status != ORDEAL_OK)
        return status;
    return value(a, op->kind == ORDEAL_LOAD ? &op->read : &op->write);
}

/* `@ 10:20`, `@ 10:`, `@ :20`; an end follows the colon at once, else it is the next thread. */
static enum ordeal_status cycles(struct axe *a, struct ordeal_op *op, uint64_t *begin,
                                 uint64_t *end)
{
    struct spot start = here(a);
    enum ordeal_status status = token(a, "@");
    if (status == ORDEAL_OK && !at(a, ':')) {
        op->flags |= ORDEAL_HAS_BEGIN;
        status = bare_number(a, "the cycle of issue", UINT64_MAX, begin);
    }
    if (status != ORDEAL_OK)
        return status;
    if (!at(a, ':'))
        return wrong(a, "':'");
    a->p++;
    if (is_digit(*a->p)) {
        if (op->kind == ORDEAL_STORE)
            return wrong(a, "no cycle of completion: a store has none in Axe");
        op->flags |= ORDEAL_HAS_END;
        status = bare_number(a, "the cycle of completion", UINT64_MAX, end);
    }
    if (status == ORDEAL_OK && op->flags & ORDEAL_HAS_BEGIN && op->flags & ORDEAL_HAS_END
        && *end < *begin)
        return fail_at(a->r->o, a->r->name, start.line, start.column,
                       "an operation cannot complete before it is issued");
    return status == ORDEAL_OK ? skip_space(a) : status;
}

static enum ordeal_status operation(struct axe *a)
{
    struct spot start = here(a);
    struct ordeal_op op = { .size_log2 = 2, .barrier = ORDEAL_FULL,
        .line = start.line < UINT32_MAX ? (uint32_t)start.line : UINT32_MAX };
    uint64_t thread = 0, begin = 0, end = 0;
    enum ordeal_status status = number(a, "the number of a thread", ORDEAL_NONE - 1, &thread);
    if (status == ORDEAL_OK)
        status = token(a, ":");
    if (status != ORDEAL_OK)
        return status;
    if (at(a, '{'))
        status = read_modify_write(a, &op);
    else if (at(a, 's')) {
        op.kind = ORDEAL_MEMBAR;
        status = token(a, "sync");
    } else
        status = load_or_store(a, &op);
    if (status == ORDEAL_OK && at(a, '@'))
        status = cycles(a, &op, &begin, &end);
    if (status == ORDEAL_OK)
        status = ordeal_trace_thread(a->t, (uint32_t)thread, &op.thread);
    if (status == ORDEAL_OK)
        status = ordeal_trace_add(a->t, &op, 0);
    if (status == ORDEAL_OK && op.flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END))
        status = ordeal_trace_times(a->t, begin, end);
    return refused(a->r, status, start.line, start.column);
}

/* `final M[n] == v` */
static enum ordeal_status final(struct axe *a)
{
    struct spot start = here(a);
    uint32_t base = 0;
    uint64_t v = 0;
    enum ordeal_status status = token(a, "final");
    if (status == ORDEAL_OK)
        status = location(a, &base);
    if (status == ORDEAL_OK)
        status = token(a, "==");
    if (status == ORDEAL_OK)
        status = value(a, &v);
    if (status == ORDEAL_OK)
        status = ordeal_trace_final(a->t, base, 0, 2, v);
    if (status == ORDEAL_OK)
        a->t->finals.data[a->t->finals.count - 1].word.line =
            start.line < UINT32_MAX ? (uint32_t)start.line : UINT32_MAX;
    return status;
}

static enum ordeal_status check(struct axe *a)
{
    /* What follows is the next trace's: the rest of the line is handed out again. */
    static const char word[] = "check";
    if ((size_t)(a->line.end - a->p) < sizeof word - 1 || memcmp(a->p, word, sizeof word - 1) != 0)
        return wrong(a, "'check'");
    a->p += sizeof word - 1;
    a->r->held = true;
    a->r->held_line = a->line;
    a->r->held_from = a->p;
    return ORDEAL_OK;
}

enum ordeal_status read_axe(struct ordeal_reader *r, struct ordeal_trace *t)
{
    static const char nothing[] = "\n";
    struct axe a = { .r = r, .t = t, .line = { nothing, nothing }, .p = nothing };
    if (r->held) {
        a.line = r->held_line;
        a.p = r->held_from;
        r->held = false;
    }
    enum ordeal_status status = skip_space(&a);
    bool empty = true;
    for (; status == ORDEAL_OK && !a.eof; empty = false) {
        if (at(&a, 'c'))
            return check(&a);
        if (at(&a, 'f'))
            status = final(&a);
        else if (is_digit(*a.p))
            status = operation(&a);
        else
            status = wrong(&a, "an operation (0: M[0] := 1), final or check");
    }
    if (status != ORDEAL_OK)
        return status;
    if (empty && r->traces)
        return ORDEAL_END;
    return empty ? wrong(&a, "an operation (0: M[0] := 1), final or check") : ORDEAL_OK;
}
