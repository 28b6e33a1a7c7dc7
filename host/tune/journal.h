/* SPDX-License-Identifier: Apache-2.0 */
/* What every round of tests brought, kept on disk so that a run that was killed goes on where it
 * was: JOURNAL.md. */
#ifndef HOST_JOURNAL_H
#define HOST_JOURNAL_H

#include "base/list.h"
#include "base/why.h"
#include "cover/cover.h"

enum tune_result { TUNE_PASS, TUNE_FAIL, TUNE_UNDECIDED, TUNE_LOST, TUNE_RESULTS };

/* What one test brought. */
struct tune_test {
    enum tune_result result;
    uint64_t cost;
    struct cover_hits hits;
};

struct tune_round {
    LIST(struct tune_test) tests;
    uint64_t milliseconds; /* of the whole run, up to its end */
};

/* Something the results depend on. */
struct journal_fact {
    const char *name, *value;
};

struct journal;
/* Goes on with the file if there is one, else begins it. The facts end with a NULL name. NULL: `why`,
 * which says what differs from the journal that is there. */
struct journal *journal_open(const char *file, const struct journal_fact *facts, struct why *why);
void journal_close(struct journal *j);
/* The next of the rounds that were kept; false: there is none more. */
bool journal_next(struct journal *j, struct tune_round *round);
/* False: `why`; what was there before still is. All kept ones must have been taken. */
bool journal_add(struct journal *j, const struct tune_round *round, struct why *why);

#endif
