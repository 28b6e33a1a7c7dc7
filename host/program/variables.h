/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that somebody names: globals of a program, whole or a word of them. */
#ifndef HOST_PROGRAM_VARIABLES_H
#define HOST_PROGRAM_VARIABLES_H

#include "base/why.h"
#include "image.h"

struct variable {
    uint32_t address;
    uint8_t size; /* 1, 2 or 4 */
};

/* "x", "flag[1]", "queue.head", "flag+4". False: why, and what would do. */
bool variable_find(const struct image *image, const char *name, struct variable *v,
                   struct why *why);

#endif
