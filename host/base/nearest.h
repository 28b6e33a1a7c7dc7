/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean …?": names that are nearly right. */
#ifndef HOST_NEAREST_H
#define HOST_NEAREST_H

enum { LONGEST_NAME = 32 }; /* longer ones are near nothing */

/* The entry of `names` (ends with NULL) closest to `word`, or NULL when none is close. */
const char *nearest_name(const char *word, const char *const *names);

#endif
