/* SPDX-License-Identifier: Apache-2.0 */
/* The text format (FORMAT.md): one pass, line by line, straight into the trace.
 *
 * Every line is scanned in place; nothing is allocated but what the trace keeps. Each message
 * names the column where the expected thing is missing. */
#include "read_text.h"

#include <inttypes.h>
#include <string.h>

#define VERSION_WORD "ordeal"

/* What an operation has beside struct ordeal_op. */
struct operands { uint64_t compare, step; const char *step_at; /* NULL: no step */ };

/* ---- operations ------------------------------------------------------------------------ */

/* `r,rw`: RISC-V's fence of what comes before and what comes after. */
static uint8_t fence_set(struct scan *s)
{
    uint8_t set = 0;
    for (; *s->p == 'r' || *s->p == 'w'; s->p++)
        set |= *s->p == 'r' ? 1 : 2;
    return set;
}

static enum ordeal_status fence(struct scan *s, uint8_t *mask)
{
    const char *start = s->p;
    uint8_t before = fence_set(s), after = *s->p == ',' ? (s->p++, fence_set(s)) : 0;
    if (!before || !after)
        return expected(s->r, s->begin, start, "a fence: r, w or rw, a comma, and r, w or rw");
    *mask = (uint8_t)((before & 1 ? after & 3 : 0) | (before & 2 ? (after & 3) << 2 : 0));
    return ORDEAL_OK;
}

static enum ordeal_status barrier(struct scan *s, uint8_t *mask)
{
    if (is_blank(s->p[0]) && (s->p[1] == 'r' || s->p[1] == 'w')) {
        s->p++;
        return fence(s, mask);
    }
    if (text_same_word(s->p, 4, ".tso")) {
        *mask = ORDEAL_LL | ORDEAL_LS | ORDEAL_SS;
        s->p += 4;
        return ORDEAL_OK;
    }
    *mask = *s->p == '.' ? 0 : ORDEAL_FULL;
    while (*s->p == '.') {
        int bit = 0;
        while (bit < 4 && (s->p[1] != trace_barrier_names[bit][0]
                           || s->p[2] != trace_barrier_names[bit][1]))
            bit++;
        if (bit == 4)
            return expected(s->r, s->begin, s->p, ".LL, .LS, .SL, .SS or .tso");
        *mask |= (uint8_t)(1 << bit);
        s->p += 3;
    }
    return ORDEAL_OK;
}

/* `AMOADD`: false: the word is none of them. */
static bool amo_kind(struct scan *s, size_t length, struct ordeal_op *op)
{
    size_t amo = strlen(trace_op_names[ORDEAL_AMO]);
    if (length <= amo || !text_same_word(s->p, amo, trace_op_names[ORDEAL_AMO]))
        return false;
    for (uint8_t f = 0; f < ORDEAL_AMO_FUNCTIONS; f++)
        if (text_same_word(s->p + amo, length - amo, trace_amo_names[f])) {
            op->kind = ORDEAL_AMO;
            op->function = f;
            s->p += length;
            return true;
        }
    return false;
}

static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

static enum ordeal_status op_kind(struct scan *s, struct ordeal_op *op)
{
    const char *start = s->p, *end = start;
    while (is_capital(*end) || (*end == '.' && is_capital(end[1])))
        end++;
    size_t length = (size_t)(end - start), membar = strlen(trace_op_names[ORDEAL_MEMBAR]);
    if (length > membar && start[membar] == '.'
        && text_same_word(start, membar, trace_op_names[ORDEAL_MEMBAR]))
        length = membar; /* its flavours follow */
    if (amo_kind(s, length, op))
        return ORDEAL_OK;
    for (uint8_t kind = 0; kind < ORDEAL_OP_KINDS; kind++)
        if (kind != ORDEAL_AMO && text_same_word(start, length, trace_op_names[kind])) {
            op->kind = kind;
            s->p += length;
            return kind == ORDEAL_MEMBAR ? barrier(s, &op->barrier) : ORDEAL_OK;
        }
    if (text_same_word(start, length, TRACE_NONFAULTING_NAME)) {
        op->kind = ORDEAL_LOAD;
        op->flags = ORDEAL_NONFAULTING;
        s->p += length;
        return ORDEAL_OK;
    }
    return expected(s->r, s->begin, start,
                    "an operation (L, NFL, S, SWAP, CAS, AMOADD, AMOAND, "
                    "AMOOR, AMOXOR, AMOMIN, AMOMAX, AMOMINU, AMOMAXU, MEMBAR, TX.BEGIN, TX.END, "
                    "TX.ABORT, PREFETCH, FLUSH, EVICT, DELAY, IPI, LOOP.BEGIN, LOOP.END, "
                    "BRANCH.BEGIN, BRANCH.ELSE, BRANCH.END, LR or SC)");
}

/* `.aq`, `.rl`, `.aqrl` of an access */
static void marks(struct scan *s, struct ordeal_op *op)
{
    unsigned m = *s->p == '.' && trace_op_traits[op->kind] & (OP_READS | OP_WRITES) ? 3 : 0;
    while (m > 0 && !text_same_word(s->p, strlen(trace_mark_names[m]), trace_mark_names[m]))
        m--;
    op->flags |= (uint8_t)(m * ORDEAL_ACQUIRES);
    s->p += strlen(trace_mark_names[m]);
}

/* `=7`: what was read, or of an SC whether it stored. */
static enum ordeal_status value_read(struct scan *s, struct ordeal_op *op)
{
    const char *start = s->p + 1;
    op->flags |= ORDEAL_HAS_VALUE;
    enum ordeal_status status = text_marked_value(s, '=', op->size_log2, &op->read);
    if (status == ORDEAL_OK && op->kind == ORDEAL_STORE_CONDITIONAL && op->read > 1)
        return expected(s->r, s->begin, start, "0 (it stored) or 1 (it did not)");
    return status;
}

static enum ordeal_status bracketed(struct scan *s, struct ordeal_op *op)
{
    struct place place;
    if (*s->p != '[')
        return expected(s->r, s->begin, s->p, "'[' and a location");
    s->p++;
    enum ordeal_status status = text_location(s, &place);
    if (status != ORDEAL_OK)
        return status;
    if (*s->p != ']')
        return expected(s->r, s->begin, s->p, "']'");
    s->p++;
    op->base = place.base;
    op->address = place.address;
    op->size_log2 = place.size_log2;
    return ORDEAL_OK;
}

/* `r1`, after its mark */
static enum ordeal_status register_number(struct scan *s, uint64_t *reg)
{
    if (*s->p != 'r')
        return expected(s->r, s->begin, s->p, "a register (r0, r1, …)");
    const char *digits = ++s->p;
    enum ordeal_status status = text_number(s, "the number of a register", reg);
    if (status == ORDEAL_OK && *reg > UINT32_MAX)
        return expected(s->r, s->begin, digits, "the number of a register up to %u", UINT32_MAX);
    return status;
}

/* `?5`, or in a test `?r1` */
static enum ordeal_status compared(struct scan *s, struct ordeal_op *op, uint64_t *compare)
{
    if (s->p[0] != '?' || s->p[1] != 'r')
        return text_marked_value(s, '?', op->size_log2, compare);
    s->p++;
    op->flags |= ORDEAL_COMPARE_REGISTER;
    return register_number(s, compare);
}

/* `#7`, or in a loop of a test `#7+3` */
static enum ordeal_status written_value(struct scan *s, struct ordeal_op *op, struct operands *x)
{
    enum ordeal_status status = text_marked_value(s, '#', op->size_log2, &op->write);
    if (status != ORDEAL_OK || *s->p != '+')
        return status;
    x->step_at = s->p++;
    return text_number(s, "what is added each time round", &x->step);
}

/* `DELAY#20`, `TX.BEGIN#3` */
static enum ordeal_status count(struct scan *s, struct ordeal_op *op)
{
    static const char *const what[ORDEAL_OP_KINDS] = {
        [ORDEAL_DELAY] = "a number of cycles", [ORDEAL_INTERRUPT] = "the number of a thread",
        [ORDEAL_LOOP_BEGIN] = "how many times round", [ORDEAL_TX_BEGIN] = "how often it is retried",
    };
    if (*s->p != '#')
        return expected(s->r, s->begin, s->p, "'#' and %s", what[op->kind]);
    const char *start = ++s->p;
    uint64_t least = op->kind == ORDEAL_LOOP_BEGIN;
    enum ordeal_status status = text_number(s, what[op->kind], &op->write);
    if (status == ORDEAL_OK && (op->write < least || op->write > TRACE_COUNT_MAX))
        return expected(s->r, s->begin, start, "%s, %" PRIu64 " to %" PRIu32, what[op->kind], least,
                        TRACE_COUNT_MAX);
    return status;
}

static enum ordeal_status operands(struct scan *s, struct ordeal_op *op, struct operands *x)
{
    uint8_t traits = trace_op_traits[op->kind];
    enum ordeal_status status = ORDEAL_OK;
    marks(s, op);
    if (traits & OP_LOCATION)
        status = bracketed(s, op);
    if (status == ORDEAL_OK && traits & (OP_READS | OP_RESULT) && *s->p == '=')
        status = value_read(s, op);
    if (op->kind == ORDEAL_TX_BEGIN && *s->p == '#')
        op->flags |= ORDEAL_HAS_LIMIT;
    if (status == ORDEAL_OK && traits & OP_COMPARES)
        status = compared(s, op, &x->compare);
    if (status == ORDEAL_OK && traits & OP_WRITES)
        status = written_value(s, op, x);
    if (status == ORDEAL_OK && trace_has_count(op))
        status = count(s, op);
    return status;
}

/* `@120:134`, `@120:`, `@:134` */
static enum ordeal_status cycles(struct scan *s)
{
    const char *start = s->p++;
    uint8_t flags = 0;
    uint64_t begin = 0, end = 0;
    enum ordeal_status status = ORDEAL_OK;
    assert(s->t->ops.count > 0);
    if (s->t->ops.data[s->t->ops.count - 1].flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END))
        return expected(s->r, s->begin, start, "cycles only once");
    if (*s->p != ':') {
        flags = ORDEAL_HAS_BEGIN;
        status = text_number(s, "the cycle of issue", &begin);
        if (status == ORDEAL_OK && *s->p != ':')
            return expected(s->r, s->begin, s->p, "':'");
    }
    if (status != ORDEAL_OK)
        return status;
    s->p++;
    if (is_digit(*s->p) || !flags) {
        flags |= ORDEAL_HAS_END;
        status = text_number(s, "the cycle of completion", &end);
    }
    if (status == ORDEAL_OK)
        status = text_refused_at(s, trace_add_times(s->t, flags, begin, end), start);
    return status;
}

/* `>r1` writes a register, `<r1` reads it, `<addr:r1` and the like say what for */
static enum ordeal_status dependence(struct scan *s)
{
    const char *start = s->p;
    int use = ORDEAL_REGISTER_USES - 1; /* the short names begin the long ones: last */
    while (use > 0 && !text_same_word(start, strlen(trace_use_names[use]), trace_use_names[use]))
        use--;
    s->p += strlen(trace_use_names[use]);
    uint64_t reg = 0;
    enum ordeal_status status = register_number(s, &reg);
    if (status != ORDEAL_OK)
        return status;
    status = ordeal_trace_uses_register(s->t, (uint32_t)reg, (enum ordeal_register_use)use);
    return text_refused_at(s, status, start);
}

static enum ordeal_status suffixes(struct scan *s)
{
    while (text_another(s)) {
        enum ordeal_status status;
        if (*s->p == '@')
            status = cycles(s);
        else if (*s->p == '<' || *s->p == '>')
            status = dependence(s);
        else
            return expected(s->r, s->begin, s->p, "a register (>r1, <r1), cycles (@120:134) or the "
                            "end of the line");
        if (status != ORDEAL_OK)
            return status;
    }
    return text_line_end(s);
}

static enum ordeal_status thread(struct scan *s, uint32_t *index)
{
    const char *start = s->p;
    uint64_t n = 0;
    enum ordeal_status status = text_number(s, "the number of a thread", &n);
    if (status != ORDEAL_OK)
        return status;
    if (n >= ORDEAL_NONE)
        return expected(s->r, s->begin, start, "the number of a thread up to %u", ORDEAL_NONE - 1);
    bool small = n < sizeof s->threads / sizeof *s->threads;
    if (small && s->threads[n]) {
        *index = s->threads[n] - 1;
        return ORDEAL_OK;
    }
    status = ordeal_trace_thread(s->t, (uint32_t)n, index);
    if (status == ORDEAL_OK && small)
        s->threads[n] = *index + 1;
    return status;
}

static enum ordeal_status operation(struct scan *s)
{
    const char *start = s->p++;
    struct ordeal_op op = { .line = text_line_number(s) };
    struct operands x = { 0 };
    enum ordeal_status status = thread(s, &op.thread);
    if (status == ORDEAL_OK)
        status = text_blank(s, "an operation");
    if (status == ORDEAL_OK)
        status = op_kind(s, &op);
    if (status == ORDEAL_OK)
        status = operands(s, &op, &x);
    if (status == ORDEAL_OK)
        status = text_refused_at(s, ordeal_trace_add(s->t, &op, x.compare), start);
    if (status == ORDEAL_OK && x.step_at)
        status = text_refused_at(s, ordeal_trace_step(s->t, x.step), x.step_at);
    return status == ORDEAL_OK ? suffixes(s) : status;
}

/* ---- lines ------------------------------------------------------------------------------ */

static enum ordeal_status version_line(struct scan *s)
{
    size_t length = strlen(VERSION_WORD);
    if (strncmp(s->p, VERSION_WORD, length) != 0)
        return expected(s->r, s->begin, s->p, "'ordeal %d', the name and version of the format",
                        TEXT_VERSION);
    s->p += length;
    enum ordeal_status status = text_blank(s, "the version of the format");
    const char *start = s->p;
    uint64_t version = 0;
    if (status == ORDEAL_OK)
        status = text_number(s, "the version of the format", &version);
    if (status == ORDEAL_OK && version != TEXT_VERSION)
        return expected(s->r, s->begin, start, "version %d of the format, the only one read",
                        TEXT_VERSION);
    s->version_seen = true;
    return status == ORDEAL_OK ? text_line_end(s) : status;
}

static bool begins_a_trace(const struct scan *s)
{
    size_t length = strlen(VERSION_WORD);
    return strncmp(s->p, VERSION_WORD, length) == 0
        && !(s->p[length] >= 'a' && s->p[length] <= 'z');
}

/* ORDEAL_END: the line begins the next trace of the file. */
static enum ordeal_status text_line(struct scan *s)
{
    text_skip_blanks(s);
    if (*s->p == '\n' || *s->p == '#') {
        s->p = s->begin;
        return text_line_end(s);
    }
    if (!s->version_seen)
        return version_line(s);
    s->order_before = s->order_here;
    s->order_here = false;
    if (*s->p == 'P')
        return operation(s);
    return begins_a_trace(s) ? ORDEAL_END : text_fact(s);
}

enum ordeal_status read_text(struct ordeal_reader *r, struct ordeal_trace *t)
{
    struct scan s = { .r = r, .t = t };
    struct line line;
    enum ordeal_status status;
    if (r->traces && !r->held)
        return ORDEAL_END;
    while ((status = reader_line(r, &line)) == ORDEAL_OK) {
        s.begin = s.p = line.begin;
        status = text_line(&s);
        assert(s.p >= line.begin && s.p <= line.end);
        if (status == ORDEAL_END) {
            r->held = true;
            r->held_line = line;
            return ORDEAL_OK;
        }
        if (status != ORDEAL_OK)
            return status;
    }
    if (status == ORDEAL_END && !s.version_seen)
        return fail_at(r->o, r->name, r->line + 1, 1, "expected 'ordeal %d', the name and version "
                       "of the format, found the end of the file", TEXT_VERSION);
    return status == ORDEAL_END ? ORDEAL_OK : status;
}
