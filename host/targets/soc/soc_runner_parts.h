/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that run something on a multiprocessor: tests (soc_runner.c) and images of
 * programs (soc_image.c). */
#ifndef HOST_SOC_RUNNER_PARTS_H
#define HOST_SOC_RUNNER_PARTS_H

#include "base/random.h"
#include "soc_code.h"
#include "soc_final.h"
#include "soc_records.h"
#include "soc_runner.h"

enum { CAPTURE_WORDS = 16384 };

struct progress_of_hart {
    uint32_t instructions;
    uint64_t since;
};

struct soc_runner {
    struct soc_runner_plan plan;
    struct soc *soc;
    struct soc_code code;
    uint64_t image; /* the identity of that whose code is in the harts; 0: of none */
    bool fresh;     /* the code is not in the harts yet */
    struct soc_records records;
    struct soc_final final;
    uint32_t *capture;
    uint64_t *values;
    uint64_t cycles, identity, most_cycles;
    double seconds;  /* in the model's step() */
    bool delay_held; /* at this level, whatever the plan says */
    uint32_t delay;
    struct progress_of_hart progress[SOC_HARTS];
    const char *fst; /* waves of the run to come; NULL: none */
};

/* TARGET_DONE: it can be reached. */
enum target_result soc_runner_reach(const struct soc_runner *m, struct why *why);
/* Of the machine itself: TARGET_BROKE if one failed that no bug excuses. */
enum target_result soc_runner_assertion(struct soc_runner *m, struct why *why);
struct soc_setup soc_runner_setup(const struct soc_runner *m, uint64_t identity, uint64_t iteration,
                                  struct random *chance);

#endif
