/* SPDX-License-Identifier: Apache-2.0 */
/* Regular languages of what may wait in a store buffer, oldest first (Linden and Wolper 2013). Each is
 * kept once, as its minimal deterministic automaton, and has a number: equal languages have equal
 * numbers. What was computed of them is remembered. Symbols are numbers below AUTOMATON_EPSILON; what
 * they mean is up to the caller. Where there is no memory the process ends: a language that is lost
 * is a behaviour that is lost. */
#ifndef PROGRAM_AUTOMATON_H
#define PROGRAM_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LANGUAGE_NONE, LANGUAGE_EMPTY_WORD }; /* no word at all; the one without symbols */
#define AUTOMATON_EPSILON UINT32_MAX

struct automata;
struct automata *automata_new(void); /* NULL: no memory */
void automata_free(struct automata *a);
uint32_t automata_count(const struct automata *a);
size_t automata_bytes(const struct automata *a);

/* An automaton as it is kept. State 0 is the first; its edges come sorted by symbol. */
struct automaton_edge {
    uint32_t symbol, to;
};
struct automaton {
    uint32_t states, edges;
    const uint32_t *begin; /* of each state's edges, and one more */
    const uint32_t *final; /* 0 or 1 */
    const struct automaton_edge *edge;
};
struct automaton automata_get(const struct automata *a, uint32_t language);

bool automata_has_empty_word(const struct automata *a, uint32_t language);
/* Every symbol of some word. */
bool automata_any_symbol(const struct automata *a, uint32_t language,
                         bool (*is)(const void *user, uint32_t symbol), const void *user);

uint32_t automata_append(struct automata *a, uint32_t language, uint32_t symbol);
uint32_t automata_quotient(struct automata *a, uint32_t language, uint32_t symbol); /* left */
uint32_t automata_union(struct automata *a, uint32_t one, uint32_t other);
uint32_t automata_intersect(struct automata *a, uint32_t one, uint32_t other);
bool automata_includes(struct automata *a, uint32_t big, uint32_t small);
/* language . word* */
uint32_t automata_repeat(struct automata *a, uint32_t language, const uint32_t *word, size_t n);
/* The word w with after = before . w; its length, or -1 if there is none or it has more than `most`. */
int automata_growth(struct automata *a, uint32_t before, uint32_t after, uint32_t *word,
                    size_t most);
bool automata_ends_with(struct automata *a, uint32_t language, const uint32_t *word, size_t n);

/* Its words without the symbols that are not kept. */
uint32_t automata_project(struct automata *a, uint32_t language,
                          bool (*keep)(const void *user, uint32_t symbol), const void *user);
/* Those of its words whose projection is in `projection`. */
uint32_t automata_lift(struct automata *a, uint32_t language, uint32_t projection,
                       bool (*keep)(const void *user, uint32_t symbol), const void *user);

/* Its words by what an observer has seen when it has read them: from 0 on, `next` of what it saw and
 * a symbol. The parts are sorted by what was seen; how many, or -1: more than `most`. */
struct automaton_part {
    uint64_t seen;
    uint32_t language;
};
int automata_split(struct automata *a, uint32_t language,
                   uint64_t (*next)(const void *user, uint64_t seen, uint32_t symbol),
                   const void *user, struct automaton_part *part, size_t most);

#endif
