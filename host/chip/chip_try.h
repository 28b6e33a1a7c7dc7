/* SPDX-License-Identifier: Apache-2.0 */
/* One program on one machine, execution by execution, each with delays and fences of its own: what
 * `ordeal relax` and `ordeal fence` do on a machine. */
#ifndef HOST_CHIP_TRY_H
#define HOST_CHIP_TRY_H

#include "base/command.h"
#include "on_chip.h"
#include "targets/target_options.h"

struct chip_try_options {
    const struct command *command; /* that complains */
    const char *target;
    struct target_options how; /* of the machine */
    enum ordeal_model model;   /* that it shall have */
    uint64_t most_cycles;      /* of an execution */
    double seconds;            /* of a check */
    struct compile_request request;
};

/* Is there such a target, and does it take these options? -1, or complains: the exit status. */
int chip_try_refuse(const struct chip_try_options *o);
struct chip_try;
/* Compiles the program, opens the machine and lays the one out for the other. NULL: the exit status of what was
 * complained about. */
struct chip_try *chip_try_open(const struct chip_try_options *o, int *status);
void chip_try_close(struct chip_try *t);

struct on_chip *chip_try_program(const struct chip_try *t);
uint32_t chip_try_harts(const struct chip_try *t);
const char *chip_try_size(const struct chip_try *t); /* its name; NULL: there is one alone */
uint64_t chip_try_cycles(const struct chip_try *t);  /* of all executions */

enum chip_try_end {
    CHIP_TRY_DONE,
    CHIP_TRY_STOPPED, /* ^C */
    CHIP_TRY_FAILED,  /* the machine: why */
    CHIP_TRY_ERROR    /* no memory, or a defect: why */
};
/* The same points and iteration are the same execution, on a machine that is exact; to be freed if DONE. */
enum chip_try_end chip_try_run(struct chip_try *t, const struct steer_point *point, size_t points,
                               uint64_t iteration, struct on_chip_verdict **verdict,
                               struct why *why);
/* Waves of such an execution. False: there are none, and why. */
bool chip_try_waves(struct chip_try *t, const struct steer_point *point, size_t points,
                    uint64_t iteration, const char *fst, struct why *why);

#endif
