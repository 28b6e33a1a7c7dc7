/* SPDX-License-Identifier: Apache-2.0 */
/* A test made ready to run, and what a run of it brings back.
 *
 * A target walks the instructions of each thread and brings back `values`: for each thread its
 * slots in the order in which it executed: one for every L, LR, SWAP, CAS and AMO of up to 8 bytes
 * (size/8 of wider loads), one for every SC: 0 it stored, 1 it did not, and one for every TX.END: 1
 * committed, 0 done plainly after its last retry.
 * Inside a transaction that ends with TX.ABORT nothing is observed. Registers are 0 at first, and a
 * transaction that aborts takes back what it did to them. Loops, branches (lfsr.h) and values
 * written (of an AMO, given what it read) are known beforehand; so the values are the whole of an
 * execution, and program_trace() makes the trace of it.
 *
 * A machine whose memory can be read when an iteration is over (machine_claims) adds a word for
 * each of the program's `finals`: what memory holds there, once every store has arrived.
 *
 * A machine that shows more than software can see adds a word for each L, S, SWAP, CAS, AMO, LR and
 * SC, thread by thread from its first_operation, in the order in which it executed them: `visible`:
 * which one of all stores it was to become visible, from 1, 0: it wrote nothing; then `cycles`: that
 * of its issue, and from bit 32 on that of its completion (of a store: when it became visible); 0:
 * not known. Words of operations that were not executed are 0. */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ordeal.h"

enum { LINE_BYTES = 64, FINAL_BYTES = 8, NO_REGISTER = 0xff, MOST_REGISTERS = 32 };
#define RETRY_FOREVER UINT32_MAX

/* `kind` and `flags` are those of struct ordeal_op. Fields that its kind does not have are 0. */
struct instruction {
    uint8_t kind, size_log2, flags;
    union {
        uint8_t barrier;  /* MEMBAR: its flavours */
        uint8_t function; /* AMO: enum ordeal_amo_function */
    };
    uint8_t sets;              /* register that takes the value read, dense from 0; NO_REGISTER */
    uint8_t compare_register;  /* CAS: compares with it; NO_REGISTER: with `compare` */
    bool observed;             /* it fills slots: not inside a transaction that will abort */
    uint32_t needs;            /* registers its address depends on, a bit each */
    uint32_t data, control;    /* the same of its data, and of a branch right before it */
    uint32_t line, offset;     /* where: line of the program, bytes into it */
    uint32_t match;            /* LOOP, BRANCH, TX: the instruction that ends or, from an end, begins
                                  it; of BRANCH.BEGIN the ELSE if there is one; of ELSE the END */
    uint32_t count;            /* LOOP.BEGIN: times round; TX.BEGIN: retries; DELAY: cycles;
                                  INTERRUPT: index of the thread */
    uint64_t write, step, compare; /* of an AMO `write` is the operand */
    const uint8_t *bytes;      /* written by a store of more than 8 bytes; else NULL */
    uint32_t op;               /* its operation in the test */
};

/* How many values it brings back. */
static inline uint32_t instruction_slots(const struct instruction *i)
{
    if (!i->observed)
        return 0;
    return i->kind == ORDEAL_TX_END || i->size_log2 <= 3 ? 1 : 1u << (i->size_log2 - 3);
}

struct program_line {
    uint32_t base;             /* its name in the test; 0: it is at `address` */
    uint64_t address;
    uint64_t place;            /* offset in the test's memory, a multiple of LINE_BYTES; of no
                                  meaning where it is faulting */
    bool uncached, faulting;
    uint8_t initial[LINE_BYTES];
};

/* Eight bytes of memory, aligned, that the test may write to, in a transaction that will abort,
 * too: the width of a word of an outcome, so that narrow stores that go too far are seen as well. */
struct program_final {
    uint32_t line, offset; /* of the program; bytes into it */
    uint8_t written;       /* which of the bytes are written by any, a bit each */
    uint8_t divided;       /* which parts are written piece by piece, see program_final_part() */
};

/* The bit in `divided` of a part of 2, 4 or 8 bytes, by the logarithm of its size and its offset. */
static inline uint8_t program_final_part(uint8_t size_log2, uint32_t at)
{
    static const uint8_t first[] = { 7, 0, 4, 6 };
    return (uint8_t)(1u << (first[size_log2] + (at >> size_log2)));
}

struct program_thread {
    uint32_t number;           /* the n of Pn */
    const struct instruction *code;
    uint32_t length;
    uint32_t first_slot, slots; /* its part of the values: the most it can fill */
    uint32_t registers;        /* how many it uses */
    uint64_t first_operation;  /* those of the threads before it */
    uint64_t operations;       /* memory operations of one execution, at most */
};

/* What a test asks of the machine; also what a target can do (target.h). */
struct abilities {
    uint32_t threads, registers;
    /* Bit n: 2^n bytes; reserve_sizes are those of LR and SC. */
    uint32_t load_sizes, store_sizes, swap_sizes, cas_sizes, amo_sizes, reserve_sizes;
    bool transactions, interrupts, flush, uncached, nonfaulting;
    bool marks, plain_marks;   /* .aq and .rl: of atomics; of loads and stores */
    bool data, control;        /* dependences by data, by branches */
    uint64_t memory;           /* bytes from the first to the last line */
    uint32_t harts;            /* of a target: threads that run at a time; 0: all of them */
    uint32_t operations;       /* of a target: so many of a thread fit, whatever they are, as long
                                  as none is of a whole line; 0: any number */
};

struct program {
    const struct ordeal_trace *test; /* stays the caller's, and must stay */
    uint64_t seed;
    uint32_t threads, lines, slots, finals;
    struct program_thread *thread;
    struct program_line *line;       /* no two at the same place */
    struct program_final *final;     /* in the order of lines and offsets */
    struct instruction *code;        /* of all threads */
    uint64_t operations;             /* of all threads */
    uint64_t memory;                 /* bytes the lines lie in, from place 0 */
    bool branches, retries;          /* values depend on the iteration; hold transactions' fates */
    struct abilities asks;
};

/* What the machine that ran it promises, for the trace. */
struct machine_claims {
    enum ordeal_model model;
    uint32_t atomic;                 /* accesses up to this many bytes happen at once */
    bool final, visible, cycles;     /* what it tells beside the values, see above */
};

/* Of an outcome: where `visible` begins, behind the slots and what memory holds at the end; how
 * many words, from the first, tell it from another one; how many there are. */
static inline size_t program_first_visible(const struct program *p, const struct machine_claims *c)
{
    return (size_t)p->slots + (c->final ? p->finals : 0);
}

static inline size_t program_telling_words(const struct program *p, const struct machine_claims *c)
{
    return program_first_visible(p, c) + (c->visible ? (size_t)p->operations : 0);
}

static inline size_t program_words(const struct program *p, const struct machine_claims *c)
{
    return program_telling_words(p, c) + (c->cycles ? (size_t)p->operations : 0);
}

/* False: `e` says which line of the test is wrong. `file` is for messages. */
bool program_compile(struct program *p, const struct ordeal_trace *test, const char *file,
                     struct ordeal_error *e);
void program_free(struct program *p);

/* How many of a thread's slots the iteration fills, and the trace of it. ORDEAL_BAD_INPUT when a
 * value does not fit its access: it is not of this program. Without values (NULL) the trace
 * is the test made straight, loops unrolled and branches taken, its transactions committed; its
 * final facts are then the program's finals, one for one, as a replay asks for them. Threads come
 * one after the other. Each operation has the line of the one in the test that it comes from; if
 * the test was not read from a file, its number, from 1. */
uint32_t program_slots_used(const struct program *p, uint32_t thread, uint64_t iteration);
enum ordeal_status program_trace(const struct program *p, uint64_t iteration,
                                 const uint64_t *values, const struct machine_claims *claims,
                                 struct ordeal *o, struct ordeal_trace **trace);
/* A number that differs for different tests: kept with results, so that they are not read with
 * another test. */
uint64_t program_identity(const struct program *p);

#endif
