/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on a multiprocessor in simulation (sim/soc.h): loads, resets, steps, reads the capture,
 * and watches over its progress.
 *
 * A hart that retires nothing for a long time, or all that are not done, for a shorter one, is a
 * finding (TARGET_BROKE), and so is an assertion of the machine that failed, unless it was told to
 * have a bug. A machine that was out of reach for a while has lost its test (TARGET_LOST). */
#ifndef HOST_SOC_RUNNER_H
#define HOST_SOC_RUNNER_H

#include "soc.h"
#include "targets/target.h"

struct sim_plan {
    const struct soc_interface *soc;
    struct soc_setup setup;     /* its seed is of no meaning */
    bool vary_delay;            /* a level for each iteration, by its seed */
    uint64_t seed;
    double timeout;             /* seconds of one iteration; 0: none */
    bool cycles;                /* tell when each operation was issued and done */
};

struct sim_machine;
struct sim_machine *sim_machine_new(const struct sim_plan *plan);       /* NULL: out of memory */
void sim_machine_free(struct sim_machine *m);
struct abilities sim_machine_can(const struct sim_machine *m);
struct machine_claims sim_machine_claims(const struct sim_machine *m);
/* As run(), waves(), cycles() and seconds() of struct target. */
enum target_result sim_machine_run(struct sim_machine *m, const struct program *p, uint64_t first,
                                   uint64_t count, const struct target_sink *sink,
                                   struct why *why);
bool sim_machine_waves(struct sim_machine *m, const struct program *p, uint64_t iteration,
                       const char *fst, struct why *why);
uint64_t sim_machine_cycles(const struct sim_machine *m);
double sim_machine_seconds(const struct sim_machine *m);
/* What of the model was reached so far, as Verilator writes it. */
bool sim_machine_coverage(struct sim_machine *m, const char *file);

#endif
