/* SPDX-License-Identifier: Apache-2.0 */
/* What pages want to know of a regression, out of its database (regress/DATABASE.md), which is only read,
 * at one moment, also while a regression writes to it. A database of another version is refused. */
#ifndef HOST_QUERY_H
#define HOST_QUERY_H

#include <stdint.h>

#include "base/list.h"
#include "base/why.h"

enum { QUERY_VERSION = 1, QUERY_APPLICATION = 0x6f726467 };

/* Text is never NULL, "" where the database has nothing; numbers are 0 there, times below 0. */
struct query_session {
    double started, ended;
    const char *end, *program, *host, *engine;
};
struct query_machine { /* those that look the same are one */
    int64_t id, tests;
    const char *target, *description, *configuration, *revision;
};
struct query_run {
    int64_t id, seed, machine, budget; /* budget: of tests; 0: none */
    const char *name, *words, *target, *model;
    int64_t tests, pass, fail, undecided, lost, operations, points, known;
    double seconds;
};
struct query_unit { /* in the order of time */
    int64_t run, count, operations, points;
    double finished, seconds;
};
struct query_test {
    int64_t run, number, operations, cycles;
    double seconds;
    const char *verdict, *profile, *configuration;
};
struct query_bucket {
    int64_t id, run, number, operations, failures, runs;
    const char *signature, *kind, *title, *folder, *state;
};
struct query_failure {
    int64_t bucket, run, number, iteration, operations;
    const char *model, *folder, *reason;
};
struct query_incident {
    int64_t run, first;
    double time;
    const char *kind, *text;
};

struct query {
    const char *file; /* as given */
    LIST(struct query_session) sessions;
    LIST(struct query_machine) machines;
    LIST(struct query_run) runs;
    LIST(struct query_unit) units;
    LIST(struct query_test) slowest;
    LIST(struct query_bucket) buckets;     /* those with most failures first */
    LIST(struct query_failure) failures;   /* some of each bucket */
    LIST(struct query_incident) incidents; /* the newest first, some */
    int64_t incident_count;
    LIST(char *) texts;
};

/* False: `why`. query_free() either way. */
bool query_read(struct query *q, const char *file, struct why *why);
/* The same of what changes from second to second: sessions, runs and buckets alone. */
bool query_read_counts(struct query *q, const char *file, struct why *why);
void query_free(struct query *q);
/* The folder of a bucket's example, as the database has it, to `folder`. False: `why`. */
bool query_folder(const char *file, int64_t bucket, char *folder, size_t size, struct why *why);

const struct query_run *query_run_of(const struct query *q, int64_t id); /* NULL: there is none */

/* Sums over all runs. */
struct query_sums {
    int64_t tests, pass, fail, undecided, lost, operations, points, known;
    double started, ended, seconds; /* seconds: between the first start and the last unit */
};
struct query_sums query_sums(const struct query *q);

#endif
