/* SPDX-License-Identifier: Apache-2.0 */
/* One check, measured: time, memory of the library, verdict. */
#ifndef ORDEAL_BENCH_MEASURE_H
#define ORDEAL_BENCH_MEASURE_H

#include "workload.h"

struct measurement {
    enum ordeal_status status;
    enum ordeal_result result;
    bool limited;              /* stopped by the time limit */
    double seconds;            /* NAN unless it ran to its end */
    size_t peak_bytes;         /* of the context, the trace included */
    size_t core;               /* operations in a FAIL's core */
    char word[16];             /* PASS, FAIL, UNDECIDED, LIMIT, ERROR (stderr says why) or - */
};

/* What stands for a check that was not, or could not be, made. */
extern const struct measurement measure_none;

double bench_clock(void);

/* Check a trace once. seconds: limit; 0: none. */
struct measurement measure_trace(struct ordeal *o, const struct ordeal_trace *t,
                                 const struct ordeal_options *options, double seconds);

/* Check under TSO what `make` puts into a trace, in a context of its own; the fastest of up to
 * `times` runs, fewer when they take long. */
struct subject {
    enum ordeal_status (*make)(const void *from, struct ordeal_trace *t);
    const void *from;
};
struct measurement measure(struct subject subject, enum ordeal_algorithm algorithm, double seconds,
                           int times);

/* A workload as a subject: thread by thread, so that nothing hints at the interleaving. */
struct subject measure_threads(const struct workload *w);

#endif
