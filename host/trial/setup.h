/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that run tests make ready in the same way: the target of the command line, the bias,
 * the machines. All of them return -1 to go on, or complain and return the exit status. */
#ifndef HOST_SETUP_H
#define HOST_SETUP_H

#include "base/options.h"
#include "base/progress.h"
#include "failure.h"
#include "targets/machine_pool.h"
#include "test/bias.h"

struct setup {
    /* Options: */
    const char *target_name;
    struct words bias_files, set;
    struct choice model;
    struct target_options how;
    uint64_t jobs, iterations;
    uint64_t early_tests, early_iterations; /* the target's, where nobody asked for `iterations` */
    double limit;
    const char *save;
    bool no_save, json;
    /* Made ready: */
    const struct command *command;
    const struct target *target;
    struct machine_pool machines;
    struct machine_claims claims;
    struct bias *bias;
};

/* `--bug list`: those of the target; without one, of all that can be broken. */
int setup_bug_list(struct setup *s);
/* Which target, and do the options for machines fit it? */
int setup_target(struct setup *s);
/* Without files it is known only when the machines are open, but what is wrong with --set at once. */
int setup_bias(struct setup *s);
/* Opens the machines; iterations that nobody asked for become the target's. */
int setup_machines(struct setup *s);
/* If no files were given: what is best for the machines that are open, with --set. What they cannot do
 * of it is refused in any case. */
int setup_default_bias(struct setup *s);
void setup_close(struct setup *s);

/* How failing tests are told and kept, as the options say. */
struct failure_plan setup_failures(struct setup *s);
/* The line of a test that failed or is undecided; `status` takes part in what is wrong with keeping
 * it. False: it could not be printed. */
bool setup_tell(const struct setup *s, const struct failure_plan *plan,
                const struct pipeline_test *t, struct progress *progress, int *status);
/* The exit status of how a pipeline ended, of which an error is told. */
int setup_end(const struct setup *s, enum pipeline_end end, const struct pipeline_report *report);

/* What is wrong with an input. */
int setup_bad(const struct setup *s, const struct ordeal_error *e);

#endif
