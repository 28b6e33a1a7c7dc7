/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* Of the C++ run-time, which has no header for C. */
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c)
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

bool event_is_access(const struct program_event *e)
{
    return e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_ATOMIC;
}

bool event_writes(const struct program_event *e)
{
    return e->kind == EVENT_STORE || (e->kind == EVENT_ATOMIC && e->wrote);
}

/* ---- bytes ------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool find_bytes(struct places *p)
{
    for (size_t i = 0; i < p->events->count; i++) {
        const struct program_event *e = &p->events->event[i];
        for (uint32_t k = 0; event_is_access(e) && k < e->size; k++)
            if (!LIST_PUSH(&p->bytes, e->address + k))
                return false;
    }
    LIST_SORT(&p->bytes, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < p->bytes.count; i++)
        if (kept == 0 || p->bytes.data[kept - 1] != p->bytes.data[i])
            p->bytes.data[kept++] = p->bytes.data[i];
    p->bytes.count = kept;
    return true;
}

size_t places_number(const struct places *p, const struct program_event *access)
{
    const uint32_t *at = bsearch(&access->address, p->bytes.data, p->bytes.count,
                                 sizeof *p->bytes.data, by_address);
    assert(at);
    return (size_t)(at - p->bytes.data);
}

/* ---- the heap ---------------------------------------------------------------------------- */

static void end_block(struct places *p, uint32_t address, uint32_t event)
{
    for (size_t i = p->blocks.count; i-- > 0;)
        if (p->blocks.data[i].address == address && p->blocks.data[i].to == UINT32_MAX) {
            p->blocks.data[i].to = event;
            return;
        }
}

static bool find_blocks(struct places *p)
{
    for (uint32_t i = 0; i < p->events->count; i++) {
        const struct program_event *e = &p->events->event[i];
        if (e->kind == EVENT_CALL && e->call == PROGRAM_CALL_FREE)
            end_block(p, e->argument[0], i);
        struct place_block b = { e->read, e->argument[0], i, UINT32_MAX, e->thread };
        if (e->kind == EVENT_CALL && e->call == PROGRAM_CALL_ALLOCATE && e->read
            && !LIST_PUSH(&p->blocks, b))
            return false;
    }
    return true;
}

const struct place_block *places_block(const struct places *p, uint32_t address, size_t event)
{
    for (size_t i = p->blocks.count; i-- > 0;) {
        const struct place_block *b = &p->blocks.data[i];
        if (b->from <= event && address - b->address < b->size)
            return b;
    }
    return NULL;
}

/* ---- stacks ------------------------------------------------------------------------------ */

static const struct place_local *known_local(const struct places *p, uint32_t address)
{
    for (size_t i = p->locals.count; i-- > 0;)
        if (address - p->locals.data[i].address < p->locals.data[i].size)
            return &p->locals.data[i];
    return NULL;
}

/* Variables of frames get the name by which their own thread knows them. */
static bool find_locals(struct places *p)
{
    for (size_t i = 0; i < p->events->count; i++) {
        const struct program_event *e = &p->events->event[i];
        uint32_t thread;
        if (!event_is_access(e) || !e->frame || !image_in_stack(p->image, e->address, &thread)
            || thread != e->thread || known_local(p, e->address))
            continue;
        struct place_local l = { 0 };
        struct source_place where;
        l.name = image_local_at(p->image, e->pc, e->frame, e->address, &l.address, &l.size);
        if (image_place(p->image, e->pc, &where) && where.function)
            snprintf(l.function, sizeof l.function, "%s", where.function);
        if (l.name && l.size && !LIST_PUSH(&p->locals, l))
            return false;
    }
    return true;
}

bool places_find(struct places *p, const struct image *image, const struct event_list *events)
{
    *p = (struct places){ .image = image, .events = events, .types = image_types_open(image) };
    return find_bytes(p) && find_blocks(p) && find_locals(p);
}

void places_free(struct places *p)
{
    image_types_close(p->types);
    p->types = NULL;
    LIST_FREE(&p->bytes);
    LIST_FREE(&p->blocks);
    LIST_FREE(&p->locals);
}

/* ---- names ------------------------------------------------------------------------------- */

static void put_offset(char name[PLACE_NAME], uint32_t offset)
{
    size_t length = strlen(name);
    if (offset)
        snprintf(name + length, PLACE_NAME - length, "+%" PRIu32, offset);
}

void place_plain_name(const char *symbol, char name[PLACE_NAME])
{
    int status = 1;
    char *plain = strncmp(symbol, "_Z", 2) == 0 ? __cxa_demangle(symbol, NULL, NULL, &status)
                                                : NULL;
    snprintf(name, PLACE_NAME, "%s", plain && status == 0 ? plain : symbol);
    free(plain);
}

static void name_symbol(const struct symbol *s, uint32_t address, char name[PLACE_NAME])
{
    place_plain_name(s->name, name);
    put_offset(name, address - s->address);
}

static void name_on_stack(const struct places *p, uint32_t address, uint32_t thread,
                          char name[PLACE_NAME])
{
    const struct place_local *l = known_local(p, address);
    if (!l) {
        snprintf(name, PLACE_NAME, "stack of thread %" PRIu32 " at 0x%" PRIx32, thread, address);
        return;
    }
    snprintf(name, PLACE_NAME, "%s%s%s", l->function, l->function[0] ? "'s " : "", l->name);
    put_offset(name, address - l->address);
}

void places_name(const struct places *p, uint32_t address, size_t event, char name[PLACE_NAME])
{
    const struct symbol *s = image_symbol_at(p->image, address);
    const struct place_block *b = s ? NULL : places_block(p, address, event);
    uint32_t thread, size;
    if (s && !s->function && image_types_name(p->types, address, name, PLACE_NAME, &size)) {
        return;
    } else if (s) {
        name_symbol(s, address, name);
    } else if (b) {
        snprintf(name, PLACE_NAME, "block %zu", (size_t)(b - p->blocks.data) + 1);
        put_offset(name, address - b->address);
    } else if (image_in_stack(p->image, address, &thread)) {
        name_on_stack(p, address, thread, name);
    } else {
        snprintf(name, PLACE_NAME, "0x%" PRIx32, address);
    }
}

static bool is_pointer(const struct places *p, uint32_t value, size_t event)
{
    uint32_t thread;
    return value >= 0x10000
        && (image_symbol_at(p->image, value) || places_block(p, value, event)
            || (image_in_stack(p->image, value, &thread) && known_local(p, value)));
}

void places_value(const struct places *p, uint32_t value, uint32_t size, size_t event,
                  char text[PLACE_NAME])
{
    int32_t number = size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
    if (size == 4 && is_pointer(p, value, event)) {
        char name[PLACE_NAME];
        places_name(p, value, event, name);
        snprintf(text, PLACE_NAME, "&%.*s", PLACE_NAME - 2, name);
    } else if (number > -65536 && number < 65536) {
        snprintf(text, PLACE_NAME, "%" PRId32, number);
    } else {
        snprintf(text, PLACE_NAME, "0x%" PRIx32, value);
    }
}
