/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chip.h"
#include "on_chip_parts.h"

enum { LEAST_STACK = 512, MOST_PART = 32768, ROUND = 64 };

struct on_chip *on_chip_load(const struct compile_request *request, char **messages,
                             struct ordeal_error *error)
{
    struct on_chip *p = calloc(1, sizeof *p);
    *messages = NULL;
    if (!p) {
        error_out_of_memory(error, request->source[0]);
        return NULL;
    }
    bool good = program_file_load(&p->file, request, error);
    *messages = p->file.messages;
    p->file.messages = NULL;
    if (good && !image_is_chip(p->file.image))
        good =
            error_bad(error, request->source[0], 0,
                      "it is not linked for the machine; name its sources, or the program.elf that "
                      "'ordeal run' keeps");
    if (!good) {
        on_chip_free(p);
        return NULL;
    }
    return p;
}

void on_chip_free(struct on_chip *p)
{
    if (!p)
        return;
    program_file_free(&p->file);
    free(p->code);
    free(p->memory);
    free(p);
}

const uint8_t *on_chip_elf(const struct on_chip *p, size_t *size)
{
    *size = p->file.size;
    return p->file.elf;
}

/* ---- laid out -------------------------------------------------------------------------------- */

/* Bytes behind the last of code, or of memory. */
static uint32_t end_of(const struct on_chip *p, bool code)
{
    const struct segment *s;
    uint32_t end = code ? 0 : CHIP_DATA;
    size_t count = image_segments(p->file.image, &s);
    for (size_t k = 0; k < count; k++)
        if ((s[k].address < CHIP_MEMORY) == code && s[k].address + s[k].size > end)
            end = s[k].address + s[k].size;
    return end;
}

static void copy(uint32_t *to, const struct segment *s, uint32_t base)
{
    for (uint32_t k = 0; k < s->size; k++)
        to[(s->address - base + k) / 4] |= (uint32_t)s->bytes[k] << 8 * ((s->address + k) % 4);
}

/* What is left of memory is divided among harts: the heap of each, then its stack. */
static bool divide(struct on_chip *p, uint32_t begin, struct why *why)
{
    const struct on_chip_machine *m = &p->machine;
    struct chip *chip = (struct chip *)(void *)p->memory;
    uint32_t all = CHIP_MEMORY + m->memory_bytes - begin;
    uint32_t part = all / m->harts & ~(ROUND - 1u);
    if (part > MOST_PART)
        part = MOST_PART;
    uint32_t heap = part / 2 & ~(ROUND - 1u);
    p->memory_words = (begin - CHIP_MEMORY + part * m->harts) / 4;
    if (part - heap < LEAST_STACK)
        return why_say(why,
                       "its variables take %" PRIu32
                       " bytes, which leaves no room for the stacks of %" PRIu32
                       " harts in %" PRIu32 " bytes of memory; a machine with more is, for "
                       "example, --sizes h4-s16-w2-l4-b8-q4-m256",
                       begin - CHIP_DATA, m->harts, m->memory_bytes);
    struct image_stacks stacks = { begin, part, heap };
    image_set_stacks(p->file.image, &stacks);
    p->traced = (struct retrace_machine){ .harts = m->harts,
                                          .memory_bytes = m->memory_bytes,
                                          .code_bytes = 4 * p->code_words };
    chip->harts = m->harts;
    chip->low = m->low;
    chip->high = m->high;
    for (uint32_t h = 0; h < m->harts; h++) {
        struct chip_thread *t = &chip->thread[h];
        t->heap = begin + h * part;
        t->heap_end = p->traced.stack_begin[h] = t->heap + heap;
        t->stack_end = p->traced.stack_end[h] = t->heap + part;
    }
    return true;
}

static uint64_t identity_of(const struct on_chip *p)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (uint32_t k = 0; k < p->code_words; k++)
        hash = (hash ^ p->code[k]) * UINT64_C(0x100000001b3);
    for (uint32_t k = 0; k < p->memory_words; k++)
        hash = (hash ^ p->memory[k]) * UINT64_C(0x100000001b3);
    return hash | 1;
}

bool on_chip_fit(struct on_chip *p, const struct on_chip_machine *machine,
                 struct on_chip_words *words, struct why *why)
{
    const struct segment *s;
    size_t count = image_segments(p->file.image, &s);
    uint32_t code = end_of(p, true), data = (end_of(p, false) + ROUND - 1) & ~(ROUND - 1u);
    p->machine = *machine;
    if (code > machine->code_bytes)
        return why_say(why,
                       "its code takes %" PRIu32
                       " bytes, %d of them for the run-time; a hart has %" PRIu32
                       "; --optimise makes it smaller, and a machine with more is, for example, "
                       "--sizes h4-s16-w2-l4-b8-q4-k64",
                       code, CHIP_CODE, machine->code_bytes);
    if (data - CHIP_MEMORY > machine->memory_bytes)
        return why_say(why,
                       "its variables take %" PRIu32 " bytes; the machine has %" PRIu32
                       " of memory; one "
                       "with more is, for example, --sizes h4-s16-w2-l4-b8-q4-m1024",
                       data - CHIP_DATA, machine->memory_bytes);
    free(p->code);
    free(p->memory);
    p->code_words = (code + 3) / 4;
    p->code = calloc(p->code_words + 1, sizeof *p->code);
    p->memory = calloc(machine->memory_bytes / 4 + 1, sizeof *p->memory);
    if (!p->code || !p->memory)
        return why_say(why, "out of memory");
    for (size_t k = 0; k < count; k++)
        copy(s[k].address < CHIP_MEMORY ? p->code : p->memory, &s[k],
             s[k].address < CHIP_MEMORY ? 0 : CHIP_MEMORY);
    if (!divide(p, data, why))
        return false;
    *words = (struct on_chip_words){ p->code, p->memory, p->code_words, p->memory_words,
                                     identity_of(p) };
    return true;
}

bool on_chip_steer(const struct on_chip *p, const struct steer_point *point, size_t points,
                   struct steered *to)
{
    return steer_code(to, p->code, p->code_words, p->machine.code_bytes / 4, p->machine.harts,
                      point, points);
}

const struct image *on_chip_image(const struct on_chip *p) { return p->file.image; }
