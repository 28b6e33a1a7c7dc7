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

struct soc_runner_plan {
    const struct soc_interface *soc;
    struct soc_setup setup;     /* its seed is of no meaning */
    bool vary_delay;            /* a level for each iteration, by its seed */
    uint64_t seed;
    double timeout;             /* seconds of one iteration; 0: none */
    bool cycles;                /* tell when each operation was issued and done */
    bool final;                 /* tell what memory holds at the end, if it can be read */
    struct event_counts *events; /* what is counted is added there; NULL: nobody asked */
};

struct soc_runner;
struct soc_runner *soc_runner_new(const struct soc_runner_plan *plan); /* NULL: out of memory */
void soc_runner_free(struct soc_runner *m);
struct abilities soc_runner_can(const struct soc_runner *m);
struct machine_claims soc_runner_claims(const struct soc_runner *m);
/* Iterations of the program, one at a time: load once, then run any of them. */
enum target_result soc_runner_load(struct soc_runner *m, const struct program *p, struct why *why);
enum target_result soc_runner_one(struct soc_runner *m, uint64_t iteration,
                                  const struct target_sink *sink, struct why *why);
/* As run(), waves(), cycles() and seconds() of struct target. */
enum target_result soc_runner_run(struct soc_runner *m, const struct program *p, uint64_t first,
                                  uint64_t count, const struct target_sink *sink, struct why *why);
bool soc_runner_waves(struct soc_runner *m, const struct program *p, uint64_t iteration,
                      const char *fst, struct why *why);
uint64_t soc_runner_cycles(const struct soc_runner *m);
double soc_runner_seconds(const struct soc_runner *m);
bool soc_runner_delay(struct soc_runner *m, int level); /* as delay() of struct target */
/* What of the model was reached so far, as Verilator writes it. */
bool soc_runner_coverage(struct soc_runner *m, const char *file);

#endif
