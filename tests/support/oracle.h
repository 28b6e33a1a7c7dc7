/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: what the machines of the memory models can do, found by trying everything.
 *
 * An exhaustive operational machine per model, written from the definitions (thesis chapters 2 and
 * 5.3, Linden and Wolper for PSO) and sharing nothing with the checker.  It matches by value,
 * so store values need not be unique, and it is exact; small executions only. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
enum { ORACLE_MEMORY = 64, ORACLE_WIDEST = 16, ORACLE_OPS = 64, ORACLE_THREADS = 4,
       ORACLE_REGISTERS = 8, ORACLE_FUNCTIONS = 8 };

enum oracle_model { ORACLE_SC, ORACLE_TSO, ORACLE_PSO, ORACLE_PC, ORACLE_RMO, ORACLE_MODELS };

enum oracle_kind { ORACLE_LOAD, ORACLE_STORE, ORACLE_SWAP, ORACLE_CAS, ORACLE_AMO,
                   ORACLE_MEMBAR, ORACLE_TX_BEGIN, ORACLE_TX_END, ORACLE_TX_ABORT,
                   ORACLE_NOTHING /* a prefetch, flush or eviction */ };

enum oracle_function { ORACLE_ADD, ORACLE_AND, ORACLE_OR, ORACLE_XOR, ORACLE_MIN, ORACLE_MAX,
                       ORACLE_MINU, ORACLE_MAXU };
/* clang-format on */

/* The first letter is the earlier operation, the second the later one. */
enum { ORACLE_LL = 1, ORACLE_LS = 2, ORACLE_SL = 4, ORACLE_SS = 8 };

/* Values are bytes in the order of their addresses. */
struct oracle_op {
    enum oracle_kind kind;
    enum oracle_function function; /* of an AMO, whose operand is `write` */
    unsigned thread, address, size, barrier;
    unsigned registers_read, registers_written; /* sets, bit r is register r */
    unsigned rank;                        /* among the stores to its place; 0: not known */
    uint8_t read[ORACLE_WIDEST], write[ORACLE_WIDEST], compare[ORACLE_WIDEST];
};

struct oracle_execution {
    unsigned threads, ops;
    unsigned atomic;                      /* accesses of up to so many bytes happen at once */
    struct oracle_op op[ORACLE_OPS];      /* those of one thread in program order */
    uint8_t initial[ORACLE_MEMORY];
    bool final_known[ORACLE_MEMORY];      /* by byte: it held `final` when all was done */
    uint8_t final[ORACLE_MEMORY];
};

/* Of numbers of 1, 2, 4 or 8 bytes: a becomes the function of both. */
void oracle_amo(enum oracle_function function, unsigned size, uint8_t *a, const uint8_t *b);
/* What the operation writes, having read what it read. */
void oracle_written(const struct oracle_op *op, uint8_t bytes[ORACLE_WIDEST]);

/* Small enough for the machines? The functions below ask for it. */
bool oracle_fits(const struct oracle_execution *x);
/* Can the machine of the model return and leave exactly these values? PC knows no transactions. */
bool oracle_legal(enum oracle_model model, const struct oracle_execution *x);
/* Fill in the values read, the final ones, and the ranks of stores that happen at once, by a random
 * schedule of the machine. */
void oracle_run(enum oracle_model model, struct oracle_execution *x, uint64_t *random_state);
bool oracle_has_transactions(const struct oracle_execution *x);
/* Where the values of loads may come from: is there one with several stores to its place of that
 * value (the initial one counts), and one with none? */
struct oracle_sources { bool several, none; };
struct oracle_sources oracle_sources(const struct oracle_execution *x);

/* Is the store order known of every place with several stores? */
bool oracle_all_ranked(const struct oracle_execution *x);

/* Random numbers: the state is advanced, the result is below `bound`. */
uint64_t oracle_random(uint64_t *state, uint64_t bound);

#endif
