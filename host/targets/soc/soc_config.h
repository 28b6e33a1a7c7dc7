/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of `ordeal run --target sim` to a model's parameters and its setup at reset. */
#ifndef HOST_SOC_CONFIG_H
#define HOST_SOC_CONFIG_H

#include "soc.h"
#include "targets/target.h"

struct soc_config {
    struct soc_parameters parameters;  /* to ask model_open() for; of no meaning with --soc */
    struct soc_setup setup;            /* but for the seed, which every run has of its own */
};

/* False: `why` says what is wrong and what there could be. */
bool soc_config_parse(struct soc_config *c, const struct target_options *options, struct why *why);

#endif
