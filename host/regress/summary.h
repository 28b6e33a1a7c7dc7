/* SPDX-License-Identifier: Apache-2.0 */
/* What a database has, for people, for programs and for CI. */
#ifndef HOST_SUMMARY_H
#define HOST_SUMMARY_H

#include "store.h"

struct summary {
    uint64_t tests, results[RECORD_VERDICTS], incidents, buckets;
};

/* A line for each run and each bucket, and one for all: text, or a JSON object each. False: standard
 * output cannot be written, or memory is out. */
bool summary_print(struct store *s, const char *name, const char *end, bool json,
                   struct summary *all);
/* The same as JUnit XML: a suite of each run; in it a case that is the run, and one for each bucket that
 * it has failures of. Incidents are skipped cases, or errors where they fail the regression. 0 or an
 * errno. */
int summary_junit(struct store *s, const char *plan, bool incidents_fail, const char *file);
/* What changed since: NEW, GONE, FLAKY, SLOWER, UNCOVERED. */
bool summary_compare(struct store *s, const char *old, bool json, struct why *why);

#endif
