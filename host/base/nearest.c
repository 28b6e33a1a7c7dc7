/* SPDX-License-Identifier: Apache-2.0 */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

/* Levenshtein's distance; words longer than any name are as far as can be. */
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
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
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

const char *nearest_name(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1;
    for (; *names; names++) {
        size_t distance = edit_distance(word, *names);
        if (distance < best || (distance == best && !nearest && distance < strlen(*names))) {
            best = distance;
            nearest = *names;
        }
    }
    return nearest;
}
