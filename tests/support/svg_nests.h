/* SPDX-License-Identifier: Apache-2.0 */
/* Is a picture well-formed? Tags nest and are closed, attributes are quoted, '&' begins an entity. */
#ifndef SUPPORT_SVG_NESTS_H
#define SUPPORT_SVG_NESTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The end of a tag, at its '>'; NULL: it has none. */
static inline const char *svg_tag_end(const char *p)
{
    for (bool quoted = false; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (*p == '<')
            return NULL;
        else if (*p == '>' && !quoted)
            return p;
    }
    return NULL;
}

static inline bool svg_nests(const char *text)
{
    enum { DEEPEST = 32, LONGEST = 32 };
    char open[DEEPEST][LONGEST];
    int depth = 0;
    for (const char *p = text; *p; p++) {
        char name[LONGEST] = "", entity;
        if (*p == '&' && sscanf(p, "&%31[a-z]%c", name, &entity) != 2)
            return false;
        if (*p == '&' && entity != ';')
            return false;
        if (*p != '<')
            continue;
        const char *end = svg_tag_end(p + 1);
        bool closes = p[1] == '/';
        if (!end || sscanf(p + 1 + closes, "%31[a-z]", name) != 1 || depth == DEEPEST)
            return false;
        if (closes && (depth == 0 || strcmp(open[--depth], name) != 0))
            return false;
        if (!closes && end[-1] != '/')
            strcpy(open[depth++], name);
        p = end;
    }
    return depth == 0;
}

#endif
