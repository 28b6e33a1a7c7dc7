/* SPDX-License-Identifier: Apache-2.0 */
/* For those who read bias files: where they are, and what they share. All that return a bool say
 * why not in the reading's error, at its place. */
#ifndef HOST_BIAS_READING_H
#define HOST_BIAS_READING_H

#include "bias.h"

/* So that they can be written, indented, in lines that inih takes. */
enum { BIAS_NAME_MOST = 40 };

/* Where a value comes from: a line of a file, or a --set. */
struct reading {
    struct bias *b;
    struct bias_origin at;
    struct ordeal_error *e;
    FILE *in;
    bool failed;
    bool key_seen;                /* in the section */
    bool indented;                /* with a key before it, it goes on with that one's value */
    char *comment;                /* lines of it right before this one; NULL: none */
    struct bias_idiom *idiom;     /* whose test goes on */
    struct bias_profile *profile; /* whose `only` goes on */
};

/* Index of the key; -1: there is none. */
int reading_find_key(const char *section, const char *name);
bool reading_unknown_key(struct reading *r, const char *section, const char *name);
bool reading_given_twice(struct reading *r, const struct bias_origin *before, const char *section,
                         const char *name);
/* One to 40 letters, digits, _, + or -? */
bool reading_good_name(struct reading *r, const char *kind, const char *name);
/* The idiom of that name, made on first mention; NULL: refused. */
struct bias_idiom *reading_own_idiom(struct reading *r, const char *name);
/* `text` as a number, or as a value of the key. They say nothing. */
bool reading_number(const char *text, uint32_t least, uint32_t most, uint32_t *value);
bool reading_value(const struct bias_key *k, const char *text, uint32_t *value);
/* What may help who wrote a value that is none, to be said after what is allowed, or "". `varies`:
 * ranges and choices are allowed there. */
const char *reading_hint(const char *text, bool varies);

/* [profile NAME], a key of it, and another line of its `only`. */
bool profile_open(struct reading *r, const char *name);
bool profile_set(struct reading *r, const char *name, const char *key, const char *value);
bool profile_add_only(struct reading *r, struct bias_profile *p, const char *words);

#endif
