/* SPDX-License-Identifier: Apache-2.0 */
/* All sequentially consistent executions of a program, one by one, with the monitor beside them. Of those
 * that differ only in the order of steps that do not touch the same memory, one is followed: source sets
 * and sleep sets (Abdulla, Aronis, Jonsson and Sagonas, 2014). Or, with a bound, all in which a thread
 * that could go on is interrupted at most so often (Musuvathi and Qadeer, 2007). PROGRAM.md says what a
 * step is, and when a loop is not followed again. */
#ifndef PROGRAM_DPOR_H
#define PROGRAM_DPOR_H

#include "explore.h"
#include "monitor.h"

/* A number without an end, as far as programs go. */
enum { DPOR_DIGITS = 8 };
struct dpor_number {
    uint64_t digit[DPOR_DIGITS]; /* the lowest first */
    bool too_large;
};
void dpor_number_print(const struct dpor_number *n, char text[160]); /* decimal */

struct dpor_progress {
    uint64_t executions, borderline, states;
    double seconds;
};

/* A borderline execution, or an error of the program. */
struct dpor_finding {
    enum explore_error error; /* EXPLORE_NO_ERROR: borderline */
    char text[256];
    uint32_t thread, pc;
    uint64_t execution;       /* the how-manieth it was, from 1 */
    double seconds;           /* since the beginning */
    struct explore_path path; /* up to the access, or the error */
    /* Of a borderline one, steps of the path: the access, the write that it could have missed, and what a
     * fence between would keep in order. */
    uint32_t access, missed;
    uint32_t access_pc, missed_pc, access_thread, missed_thread;
    uint8_t access_kind;
    struct {
        uint32_t first_step, second_step, first_pc, second_pc, thread;
        uint8_t second_kind;
    } pair[8];
    uint32_t pairs;
};

struct dpor_options {
    struct explore_options program; /* local, atomics, nondet */
    enum monitor_model model;
    bool unmonitored; /* to compare times */
    bool all;         /* goes on after the first execution that is borderline or wrong */
    bool count;       /* interleavings, too */
    bool bounded;     /* at most `context` preemptions, from 0 upwards; else all */
    uint32_t context;
    uint32_t most_steps;      /* of an execution */
    uint64_t most_executions; /* 0: no limit, as of those that follow */
    double most_seconds;
    size_t most_bytes;
    /* Is a borderline execution one to show? Where it is not, another is looked for, for a while. */
    bool (*prefer)(void *user, const struct dpor_finding *f);
    bool (*progress)(void *user, const struct dpor_progress *p); /* true: stop */
    void *user;
};

struct dpor_row { /* of a bound on preemptions: all up to it */
    uint64_t executions, traces, borderline_executions, borderline_traces;
    double seconds;
};

struct dpor_result {
    enum explore_verdict verdict;
    char note[256];
    uint8_t not_local; /* as in struct explore_path */
    bool complete;     /* no execution was left out, for a bound or another reason */
    struct dpor_row total;
    uint64_t redundant; /* executions that were begun, and turned out to be others again */
    uint64_t steps;     /* that were walked */
    uint64_t states;
    double first_seconds; /* to the first that is borderline; below 0: none is */
    struct dpor_number interleavings, borderline_interleavings;
    struct dpor_row *row; /* with `bounded`: for 0, 1, ... preemptions */
    uint32_t rows;
    struct dpor_finding *finding;
    size_t findings;
};

enum ordeal_status dpor_explore(const struct image *image, const struct dpor_options *options,
                                struct dpor_result **result, struct ordeal_error *error);
void dpor_result_free(struct dpor_result *r);

#endif
