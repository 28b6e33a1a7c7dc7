/* SPDX-License-Identifier: Apache-2.0 */
/* Waves of one iteration, written by a process of its own: Verilator's writer of FST files maps files
 * into memory and looks at no error, so that on a full disk it dies by a signal or leaves half a
 * file. Neither ends the run or is taken for waves. */
#ifndef HOST_SOC_WAVES_H
#define HOST_SOC_WAVES_H

#include "soc_runner.h"

/* False: `why`, and no file is left. `is_fst`: what the model writes is one; of somebody's own machine
 * nobody knows. */
struct soc_waves_job {
    const struct program *test; /* one of the two */
    const struct soc_image *image;
    uint64_t iteration;
};
bool soc_waves_write(const struct soc_runner_plan *plan, const struct soc_waves_job *job,
                     const char *fst, bool is_fst, struct why *why);

#endif
