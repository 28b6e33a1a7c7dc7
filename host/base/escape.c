/* SPDX-License-Identifier: Apache-2.0 */
#include "escape.h"

#include <string.h>

uint32_t escape_character(const char *text, size_t *length)
{
    static const struct {
        uint8_t mask, mark;
        uint32_t least; /* a shorter form says less */
    } forms[] = {
        { 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 }
    };
    uint8_t first = (uint8_t)*text;
    *length = 1;
    for (size_t more = 0; more < sizeof forms / sizeof *forms; more++) {
        if ((first & forms[more].mask) != forms[more].mark)
            continue;
        uint32_t character = first & (uint8_t)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return ESCAPE_NONE;
            character = character << 6 | (text[i] & 0x3f);
        }
        if (character < forms[more].least || character > 0x10ffff || character >> 11 == 0x1b)
            return ESCAPE_NONE;
        *length = 1 + more;
        return character;
    }
    return ESCAPE_NONE;
}

bool escape_is_shown(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0, 0x1f },
        { 0x7f, 0x9f },
        { 0xad, 0xad },
        { 0x61c, 0x61c },
        { 0x200b, 0x200f },
        { 0x2028, 0x202e },
        { 0x2060, 0x206f },
        { 0xfeff, 0xfeff },
        { 0xfff0, 0xfffb },
        { 0xe0000, 0xe0fff },
        { ESCAPE_NONE, ESCAPE_NONE },
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (character >= hidden[i].first && character <= hidden[i].last)
            return false;
    return true;
}

/* The first character as it is to be shown; how many bytes of the text it was. */
enum { MOST_SHOWN = 4 * 4 + 1 };
static size_t show(const char *text, char shown[MOST_SHOWN])
{
    size_t length;
    if (escape_is_shown(escape_character(text, &length))) {
        memcpy(shown, text, length);
        shown[length] = '\0';
        return length;
    }
    for (size_t i = 0; i < length; i++)
        snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned)(uint8_t)text[i]);
    return length;
}

size_t escape_put(const char *text, FILE *out)
{
    char shown[MOST_SHOWN];
    size_t length = show(text, shown);
    fputs(shown, out);
    return length;
}

void escape_write(const char *text, bool lines, FILE *out)
{
    while (*text)
        if (lines && (*text == '\n' || *text == '\t'))
            fputc(*text++, out);
        else
            text += escape_put(text, out);
}

size_t escape_text(char *to, size_t size, const char *text)
{
    char shown[MOST_SHOWN];
    size_t all = 0, used = 0;
    bool fits = size > 0;
    while (*text) {
        text += show(text, shown);
        size_t length = strlen(shown);
        fits = fits && used + length < size;
        if (fits) {
            memcpy(to + used, shown, length);
            used += length;
        }
        all += length;
    }
    if (size)
        to[used] = '\0';
    return all;
}
