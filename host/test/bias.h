/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of tests to make: the keys of a bias file, in one table (bias_keys.h).
 *
 * The table gives each key its place in `struct bias`, its default, its range and its help; the
 * reader, --set, --help, the writer and the checks of the whole all come from it. A bias file is
 * INI (inih): `[section]` and `key = value`; on the command line `--set section.key=value`.
 *
 * Sections `[profile NAME]` make kinds of tests within a bias: each test is of one of them, drawn
 * by weight, and what the profile says of a key holds for it in place of what the file says. */
#ifndef HOST_BIAS_H
#define HOST_BIAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bias_keys.h"
#include "base/list.h"
#include "ordeal.h"

/* Where a value was given. `reading` tells files apart; 0: it is the default. */
struct bias_origin { const char *file; uint32_t line, reading; };

/* An idiom of the user's own: a section `[idiom NAME]`. */
struct bias_idiom {
    char *name, *text;              /* text: lines of a test; NULL: not given yet */
    size_t length;                  /* of the text, and how many lines it has */
    uint32_t lines, weight;
    char *place[IDIOM_PLACES];                      /* names in its text; NULL: not given */
    struct bias_origin section, weight_at, text_at; /* text_at: of the first line of the text */
    struct bias_origin place_at[IDIOM_PLACES];
};

/* What a profile says of a slot, that is, of the value of the key of that index or, from
 * BIAS_KEY_COUNT on, of the weight of an idiom of the user's own: a value, one of several, or any
 * from the first to the second. */
enum { BIAS_MOST_VALUES = 16 };
struct bias_vary {
    uint32_t slot;
    bool range;
    uint32_t count, value[BIAS_MOST_VALUES];
    struct bias_origin at;
};

struct bias_profile {
    char *name, *only; /* only: words with a blank after each; NULL: not given */
    char *comment;     /* lines right before its section, of the first file that has any; or NULL */
    uint32_t weight;
    struct bias_origin section, weight_at, only_at;
    LIST(struct bias_vary) varies; /* no two of a slot */
};

enum {
#define BIAS_INDEX(section, field, ...) BIAS_##section##_##field,
    BIAS_KEYS(BIAS_INDEX, BIAS_INDEX, BIAS_INDEX)
#undef BIAS_INDEX
    BIAS_KEY_COUNT
};

struct bias {
    union {
        uint32_t values[BIAS_KEY_COUNT];
        struct {
#define BIAS_FIELD(section, field, ...) uint32_t section##_##field;
            BIAS_KEYS(BIAS_FIELD, BIAS_FIELD, BIAS_FIELD)
#undef BIAS_FIELD
        };
    };
    struct bias_origin origins[BIAS_KEY_COUNT];
    LIST(struct bias_idiom) idioms;
    LIST(struct bias_profile) profiles; /* none: all tests are of the values above */
    LIST(char *) files;             /* names that origins point to */
    uint32_t readings;
};

static inline uint32_t bias_slots(const struct bias *b)
{
    return BIAS_KEY_COUNT + (uint32_t)b->idioms.count;
}

static inline uint32_t *bias_at(struct bias *b, uint32_t slot)
{
    return slot < BIAS_KEY_COUNT ? &b->values[slot] : &b->idioms.data[slot - BIAS_KEY_COUNT].weight;
}

static inline uint32_t bias_value(const struct bias *b, uint32_t slot)
{
    return *bias_at((struct bias *)b, slot);
}

static inline const struct bias_origin *bias_origin_of(const struct bias *b, uint32_t slot)
{
    return slot < BIAS_KEY_COUNT ? &b->origins[slot]
                                 : &b->idioms.data[slot - BIAS_KEY_COUNT].weight_at;
}

/* Was it given with --set? Then it is so in all profiles. */
static inline bool bias_held(const struct bias *b, uint32_t slot)
{
    return bias_origin_of(b, slot)->reading && bias_origin_of(b, slot)->line == 0;
}

struct bias_key {
    const char *section, *name, *help;
    uint32_t preset, least, most;
    const char *const *words;       /* ends with NULL; NULL: none */
    uint32_t first_word;            /* value of words[0]; the others follow */
};
extern const struct bias_key bias_keys[BIAS_KEY_COUNT];
/* "1 to 256", "one of no, yes", "0 to 9, or forever"; as snprintf. */
int bias_allowed(const struct bias_key *k, char *text, size_t size);
int bias_value_text(const struct bias_key *k, uint32_t value, char *text, size_t size);

struct bias *bias_new(void);                  /* the defaults; NULL: out of memory */
void bias_free(struct bias *b);
/* They return false with file, line and reason (the key, what is allowed). A key given twice in one
 * file is an error; later files and --set override earlier ones. */
bool bias_read(struct bias *b, const char *file, struct ordeal_error *e);
bool bias_read_stream(struct bias *b, FILE *in, const char *name, struct ordeal_error *e);
bool bias_set(struct bias *b, const char *assignment, struct ordeal_error *e);
/* Do the values go together? Names the line and the key at fault, and what is allowed. */
bool bias_check(const struct bias *b, struct ordeal_error *e);
/* Which slots a profile leaves as they are, by its `only`; `kept` has a place for each. */
bool bias_kept(const struct bias *b, const struct bias_profile *p, bool *kept,
               struct ordeal_error *e);
/* As a bias file that says the same: every key, with its help as a comment when asked. */
bool bias_write(const struct bias *b, FILE *out, bool with_help);

/* Lines of comment to be written before a profile (BIAS_NO_SLOT), and before what it says of a slot. */
#define BIAS_NO_SLOT UINT32_MAX
struct bias_notes {
    void (*write)(void *user, const struct bias_profile *p, uint32_t slot, FILE *out);
    void *user;
};
/* One profile, as its section of the file; notes may be NULL. */
void bias_write_profile(const struct bias *b, const struct bias_profile *p,
                        const struct bias_notes *notes, FILE *out);

/* False, with the reason. For those above. */
bool bias_refuse(struct ordeal_error *e, const struct bias_origin *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
