/* SPDX-License-Identifier: Apache-2.0 */
/* A failing execution of a program on the machine, kept as a folder (trial/FOLDER.md). */
#ifndef HOST_CHIP_FOLDER_H
#define HOST_CHIP_FOLDER_H

#include <cJSON.h>

#include "on_chip.h"
#include "trial/saved.h"

#define CHIP_PROGRAM "program.elf"

struct chip_failure {
    const char *directory;
    const struct on_chip *program;
    const struct compile_request *request;
    struct on_chip_verdict *verdict;
    const cJSON *line;
    struct saved_run run;
};

/* As saved_write() of trial/saved.h. */
bool chip_folder_write(const struct chip_failure *f, char *path, size_t size, struct why *why);
/* Adds waves of it, and where to look in them. */
bool chip_folder_waves(const struct chip_failure *f, const char *path,
                       const struct saved_waves_maker *maker, struct why *why);

/* For whoever makes them. */
struct chip_waves {
    const struct target *target;
    void *machine;
    const struct soc_image *image;
    uint64_t iteration;
};

#endif
