/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer harness for programs: whatever an ELF file says of itself, it is loaded or refused with a
 * reason, and what is loaded answers all questions. */
#include <stdlib.h>
#include <string.h>

#include "image.h"

static void ask_of(const struct image *i, uint32_t address)
{
    struct source_place place;
    uint32_t begin, size;
    const struct symbol *s = image_symbol_at(i, address);
    const struct instruction *in = image_instruction(i, address);
    if (s && (address < s->address || image_symbol_named(i, s->name) == NULL))
        abort();
    if (in
        && (in->operation >= OPERATIONS || in->rd > 31 || in->rs1 > 31 || in->rs2 > 31
            || (in->live & 1)))
        abort();
    if (image_place(i, address, &place) && !place.file)
        abort();
    image_may_jump(i, address, address + 4);
    image_call_target(i, address);
    if (image_local_at(i, address, 0x1000, 0x0ff8, &begin, &size) && 0x0ff8 - begin >= size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ordeal_error error = { 0 };
    struct image *i;
    const struct segment *s;
    if (!image_load("x", data, size, &i, &error)) {
        if (!error.reason[0] || i)
            abort();
        return 0;
    }
    size_t segments = image_segments(i, &s);
    for (size_t k = 0; k < segments; k++)
        for (uint32_t at = 0; at < s[k].size && at < 4096; at += 2)
            ask_of(i, s[k].address + at);
    if (!image_instruction(i, image_entry(i)))
        abort();
    image_pc_of(i, "x.c", 1);
    image_free(i);
    return 0;
}
