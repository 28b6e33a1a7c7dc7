/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <string.h>

const struct engine *const engines[] = { &engine_local, &engine_slurm, NULL };

const struct engine *engine_find(const char *name)
{
    for (const struct engine *const *e = engines; *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}
