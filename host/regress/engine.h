/* SPDX-License-Identifier: Apache-2.0 */
/* Where the work of a regression is done: an interface, one of each in the table.
 *
 * A job is the program itself, which writes all it brings into a folder of the job's own. An engine
 * starts jobs and tells of each once that it ended; it knows nothing of what they bring. A job that was
 * told to have ended may still write (one that was requeued and comes late): nobody looks there again.
 *
 * All is called by one thread. */
#ifndef HOST_ENGINE_H
#define HOST_ENGINE_H

#include <stdint.h>

#include "base/why.h"

struct engine_job {
    uint64_t id;        /* of no other job of the session */
    char *const *words; /* of the command line, the program's first; ends with NULL */
    const char
        *folder;    /* its own, which is there; the words name it; its output goes to `log` in it */
    bool alone;     /* it wants a machine for itself: it measures, or has a thing to handle */
    double seconds; /* that it may take at most */
};

struct engine_end {
    uint64_t id;
    bool ended;     /* by itself; else it died, was lost, or took too long: `why` */
    int status;     /* of one that did: an exit status */
    struct why why; /* its last words, in any case */
    bool broken;    /* of no job: the engine itself cannot go on, and `why` says why; told once */
};

struct engine_setup {
    int jobs;                 /* at a time; 0: as the engine likes */
    const char *folder;       /* FILE.db-files/work: for what it needs itself */
    const char *const *words; /* more for sbatch; ends with NULL */
    double queue;             /* seconds that a job may wait for its start */
};

struct engine {
    const char *name;
    bool (*open)(void **state, const struct engine_setup *setup, struct why *why);
    int (*jobs)(const void *state); /* that it works on at a time */
    /* False: `why`; there was no such job. Not more than jobs() at a time are started. */
    bool (*start)(void *state, const struct engine_job *job, struct why *why);
    bool (*poll)(void *state, struct engine_end *end); /* one that ended; false: none so far */
    void (*ask)(void *state);   /* all are to end soon, with what they have: ^C */
    void (*close)(void *state); /* nothing is left of it */
};

extern const struct engine engine_local, engine_slurm;

extern const struct engine *const engines[]; /* ends with NULL */
const struct engine *engine_find(const char *name);

#endif
