/* SPDX-License-Identifier: Apache-2.0 */
/* A number of 128 bits for any bytes, FNV-1a: tells things apart that differ by accident. It does not
 * stand against who wants two to be the same. */
#ifndef HOST_HASH_H
#define HOST_HASH_H

#include <stdbool.h>
#include <stddef.h>

struct hash {
    unsigned __int128 state;
};
enum { HASH_TEXT = 33 };

void hash_begin(struct hash *h);
void hash_bytes(struct hash *h, const void *bytes, size_t count);
/* With its end, so that "ab", "c" is not "a", "bc"; NULL is another thing than "". */
void hash_text(struct hash *h, const char *text);
/* The contents; 0 or an errno. */
int hash_file(struct hash *h, const char *path);
void hash_end(const struct hash *h, char text[HASH_TEXT]); /* in hexadecimal */

#endif
