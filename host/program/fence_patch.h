/* SPDX-License-Identifier: Apache-2.0 */
/* Fences written into sources: `__ordeal_mfence();` behind the statement that stores, and
 * `__ordeal_sfence();` before it, with braces where it stands alone behind an `if` or the like. */
#ifndef HOST_PROGRAM_FENCE_PATCH_H
#define HOST_PROGRAM_FENCE_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

struct fence_patch {
    const char *file;
    uint32_t line, column; /* of the store, from 1 */
    bool before;           /* an sfence before it, else an mfence behind it */
};

/* The text with those of the fences that are for `file`; *changed says whether there are any. To be
 * freed; NULL: out of memory, or one cannot be put there, and why. */
char *fence_patch_text(const char *file, const char *text, const struct fence_patch *patch,
                       size_t patches, bool *changed, struct why *why);

#endif
