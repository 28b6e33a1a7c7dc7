/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the readers: one buffered stream handing out lines or bytes, and the four formats.
 *
 * The buffer is all the memory a reader takes beyond the trace itself (the binary reader adds
 * what unpacking one block needs), however large the file or its lines. */
#ifndef ORDEAL_READ_H
#define ORDEAL_READ_H

#include "trace.h"

#define READ_LINE_MAX ((size_t)1 << 20)
#define READ_CHUNK ((size_t)1 << 17)
#define READ_BUFFER (READ_LINE_MAX + READ_CHUNK) /* the most the buffer grows to */

#define TEXT_VERSION 1

/* A line; *end is '\n', whatever ended the line in the file, so a scanner needs no other bound. */
struct line { const char *begin, *end; };

struct ordeal_reader {
    struct ordeal *o;
    FILE *stream;
    enum ordeal_format format;
    char name[256];
    char *buffer;          /* capacity, and one byte for a line end at the end of the file */
    size_t capacity;       /* READ_CHUNK; more when a line or a block needs it */
    size_t begin, end;     /* of what is not yet handed out */
    bool eof;
    bool held;             /* a line read to guess the format, one that begins the next trace, or */
    struct line held_line; /* the rest of one after an Axe trace, is still to be read, from */
    const char *held_from; /* held_from on */
    bool done;             /* nothing more comes: the end or an error was reported */
    uint64_t line;         /* number of the line last handed out */
    uint64_t traces;       /* handed out */
};

/* ORDEAL_OK, ORDEAL_END at the end of the file, or an error. The line lives until the next call. */
enum ordeal_status reader_line(struct ordeal_reader *r, struct line *line);
/* Have `count` bytes (at most READ_LINE_MAX) at buffer + begin if the file has them; *have says how
 * many there are. */
enum ordeal_status reader_need(struct ordeal_reader *r, size_t count, size_t *have);

/* "expected WHAT, found …" at the place `at` of the line beginning at `begin`. */
enum ordeal_status expected(struct ordeal_reader *r, const char *begin, const char *at,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A refusal of the trace (too many operations, …) becomes bad input of this place. */
enum ordeal_status refused(struct ordeal_reader *r, enum ordeal_status status, uint64_t line,
                           uint64_t column);
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* A number, decimal or 0x-hex, at *p: true and *p after it. False: *fault says what is wrong,
 * "" when there is no number at all. Shared by the formats for people. */
bool scan_long_number(const char **p, uint64_t *value, const char **fault);
static inline bool scan_number(const char **p, uint64_t *value, const char **fault)
{
    /* Up to 19 decimal digits fit in any case: nearly every number. */
    const char *q = *p;
    uint64_t v = 0;
    while (is_digit(*q) && q - *p < 19)
        v = v * 10 + (uint64_t)(*q++ - '0');
    if (q == *p || is_digit(*q) || *q == 'x')
        return scan_long_number(p, value, fault);
    *value = v;
    *p = q;
    return true;
}
/* Check a comment for control characters: NULL or the first one. */
const char *scan_comment(const char *p, const char *end);

/* The next trace of the file; ORDEAL_END when there is no other. */
enum ordeal_status read_text(struct ordeal_reader *r, struct ordeal_trace *t);
enum ordeal_status read_binary(struct ordeal_reader *r, struct ordeal_trace *t);
enum ordeal_status read_axe(struct ordeal_reader *r, struct ordeal_trace *t);
enum ordeal_status read_commits(struct ordeal_reader *r, struct ordeal_trace *t);

#endif
