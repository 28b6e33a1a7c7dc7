/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned __int128 wide(uint64_t high, uint64_t low)
{
    return (unsigned __int128)high << 64 | low;
}

void hash_begin(struct hash *h)
{
    h->state = wide(UINT64_C(0x6c62272e07bb0142), UINT64_C(0x62b821756295c58d));
}

void hash_bytes(struct hash *h, const void *bytes, size_t count)
{
    const unsigned __int128 prime = wide(UINT64_C(0x0000000001000000),
                                         UINT64_C(0x000000000000013b));
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++)
        h->state = (h->state ^ byte[i]) * prime;
}

void hash_text(struct hash *h, const char *text)
{
    hash_bytes(h, text ? "+" : "-", 1);
    if (text)
        hash_bytes(h, text, strlen(text) + 1);
}

int hash_file(struct hash *h, const char *path)
{
    char bytes[1 << 14];
    FILE *in = fopen(path, "re");
    if (!in)
        return errno;
    errno = 0;
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, in)) > 0;)
        hash_bytes(h, bytes, got);
    int error = ferror(in) ? (errno ? errno : EIO) : 0;
    fclose(in);
    hash_text(h, ""); /* the end of this one */
    return error;
}

void hash_end(const struct hash *h, char text[HASH_TEXT])
{
    snprintf(text, HASH_TEXT, "%016llx%016llx", (unsigned long long)(h->state >> 64),
             (unsigned long long)h->state);
}
