/* SPDX-License-Identifier: Apache-2.0 */
/* The knobs of a machine that can be turned from test to test: how long its queues wait, and which
 * of its sizes runs. Each is a bandit of its own beside that of the settings: its first value leaves
 * the machine alone, the others are fixed. */
#ifndef HOST_KNOBS_H
#define HOST_KNOBS_H

#include "bandit.h"
#include "targets/target.h"
#include "test/test_source.h"

enum { KNOB_DELAY, KNOB_SIZE, KNOBS };
enum { KNOB_VALUES = 17 }; /* at most */

/* Of batches at one value: new points, and what they would have been if no value were better than
 * another. New points become rarer and rarer, so only those of one round can be compared. */
struct knob_evidence {
    double fresh, expected, square; /* the squares of what is between the two, summed */
    uint32_t batches;
};

struct knob {
    const char *option;                   /* of the command line that fixes it: "--delay" */
    const char *value[KNOB_VALUES];       /* the first: "any" */
    int count;                            /* 1: it cannot be turned */
    struct bandit_arm score[KNOB_VALUES]; /* what counts now, and in all: */
    struct bandit_arm paid[KNOB_VALUES];
    struct knob_evidence evidence[KNOB_VALUES];
};

struct knobs {
    struct knob knob[KNOBS];
};

/* Where each stands, by the number of its value. */
struct knobs_at {
    int value[KNOBS];
};

/* Those that a machine has. */
struct knobs knobs_of(const struct target *target, void *machine);
struct knobs_at knobs_draw(const struct knobs *k, struct random *r);
/* New points are counted in all; `points` are what a test was paid. */
void knobs_pay(struct knobs *k, const struct knobs_at *at, double points, double fresh,
               double cost);
void knobs_fade(struct knobs *k, double keep);
/* A batch brought so many new points, in any unit; at its cost those of its round bring `expected`
 * on average. */
void knobs_weigh(struct knobs *k, const struct knobs_at *at, double fresh, double expected);
/* The value that brought clearly more than the others at the same time; -1: there is none. `times`:
 * how many times as much. */
int knob_best(const struct knob *k, double *times);
struct test_knobs knobs_setting(const struct knobs *k, const struct knobs_at *at);

#endif
