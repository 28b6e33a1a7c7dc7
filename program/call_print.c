/* SPDX-License-Identifier: Apache-2.0 */
/* printf and snprintf: the program's format with the program's arguments (an ilp32 va_list points
 * to words; those of 8 bytes are aligned). */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "record.h"

struct arguments {
    struct run *r;
    call_byte *byte;
    uint32_t at;
};

static uint32_t argument(struct arguments *a)
{
    uint32_t value = 0;
    for (uint32_t k = 0; k < 4; k++)
        value |= (uint32_t)a->byte(a->r, a->at + k) << 8 * k;
    a->at += 4;
    return value;
}

static uint64_t long_argument(struct arguments *a)
{
    a->at = (a->at + 7) & ~7u;
    uint64_t low = argument(a);
    return low | (uint64_t)argument(a) << 32;
}

/* One conversion, whose flags, width and precision are in `spec`, with room for more. */
static int convert(struct arguments *a, char *spec, size_t length, int longs, char type, char *out,
                   size_t size)
{
    char text[512];
    double real;
    switch (type) {
    case 'd':
    case 'i':
        strcpy(spec + length, "lld");
        return snprintf(out, size, spec,
                        longs > 1 ? (long long)long_argument(a) : (long long)(int32_t)argument(a));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        strcpy(spec + length, "ll");
        strncat(spec, &type, 1);
        return snprintf(out, size, spec,
                        longs > 1 ? (unsigned long long)long_argument(a) : argument(a));
    case 'c': return snprintf(out, size, "%c", (int)argument(a));
    case 'p': return snprintf(out, size, "0x%08x", argument(a));
    case 's':
        call_string(a->r, a->byte, argument(a), text, sizeof text);
        strcpy(spec + length, "s");
        return snprintf(out, size, spec, text);
    case 'f':
    case 'g':
    case 'e': {
        uint64_t bits = long_argument(a);
        memcpy(&real, &bits, sizeof real);
        strncat(spec, &type, 1);
        return snprintf(out, size, spec, real);
    }
    case '%': return snprintf(out, size, "%%");
    default: return snprintf(out, size, "%%%c", type);
    }
}

/* The conversion at *from, behind its `%`. */
static int one(struct arguments *a, const char **from, char *out, size_t size)
{
    char spec[64] = "%";
    size_t length = 1;
    int longs = 0;
    const char *f = *from;
    for (; *f && strchr("-+ #0123456789.*", *f); f++) {
        if (length > 40)
            continue;
        if (*f == '*')
            length += (size_t)snprintf(spec + length, 12, "%d", (int)argument(a));
        else
            spec[length++] = *f;
    }
    spec[length] = 0;
    for (; *f && strchr("hlzjt", *f); f++)
        longs += *f == 'j' ? 2 : *f == 'l';
    char type = *f;
    if (type)
        f++;
    *from = f;
    return convert(a, spec, length, longs, type, out, size);
}

/* As vsnprintf. */
static size_t format(struct arguments a, uint32_t format_at, char *out, size_t size)
{
    char pattern[512], piece[640];
    size_t length = 0;
    call_string(a.r, a.byte, format_at, pattern, sizeof pattern);
    for (const char *f = pattern; *f;) {
        int n = 1;
        piece[0] = *f;
        if (*f++ == '%')
            n = one(&a, &f, piece, sizeof piece);
        if (n > (int)sizeof piece - 1)
            n = sizeof piece - 1;
        for (int i = 0; i < n; i++, length++)
            if (length + 1 < size)
                out[length] = piece[i];
    }
    if (size)
        out[length < size ? length : size - 1] = 0;
    return length;
}

void call_print(struct run *r)
{
    char text[1024];
    if (r->s->recorder) {
        format((struct arguments){ r, run_peek, r->t->x[11] }, r->t->x[10], text, sizeof text);
        record_text(r->s, record(r->s, EVENT_PRINT, r->number), text);
    }
    r->t->x[10] = 0;
}

void call_format(struct run *r)
{
    char text[2048];
    uint32_t buffer = r->t->x[10], size = r->t->x[11];
    struct arguments list = { r, run_read_byte, r->t->x[13] };
    size_t length = format(list, r->t->x[12], text, sizeof text);
    for (size_t i = 0;
         r->s->end == STEP_DONE && i < size && i < sizeof text && (i == 0 || text[i - 1]); i++) {
        char c = i + 1 == size ? 0 : text[i];
        call_store(r, buffer + (uint32_t)i, 1, (uint8_t)c);
        if (!c)
            break;
    }
    r->t->x[10] = (uint32_t)length;
}
