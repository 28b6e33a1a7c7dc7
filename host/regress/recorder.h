/* SPDX-License-Identifier: Apache-2.0 */
/* `ordeal run --record`: what its tests bring, written down as they are settled. */
#ifndef HOST_RECORDER_H
#define HOST_RECORDER_H

#include "record.h"
#include "trial/setup.h"

/* Failures of one signature, as far as folders of them are kept. */
struct recorder_bucket {
    char signature[sizeof((struct failure_note *)0)->signature];
    uint64_t kept, smallest;
};

struct recorder {
    struct record_writer writer;
    bool on;
    uint64_t next; /* a test after a gap, which ^C leaves, is not in the record; nor is a failure
                        * that it kept from being explained, or what comes after that */
    uint64_t examples; /* folders of a signature that are kept at least; 0: all */
    const struct setup *setup;
    const struct failure_plan *failures;
    struct failure_note note; /* of the failure that is told now */
    LIST(struct recorder_bucket) buckets;
};

/* Fills in of `plan` what notes take. 0 or an errno. */
int recorder_begin(struct recorder *r, const char *file, const struct setup *setup,
                   struct failure_plan *plan, uint64_t first, uint64_t how, bool cover);
/* A test that is settled; of one that failed the note was filled. */
void recorder_add(struct recorder *r, const struct pipeline_test *t);
/* Something else ended the run, at this test. */
void recorder_add_incident(struct recorder *r, enum incident_kind kind, uint64_t test,
                           const char *text);
int recorder_end(struct recorder *r, const char *end, const char *reason, double seconds,
                 const struct cover *cover);
void recorder_abandon(struct recorder *r); /* harmless on one that was not begun */

#endif
