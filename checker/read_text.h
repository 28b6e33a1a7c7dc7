/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the text reader: a line being scanned, and what its parts share. */
#ifndef ORDEAL_READ_TEXT_H
#define ORDEAL_READ_TEXT_H

#include "read.h"

struct scan {
    struct ordeal_reader *r;
    struct ordeal_trace *t;
    const char *begin, *p;  /* the line and where we are; it ends with '\n' */
    uint32_t threads[256];  /* of small numbers: the index in the trace + 1, 0 unknown */
    bool version_seen, model_seen, atomic_seen, seed_seen;
    bool order_before, order_here; /* the line before, this line is an order that may go on */
};

struct place { uint32_t base; uint8_t size_log2; uint64_t address; };

static inline enum ordeal_status text_refused_at(struct scan *s, enum ordeal_status status,
                                                 const char *at)
{
    return refused(s->r, status, s->r->line, (uint64_t)(at - s->begin) + 1);
}

static inline void text_skip_blanks(struct scan *s)
{
    while (is_blank(*s->p))
        s->p++;
}

static inline uint32_t text_line_number(const struct scan *s)
{
    return s->r->line < UINT32_MAX ? (uint32_t)s->r->line : UINT32_MAX;
}

/* Is there another item in this line? Then go to it, else stay before the blanks. */
static inline bool text_another(struct scan *s)
{
    const char *q = s->p;
    while (is_blank(*q))
        q++;
    if (q == s->p || *q == '\n' || *q == '#')
        return false;
    s->p = q;
    return true;
}

static inline enum ordeal_status text_blank(struct scan *s, const char *what)
{
    if (!is_blank(*s->p))
        return expected(s->r, s->begin, s->p, "a blank and %s", what);
    text_skip_blanks(s);
    return ORDEAL_OK;
}

static inline enum ordeal_status text_number(struct scan *s, const char *what, uint64_t *value)
{
    const char *fault;
    if (scan_number(&s->p, value, &fault))
        return ORDEAL_OK;
    return expected(s->r, s->begin, s->p, "%s", *fault ? fault : what);
}

static inline bool text_same_word(const char *p, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++)
        if (p[i] != word[i])
            return false; /* also where the word ends first: p has no NUL there */
    return word[length] == '\0';
}

/* Nothing is left in the line but a comment. A comment begins the line or follows a blank: `S[A]#1`
 * has none. */
enum ordeal_status text_line_end(struct scan *s);
enum ordeal_status text_value(struct scan *s, uint8_t size_log2, uint64_t *v);
/* `=7`, `#7`, … */
enum ordeal_status text_marked_value(struct scan *s, char mark, uint8_t size_log2, uint64_t *v);
enum ordeal_status text_name(struct scan *s, uint32_t *base);
enum ordeal_status text_location(struct scan *s, struct place *place);

/* A line that begins with a keyword: one of the facts about the whole. */
enum ordeal_status text_fact(struct scan *s);

#endif
