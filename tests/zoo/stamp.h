/* SPDX-License-Identifier: Apache-2.0 */
/* What the result of a command depends on, as one number: the program, the machines and their
 * sources that it finds by where it lies (sim/models.c), and every file that the command names. */
#ifndef ZOO_STAMP_H
#define ZOO_STAMP_H

#include <stdbool.h>

#include "base/why.h"

struct stamp {
    char text[20];
};

/* False: the program cannot be read. */
bool stamp_make(struct stamp *stamp, const char *program, const char *command, struct why *why);

#endif
