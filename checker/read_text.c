/* The text format (FORMAT.md): one pass, line by line, straight into the trace.
 *
 * Every line is scanned in place; nothing is allocated but what the trace keeps. Each message
 * names the column where the expected thing is missing. */
#include "read.h"

#include <inttypes.h>
#include <string.h>

struct scan {
    struct ordeal_reader *r;
    struct ordeal_trace *t;
    const char *begin, *p;  /* the line and where we are; it ends with '\n' */
    uint32_t threads[256];  /* of small numbers: the index in the trace + 1, 0 unknown */
    bool version_seen, model_seen, atomic_seen;
    bool order_before, order_here; /* the line before, this line is an order that may go on */
};

struct place { uint32_t base; uint8_t size_log2; uint64_t address; };

static enum ordeal_status refused_at(struct scan *s, enum ordeal_status status, const char *at)
{
    return refused(s->r, status, s->r->line, (uint64_t)(at - s->begin) + 1);
}

static void skip_blanks(struct scan *s)
{
    while (is_blank(*s->p))
        s->p++;
}

static uint32_t line_number(const struct scan *s)
{
    return s->r->line < UINT32_MAX ? (uint32_t)s->r->line : UINT32_MAX;
}

/* A comment begins the line or follows a blank: `S[A]#1` has none. */
static enum ordeal_status line_end(struct scan *s)
{
    const char *before = s->p;
    skip_blanks(s);
    if (*s->p == '\n')
        return ORDEAL_OK;
    if (*s->p != '#' || (s->p == before && s->p != s->begin))
        return expected(s->r, s->begin, s->p, "the end of the line");
    while ((unsigned char)*s->p >= ' ' || *s->p == '\t')
        s->p++;
    return *s->p == '\n' ? ORDEAL_OK : expected(s->r, s->begin, s->p, "the end of the comment");
}

/* Is there another item in this line? Then go to it, else stay before the blanks. */
static bool another(struct scan *s)
{
    const char *q = s->p;
    while (is_blank(*q))
        q++;
    if (q == s->p || *q == '\n' || *q == '#')
        return false;
    s->p = q;
    return true;
}

static enum ordeal_status blank(struct scan *s, const char *what)
{
    if (!is_blank(*s->p))
        return expected(s->r, s->begin, s->p, "a blank and %s", what);
    skip_blanks(s);
    return ORDEAL_OK;
}

static enum ordeal_status number(struct scan *s, const char *what, uint64_t *value)
{
    const char *fault;
    if (scan_number(&s->p, value, &fault))
        return ORDEAL_OK;
    return expected(s->r, s->begin, s->p, "%s", *fault ? fault : what);
}

/* ---- values ---------------------------------------------------------------------------- */

static int hex_value(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Values wider than 8 bytes: one long hexadecimal number, kept with the lowest byte first. */
static enum ordeal_status wide_value(struct scan *s, uint8_t size_log2, uint64_t *offset)
{
    uint8_t bytes[64] = { 0 };
    size_t size = (size_t)1 << size_log2;
    const char *start = s->p;
    if (s->p[0] == '0' && s->p[1] == 'x' && is_hex(s->p[2])) {
        const char *digits = s->p + 2;
        while (*digits == '0' && is_hex(digits[1]))
            digits++;
        const char *end = digits;
        while (is_hex(*end))
            end++;
        s->p = end;
        if ((size_t)(end - digits) > size * 2)
            return expected(s->r, s->begin, start, "a value of %zu bytes", size);
        for (size_t i = 0; end-- > digits; i++)
            bytes[i / 2] |= (uint8_t)(hex_value(*end) << (i % 2 * 4));
    } else {
        uint64_t value;
        enum ordeal_status status = number(s, "a value", &value);
        if (status != ORDEAL_OK)
            return status;
        for (size_t i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return ordeal_trace_bytes(s->t, bytes, size, offset);
}

static enum ordeal_status value(struct scan *s, uint8_t size_log2, uint64_t *v)
{
    if (size_log2 > 3)
        return wide_value(s, size_log2, v);
    const char *start = s->p;
    enum ordeal_status status = number(s, "a value", v);
    if (status == ORDEAL_OK && !trace_value_fits(*v, size_log2))
        return expected(s->r, s->begin, start, "a value of %d byte%s", 1 << size_log2,
                        size_log2 ? "s" : "");
    return status;
}

/* ---- locations ------------------------------------------------------------------------- */

static enum ordeal_status access_size(struct scan *s, uint8_t *size_log2)
{
    const char *start = ++s->p;
    uint64_t size = 0;
    enum ordeal_status status = number(s, "a size of 1, 2, 4, 8, 16, 32 or 64 bytes", &size);
    if (status != ORDEAL_OK)
        return status;
    if (size == 0 || size > 64 || size & (size - 1))
        return expected(s->r, s->begin, start, "a size of 1, 2, 4, 8, 16, 32 or 64 bytes");
    *size_log2 = (uint8_t)__builtin_ctzll(size);
    return ORDEAL_OK;
}

static enum ordeal_status name(struct scan *s, uint32_t *base)
{
    const char *start = s->p;
    while (trace_name_letter(*s->p))
        s->p++;
    return refused_at(s, ordeal_trace_name(s->t, start, (size_t)(s->p - start), base), start);
}

static enum ordeal_status location(struct scan *s, struct place *place)
{
    const char *start = s->p;
    enum ordeal_status status;
    *place = (struct place){ .size_log2 = 2 };
    if (trace_name_start(*s->p)) {
        status = name(s, &place->base);
        if (status == ORDEAL_OK && *s->p == '+') {
            s->p++;
            status = number(s, "an offset in bytes", &place->address);
        }
    } else
        status = number(s, "a location (a name or an address)", &place->address);
    if (status == ORDEAL_OK && *s->p == '/')
        status = access_size(s, &place->size_log2);
    if (status != ORDEAL_OK)
        return status;
    if (place->address & ((UINT64_C(1) << place->size_log2) - 1))
        return expected(s->r, s->begin, start, "a location aligned to %d bytes",
                        1 << place->size_log2);
    return ORDEAL_OK;
}

/* ---- operations ------------------------------------------------------------------------ */

static bool same_word(const char *p, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if (p[i] != word[i])
            return false; /* also where the word ends first: p has no NUL there */
    return word[length] == '\0';
}

static enum ordeal_status barrier(struct scan *s, uint8_t *mask)
{
    *mask = *s->p == '.' ? 0 : ORDEAL_FULL;
    while (*s->p == '.') {
        int bit = 0;
        while (bit < 4 && (s->p[1] != trace_barrier_names[bit][0]
                           || s->p[2] != trace_barrier_names[bit][1]))
            bit++;
        if (bit == 4)
            return expected(s->r, s->begin, s->p, ".LL, .LS, .SL or .SS");
        *mask |= (uint8_t)(1 << bit);
        s->p += 3;
    }
    return ORDEAL_OK;
}

static enum ordeal_status op_kind(struct scan *s, struct ordeal_op *op)
{
    const char *start = s->p, *end = start;
    while ((*end >= 'A' && *end <= 'Z') || *end == '.')
        end++;
    size_t length = (size_t)(end - start), membar = strlen(trace_op_names[ORDEAL_MEMBAR]);
    if (length > membar && start[membar] == '.')
        length = membar; /* its flavours follow */
    for (uint8_t kind = 0; kind < ORDEAL_OP_KINDS; kind++)
        if (same_word(start, length, trace_op_names[kind])) {
            op->kind = kind;
            s->p += length;
            return kind == ORDEAL_MEMBAR ? barrier(s, &op->barrier) : ORDEAL_OK;
        }
    return expected(s->r, s->begin, start, "an operation (L, S, SWAP, CAS, MEMBAR, TX.BEGIN, "
                    "TX.END, TX.ABORT, PREFETCH, FLUSH or EVICT)");
}

static enum ordeal_status bracketed(struct scan *s, struct ordeal_op *op)
{
    struct place place;
    if (*s->p != '[')
        return expected(s->r, s->begin, s->p, "'[' and a location");
    s->p++;
    enum ordeal_status status = location(s, &place);
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

static enum ordeal_status marked_value(struct scan *s, char mark, uint8_t size_log2, uint64_t *v)
{
    if (*s->p != mark)
        return expected(s->r, s->begin, s->p, "'%c' and a value", mark);
    s->p++;
    return value(s, size_log2, v);
}

static enum ordeal_status operands(struct scan *s, struct ordeal_op *op, uint64_t *compare)
{
    uint8_t traits = trace_op_traits[op->kind];
    enum ordeal_status status = ORDEAL_OK;
    if (traits & OP_LOCATION)
        status = bracketed(s, op);
    if (status == ORDEAL_OK && traits & OP_READS && *s->p == '=') {
        op->flags |= ORDEAL_HAS_VALUE;
        status = marked_value(s, '=', op->size_log2, &op->read);
    }
    if (status == ORDEAL_OK && traits & OP_COMPARES)
        status = marked_value(s, '?', op->size_log2, compare);
    if (status == ORDEAL_OK && traits & OP_WRITES)
        status = marked_value(s, '#', op->size_log2, &op->write);
    return status;
}

/* `@120:134`, `@120:`, `@:134` */
static enum ordeal_status cycles(struct scan *s)
{
    const char *start = s->p++;
    uint8_t flags = 0;
    uint64_t begin = 0, end = 0;
    enum ordeal_status status = ORDEAL_OK;
    if (s->t->ops.data[s->t->ops.count - 1].flags & (ORDEAL_HAS_BEGIN | ORDEAL_HAS_END))
        return expected(s->r, s->begin, start, "cycles only once");
    if (*s->p != ':') {
        flags = ORDEAL_HAS_BEGIN;
        status = number(s, "the cycle of issue", &begin);
        if (status == ORDEAL_OK && *s->p != ':')
            return expected(s->r, s->begin, s->p, "':'");
    }
    if (status != ORDEAL_OK)
        return status;
    s->p++;
    if (is_digit(*s->p) || !flags) {
        flags |= ORDEAL_HAS_END;
        status = number(s, "the cycle of completion", &end);
    }
    if (status == ORDEAL_OK)
        status = refused_at(s, trace_add_times(s->t, flags, begin, end), start);
    return status;
}

/* `>r1` writes, `<r1` reads a register */
static enum ordeal_status dependence(struct scan *s)
{
    const char *start = s->p++;
    uint64_t reg = 0;
    if (*s->p != 'r')
        return expected(s->r, s->begin, s->p, "a register (r0, r1, …)");
    const char *digits = ++s->p;
    enum ordeal_status status = number(s, "the number of a register", &reg);
    if (status == ORDEAL_OK && reg > UINT32_MAX)
        return expected(s->r, s->begin, digits, "the number of a register up to %u", UINT32_MAX);
    if (status != ORDEAL_OK)
        return status;
    status = *start == '>' ? ordeal_trace_writes_register(s->t, (uint32_t)reg)
                           : ordeal_trace_reads_register(s->t, (uint32_t)reg);
    return refused_at(s, status, start);
}

static enum ordeal_status suffixes(struct scan *s)
{
    while (another(s)) {
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
    return line_end(s);
}

static enum ordeal_status thread(struct scan *s, uint32_t *index)
{
    const char *start = s->p;
    uint64_t n = 0;
    enum ordeal_status status = number(s, "the number of a thread", &n);
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
    struct ordeal_op op = { .line = line_number(s) };
    uint64_t compare = 0;
    enum ordeal_status status = thread(s, &op.thread);
    if (status == ORDEAL_OK)
        status = blank(s, "an operation");
    if (status == ORDEAL_OK)
        status = op_kind(s, &op);
    if (status == ORDEAL_OK)
        status = operands(s, &op, &compare);
    if (status == ORDEAL_OK)
        status = refused_at(s, ordeal_trace_add(s->t, &op, compare), start);
    return status == ORDEAL_OK ? suffixes(s) : status;
}

/* ---- lines about the whole trace ------------------------------------------------------- */

static enum ordeal_status version_line(struct scan *s)
{
    static const char word[] = "ordeal";
    if (strncmp(s->p, word, sizeof word - 1) != 0)
        return expected(s->r, s->begin, s->p, "'ordeal %d', the name and version of the format",
                        TEXT_VERSION);
    s->p += sizeof word - 1;
    enum ordeal_status status = blank(s, "the version of the format");
    const char *start = s->p;
    uint64_t version = 0;
    if (status == ORDEAL_OK)
        status = number(s, "the version of the format", &version);
    if (status == ORDEAL_OK && version != TEXT_VERSION)
        return expected(s->r, s->begin, start, "version %d of the format, the only one read",
                        TEXT_VERSION);
    s->version_seen = true;
    return status == ORDEAL_OK ? line_end(s) : status;
}

static enum ordeal_status model_line(struct scan *s, const char *keyword)
{
    const char *start = s->p;
    char text[8];
    enum ordeal_model model;
    size_t n = 0;
    while (trace_name_letter(*s->p) && n < sizeof text - 1)
        text[n++] = *s->p++;
    text[n] = '\0';
    if (trace_name_letter(*s->p) || !ordeal_model_parse(text, &model))
        return expected(s->r, s->begin, start, "a model (SC, TSO, PSO, PC or RMO)");
    if (s->model_seen)
        return expected(s->r, s->begin, keyword, "only one model");
    s->model_seen = true;
    ordeal_trace_claim(s->t, model);
    return line_end(s);
}

static enum ordeal_status atomic_line(struct scan *s, const char *keyword)
{
    const char *start = s->p;
    uint64_t bytes = 0;
    enum ordeal_status status = number(s, "a number of bytes", &bytes);
    if (status == ORDEAL_OK && s->atomic_seen)
        return expected(s->r, s->begin, keyword, "only one atomic");
    s->atomic_seen = true;
    if (status == ORDEAL_OK)
        status = refused_at(s, ordeal_trace_atomic(s->t, bytes > 64 ? 0 : (uint32_t)bytes), start);
    return status == ORDEAL_OK ? line_end(s) : status;
}

static enum ordeal_status small_location(struct scan *s, struct place *place)
{
    const char *start = s->p;
    enum ordeal_status status = location(s, place);
    if (status == ORDEAL_OK && place->size_log2 > 3)
        return expected(s->r, s->begin, start, "a location of 1, 2, 4 or 8 bytes");
    return status;
}

/* `init A=7 B/8=9` and `final A=7` */
static enum ordeal_status settings(struct scan *s, bool final)
{
    do {
        struct place at;
        uint64_t v = 0;
        enum ordeal_status status = small_location(s, &at);
        if (status == ORDEAL_OK)
            status = marked_value(s, '=', at.size_log2, &v);
        if (status == ORDEAL_OK)
            status = final ? ordeal_trace_final(s->t, at.base, at.address, at.size_log2, v)
                           : ordeal_trace_init(s->t, at.base, at.address, at.size_log2, v);
        if (status != ORDEAL_OK)
            return status;
        struct trace_word *word = final ? &s->t->finals.data[s->t->finals.count - 1].word
                                        : &s->t->inits.data[s->t->inits.count - 1].word;
        word->line = line_number(s);
    } while (another(s));
    return line_end(s);
}

static enum ordeal_status init_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return settings(s, false);
}

static enum ordeal_status final_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    return settings(s, true);
}

static enum ordeal_status order_values(struct scan *s)
{
    uint8_t size_log2 = s->t->orders.data[s->t->orders.count - 1].word.size_log2;
    while (another(s)) {
        uint64_t v = 0;
        enum ordeal_status status = value(s, size_log2, &v);
        if (status == ORDEAL_OK)
            status = trace_order_more(s->t, &v, 1);
        if (status != ORDEAL_OK)
            return status;
    }
    s->order_here = true;
    return line_end(s);
}

static enum ordeal_status order_line(struct scan *s, const char *keyword)
{
    (void)keyword;
    struct place at;
    enum ordeal_status status = small_location(s, &at);
    if (status == ORDEAL_OK)
        status = ordeal_trace_order(s->t, at.base, at.address, at.size_log2, NULL, 0);
    if (status != ORDEAL_OK)
        return status;
    s->t->orders.data[s->t->orders.count - 1].word.line = line_number(s);
    return order_values(s);
}

static enum ordeal_status more_line(struct scan *s, const char *keyword)
{
    if (!s->order_before)
        return expected(s->r, s->begin, keyword, "an order line before this one");
    s->p--; /* the blank before the first value */
    return order_values(s);
}

static const struct {
    const char *word, *what;
    enum ordeal_status (*read)(struct scan *s, const char *keyword);
} line_kinds[] = {
    { "model", "a model (SC, TSO, PSO, PC or RMO)", model_line },
    { "atomic", "a number of bytes", atomic_line },
    { "init", "a location", init_line },
    { "final", "a location", final_line },
    { "order", "a location", order_line },
    { "more", "a value", more_line },
};

static enum ordeal_status keyword_line(struct scan *s)
{
    const char *start = s->p, *end = start;
    while (*end >= 'a' && *end <= 'z')
        end++;
    for (size_t i = 0; i < sizeof line_kinds / sizeof *line_kinds; i++)
        if (same_word(start, (size_t)(end - start), line_kinds[i].word)) {
            s->p = end;
            enum ordeal_status status = blank(s, line_kinds[i].what);
            if (status == ORDEAL_OK)
                status = line_kinds[i].read(s, start);
            return status;
        }
    return expected(s->r, s->begin, start, "a thread (P0, P1, …), model, atomic, init, final, "
                    "order or more");
}

static enum ordeal_status text_line(struct scan *s)
{
    skip_blanks(s);
    if (*s->p == '\n' || *s->p == '#') {
        s->p = s->begin;
        return line_end(s);
    }
    if (!s->version_seen)
        return version_line(s);
    s->order_before = s->order_here;
    s->order_here = false;
    return *s->p == 'P' ? operation(s) : keyword_line(s);
}

enum ordeal_status read_text(struct ordeal_reader *r, struct ordeal_trace *t)
{
    struct scan s = { .r = r, .t = t };
    struct line line;
    enum ordeal_status status;
    while ((status = reader_line(r, &line)) == ORDEAL_OK) {
        s.begin = s.p = line.begin;
        status = text_line(&s);
        if (status != ORDEAL_OK)
            return status;
    }
    if (status == ORDEAL_END && !s.version_seen)
        return fail_at(r->o, r->name, r->line + 1, 1, "expected 'ordeal %d', the name and version "
                       "of the format, found the end of the file", TEXT_VERSION);
    return status == ORDEAL_END ? ORDEAL_OK : status;
}
