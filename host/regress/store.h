/* SPDX-License-Identifier: Apache-2.0 */
/* The database of a regression (DATABASE.md) and the folder beside it: all that knows SQL.
 *
 * What a call has committed outlives a kill, a full disk and a loss of power. All that can fail return
 * false with `why`; the database is then as it was before the call. */
#ifndef HOST_STORE_H
#define HOST_STORE_H

#include "cover/cover.h"
#include "plan.h"
#include "record.h"

enum { STORE_VERSION = 1, STORE_APPLICATION = 0x6f726467 /* "ordg" */ };

struct store;

/* For writing: makes it if it is not there. Only one can have it at a time: `wait` waits for the other,
 * until ^C; else it is refused, with who has it. */
bool store_open(struct store **s, const char *file, bool wait, struct why *why);
/* For reading alone; it has to be there. */
bool store_open_old(struct store **s, const char *file, struct why *why);
void store_close(struct store *s);
const char *store_folder(const struct store *s); /* FILE.db-files */

bool store_begin_session(struct store *s, const char *engine, struct why *why);
bool store_end_session(struct store *s, const char *end, struct why *why);
/* Seconds that sessions before this one took. */
double store_elapsed(struct store *s);

/* ---- runs ---------------------------------------------------------------------------------------- */

/* A run as the plan has it, and what it was found to be. */
struct store_run {
    const struct plan_run *plan;
    const char *identity; /* of how its tests are made and run */
    const struct machine_identity *machine;
    /* Filled in: */
    int64_t id;
    uint64_t next; /* the first test that was not merged */
    uint64_t cycles;
    double seconds; /* of its workers */
    struct cover_hits reached;
};
/* Takes it as it is there, or adds it. Refused, with what to do: one of this name that is another. */
bool store_take_run(struct store *s, struct store_run *run, struct why *why);

/* ---- units --------------------------------------------------------------------------------------- */

struct store_unit {
    struct store_run *run;
    const char *folders; /* where the folders of its failures are; NULL: none */
    uint64_t examples;   /* of a bucket that are kept of each run */
};
/* All tests, failures, incidents and points of its record, or nothing; the run is then that much
 * further. One that is not the run's next changes nothing: it was handed in twice. */
bool store_merge(struct store *s, const struct store_unit *unit, const struct record *record,
                 struct why *why);
bool store_skip(struct store *s, struct store_run *run, uint64_t count, struct why *why);
/* `run` NULL: of none in particular. */
bool store_incident(struct store *s, const struct store_run *run, uint64_t first,
                    enum incident_kind kind, const char *text, struct why *why);

/* ---- buckets ------------------------------------------------------------------------------------- */

struct store_bucket {
    int64_t id, run;
    uint64_t number, operations, failures;
    char signature[200], kind[32], title[256], folder[256], state[16], run_name[256];
};
/* The next bucket whose example is to be made small, after the one of this id; false: none. */
bool store_next_new(struct store *s, int64_t after, struct store_bucket *b);
/* It has been: its example is the folder at `path`, which is moved; NULL: it stays as it is. */
bool store_made_small(struct store *s, const struct store_bucket *b, const char *path,
                      uint64_t operations, struct why *why);
bool store_find_bucket(struct store *s, const char *signature, struct store_bucket *b);

/* ---- what is in it ------------------------------------------------------------------------------- */

struct store_sum {
    int64_t id;
    char name[256], target[32];
    uint64_t tests, skipped, results[RECORD_VERDICTS], incidents, operations, cycles, points, known;
    double seconds;
};
/* Each run, in order; then buckets, those of most failures first. False: `each` was, or
 * not all could be read. */
bool store_each_run(struct store *s, bool (*each)(void *user, const struct store_sum *sum),
                    void *user);
bool store_each_bucket(struct store *s, bool (*each)(void *user, const struct store_bucket *b),
                       void *user);
/* Buckets that a run has failures of. */
bool store_each_bucket_of(struct store *s, int64_t run,
                          bool (*each)(void *user, const struct store_bucket *b), void *user);
struct store_incident {
    char run[256], kind[16], text[512];
    uint64_t first, count; /* how many of this kind and text */
};
bool store_each_incident(struct store *s, int64_t run,
                         bool (*each)(void *user, const struct store_incident *i), void *user);

/* ---- compared with another one -------------------------------------------------------------------- */

enum store_change {
    STORE_NEW,       /* a bucket that the old one has not */
    STORE_GONE,      /* a bucket that the new one has not, though it ran these tests */
    STORE_FLAKY,     /* a test with another verdict on the same machine */
    STORE_SLOWER,    /* a run: its tests take longer */
    STORE_UNCOVERED, /* a run: points that as many tests reached before and do not now */
    STORE_CHANGES
};
extern const char *const store_changes[STORE_CHANGES];
struct store_difference {
    enum store_change change;
    char name[256], what[256];
    double before, after;
};
bool store_compare(struct store *s, const char *old,
                   bool (*each)(void *user, const struct store_difference *d), void *user,
                   struct why *why);

#endif
