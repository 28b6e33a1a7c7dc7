/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that run tests make ready in the same way: the target of the command line, the bias,
 * the machines. All of them return -1 to go on, or complain and return the exit status. */
#ifndef HOST_SETUP_H
#define HOST_SETUP_H

#include "base/options.h"
#include "targets/machine_pool.h"
#include "test/bias.h"

struct setup {
    /* Options: */
    const char *target_name;
    struct words bias_files, set;
    struct choice model;
    struct target_options how;
    uint64_t jobs, iterations;
    /* Made ready: */
    const struct command *command;
    const struct target *target;
    struct machine_pool machines;
    struct machine_claims claims;
    struct bias *bias;
};

/* Which target, and do the options for machines fit it? */
int setup_target(struct setup *s);
/* Without files it is known only when the machines are open, but what is wrong with --set at once. */
int setup_bias(struct setup *s);
/* Opens the machines; iterations that nobody asked for become the target's. */
int setup_machines(struct setup *s);
/* If no files were given: what is best for the machines that are open, with --set. */
int setup_default_bias(struct setup *s);
void setup_close(struct setup *s);

/* What is wrong with an input. */
int setup_bad(const struct setup *s, const struct ordeal_error *e);

#endif
