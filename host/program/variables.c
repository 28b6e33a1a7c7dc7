/* SPDX-License-Identifier: Apache-2.0 */
#include "variables.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/nearest.h"
#include "image_types.h"

struct names {
    LIST(const char *) list;
};

/* Of data that can change, as people name it. */
static void collect(const struct image *image, struct names *n)
{
    const struct segment *s;
    size_t count = image_segments(image, &s);
    for (size_t i = 0; i < count; i++)
        for (uint32_t at = 0; s[i].writable && at < s[i].size;) {
            const struct symbol *symbol = image_symbol_at(image, s[i].address + at);
            uint32_t end = symbol ? symbol->address + symbol->size - s[i].address : 0;
            if (symbol && (n->list.count == 0 || n->list.data[n->list.count - 1] != symbol->name)
                && !LIST_PUSH(&n->list, symbol->name))
                return;
            at = end > at ? end : at + 1;
        }
}

static bool unknown(const struct image *image, const char *name, struct why *why)
{
    struct names n = { 0 };
    collect(image, &n);
    const char *near = LIST_PUSH(&n.list, NULL) ? nearest_name(name, n.list.data) : NULL;
    if (near)
        why_say(why, "there is no global variable '%s'; did you mean '%s'?", name, near);
    else
        why_say(why,
                "there is no global variable '%s', or nothing uses it and the linker left "
                "it out; name one of at most 4 bytes, or a part: a[1], s.m, NAME+BYTES",
                name);
    LIST_FREE(&n.list);
    return false;
}

/* By the symbol, and perhaps a distance in bytes. */
static bool find_symbol(const struct image *image, const char *name, const struct symbol **s,
                        uint32_t *offset)
{
    const char *plus = strrchr(name, '+');
    char *plain = strndup(name, plus ? (size_t)(plus - name) : strlen(name)), *end = NULL;
    *offset = plus ? (uint32_t)strtoul(plus + 1, &end, 0) : 0;
    *s = plain ? image_symbol_named(image, plain) : NULL;
    free(plain);
    return *s && !(*s)->function && !(plus && (*end || !isdigit((unsigned char)plus[1])));
}

static bool find_typed(const struct image *image, const char *name, struct variable *v,
                       uint32_t *size)
{
    struct image_types *t = image_types_open(image);
    bool found = image_types_find(t, name, &v->address, size);
    image_types_close(t);
    return found;
}

bool variable_find(const struct image *image, const char *name, struct variable *v, struct why *why)
{
    const struct symbol *s;
    uint32_t offset, rest;
    *v = (struct variable){ .size = 4 };
    if (find_symbol(image, name, &s, &offset)) {
        rest = offset < s->size ? s->size - offset : 0;
        v->address = s->address + offset;
        if (rest == 0 || (rest > 4 && !strchr(name, '+')))
            return why_say(why,
                           "'%s' has %" PRIu32
                           " bytes; name a word of it, such as %s+0 or %s+%" PRIu32
                           ", or an element or a member",
                           s->name, s->size, s->name, s->name, s->size > 4 ? s->size - 4 : 0);
    } else if (!find_typed(image, name, v, &rest)) {
        return unknown(image, name, why);
    }
    if (rest == 0 || (rest > 4 && !strchr(name, '+')))
        return why_say(why, "'%s' has %" PRIu32 " bytes, and a value at most 4", name, rest);
    while (v->size > rest || v->address % v->size)
        v->size /= 2;
    return true;
}
