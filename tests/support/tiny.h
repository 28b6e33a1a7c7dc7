/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny programs: a few threads of a few loads, stores, fences, atomics, branches and one loop each,
 * over three words of memory. What machines of the memory models can make of them is found by
 * trying everything (tiny_machine.c), plainly and slowly, from Figures 3 to 6 of Burnim, Sen and
 * Stergiou (Testing concurrent programs on relaxed memory models, 2011) and program/PROGRAM.md,
 * sharing nothing with the engine of program/ that is held to it. */
#ifndef TESTS_TINY_H
#define TESTS_TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */
enum { TINY_THREADS = 4, TINY_OPS = 12, TINY_REGISTERS = 4, TINY_WORDS = 3,
       TINY_BYTES = 4 * TINY_WORDS, TINY_COLUMNS = TINY_THREADS + TINY_WORDS };

enum tiny_model { TINY_SC, TINY_TSO, TINY_PSO, TINY_PSLO, TINY_MODELS };

enum tiny_kind {
    TINY_LOAD,   /* target = [address] */
    TINY_STORE,  /* [address] = value, or of a register plus value */
    TINY_FENCE,
    TINY_SWAP,   /* target = word, word = value; so do the next three with a function of both */
    TINY_ADD, TINY_OR, TINY_MAX,
    TINY_CAS,    /* target = word; if it was `compare`, word = value */
    TINY_SKIP,   /* if source == value (or, negated, !=), the next `distance` ops are left out */
    TINY_LOOP,   /* if source != value, again from `distance` ops before, `times` at most */
    TINY_ENTER,  /* a full fence; from here ... */
    TINY_LEAVE,  /* ... to here nobody else moves; loads, stores and atomics alone are between */
    TINY_KINDS
};
/* Of a fence: which pairs it keeps in order; of an atomic, acquire and release. */
enum { TINY_RR = 1, TINY_RW = 2, TINY_WR = 4, TINY_WW = 8, TINY_FULL = 15 };
enum { TINY_RL = 1, TINY_AQ = 2 };
/* clang-format on */

struct tiny_op {
    enum tiny_kind kind;
    uint8_t address, size;  /* bytes; atomics are of 4 */
    uint8_t target, source; /* registers; a store's source: TINY_REGISTERS is none */
    uint8_t order;          /* TINY_RR ... or TINY_RL ... */
    uint8_t distance, times;
    bool negated;
    uint32_t value, compare;
};

struct tiny_program {
    unsigned threads, ops[TINY_THREADS];
    struct tiny_op op[TINY_THREADS][TINY_OPS];
    bool leaves_memory; /* main does not look at it in the end, so that it is the threads' alone */
};

/* Where it ends: of each thread one number for its registers (r0 + 251 * (r1 + 251 * ...)), then
 * the words of memory. Rows are sorted, each once. */
struct tiny_outcomes {
    uint32_t (*row)[TINY_COLUMNS];
    size_t rows;
    size_t states;
};

struct tiny_limits {
    unsigned buffers;   /* entries of a buffer, 0: as many as there are */
    bool locked;        /* every atomic is a full barrier */
    size_t most_states; /* 0: no limit */
};

/* False: more states than the limit. */
bool tiny_outcomes(const struct tiny_program *p, enum tiny_model model, struct tiny_limits limits,
                   struct tiny_outcomes *outcomes);
void tiny_outcomes_free(struct tiny_outcomes *outcomes);

/* The program of this seed. */
void tiny_random(struct tiny_program *p, uint64_t seed);
/* Its branches and loops go, and sections come, as many as fit. */
void tiny_add_sections(struct tiny_program *p, uint64_t seed);
/* Without one op; what jumps over it jumps as far as it did. False: there is no such op. */
bool tiny_without(struct tiny_program *p, unsigned thread, unsigned op);
/* A line of ops for each thread, and back: there `|` does for the end of a line. */
void tiny_print(const struct tiny_program *p, FILE *stream);
bool tiny_parse(struct tiny_program *p, const char *text);

/* The program as an ELF file for RV32IMA, to be freed: main makes the threads, joins them with the
 * number of their registers as value, and ends. The columns of an outcome lie at these addresses. */
void *tiny_elf(const struct tiny_program *p, size_t *size);
void tiny_columns(uint32_t address[TINY_COLUMNS]);

/* Many programs as one of C, that of the number in its variable `which`; the columns of an outcome are
 * its arrays `result` and `final`. Their words are global, allocated, or in the frame of main. */
void tiny_c(const struct tiny_program *p, unsigned count, FILE *stream);
/* A word of data in an ELF file of 32 bits; false: it has no such. */
bool tiny_patch(void *elf, uint32_t address, uint32_t value);

#endif
