/* SPDX-License-Identifier: Apache-2.0 */
/* What comes out of tuning, for people: a bias file that says of each key that moved what is expected
 * with it and without it, the coverage that was reached, and its plot. Where the comparison shows no
 * gain, that bias is the one as it was, and what the search chose is a file of its own. */
#ifndef HOST_REPORT_H
#define HOST_REPORT_H

#include "tuning.h"

#define REPORT_BIAS "tuned.bias"
#define REPORT_CANDIDATE "candidate.bias"
#define REPORT_COVER "coverage.cover"
#define REPORT_PLOT "coverage.svg"

struct report {
    struct tuning *tuning; /* concluded */
    const char *directory;
    /* For comments: lines, with words as a shell takes them. */
    const char *command; /* that tuned, whole */
    const char *run;     /* of `ordeal run`, what follows it but for the bias */
    const char *place;   /* the directory */
    const char *unit;    /* of cost: "cycles" */
    const char *about;   /* the machine, for titles: "sim" */
};

/* Why tuned.bias is what it is: in a word, and in a sentence. */
struct report_verdict {
    const char *word, *sentence;
};
extern const struct report_verdict report_verdicts[TUNING_VERDICTS];

/* All files, each whole or not at all. False: `why`. */
bool report_write(const struct report *r, struct why *why);

#endif
