/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the multiprocessor of rtl/ and what it did there: its code and memory as the machine
 * gets them, and from the records of a run the execution, its trace, the checker's verdict on it, and
 * what the program itself did wrong. Knows no target: chip_run.c does. */
#ifndef HOST_CHIP_ON_CHIP_H
#define HOST_CHIP_ON_CHIP_H

#include <stdio.h>

#include <cJSON.h>

#include "base/error.h"
#include "program/compile.h"
#include "ordeal.h"
#include "steer.h"
#include "targets/soc/soc_record.h"

struct on_chip;

/* Compiles and links it, or takes an ELF file that was linked so. `messages`: the compiler's, to be
 * freed, in either case. NULL: error. */
struct on_chip *on_chip_load(const struct compile_request *request, char **messages,
                             struct ordeal_error *error);
void on_chip_free(struct on_chip *p);
const uint8_t *on_chip_elf(const struct on_chip *p, size_t *size);

struct on_chip_machine {
    uint32_t harts, code_bytes, memory_bytes;
    int32_t low, high; /* of nondeterministic values */
};
struct on_chip_words {
    const uint32_t *code;
    uint32_t *memory;
    uint32_t code_words, memory_words;
    uint64_t identity;
};
/* Lays it out for this machine; the words live until the next call. False: why it does not fit. */
bool on_chip_fit(struct on_chip *p, const struct on_chip_machine *machine,
                 struct on_chip_words *words, struct why *why);

/* Its code as it was laid out, with delays or fences. False: as steer_code(). */
bool on_chip_steer(const struct on_chip *p, const struct steer_point *point, size_t points,
                   struct steered *to);
struct image;
const struct image *on_chip_image(const struct on_chip *p);

/* How a run ended. */
enum on_chip_end {
    ON_CHIP_ENDED,
    ON_CHIP_STILL, /* harts run, but nothing changes any more */
    ON_CHIP_LONG,  /* not within the cycles that were given */
    ON_CHIP_BROKE  /* the machine did: see `broke` */
};
struct on_chip_run {
    const struct soc_hart_records *records;
    uint32_t end; /* the last cycle that counts */
    enum on_chip_end how;
    const char *broke;
    enum ordeal_model model; /* of the machine */
    bool visible;            /* the order in which stores became visible is part of the trace */
    double seconds;          /* of the check; 0: as long as it takes */
};

enum on_chip_result {
    ON_CHIP_PASS,
    ON_CHIP_FAIL,
    ON_CHIP_UNDECIDED,
    ON_CHIP_FULL, /* it has more threads than the machine has harts */
    ON_CHIP_BAD   /* it asks for what is not there: `why` */
};
struct on_chip_verdict;
/* NULL: out of memory, or a defect, in `error`. */
struct on_chip_verdict *on_chip_judge(struct on_chip *p, const struct on_chip_run *run,
                                      struct ordeal_error *error);
void on_chip_verdict_free(struct on_chip_verdict *v);
enum on_chip_result on_chip_result(const struct on_chip_verdict *v, const char **why);
uint32_t on_chip_threads(const struct on_chip_verdict *v);
/* Fields of its line: error=, at=, reason= ... */
void on_chip_line(const struct on_chip_verdict *v, cJSON *line);
/* For people: what happened, by lines of the source. False: out of memory. */
bool on_chip_text(struct on_chip_verdict *v, FILE *out);
bool on_chip_picture(struct on_chip_verdict *v, FILE *out);
/* NULL: the machine broke before there was one. */
const struct ordeal_trace *on_chip_trace(const struct on_chip_verdict *v);
const struct ordeal_verdict *on_chip_check(const struct on_chip_verdict *v);
/* The cycle of what went wrong; 0: unknown. */
uint32_t on_chip_cycle(const struct on_chip_verdict *v);
/* The i-th operation that violates the model: on which hart, when, and what. False: there is none. */
bool on_chip_core(const struct on_chip_verdict *v, size_t i, uint32_t *hart, uint32_t *cycle,
                  char *text, size_t size);
/* The value of a global variable that the last store to it left, or that it began with. */
bool on_chip_value(const struct on_chip_verdict *v, const char *name, int64_t *value,
                   struct why *why);

#endif
