/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a library that ends the program where it should return an error: done in a process of its
 * own, which may end. */
#ifndef HOST_APART_H
#define HOST_APART_H

#include <stdbool.h>
#include <stdio.h>

/* Does it in a child that says nothing on standard error, and copies to `out` what it wrote there. False: it said so, or it came to no
 * good end, and nothing was copied; or `out` could not be written, which that knows. */
bool apart_write(bool (*work)(void *user, FILE *out), void *user, FILE *out);

#endif
