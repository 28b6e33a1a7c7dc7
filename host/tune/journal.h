/* SPDX-License-Identifier: Apache-2.0 */
/* What every test brought, kept on disk so that a run that was killed goes on where it was:
 * JOURNAL.md. */
#ifndef HOST_JOURNAL_H
#define HOST_JOURNAL_H

#include "base/list.h"
#include "base/why.h"
#include "cover/cover.h"

enum tune_result { TUNE_PASS, TUNE_FAIL, TUNE_UNDECIDED, TUNE_LOST, TUNE_RESULTS };
enum tune_phase { TUNE_SEARCH, TUNE_COMPARE, TUNE_PHASES };

/* What one test brought. */
struct tune_test {
    enum tune_result result;
    uint64_t cost;
    uint64_t milliseconds; /* of the whole run, until it was settled */
    struct cover_hits hits;
};

struct tune_round {
    LIST(struct tune_test) tests;
};

/* Something the results depend on. */
struct journal_fact {
    const char *name, *value;
    bool grows; /* a number that may be greater when it is gone on with; 0: no limit */
};

struct journal_head {
    const struct journal_fact *facts; /* ends with a NULL name */
    const char *bias;                 /* as text: lines */
};

struct journal;
/* Goes on with the file if there is one, else begins it; an empty one was not begun. With a fact that
 * has grown, the search is kept, but not the comparison that came after it. NULL: `why`, which says
 * what differs from the journal that is there. */
struct journal *journal_open(const char *file, const struct journal_head *head, struct why *why);
void journal_close(struct journal *j);
/* The next round: of those that were kept, or, when all of these were taken, a new one. */
bool journal_round(struct journal *j, enum tune_phase phase, struct why *why);
/* The next of the tests of this round that were kept; false: there is none more. */
bool journal_next(struct journal *j, struct tune_test *test);
/* False: `why`; what was there before still is. All kept ones must have been taken. */
bool journal_add(struct journal *j, const struct tune_test *test, struct why *why);
/* All of it is on the disk. False: `why`. */
bool journal_sync(struct journal *j, struct why *why);

#endif
