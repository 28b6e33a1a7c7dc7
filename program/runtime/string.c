/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and strings, by ordinary loads and stores: words where both sides are aligned, else bytes,
 * and never beyond what was asked for. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { WORD = sizeof(uint32_t) };
typedef uint32_t __attribute__((may_alias)) word;

static bool aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) % WORD) == 0;
}

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    char *t = to;
    const char *f = from;
    for (; size >= WORD && aligned(t, f); t += WORD, f += WORD, size -= WORD)
        *(word *)t = *(const word *)f;
    for (; size; size--)
        *t++ = *f++;
    return to;
}

WEAK void *memmove(void *to, const void *from, size_t size)
{
    char *t = (char *)to + size;
    const char *f = (const char *)from + size;
    if ((uintptr_t)to - (uintptr_t)from >= size)
        return memcpy(to, from, size);
    while (size && !(size >= WORD && aligned(t, f))) {
        *--t = *--f;
        size--;
    }
    for (; size >= WORD; size -= WORD) {
        t -= WORD, f -= WORD;
        *(word *)t = *(const word *)f;
    }
    for (; size; size--)
        *--t = *--f;
    return to;
}

WEAK void *memset(void *to, int value, size_t size)
{
    char *t = to;
    for (; size && (!aligned(t, t) || size < WORD); size--)
        *t++ = (char)value;
    for (; size >= WORD; t += WORD, size -= WORD)
        *(word *)t = (uint8_t)value * 0x01010101u;
    for (; size; size--)
        *t++ = (char)value;
    return to;
}

WEAK int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (; size && *x == *y; size--)
        x++, y++;
    return size ? *x - *y : 0;
}

WEAK void *memchr(const void *in, int value, size_t size)
{
    const unsigned char *p = in;
    for (; size && *p != (unsigned char)value; size--)
        p++;
    return size ? (void *)p : NULL;
}

WEAK size_t strlen(const char *text)
{
    const char *p = text;
    while (*p)
        p++;
    return (size_t)(p - text);
}

WEAK size_t strnlen(const char *text, size_t most)
{
    size_t n = 0;
    while (n < most && text[n])
        n++;
    return n;
}

WEAK int strncmp(const char *a, const char *b, size_t most)
{
    for (; most && *a && *a == *b; most--)
        a++, b++;
    return most ? (unsigned char)*a - (unsigned char)*b : 0;
}

WEAK int strcmp(const char *a, const char *b) { return strncmp(a, b, SIZE_MAX); }

WEAK char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

WEAK char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t n = strnlen(from, size);
    memcpy(to, from, n);
    memset(to + n, 0, size - n);
    return to;
}

WEAK char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}

WEAK char *strncat(char *restrict to, const char *restrict from, size_t most)
{
    size_t n = strnlen(from, most), at = strlen(to);
    memcpy(to + at, from, n);
    to[at + n] = '\0';
    return to;
}

WEAK char *strchr(const char *text, int c)
{
    for (; *text != (char)c; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

WEAK char *strrchr(const char *text, int c)
{
    const char *p = text + strlen(text);
    for (; *p != (char)c; p--)
        if (p == text)
            return NULL;
    return (char *)p;
}

WEAK char *strstr(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; strncmp(text, part, n) != 0; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

WEAK char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* ---- numbers -------------------------------------------------------------------------------- */

WEAK int abs(int n) { return n < 0 ? -n : n; }
WEAK long labs(long n) { return n < 0 ? -n : n; }
WEAK long long llabs(long long n) { return n < 0 ? -n : n; }

WEAK long atol(const char *text)
{
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    bool negative = *text == '-';
    unsigned long n = 0;
    for (text += negative || *text == '+'; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (unsigned long)(*text - '0');
    return (long)(negative ? -n : n);
}
WEAK int atoi(const char *text) { return (int)atol(text); }

/* Rounded up: containers that hash ask for it. */
WEAK float ceilf(float x)
{
    if (!(x > -8388608.0f && x < 8388608.0f))
        return x;
    float whole = (float)(int)x;
    return whole < x ? whole + 1 : whole;
}
