/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: buffering, guessing the format, and what the formats share. */
#include "binary.h"
#include "read.h"

#include <string.h>

struct ordeal_reader *ordeal_reader_new(struct ordeal *o, FILE *stream, const char *name,
                                        enum ordeal_format format)
{
    struct ordeal_reader *r = mem_zero(o, 1, sizeof *r);
    if (!r)
        return NULL;
    r->o = o;
    r->stream = stream;
    r->format = format;
    snprintf(r->name, sizeof r->name, "%s", name);
    r->capacity = READ_CHUNK;
    r->buffer = mem_array(o, r->capacity + 1, 1);
    if (!r->buffer) {
        mem_free(o, r, sizeof *r);
        return NULL;
    }
    return r;
}

void ordeal_reader_free(struct ordeal_reader *r)
{
    if (!r)
        return;
    mem_free(r->o, r->buffer, r->capacity + 1);
    mem_free(r->o, r, sizeof *r);
}

/* ---- the stream ------------------------------------------------------------------------ */

static bool grow(struct ordeal_reader *r)
{
    assert(r->capacity < READ_BUFFER);
    size_t capacity = r->capacity * 2 < READ_BUFFER ? r->capacity * 2 : READ_BUFFER;
    char *buffer = mem_resize(r->o, r->buffer, r->capacity + 1, capacity + 1);
    if (!buffer)
        return false;
    r->buffer = buffer;
    r->capacity = capacity;
    return true;
}

/* Read on. Callers stop asking before the largest buffer is full. */
static enum ordeal_status fill(struct ordeal_reader *r)
{
    assert(r->begin <= r->end && r->end <= r->capacity && !r->eof);
    memmove(r->buffer, r->buffer + r->begin, r->end - r->begin);
    r->end -= r->begin;
    r->begin = 0;
    if (r->end == r->capacity && !grow(r))
        return r->o->error.status;
    size_t ask = r->capacity - r->end;
    size_t got = fread(r->buffer + r->end, 1, ask, r->stream);
    r->end += got;
    if (got == ask)
        return ORDEAL_OK;
    r->eof = true;
    if (ferror(r->stream))
        return fail(r->o, ORDEAL_IO, "%s: cannot be read", r->name);
    return ORDEAL_OK;
}

enum ordeal_status reader_need(struct ordeal_reader *r, size_t count, size_t *have)
{
    assert(count <= READ_LINE_MAX);
    while (r->end - r->begin < count && !r->eof) {
        enum ordeal_status status = fill(r);
        if (status != ORDEAL_OK)
            return status;
    }
    *have = r->end - r->begin;
    return ORDEAL_OK;
}

static struct line hand_out(struct ordeal_reader *r, char *end)
{
    char *begin = r->buffer + r->begin;
    assert(end >= begin && end <= r->buffer + r->end && *end == '\n');
    r->begin = (size_t)(end + 1 - r->buffer);
    if (r->begin > r->end)
        r->begin = r->end; /* the line end at the end of the file is ours */
    if (end > begin && end[-1] == '\r')
        *--end = '\n';
    return (struct line){ begin, end };
}

enum ordeal_status reader_line(struct ordeal_reader *r, struct line *line)
{
    if (limit_hit(r->o, "reading", -1))
        return r->o->error.status;
    if (r->held) {
        r->held = false;
        *line = r->held_line;
        return ORDEAL_OK;
    }
    size_t scanned = 0;
    char *end = NULL;
    while (!(end = memchr(r->buffer + r->begin + scanned, '\n', r->end - r->begin - scanned))) {
        scanned = r->end - r->begin;
        if (scanned > READ_LINE_MAX)
            break;
        if (r->eof) {
            if (scanned == 0)
                return ORDEAL_END;
            end = r->buffer + r->end;
            *end = '\n';
            break;
        }
        enum ordeal_status status = fill(r);
        if (status != ORDEAL_OK)
            return status;
    }
    r->line++;
    if (!end || (size_t)(end - (r->buffer + r->begin)) > READ_LINE_MAX)
        return fail_at(r->o, r->name, r->line, READ_LINE_MAX + 1,
                       "expected the end of the line within %zu bytes", READ_LINE_MAX);
    *line = hand_out(r, end);
    return ORDEAL_OK;
}

/* ---- messages -------------------------------------------------------------------------- */

static void describe(const char *at, char *found, size_t size)
{
    if (*at == '\n') {
        snprintf(found, size, "the end of the line");
        return;
    }
    if ((unsigned char)*at < ' ' && *at != '\t') {
        snprintf(found, size, "control character 0x%02x", (unsigned char)*at);
        return;
    }
    size_t n = 0;
    found[n++] = '\'';
    for (; n < 32 && n + 2 < size && !is_blank(at[n - 1]) && (unsigned char)at[n - 1] >= ' '; n++)
        found[n] = (unsigned char)at[n - 1] < 0x7f ? at[n - 1] : '?';
    if (n == 1)
        found[n++] = ' ';
    found[n++] = '\'';
    assert(n < size);
    found[n] = '\0';
}

enum ordeal_status expected(struct ordeal_reader *r, const char *begin, const char *at,
                            const char *format, ...)
{
    char what[256], found[48];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    assert(at >= begin);
    describe(at, found, sizeof found);
    return fail_at(r->o, r->name, r->line, (uint64_t)(at - begin) + 1, "expected %s, found %s",
                   what, found);
}

enum ordeal_status refused(struct ordeal_reader *r, enum ordeal_status status, uint64_t line,
                           uint64_t column)
{
    if (status != ORDEAL_BAD_USAGE)
        return status;
    char reason[sizeof r->o->error.reason];
    memcpy(reason, r->o->error.reason, sizeof reason);
    return fail_at(r->o, r->name, line, column, "%s", reason);
}

/* ---- scanning -------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool scan_hex(const char **p, uint64_t *value, const char **fault)
{
    const char *q = *p + 2;
    uint64_t v = 0;
    int digit = hex_digit(*q);
    *fault = "hexadecimal digits after 0x";
    if (digit < 0)
        return false;
    for (; digit >= 0; digit = hex_digit(*++q)) {
        if (v >> 60) {
            *fault = "a number of at most 64 bits";
            return false;
        }
        v = v << 4 | (uint64_t)digit;
    }
    *value = v;
    *p = q;
    return true;
}

bool scan_long_number(const char **p, uint64_t *value, const char **fault)
{
    const char *q = *p;
    *fault = "";
    if (!is_digit(*q))
        return false;
    if (q[0] == '0' && q[1] == 'x')
        return scan_hex(p, value, fault);
    uint64_t v = 0;
    for (; is_digit(*q); q++) {
        uint64_t digit = (uint64_t)(*q - '0');
        if (v > (UINT64_MAX - digit) / 10) {
            *fault = "a number of at most 64 bits";
            return false;
        }
        v = v * 10 + digit;
    }
    *value = v;
    *p = q;
    return true;
}

const char *scan_comment(const char *p, const char *end)
{
    for (; p < end; p++)
        if ((unsigned char)*p < ' ' && *p != '\t')
            return p;
    return NULL;
}

/* ---- the format ------------------------------------------------------------------------ */

#define KNOWN_FORMATS \
    "a text trace ('ordeal 1'), an Axe trace ('0: M[0] := 1'), a commit log " \
    "('core   0: 3 0x80000000 (0x00000013)') or a binary trace (.otr)"

static bool starts_with(const struct line *line, const char *p, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(line->end - p) >= length && memcmp(p, word, length) == 0;
}

/* Comments may come before the line that tells; it is held for the format's own reader. */
static enum ordeal_status guess_by_line(struct ordeal_reader *r)
{
    for (;;) {
        struct line line;
        enum ordeal_status status = reader_line(r, &line);
        if (status == ORDEAL_END)
            return fail_at(r->o, r->name, r->line + 1, 1, "expected " KNOWN_FORMATS
                           ", found the end of the file");
        if (status != ORDEAL_OK)
            return status;
        const char *p = line.begin;
        while (is_blank(*p))
            p++;
        if (*p == '\n' || *p == '#') {
            const char *bad = scan_comment(p, line.end);
            if (bad)
                return expected(r, line.begin, bad, KNOWN_FORMATS);
            continue;
        }
        if (starts_with(&line, p, "ordeal"))
            r->format = ORDEAL_FORMAT_TEXT;
        else if (is_digit(*p) || starts_with(&line, p, "final") || starts_with(&line, p, "check"))
            r->format = ORDEAL_FORMAT_AXE;
        else if (starts_with(&line, p, "core") || starts_with(&line, p, "memory")
                 || starts_with(&line, p, "device"))
            r->format = ORDEAL_FORMAT_COMMITS;
        else
            return expected(r, line.begin, p, KNOWN_FORMATS);
        r->held = true;
        r->held_line = line;
        r->held_from = line.begin;
        return ORDEAL_OK;
    }
}

static enum ordeal_status guess(struct ordeal_reader *r)
{
    static const char zstd_magic[4] = "\x28\xb5\x2f\xfd";
    size_t have;
    enum ordeal_status status = reader_need(r, BINARY_MAGIC_SIZE, &have);
    if (status != ORDEAL_OK)
        return status;
    const char *p = r->buffer + r->begin;
    if (have && *p == BINARY_MAGIC[0]) {
        r->format = ORDEAL_FORMAT_BINARY;
        return ORDEAL_OK;
    }
    if (have >= sizeof zstd_magic && memcmp(p, zstd_magic, sizeof zstd_magic) == 0)
        return fail_at(r->o, r->name, 1, 1, "expected " KNOWN_FORMATS
                       ", found zstd-compressed data: unpack it with zstd -dc");
    return guess_by_line(r);
}

static enum ordeal_status read_trace(struct ordeal_reader *r, struct ordeal_trace *t)
{
    if (r->format == ORDEAL_FORMAT_GUESS) {
        enum ordeal_status status = guess(r);
        if (status != ORDEAL_OK)
            return status;
    }
    switch (r->format) {
    case ORDEAL_FORMAT_TEXT: return read_text(r, t);
    case ORDEAL_FORMAT_BINARY: return read_binary(r, t);
    case ORDEAL_FORMAT_AXE: return read_axe(r, t);
    case ORDEAL_FORMAT_COMMITS: return read_commits(r, t);
    default: return fail(r->o, ORDEAL_BAD_USAGE, "there is no trace format %d", (int)r->format);
    }
}

enum ordeal_status ordeal_reader_next(struct ordeal_reader *r, struct ordeal_trace **trace)
{
    *trace = NULL;
    if (r->done)
        return ORDEAL_END;
    r->o->deadline = 0; /* the time limit is for checks */
    struct ordeal_trace *t = ordeal_trace_new(r->o);
    if (!t)
        return r->o->error.status;
    snprintf(t->file, sizeof t->file, "%s", r->name);
    enum ordeal_status status = read_trace(r, t);
    r->done = status != ORDEAL_OK;
    r->traces += status == ORDEAL_OK;
    if (t->ops.count <= SMALL_ENOUGH) /* else ordeal_check() does it */
        check_hot(trace_check(t));
    if (status == ORDEAL_OK
        || (status == ORDEAL_BAD_INPUT && r->format == ORDEAL_FORMAT_BINARY))
        *trace = t;
    else
        ordeal_trace_free(t);
    return status;
}
