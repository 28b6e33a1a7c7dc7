/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is no test: code and memory as they were linked, on the machine. All harts begin at
 * MAP_CODE; what they mark (CHIP_* of program/chip.h) says when it is over. */
#ifndef HOST_SOC_IMAGE_H
#define HOST_SOC_IMAGE_H

#include "soc_records.h"
#include "targets/target.h"

struct soc_image {
    const uint32_t *code;        /* of every hart, */
    const uint32_t *const *each; /* or of each its own; NULL: they all have the same */
    uint32_t code_words;
    uint32_t *memory;      /* all that the machine has; the first words are a struct chip, ... */
    uint32_t memory_words; /* ... whose seed is drawn for each run */
    uint64_t identity;     /* of all this, not 0 */
    uint64_t most_cycles;  /* of a run */
};

enum soc_image_how {
    SOC_IMAGE_ENDED, /* somebody marked that it has */
    SOC_IMAGE_STILL, /* harts run, but nothing has changed for a long time */
    SOC_IMAGE_LONG   /* it took most_cycles */
};

/* What is known of a run: records up to the cycle `end`. Of each hart all that came before is there. */
struct soc_image_run {
    struct soc_records records;
    enum soc_image_how how;
    uint32_t end;
    uint64_t cycles;
    struct soc_hart hart[SOC_HARTS]; /* at the end */
};

struct soc_runner;
/* The same seed, image and iteration give the same run. `run` is zeroed at first and is used again. */
enum target_result soc_image_run(struct soc_runner *m, const struct soc_image *image,
                                 uint64_t iteration, struct soc_image_run *run, struct why *why);
/* Once more, with all signals written to a file. */
bool soc_image_waves(struct soc_runner *m, const struct soc_image *image, uint64_t iteration,
                     const char *fst, struct why *why);

#endif
