/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <cJSON.h>
#include <stdlib.h>

static _Thread_local bool failed;

static void *noticed_malloc(size_t size)
{
    void *memory = malloc(size);
    failed |= !memory;
    return memory;
}

void json_watch(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = noticed_malloc, .free_fn = free });
}

void json_fail(void) { failed = true; }

bool json_failed(void)
{
    bool was = failed;
    failed = false;
    return was;
}
