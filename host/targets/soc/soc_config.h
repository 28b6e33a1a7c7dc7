/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of `ordeal run --target sim` to a model's parameters and its setup at reset. */
#ifndef HOST_SOC_CONFIG_H
#define HOST_SOC_CONFIG_H

#include "soc.h"
#include "targets/target.h"

enum { SOC_MOST_SIZES = 16 };

struct soc_config {
    /* Of the machines that take turns, to ask model_open() for; none with --soc. The first is the
     * usual one, or that which was named first. */
    struct soc_parameters size[SOC_MOST_SIZES];
    int sizes;
    struct soc_setup setup;            /* but for the seed, which every run has of its own */
    enum soc_final_wish { SOC_FINAL_USUAL, SOC_FINAL_READ, SOC_FINAL_SKIP } final;
};

/* False: `why` says what is wrong and what there could be. */
bool soc_config_parse(struct soc_config *c, const struct target_options *options, struct why *why);

#endif
