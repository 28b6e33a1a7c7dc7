/* SPDX-License-Identifier: Apache-2.0 */
/* What a run reaches, kept in a file while it runs: every so often the file holds all tests that were
 * settled until then, so that a run which is killed has lost little, and the file tells where to go
 * on. */
#ifndef HOST_COVER_KEEP_H
#define HOST_COVER_KEEP_H

#include "base/temporary.h"
#include "cover.h"

struct cover_keep {
    const char *file;
    struct temporary held; /* the file: no other run adds to it */
    struct cover *set;     /* with what the file held before; NULL: nothing is kept */
    struct cover_run run;  /* its tests are those that are settled */
    double saved, pause;   /* when, and how long until the next time */
    int error;             /* of the last time */
    uint64_t next, kept;   /* tests of the run before this one are settled; are in the file */
};

/* Takes what a file holds, if there is one, and looks whether it can be written. False: `e`. */
bool cover_keep_open(struct cover_keep *k, const char *file, struct ordeal_error *e);
/* What is to be run. Returns how many of these tests the file has already. */
uint64_t cover_keep_begin(struct cover_keep *k, const struct cover_run *run,
                          const struct cover_can *can);
/* A test that is settled; hits NULL: nothing is known of what it reached. False: out of memory.
 * A file that cannot be written is tried again: `error`. */
bool cover_keep_add(struct cover_keep *k, const struct cover_hits *hits,
                    const struct cover_origin *test);
/* For the last time; 0 or an errno. */
int cover_keep_save(struct cover_keep *k);
/* Nothing is kept afterwards, and others may have the file. Harmless on one that is not open. */
void cover_keep_close(struct cover_keep *k);

#endif
