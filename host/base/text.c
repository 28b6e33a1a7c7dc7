/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    char **text, *data;
    size_t *size, used, room;
    bool failed;
};

static ssize_t put(void *cookie, const char *bytes, size_t count)
{
    struct stream *s = cookie;
    if (s->used + count + 1 > s->room) {
        size_t room = 2 * (s->used + count + 1);
        char *more = realloc(s->data, room);
        s->failed |= !more;
        if (!more)
            return 0; /* an error, as fopencookie has it */
        s->data = more;
        s->room = room;
    }
    memcpy(s->data + s->used, bytes, count);
    s->used += count;
    return (ssize_t)count;
}

static int end(void *cookie)
{
    struct stream *s = cookie;
    bool good = !s->failed && (s->data || (s->data = malloc(1)));
    if (good)
        s->data[s->used] = '\0';
    else
        free(s->data);
    *s->text = good ? s->data : NULL;
    *s->size = good ? s->used : 0;
    free(s);
    errno = good ? errno : ENOMEM;
    return good ? 0 : EOF;
}

FILE *text_stream(char **text, size_t *size)
{
    struct stream *s = malloc(sizeof *s);
    *text = NULL;
    *size = 0;
    if (!s)
        return NULL;
    *s = (struct stream){ .text = text, .size = size };
    FILE *out = fopencookie(s, "w", (cookie_io_functions_t){ .write = put, .close = end });
    if (!out)
        free(s);
    return out;
}
