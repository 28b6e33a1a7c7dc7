/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool differ(char a, char b)
{
    return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Levenshtein's distance, of capitals none; words longer than any name are as far as can be. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[LONGEST_NAME + 1];
    if (n > LONGEST_NAME || m > LONGEST_NAME)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + differ(a[i - 1], b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

/* Two letters swapped, which are two edits, are a slip from four letters on; a word of which nothing
 * is left is none. */
const char *nearest_name(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    size_t length = strlen(word), best = (length + 4) / 4 + 1;
    for (; *names; names++) {
        size_t distance = edit_distance(word, *names);
        if (distance < best && distance < length && distance < strlen(*names)) {
            best = distance;
            nearest = *names;
        }
    }
    return nearest;
}
