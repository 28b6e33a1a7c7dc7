/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker hands in: RECORD.md. `ordeal run --record` writes it as tests are settled, the
 * coordinator of `ordeal regress` reads it. A file that is read may come from another machine, and is
 * checked: what is wrong with it is told, with its line. */
#ifndef HOST_RECORD_H
#define HOST_RECORD_H

#include "base/list.h"
#include "base/output.h"
#include "cover/cover.h"
#include "targets/identity.h"

enum { RECORD_VERSION = 1 };

enum record_verdict { RECORD_PASS, RECORD_FAIL, RECORD_UNDECIDED, RECORD_LOST, RECORD_VERDICTS };
extern const char *const record_verdicts[RECORD_VERDICTS];

/* Names are those of the incidents of DATABASE.md. */
enum incident_kind {
    INCIDENT_BUILD,
    INCIDENT_TARGET,
    INCIDENT_LOST,
    INCIDENT_UNDECIDED,
    INCIDENT_WORKER,
    INCIDENT_INPUT,
    INCIDENT_KINDS
};
extern const char *const incident_kinds[INCIDENT_KINDS];

struct record_failure {
    uint64_t iteration, operations;
    uint64_t small; /* what it was shrunk to; 0: it stays as it is, or nobody tried: */
    bool shrunk;
    char *model, *signature, *kind, *title, *reason;
    char *folder; /* the name of one in --save; NULL: it was not kept */
};

struct record_test {
    uint64_t number, iterations, outcomes, operations, cycles;
    double seconds;
    enum record_verdict verdict;
    char *profile, *configuration; /* NULL: none */
    uint32_t points;               /* that it reached */
    LIST(uint32_t) news; /* of these, those that no test before it in the record did; ascending */
    struct record_failure *failure; /* NULL: it did not */
};

struct record_incident {
    enum incident_kind kind;
    uint64_t test;
    char *text;
};

struct record_reached {
    uint32_t point;
    uint64_t count; /* of tests */
};

struct record {
    char *program, *target;
    uint64_t seed, first;
    char *how; /* a number for the way in which tests are made and run */
    struct machine_identity machine;
    LIST(struct record_test) tests;
    LIST(struct record_incident) incidents;
    bool cover; /* it was looked what tests reach: */
    LIST(struct record_reached) reached;
    uint64_t known; /* points that there are for the machine */
    char *end, *reason;
    double seconds; /* of the whole run */
};

/* False: `why`, with the line. The record is to be freed in any case. */
bool record_read(struct record *r, FILE *in, const char *name, struct why *why);
bool record_load(struct record *r, const char *file, struct why *why);
void record_free(struct record *r);
/* As text; false: out of memory. For tests: a worker writes as it goes. */
bool record_write(const struct record *r, FILE *out);

/* ---- written by a worker ------------------------------------------------------------------------ */

struct record_writer {
    struct output out;
    uint64_t lines;
    struct cover_hits before; /* what tests reached so far */
    uint64_t *counts;         /* of tests, by point; NULL: nobody asked */
    int error;                /* the first one; nothing is written after it */
};

/* Returns 0 or an errno, as all of these. Of the record what comes before its tests matters. */
int record_begin(struct record_writer *w, const char *file, const struct record *head);
/* Its points are those of `hits`, which may be NULL. */
void record_add_test(struct record_writer *w, const struct record_test *t,
                     const struct cover_hits *hits);
void record_add_incident(struct record_writer *w, const struct record_incident *i);
/* Of the record end, reason, seconds, cover and known matter. */
int record_end(struct record_writer *w, const struct record *tail);
void record_abandon(struct record_writer *w); /* harmless on one that is not open */

#endif
