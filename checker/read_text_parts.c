/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of lines of the text format: values, names, locations. */
#include "read_text.h"

enum ordeal_status text_line_end(struct scan *s)
{
    const char *before = s->p;
    text_skip_blanks(s);
    if (*s->p == '\n')
        return ORDEAL_OK;
    if (*s->p != '#' || (s->p == before && s->p != s->begin))
        return expected(s->r, s->begin, s->p, "the end of the line");
    while ((unsigned char)*s->p >= ' ' || *s->p == '\t')
        s->p++;
    return *s->p == '\n' ? ORDEAL_OK : expected(s->r, s->begin, s->p, "the end of the comment");
}

/* ---- values ---------------------------------------------------------------------------- */

static int hex_value(char c) { return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Values wider than 8 bytes: one long hexadecimal number, kept with the lowest byte first. */
static enum ordeal_status wide_value(struct scan *s, uint8_t size_log2, uint64_t *offset)
{
    uint8_t bytes[64] = { 0 };
    size_t size = (size_t)1 << size_log2;
    const char *start = s->p;
    if (s->p[0] == '0' && s->p[1] == 'x' && is_hex(s->p[2])) {
        const char *digits = s->p + 2;
        while (*digits == '0' && is_hex(digits[1]))
            digits++;
        const char *end = digits;
        while (is_hex(*end))
            end++;
        s->p = end;
        if ((size_t)(end - digits) > size * 2)
            return expected(s->r, s->begin, start, "a value of %zu bytes", size);
        assert(size <= sizeof bytes);
        for (size_t i = 0; end-- > digits; i++)
            bytes[i / 2] |= (uint8_t)(hex_value(*end) << (i % 2 * 4));
    } else {
        uint64_t value;
        enum ordeal_status status = text_number(s, "a value", &value);
        if (status != ORDEAL_OK)
            return status;
        for (size_t i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return ordeal_trace_bytes(s->t, bytes, size, offset);
}

enum ordeal_status text_value(struct scan *s, uint8_t size_log2, uint64_t *v)
{
    if (size_log2 > 3)
        return wide_value(s, size_log2, v);
    const char *start = s->p;
    enum ordeal_status status = text_number(s, "a value", v);
    if (status == ORDEAL_OK && !trace_value_fits(*v, size_log2))
        return expected(s->r, s->begin, start, "a value of %d byte%s", 1 << size_log2,
                        size_log2 ? "s" : "");
    return status;
}

enum ordeal_status text_marked_value(struct scan *s, char mark, uint8_t size_log2, uint64_t *v)
{
    if (*s->p != mark)
        return expected(s->r, s->begin, s->p, "'%c' and a value", mark);
    s->p++;
    return text_value(s, size_log2, v);
}

/* ---- locations ------------------------------------------------------------------------- */

static enum ordeal_status access_size(struct scan *s, uint8_t *size_log2)
{
    const char *start = ++s->p;
    uint64_t size = 0;
    enum ordeal_status status = text_number(s, "a size of 1, 2, 4, 8, 16, 32 or 64 bytes", &size);
    if (status != ORDEAL_OK)
        return status;
    if (size == 0 || size > 64 || size & (size - 1))
        return expected(s->r, s->begin, start, "a size of 1, 2, 4, 8, 16, 32 or 64 bytes");
    *size_log2 = (uint8_t)__builtin_ctzll(size);
    return ORDEAL_OK;
}

enum ordeal_status text_name(struct scan *s, uint32_t *base)
{
    const char *start = s->p;
    while (trace_name_letter(*s->p))
        s->p++;
    return text_refused_at(s, ordeal_trace_name(s->t, start, (size_t)(s->p - start), base), start);
}

enum ordeal_status text_location(struct scan *s, struct place *place)
{
    const char *start = s->p;
    enum ordeal_status status;
    *place = (struct place){ .size_log2 = 2 };
    if (trace_name_start(*s->p)) {
        status = text_name(s, &place->base);
        if (status == ORDEAL_OK && *s->p == '+') {
            s->p++;
            status = text_number(s, "an offset in bytes", &place->address);
        }
    } else
        status = text_number(s, "a location (a name or an address)", &place->address);
    if (status == ORDEAL_OK && *s->p == '/')
        status = access_size(s, &place->size_log2);
    if (status != ORDEAL_OK)
        return status;
    if (place->address & ((UINT64_C(1) << place->size_log2) - 1))
        return expected(s->r, s->begin, start, "a location aligned to %d bytes",
                        1 << place->size_log2);
    return ORDEAL_OK;
}
