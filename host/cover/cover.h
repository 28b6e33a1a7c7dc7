/* SPDX-License-Identifier: Apache-2.0 */
/* What tests have reached: a set of points of coverage, each with how often and the first test that
 * did. Where the points come from: cover_exec.h, cover_event.h, cover_rtl.h.
 *
 * What one test reached is a struct cover_hits, plain bits, without names and without memory of its
 * own: they cost nothing to collect, to compare with a set and to add to it. Points of RTL are not
 * of one test; they are added to a set by their names. COVER.md is the file. */
#ifndef HOST_COVER_H
#define HOST_COVER_H

#include "cover_points.h"
#include "ordeal.h"

enum { COVER_WORDS = (COVER_POINTS + 63) / 64 };

struct cover_hits {
    uint64_t bits[COVER_WORDS];
};

static inline void cover_hit(struct cover_hits *h, uint32_t point)
{
    h->bits[point / 64] |= UINT64_C(1) << (point % 64);
}
static inline bool cover_is_hit(const struct cover_hits *h, uint32_t point)
{
    return h->bits[point / 64] >> (point % 64) & 1;
}
void cover_hits_add(struct cover_hits *to, const struct cover_hits *from);
uint32_t cover_hits_count(const struct cover_hits *h);

/* A test: the seed of its run, its number there, its profile or file; NULL or "": nothing to say. */
struct cover_origin {
    uint64_t seed, number;
    const char *label;
};

struct cover;
struct cover *cover_new(void); /* NULL: out of memory */
void cover_free(struct cover *c);

/* Of the points that a test hit, how many the set does not have. */
uint32_t cover_news(const struct cover *c, const struct cover_hits *h);
/* The same of two sets, each source by itself. */
uint64_t cover_news_of(const struct cover *c, const struct cover *from, enum cover_source source);
/* A test more. These are false when memory is out, and the set is then as it was, or, of a merge,
 * has some of what was to come. */
bool cover_add(struct cover *c, const struct cover_hits *h, const struct cover_origin *test);
/* A point of RTL, by its name in the file; count 0: there is such a point. */
bool cover_add_rtl(struct cover *c, const char *name, uint64_t count,
                   const struct cover_origin *test);
bool cover_merge(struct cover *to, const struct cover *from);

/* ---- looking at it --------------------------------------------------------------------------- */

uint64_t cover_tests(const struct cover *c);
/* Points of a source that were reached, and that there are. */
uint64_t cover_reached(const struct cover *c, enum cover_source source);
uint64_t cover_known(const struct cover *c, enum cover_source source);

struct cover_entry {
    const char *name;          /* good until the set changes or the next call */
    uint64_t count;            /* 0: not reached */
    struct cover_origin first; /* if it was */
};

/* Calls for all points, reached or not, sorted by name; false: `each` was, and ended it, or memory
 * is out. */
bool cover_walk(struct cover *c, bool (*each)(void *user, const struct cover_entry *e), void *user);
uint64_t cover_count_of(const struct cover *c, uint32_t point);

#define COVER_VERSION 1 /* of the file */

/* ---- files: COVER.md ------------------------------------------------------------------------- */

/* Adds what a stream holds. False: `e`, and the set is as it was. `name` is for messages. */
bool cover_read(struct cover *c, FILE *stream, const char *name, struct ordeal_error *e);
bool cover_load(struct cover *c, const char *file, struct ordeal_error *e);
/* 0 or an errno; cover_save() leaves the old file as it was, or the whole new one. */
int cover_write(struct cover *c, FILE *stream);
int cover_save(struct cover *c, const char *file);

#endif
