/* SPDX-License-Identifier: Apache-2.0 */
/* Idioms: short patterns of several threads that the generator weaves into a test.
 *
 * Written in the test notation. Their threads stand for any distinct threads, their names for any
 * distinct locations, their values for fresh ones; equal values of one name stay equal. */
#ifndef HOST_IDIOM_H
#define HOST_IDIOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ordeal.h"

/* The built-in ones, in the shape of BIAS_KEYS: their weights are keys. Where the classic form
 * asks for the last value in memory, a load behind a membar shows the order of the stores instead:
 * it sees the other thread's store only if that is the later one. */
#define BIAS_IDIOM(NUMBER, field, name, help, text) \
    NUMBER(idioms, field, name, 0, 0, MOST_WEIGHT, help, text)
/* clang-format off */
#define BUILTIN_IDIOMS(NUMBER) \
    BIAS_IDIOM(NUMBER, sb, "sb", "SB, 2 threads: does a load overtake the store before it?", \
               "P0 S[x]#1\n" "P0 L[y]\n" \
               "P1 S[y]#1\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, mp, "mp", "MP, 2 threads: is a message there when its flag is?", \
               "P0 S[x]#1\n" "P0 S[y]#1\n" \
               "P1 L[y]\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, lb, "lb", "LB, 2 threads: does a store overtake the load before it?", \
               "P0 L[x]\n" "P0 S[y]#1\n" \
               "P1 L[y]\n" "P1 S[x]#1\n") \
    BIAS_IDIOM(NUMBER, s, "s", \
               "S, 2 threads: two stores, and one after a load that saw the second", \
               "P0 S[x]#2\n" "P0 S[y]#1\n" \
               "P1 L[y]\n" "P1 S[x]#1\n" "P1 MEMBAR\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, r, "r", \
               "R, 2 threads: two stores, and a load behind a store to the second", \
               "P0 S[x]#1\n" "P0 S[y]#1\n" "P0 MEMBAR\n" "P0 L[y]\n" \
               "P1 S[y]#2\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, two_plus_two_w, "2+2w", "2+2W, 2 threads: two stores each, crosswise", \
               "P0 S[x]#1\n" "P0 S[y]#2\n" "P0 MEMBAR\n" "P0 L[y]\n" \
               "P1 S[y]#1\n" "P1 S[x]#2\n" "P1 MEMBAR\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, iriw, "iriw", "IRIW, 4 threads: do two readers agree on two writers?", \
               "P0 S[x]#1\n" \
               "P1 S[y]#1\n" \
               "P2 L[x]\n" "P2 L[y]\n" \
               "P3 L[y]\n" "P3 L[x]\n") \
    BIAS_IDIOM(NUMBER, wrc, "wrc", \
               "WRC, 3 threads: is a write seen by all who see its consequence?", \
               "P0 S[x]#1\n" \
               "P1 L[x]\n" "P1 S[y]#1\n" \
               "P2 L[y]\n" "P2 L[x]\n") \
    BIAS_IDIOM(NUMBER, rwc, "rwc", "RWC, 3 threads: a reader between a write and a store buffer", \
               "P0 S[x]#1\n" \
               "P1 L[x]\n" "P1 L[y]\n" \
               "P2 S[y]#1\n" "P2 L[x]\n") \
    BIAS_IDIOM(NUMBER, isa2, "isa2", "ISA2, 3 threads: a message passed on", \
               "P0 S[x]#1\n" "P0 S[y]#1\n" \
               "P1 L[y]\n" "P1 S[z]#1\n" \
               "P2 L[z]\n" "P2 L[x]\n") \
    BIAS_IDIOM(NUMBER, corr, "corr", "CoRR, 2 threads: do two loads of a word go back in time?", \
               "P0 S[x]#1\n" \
               "P1 L[x]\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, coww, "coww", "CoWW, 2 threads: two stores to a word, and who looks on", \
               "P0 S[x]#1\n" "P0 S[x]#2\n" \
               "P1 L[x]\n" "P1 L[x]\n") \
    BIAS_IDIOM(NUMBER, corw, "corw", \
               "CoRW, 2 threads: does a load see what its own store precedes?", \
               "P0 L[x]\n" "P0 S[x]#1\n" "P0 L[x]\n" \
               "P1 S[x]#2\n") \
    BIAS_IDIOM(NUMBER, dekker, "dekker", \
               "Dekker, 2 threads: SB with swaps, which are never overtaken", \
               "P0 SWAP[x]#1\n" "P0 L[y]\n" \
               "P1 SWAP[y]#1\n" "P1 L[x]\n")
/* clang-format on */

/* One operation. Fields that its kind does not have are 0. */
struct idiom_step {
    uint8_t kind, size_log2, flags, barrier;
    uint8_t thread;              /* of the idiom's, from 0; so are names */
    uint8_t name, offset;        /* bytes from where the name lies */
    uint16_t value, compare;     /* which of the name's values, from 1; 0: the value 0 */
    uint32_t compare_register;
    uint64_t count;              /* TX.BEGIN, DELAY: the number; IPI: thread of the idiom */
    uint32_t registers, first_register;
};

struct idiom_register {
    uint32_t number;
    enum ordeal_register_use use;
};

/* Where names may be asked to lie: in uncached lines, in one line, in different lines of one set of
 * a cache, in different lines. */
enum idiom_place { IDIOM_UNCACHED, IDIOM_ONE_LINE, IDIOM_ONE_SET, IDIOM_APART, IDIOM_PLACES };
extern const char *const idiom_place_keys[IDIOM_PLACES + 1]; /* ends with NULL */

enum { IDIOM_MOST_NAMES = 32, IDIOM_MOST_THREADS = 255, IDIOM_MOST_STEPS = 1000 };

struct idiom_name {
    uint32_t bytes;              /* it reaches so far */
    uint32_t values;             /* distinct ones written */
    bool plain, transactional;   /* used outside, inside of transactions */
    bool placed[IDIOM_PLACES];
};

struct bias;

struct idiom {
    char called[64];             /* its weight's key: "idioms.sb", "idiom NAME.weight" */
    uint32_t slot, weight;       /* where in the bias its weight is, and what it is now */
    uint32_t threads, names, steps;
    struct idiom_step *step;
    struct idiom_register *registers; /* that steps name, some more than once */
    uint32_t register_count;
    struct idiom_name name[IDIOM_MOST_NAMES];
    char *names_text;                    /* each with a blank after it */
    uint32_t placed[IDIOM_PLACES];       /* how many names are */
    bool is_placed;                      /* some of them */
    uint32_t length[IDIOM_MOST_THREADS]; /* operations of each thread */
    uint32_t longest;
    uint32_t sizes;              /* bit n: accesses of 2^n bytes */
};

/* False: `e` has the reason, and the line from 1 within the text (0: none). */
bool idiom_compile(struct idiom *x, const char *text, struct ordeal_error *e);
/* Asks that the names, given with blanks between them, be placed so. False: `e`, without a line. */
bool idiom_place(struct idiom *x, enum idiom_place place, const char *names,
                 struct ordeal_error *e);
void idiom_free(struct idiom *x);
/* Does a name reach beyond one word? Then its names stand for different lines. */
bool idiom_is_wide(const struct idiom *x, uint32_t word_bytes);

/* All that have weight in a bias or could get it in a profile, built-in ones first; in use, in the
 * same order, are those that have it now. */
struct idiom_list {
    struct idiom *all;
    size_t all_count;
    const struct idiom **data;
    size_t count;
};
/* False: `e` says which line is wrong. In use are those with weight in the bias itself. */
bool idioms_of_bias(struct idiom_list *list, const struct bias *b, struct ordeal_error *e);
/* Takes their weights from a bias drawn from that one. */
void idioms_weigh(struct idiom_list *list, const struct bias *b);
void idioms_free(struct idiom_list *list);

#endif
