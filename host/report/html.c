/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"

/* ---- text -------------------------------------------------------------------------------------- */

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void html_text(FILE *out, const char *text)
{
    while (*text) {
        const char *instead = entity(*text);
        if (instead)
            fputs(instead, out), text++;
        else if (*text == '\n' || *text == '\t')
            putc(*text++, out);
        else
            text += escape_put(text, out);
    }
}

/* One conversion of a format that begins behind its '%'; returns where it ends. */
static const char *convert(FILE *out, const char *from, va_list *args)
{
    char spec[16] = "%";
    size_t length = strspn(from, "0123456789.zj") + 1;
    if (length < sizeof spec - 1)
        strncat(spec, from, length);
    char width = length > 1 ? from[length - 2] : '\0';
    switch (from[length - 1]) {
    case 's': html_text(out, va_arg(*args, const char *)); break;
    case 'f': fprintf(out, spec, va_arg(*args, double)); break;
    case '%': putc('%', out); break;
    default:
        if (width == 'z')
            fprintf(out, spec, va_arg(*args, size_t));
        else if (width == 'j')
            fprintf(out, spec, va_arg(*args, intmax_t));
        else
            fprintf(out, spec, va_arg(*args, int));
    }
    return from + length;
}

void html(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    while (*format)
        if (*format == '%')
            format = convert(out, format + 1, &args);
        else
            putc(*format++, out);
    va_end(args);
}

/* ---- data -------------------------------------------------------------------------------------- */

/* In JSON the characters of markup stand in strings alone, where they have another form. */
static void put_json(FILE *out, const char *text)
{
    while (*text) {
        size_t length;
        uint32_t character = escape_character(text, &length);
        if (entity(*text) && *text != '"')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else if (escape_is_shown(character) || *text == '\n' || *text == '\t')
            fwrite(text, 1, length, out);
        else
            for (size_t i = 0; i < length; i++)
                fprintf(out, "\\\\x%02x", (unsigned)(uint8_t)text[i]);
        text += length;
    }
}

bool html_data(FILE *out, const char *id, const cJSON *data)
{
    char *text = data ? cJSON_PrintUnformatted(data) : NULL;
    if (!text)
        return false;
    html(out, "<script type=\"application/json\" id=\"%s\" class=\"data\">", id);
    put_json(out, text);
    fputs("</script>\n", out);
    cJSON_free(text);
    return true;
}

/* ---- pictures ---------------------------------------------------------------------------------- */

/* What Graphviz writes before the picture is for files. In what it writes a quote within an attribute is
 * an entity, so that ` id="` begins an attribute wherever it stands within a tag. */
void html_svg(FILE *out, const char *svg, const char *prefix)
{
    static const char id[] = " id=\"";
    bool tag = false;
    svg = strstr(svg, "<svg");
    while (svg && *svg) {
        if (tag && strncmp(svg, id, strlen(id)) == 0) {
            html(out, " id=\"%s", prefix);
            svg += strlen(id);
            continue;
        }
        tag = *svg == '<' || (tag && *svg != '>');
        putc(*svg++, out);
    }
}

void html_image(FILE *out, const char *svg, size_t size, const char *alternative)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    html(out, "<img alt=\"%s\" src=\"data:image/svg+xml;base64,", alternative);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < size ? (uint8_t)svg[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            putc(i + k <= size ? digits[bits >> (18 - 6 * k) & 63] : '=', out);
    }
    fputs("\"/>\n", out);
}

/* ---- numbers ----------------------------------------------------------------------------------- */

const char *html_count(uint64_t number, char text[HTML_WORDS])
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%ju", (uintmax_t)number), used = 0;
    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0 && count > 4)
            used += snprintf(text + used, HTML_WORDS - (size_t)used, "\u202f");
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *html_time(double seconds, char text[HTML_WORDS])
{
    static const double most = 253402300799; /* the year 9999 */
    time_t when = seconds > 0 && seconds < most ? (time_t)seconds : 0;
    struct tm tm;
    if (!when || !gmtime_r(&when, &tm) || !strftime(text, HTML_WORDS, "%Y-%m-%d %H:%M", &tm))
        snprintf(text, HTML_WORDS, "\u2013");
    return text;
}

const char *html_span(double seconds, char text[HTML_WORDS])
{
    if (!(seconds >= 0 && seconds < 1e12))
        snprintf(text, HTML_WORDS, "\u2013");
    else if (seconds < 1)
        snprintf(text, HTML_WORDS, "%.3g ms", seconds * 1000);
    else if (seconds < 60)
        snprintf(text, HTML_WORDS, "%.3g s", seconds);
    else if (seconds < 3600)
        snprintf(text, HTML_WORDS, "%.0f min %.0f s", floor(seconds / 60),
                 floor(fmod(seconds, 60)));
    else
        snprintf(text, HTML_WORDS, "%.0f h %.0f min", floor(seconds / 3600),
                 floor(fmod(seconds, 3600) / 60));
    return text;
}
