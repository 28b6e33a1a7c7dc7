/* SPDX-License-Identifier: Apache-2.0 */
#include "cover_text.h"

#include <stdint.h>
#include <string.h>

void cover_text_write(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] > ' ' && text[i] <= '~' && text[i] != '%')
            fputc(text[i], out);
        else
            fprintf(out, "%%%02x", (unsigned)(uint8_t)text[i]);
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool cover_text_read(char *text)
{
    char *to = text;
    for (; *text; text++, to++) {
        *to = *text;
        if (*text != '%')
            continue;
        int high = digit(text[1]), low = high < 0 ? -1 : digit(text[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to = (char)(high * 16 + low);
        text += 2;
    }
    *to = '\0';
    return true;
}
