/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as one word of a file of coverage, and back: COVER.md. */
#ifndef HOST_COVER_TEXT_H
#define HOST_COVER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void cover_text_write(FILE *out, const char *text, size_t length);
/* In place. False: a '%' without two hexadecimal digits, or with two that are 0. */
bool cover_text_read(char *text);

#endif
