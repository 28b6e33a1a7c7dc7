/* SPDX-License-Identifier: Apache-2.0 */
/* Steps (PROGRAM.md): a thread's next visible action, with the invisible ones before and after it
 * up to the next visible one; or a move of a buffer. */
#ifndef PROGRAM_STEP_H
#define PROGRAM_STEP_H

#include "memory_model.h"

/* One thread while it runs within a step. */
struct run {
    struct state *s;
    struct thread *t;
    uint32_t number;
    bool acted;                             /* the visible action is done: no further one */
    bool stops;                             /* the thread goes no further in this step */
    bool alone;                             /* nobody else runs: nothing is visible */
    uint32_t atomic;                        /* how deep in sections that nobody interrupts */
    uint32_t section_return, section_stack; /* of a function __VERIFIER_atomic_...; 0: none */
    uint32_t made;     /* a bit for each thread that begins after the section */
    uint32_t count;    /* of instructions */
    uint32_t drawn;    /* of choices, pushes and so on: what a loop must not do to be endless */
    uint32_t reserved; /* address of an LR whose SC may come; 0: none */
    uint32_t reserved_until; /* the last count at which it may */
    uint32_t reserved_event;
    struct { /* Brent's: where the loop may have begun */
        uint32_t pc, x[32], undone, drawn, length, power;
    } mark;
};

/* Performs it, drawing the numbers of s->choices; how it ended is s->end. A step that is blocked,
 * discarded, or an error is to be taken back by state_undo(). */
void step_thread(struct state *s, uint32_t thread);
void step_flush(struct state *s, uint32_t thread, uint32_t k);

/* Runs on without a visible action: after one, or as a thread that begins. */
void run_on(struct run *r);
struct run run_of(struct state *s, uint32_t thread);
/* A thread that was made does what nobody can notice. */
void run_begin(struct state *s, uint32_t thread);
/* Whether an action may be done in this step, for which the model says how it is; notes that it
 * was. */
bool run_may(struct run *r, enum readiness ready);
/* Accesses by the engine on behalf of a call, as an atomic. */
bool run_read(struct run *r, uint32_t address, uint32_t size, uint32_t *value);
uint8_t run_read_byte(struct run *r, uint32_t address); /* 0 where there is an error */
void run_write(struct run *r, uint32_t address, uint32_t size, uint32_t value);
/* A byte as the thread sees it, for people: no access. */
uint8_t run_peek(struct run *r, uint32_t address);

/* An access of an instruction; false: the step ends before it. */
bool run_load(struct run *r, const struct instruction *i);
bool run_store(struct run *r, const struct instruction *i);
bool run_fence(struct run *r, const struct instruction *i);
bool run_amo(struct run *r, const struct instruction *i);
bool run_reserve(struct run *r, const struct instruction *i);
bool run_conditional(struct run *r, const struct instruction *i);
bool run_call(struct run *r);
bool run_section_begin(struct run *r);
void run_section_end(struct run *r);

/* What an arithmetic instruction gives. */
uint32_t alu(const struct instruction *i, uint32_t a, uint32_t b);
uint32_t alu_amo(uint8_t operation, uint32_t memory, uint32_t operand);
bool alu_branches(uint8_t operation, uint32_t a, uint32_t b);

#endif
