/* SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

enum { DEEPEST = 64, MOST_IDS = 20000, NAME = 200 };

static const char *const elements =
    " html head meta title style body article nav span a header p h1 h2 h3 dl div dt dd small section details"
    " summary ol ul li code pre button abbr table thead tbody tr th td b img figure figcaption script"
    " svg g path polygon polyline line rect circle text ";
static const char *const attributes =
    " xmlns xmlns:xlink lang charset http-equiv content name class id data-title aria-label href hidden type"
    " data-prefix data-tab data-sum data-part data-page data-count role aria-live tabindex value title alt src aria-hidden"
    " width height viewBox transform fill stroke stroke-width stroke-dasharray d points x y x1 x2 y1 y2 cx cy r"
    " text-anchor font-family font-size font-weight xlink:title preserveAspectRatio ";
static const char *const empty = " meta img path polygon polyline line rect ";

struct reading {
    const char *page, *at;
    char open[DEEPEST][NAME];
    int depth, scripts;
    char *ids[MOST_IDS], *links[MOST_IDS];
    int id_count, link_count;
    char wrong[600];
};

static bool complain(struct reading *r, const char *format, ...)
{
    char words[300];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    int line = 1;
    for (const char *c = r->page; c < r->at; c++)
        line += *c == '\n';
    if (!r->wrong[0])
        snprintf(r->wrong, sizeof r->wrong, "line %d: %s: %.80s", line, words, r->at);
    return false;
}

static bool is_listed(const char *list, const char *word)
{
    char spaced[NAME + 2];
    snprintf(spaced, sizeof spaced, " %s ", word);
    return strstr(list, spaced) != NULL;
}

static bool read_entity(struct reading *r)
{
    static const char *const known[] = { "&amp;", "&lt;",  "&gt;",  "&quot;",
                                         "&#39;", "&#45;", "&#160;" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(r->at, known[i], strlen(known[i])) == 0) {
            r->at += strlen(known[i]);
            return true;
        }
    return complain(r, "an entity that nobody writes");
}

static bool read_name(struct reading *r, char name[NAME])
{
    size_t length = strspn(r->at,
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-");
    if (!length || length >= NAME)
        return complain(r, "a name is expected");
    snprintf(name, NAME, "%.*s", (int)length, r->at);
    r->at += length;
    return true;
}

/* Up to the quote. */
static bool read_value(struct reading *r)
{
    while (*r->at && *r->at != '"') {
        if (*r->at == '<')
            return complain(r, "'<' in an attribute");
        if (*r->at == '&' ? !read_entity(r) : (r->at++, false))
            return false;
    }
    return *r->at++ == '"' || complain(r, "the end of an attribute is expected");
}

static bool keep(struct reading *r, char **list, int *count, const char *from, const char *to)
{
    if (*count == MOST_IDS)
        return complain(r, "too many ids or links");
    list[(*count)++] = strndup(from, (size_t)(to - from));
    return true;
}

static bool take_attribute(struct reading *r, const char *element, const char *name,
                           const char *value)
{
    const char *end = r->at - 1;
    if (!is_listed(attributes, name))
        return complain(r, "the attribute %s of %s", name, element);
    if (strcmp(name, "id") == 0)
        return keep(r, r->ids, &r->id_count, value, end);
    if (strcmp(name, "href") == 0)
        return keep(r, r->links, &r->link_count, value, end);
    if (strcmp(name, "src") == 0 && strncmp(value, "data:image/svg+xml;base64,", 26) != 0)
        return complain(r, "a picture from elsewhere");
    return true;
}

static bool read_attributes(struct reading *r, const char *element, bool *data)
{
    char names[1000] = " ", name[NAME];
    *data = false;
    while (strspn(r->at, " \n") && r->at[strspn(r->at, " \n")] != '/'
           && r->at[strspn(r->at, " \n")] != '>') {
        r->at += strspn(r->at, " \n");
        if (!read_name(r, name))
            return false;
        if (is_listed(names, name))
            return complain(r, "the attribute %s twice", name);
        if (strlen(names) + strlen(name) + 2 < sizeof names)
            strcat(strcat(names, name), " ");
        if (strncmp(r->at, "=\"", 2) != 0)
            return complain(r, "=\" is expected");
        const char *value = r->at += 2;
        if (!read_value(r) || !take_attribute(r, element, name, value))
            return false;
        *data = *data || strncmp(value, "application/json\"", 17) == 0;
    }
    r->at += strspn(r->at, " \n");
    return true;
}

/* What a style or a script is ends with the first thing that looks like its end. */
static bool read_raw(struct reading *r, const char *element, bool data)
{
    char close[NAME + 4];
    snprintf(close, sizeof close, "</%s", element);
    const char *end = strstr(r->at, close);
    if (!end)
        return complain(r, "the end of %s is expected", element);
    if (data) {
        cJSON *json = cJSON_ParseWithLength(r->at, (size_t)(end - r->at));
        bool good = json && !memchr(r->at, '<', (size_t)(end - r->at));
        cJSON_Delete(json);
        if (!good)
            return complain(r, "data that is no JSON, or could end the script");
    }
    r->scripts += !data && strcmp(element, "script") == 0;
    r->at = end;
    return true;
}

static bool read_open(struct reading *r)
{
    char element[NAME];
    bool data;
    r->at++;
    if (!read_name(r, element))
        return false;
    if (!is_listed(elements, element))
        return complain(r, "the element %s", element);
    if (!read_attributes(r, element, &data))
        return false;
    if (strncmp(r->at, "/>", 2) == 0) {
        r->at += 2;
        return is_listed(empty, element) || complain(r, "%s is not empty", element);
    }
    if (*r->at != '>' || r->depth == DEEPEST)
        return complain(r, "'>' is expected");
    r->at++;
    snprintf(r->open[r->depth++], NAME, "%s", element);
    bool raw = strcmp(element, "script") == 0 || strcmp(element, "style") == 0;
    return !raw || read_raw(r, element, data);
}

static bool read_close(struct reading *r)
{
    char element[NAME];
    r->at += 2;
    if (!read_name(r, element))
        return false;
    if (!r->depth || strcmp(r->open[r->depth - 1], element) != 0)
        return complain(r, "</%s> closes %s", element,
                        r->depth ? r->open[r->depth - 1] : "nothing");
    r->depth--;
    return *r->at++ == '>' || complain(r, "'>' is expected");
}

/* A comment, of Graphviz alone. */
static bool read_comment(struct reading *r)
{
    const char *end = strstr(r->at, "-->");
    r->at = end ? end + 3 : r->at;
    return end || complain(r, "the end of a comment is expected");
}

static bool read_text(struct reading *r)
{
    unsigned char c = (unsigned char)*r->at;
    if (c < 0x20 && c != '\n' && c != '\t')
        return complain(r, "a control character");
    if (strncmp(r->at, "\xe2\x80\xae", 3) == 0 || strncmp(r->at, "\xe2\x81\xa6", 3) == 0)
        return complain(r, "a character that turns the direction of writing");
    if (c == '&')
        return read_entity(r);
    r->at++;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool check_links(struct reading *r)
{
    qsort(r->ids, (size_t)r->id_count, sizeof *r->ids, by_text);
    for (int i = 1; i < r->id_count; i++)
        if (strcmp(r->ids[i - 1], r->ids[i]) == 0)
            return complain(r, "the id %s twice", r->ids[i]);
    for (int i = 0; i < r->link_count; i++) {
        const char *link = r->links[i], *target = link + 1;
        size_t name = strspn(link, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (*link == '#' ? !bsearch(&target, r->ids, (size_t)r->id_count, sizeof *r->ids, by_text)
                         : strcmp(link + name, ".html") != 0)
            return complain(r, "a link to %s", link);
    }
    return true;
}

const char *markup_wrong(const char *page)
{
    static struct reading r;
    static const char doctype[] = "<!DOCTYPE html>\n";
    r = (struct reading){ .page = page, .at = page + strlen(doctype) };
    bool good = strncmp(page, doctype, strlen(doctype)) == 0 || complain(&r, "no page begins so");
    while (good && *r.at)
        good = strncmp(r.at, "</", 2) == 0   ? read_close(&r)
             : strncmp(r.at, "<!--", 4) == 0 ? read_comment(&r)
             : *r.at == '<'                  ? read_open(&r)
                                             : read_text(&r);
    good = good && (r.depth == 0 || complain(&r, "%s is not closed", r.open[r.depth - 1]));
    good = good && (r.scripts == 1 || complain(&r, "%d scripts", r.scripts));
    good = good && check_links(&r);
    for (int i = 0; i < r.id_count; i++)
        free(r.ids[i]);
    for (int i = 0; i < r.link_count; i++)
        free(r.links[i]);
    return good ? NULL : r.wrong;
}
