/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of tuning, for people: a bias file that says of each key that moved what tests
 * brought with it and without it, the coverage that was reached, and its plot. */
#ifndef HOST_REPORT_H
#define HOST_REPORT_H

#include "tuning.h"

#define REPORT_BIAS "tuned.bias"
#define REPORT_COVER "coverage.cover"
#define REPORT_PLOT "coverage.svg"

struct report {
    struct tuning *tuning; /* concluded */
    const char *directory;
    const char *command; /* that tuned, whole */
    const char *run;     /* of `ordeal run`, what follows it but for the bias */
    const char *unit;    /* of cost: "cycles" */
    const char *about;   /* the machine, for titles: "sim" */
};

/* All three files, each whole or not at all. False: `why`. */
bool report_write(const struct report *r, struct why *why);
bool report_bias(const struct report *r, FILE *out);

#endif
