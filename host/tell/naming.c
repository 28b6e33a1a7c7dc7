/* SPDX-License-Identifier: Apache-2.0 */
#include "naming.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *fresh_buffer(struct naming *n) { return n->buffer[n->next++ % NAMES_AT_ONCE]; }

const char *name_op(struct naming *n, size_t op)
{
    char *name = fresh_buffer(n);
    ordeal_trace_format(n->trace, op, name, NAME_SIZE);
    return name;
}

const char *name_op_bare(struct naming *n, size_t op)
{
    const char *name = name_op(n, op), *space = strchr(name, ' ');
    return space ? space + 1 : name;
}

const char *name_thread(struct naming *n, uint32_t thread)
{
    char *name = fresh_buffer(n);
    size_t length = ordeal_trace_length(n->trace);
    snprintf(name, NAME_SIZE, "thread %" PRIu32, thread);
    for (size_t i = 0; i < length; i++)
        if (ordeal_trace_op(n->trace, i)->thread == thread) {
            ordeal_trace_format(n->trace, i, name, NAME_SIZE);
            name[strcspn(name, " ")] = '\0';
            break;
        }
    return name;
}

uint32_t thread_number(struct naming *n, uint32_t thread)
{
    const char *name = name_thread(n, thread);
    return (uint32_t)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
}

/* Whether the word is what stands between the brackets of the operation. */
static bool names_word(const char *op, const char *word)
{
    const char *bracket = strchr(op, '[');
    size_t length = strlen(word);
    return bracket && strncmp(bracket + 1, word, length) == 0
        && (bracket[1 + length] == ']' || bracket[1 + length] == '/');
}

const char *name_event(struct naming *n, uint32_t event, uint32_t view)
{
    struct ordeal_event e;
    ordeal_verdict_event(n->verdict, event, &e);
    char *name = fresh_buffer(n);
    if (e.op == ORDEAL_NONE) {
        snprintf(name, NAME_SIZE, "the initial %s=%" PRIu64, e.location, e.value);
    } else {
        ordeal_trace_format(n->trace, e.op, name, NAME_SIZE);
        size_t used = strlen(name);
        if (!names_word(name, e.location))
            snprintf(name + used, NAME_SIZE - used, " (word %s)", e.location);
    }
    if (n->views && e.store && view != ORDEAL_NONE) {
        const char *owner = name_thread(n, view);
        size_t used = strlen(name);
        snprintf(name + used, NAME_SIZE - used, " in %s's memory", owner);
    }
    return name;
}

uint32_t line_of_op(const struct naming *n, size_t op)
{
    return ordeal_trace_op(n->trace, op)->line;
}

uint32_t line_of_event(const struct naming *n, uint32_t event)
{
    struct ordeal_event e;
    ordeal_verdict_event(n->verdict, event, &e);
    return e.op == ORDEAL_NONE ? 0 : line_of_op(n, e.op);
}
