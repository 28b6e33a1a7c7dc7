/* SPDX-License-Identifier: Apache-2.0 */
/* What tests have reached: a set of points of coverage, each with how often and the first test that
 * did. Where the points come from: cover_exec.h, cover_event.h, cover_rtl.h.
 *
 * What one test reached is a struct cover_hits, plain bits, without names and without memory of its
 * own: they cost nothing to collect, to compare with a set and to add to it. Points of RTL are not
 * of one test; they are added to a set by their names. COVER.md is the file. */
#ifndef HOST_COVER_H
#define HOST_COVER_H

#include "cover_can.h"
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

/* A machine that tests ran on. */
void cover_ran_on(struct cover *c, const struct cover_can *can);
const struct cover_can *cover_machines(const struct cover *c);

/* Tests `first` to `next` - 1 of a run: of a target, by a seed, made in this way, whatever that is. */
struct cover_run {
    const char *target;
    uint64_t seed, how, first, next;
};
/* These are in the set. What was there before is not there twice, and runs that touch become one. */
bool cover_ran(struct cover *c, const struct cover_run *run);
/* The i-th, in the order of the file; NULL: there is none. */
const struct cover_run *cover_run_at(const struct cover *c, size_t i);
/* Of these tests, how many the set has. */
uint64_t cover_has_run(const struct cover *c, const struct cover_run *run);
/* Tests that were counted again, as far as the runs tell. */
uint64_t cover_repeats(const struct cover *c);
/* A folder that files of RTL are in, by their names in points. */
bool cover_add_folder(struct cover *c, const char *folder);
const char *cover_folder_at(const struct cover *c, size_t i); /* NULL: there is none */

/* ---- looking at it --------------------------------------------------------------------------- */

uint64_t cover_tests(const struct cover *c);
/* Points of a source that were reached, and that can be on the machines, or were. */
uint64_t cover_reached(const struct cover *c, enum cover_source source);
uint64_t cover_known(const struct cover *c, enum cover_source source);

struct cover_entry {
    const char *name;          /* good until the set changes or the next call */
    uint64_t count;            /* 0: not reached */
    struct cover_origin first; /* if it was */
};

/* Calls for all points that can be reached, or were, sorted by name; false: `each` was, and ended it, or memory
 * is out. */
bool cover_walk(struct cover *c, bool (*each)(void *user, const struct cover_entry *e), void *user);
uint64_t cover_count_of(const struct cover *c, uint32_t point);
bool cover_is_known(const struct cover *c, uint32_t point); /* it can be reached, or was */

#define COVER_VERSION 2 /* of the file */

/* ---- files: COVER.md ------------------------------------------------------------------------- */

/* Adds what a stream holds. False: `e`, and the set is as it was. `name` is for messages. */
bool cover_read(struct cover *c, FILE *stream, const char *name, struct ordeal_error *e);
bool cover_load(struct cover *c, const char *file, struct ordeal_error *e);
/* 0 or an errno; cover_save() leaves the old file as it was, or the whole new one. */
int cover_write(struct cover *c, FILE *stream);
int cover_save(struct cover *c, const char *file);
int cover_try_save(struct cover *c, const char *file); /* could it be? The file stays as it is */

#endif
