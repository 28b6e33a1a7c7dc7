/* SPDX-License-Identifier: Apache-2.0 */
/* What all states of a search share of the image: its code in one array, its memory at the start in
 * one block, and what may be done with each word of it. */
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "state.h"

static bool refuse(struct ordeal_error *error, enum ordeal_status status, const char *reason)
{
    *error = (struct ordeal_error){ .status = status };
    snprintf(error->reason, sizeof error->reason, "%s", reason);
    return false;
}

static void find_bounds(struct program_code *c, const struct segment *segment, size_t segments)
{
    c->base = UINT32_MAX;
    c->low = UINT32_MAX;
    for (size_t i = 0; i < segments; i++) {
        const struct segment *g = &segment[i];
        uint32_t end = g->address + g->size;
        if (g->address < c->base)
            c->base = g->address;
        if (end > c->end)
            c->end = end;
        if (g->writable && g->address < c->low)
            c->low = g->address;
        if (g->writable && end > c->high)
            c->high = end;
    }
    if (c->low > c->high)
        c->low = c->high = c->end;
    c->base &= ~(CHUNK_BYTES - 1u);
    c->low &= ~(CHUNK_BYTES - 1u);
    c->high = (c->high + CHUNK_BYTES - 1) & ~(CHUNK_BYTES - 1u);
    if (c->end < c->high)
        c->end = c->high;
    c->end = (c->end + 3) & ~3u;
}

static void copy_segment(struct program_code *c, const struct segment *g)
{
    if (!g->size)
        return;
    memcpy(c->memory + (g->address - c->base), g->bytes, g->size);
    uint32_t last = (g->address + g->size - 1 - c->base) / 4;
    for (uint32_t w = (g->address - c->base) / 4; w <= last; w++)
        c->access[w] |= g->writable ? 3 : 1;
}

static void copy_code(struct program_code *c)
{
    for (uint32_t pc = c->base; pc < c->end; pc += 4) {
        const struct instruction *i = image_instruction(c->image, pc);
        if (i)
            c->at[(pc - c->base) / 4] = *i;
    }
}

bool program_code_new(struct program_code *c, const struct image *image, struct ordeal_error *error)
{
    const struct segment *segment;
    size_t segments = image_segments(image, &segment);
    *c = (struct program_code){ .image = image };
    find_bounds(c, segment, segments);
    if (image_is_chip(image))
        return refuse(error, ORDEAL_BAD_INPUT,
                      "the program is linked for the machine, on which 'ordeal run --program' runs "
                      "it; explore its sources");
    if (!segments || c->end <= c->base)
        return refuse(error, ORDEAL_BAD_INPUT, "the program has nothing in memory");
    if (c->end > STATE_LINKED_END)
        return refuse(error, ORDEAL_BAD_INPUT,
                      "the program is linked above 0x04000000, or is larger than 64 MB; make its "
                      "data smaller");
    size_t size = c->end - c->base;
    c->memory = calloc(1, size);
    c->access = calloc(1, size / 4);
    c->at = calloc(size / 4, sizeof *c->at);
    if (!c->memory || !c->access || !c->at) {
        program_code_free(c);
        return refuse(error, ORDEAL_NO_MEMORY, "no memory for the program");
    }
    for (size_t i = 0; i < segments; i++)
        copy_segment(c, &segment[i]);
    copy_code(c);
    const struct symbol *end = image_symbol_named(image, "__ordeal_thread_end");
    if (end)
        c->thread_end = end->address;
    return true;
}

void program_code_free(struct program_code *c)
{
    free(c->memory);
    free(c->access);
    free(c->at);
    c->memory = c->access = NULL;
    c->at = NULL;
}
