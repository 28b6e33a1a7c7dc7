/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that one thread alone uses is left out of traces, and is checked here: a load reads what its
 * thread stored there last, under every model. */
#include <inttypes.h>
#include <string.h>

#include "calls.h"
#include "chip.h"
#include "image.h"
#include "program/places.h"
#include "retrace_parts.h"

enum { NOBODY = 0, SEVERAL = 0xff };

struct own {
    struct all *all;
    uint8_t *owner; /* by word: the thread from 1 on */
    uint8_t *byte;
    uint32_t bytes;
};

static void note_owner(struct own *o, const struct program_event *e)
{
    uint32_t at = e->address - CHIP_MEMORY;
    if (!event_is_access(e) || at + e->size > o->bytes)
        return;
    uint8_t *owner = &o->owner[at / 4], own = (uint8_t)(e->thread + 1);
    *owner = *owner == NOBODY || *owner == own ? own : SEVERAL;
}

static void fill(struct own *o)
{
    const struct segment *s;
    size_t count = image_segments(o->all->image, &s);
    for (size_t k = 0; k < count; k++)
        if (s[k].address >= CHIP_MEMORY && s[k].address - CHIP_MEMORY + s[k].size <= o->bytes)
            memcpy(o->byte + (s[k].address - CHIP_MEMORY), s[k].bytes, s[k].size);
}

/* What is allocated is cleared. */
static void clear_block(struct own *o, const struct program_event *e)
{
    uint32_t at = e->read - CHIP_MEMORY, size = (e->argument[0] + 3) & ~3u;
    if (e->call == PROGRAM_CALL_ALLOCATE && e->read && at < o->bytes && size <= o->bytes - at)
        memset(o->byte + at, 0, size);
}

static void say(struct own *o, size_t event, uint32_t had)
{
    struct retrace *to = o->all->to;
    const struct program_event *e = &to->events.event[event];
    struct source_place at;
    if (*to->broke.text)
        return;
    why_say(&to->broke, "hart %" PRIu32 " at 0x%" PRIx32, e->thread, e->pc);
    if (image_place(o->all->image, e->pc, &at))
        why_add(&to->broke, " (%s:%" PRIu32 ")", at.file, at.line);
    why_add(&to->broke,
            ", cycle %" PRIu32 ": it read 0x%" PRIx32 " from 0x%" PRIx32
            ", which nobody else uses and where it had 0x%" PRIx32,
            to->time[event], e->read, e->address, had);
    to->broke_at = to->time[event];
}

static void look_at(struct own *o, size_t event)
{
    const struct program_event *e = &o->all->to->events.event[event];
    uint32_t at = e->address - CHIP_MEMORY, had = 0;
    if (e->kind == EVENT_CALL)
        clear_block(o, e);
    if (!event_is_access(e) || at + e->size > o->bytes || o->owner[at / 4] == SEVERAL)
        return;
    memcpy(&had, o->byte + at, e->size); /* little-endian here, too */
    if (e->kind != EVENT_STORE && had != e->read)
        say(o, event, had);
    if (event_writes(e))
        memcpy(o->byte + at, &e->written, e->size);
}

bool retrace_check_own(struct all *all)
{
    struct own o = { .all = all, .bytes = all->machine->memory_bytes };
    const struct event_list *l = &all->to->events;
    o.owner = calloc(o.bytes / 4 + 1, sizeof *o.owner);
    o.byte = calloc(o.bytes + 4, 1);
    bool good = o.owner && o.byte;
    for (size_t i = 0; good && i < l->count; i++)
        note_owner(&o, &l->event[i]);
    if (good)
        fill(&o);
    for (size_t i = 0; good && i < l->count; i++)
        look_at(&o, i);
    free(o.owner);
    free(o.byte);
    return good;
}
