/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of a run: as many opened as are to work at a time. */
#ifndef HOST_MACHINE_POOL_H
#define HOST_MACHINE_POOL_H

#include <limits.h>

#include "target.h"

enum { MOST_JOBS = 64 };

struct machine_pool {
    const struct target *target;
    void *machine[MOST_JOBS]; /* those at work first, then those that came */
    int jobs;
    struct target_options how; /* they are opened */
    char soc[PATH_MAX];        /* of these options, whole */
    int present;               /* of things, when one that came was last looked for in vain */
    bool missing;              /* they cannot be opened since they are not there */
};

/* The usual number for the target: what has to be simulated takes all cores, of things all that are
 * there, unless one is named. */
int machine_pool_usual_jobs(const struct target *target, const struct target_options *options);
/* False: `why`, and none is open. */
bool machine_pool_open(struct machine_pool *m, const struct target *target,
                       const struct target_options *options, int jobs, struct why *why);
/* Of things: one more than those `at_work` that has come and is like the others; it is closed with
 * them. NULL: there is none, or, with a reason in `why`, none that can be used. */
void *machine_pool_another(struct machine_pool *m, int at_work, struct why *why);
void machine_pool_close(struct machine_pool *m);

#endif
