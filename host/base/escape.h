/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others (a name, a line of a file, a peer's answer, a device's string) made fit to be printed:
 * a terminal shows it and does not obey it, and it cannot pretend to be another line.
 *
 * Printable UTF-8 stays as it is; each byte of a control character (C0, DEL, C1), of a character that
 * cannot be seen or turns the direction of writing, and of what is not UTF-8 becomes \xNN. */
#ifndef HOST_ESCAPE_H
#define HOST_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns how long all of it is, as snprintf; what is too long for `size` is cut, but not within a
 * character. */
size_t escape_text(char *to, size_t size, const char *text);
/* To a stream. `lines`: line feeds and tabs are kept. */
void escape_write(const char *text, bool lines, FILE *out);

/* For who escapes in another way. The character at the beginning of the text and its length in bytes;
 * ESCAPE_NONE and 1: the byte begins none. */
#define ESCAPE_NONE UINT32_MAX
uint32_t escape_character(const char *text, size_t *length);
bool escape_is_shown(uint32_t character);
/* The first character of a text that is not empty; its length in bytes. */
size_t escape_put(const char *text, FILE *out);

#endif
