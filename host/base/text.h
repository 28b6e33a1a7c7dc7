/* SPDX-License-Identifier: Apache-2.0 */
/* A stream into memory that is whole or an error: open_memstream() of glibc loses what it has no memory
 * for, and fclose() says nothing of that. */
#ifndef HOST_TEXT_H
#define HOST_TEXT_H

#include <stdio.h>

/* As open_memstream: after fclose() has returned 0 *text is what was written, with a 0 behind it, for the
 * caller to free. If it returned something else *text is NULL. */
FILE *text_stream(char **text, size_t *size);

#endif
