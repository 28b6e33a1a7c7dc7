/* SPDX-License-Identifier: Apache-2.0 */
/* The files are taken in by the assembler, from the root of the sources, where make runs. */
#include "elf_runtime.h"

#define TEXT_OF(NAME, FILE) \
    __asm__(".section .rodata\n" \
            #NAME "_begin:\n.incbin \"" FILE "\"\n" #NAME "_end:\n.previous\n"); \
    extern const char NAME##_begin[], NAME##_end[]; \
    const struct elf_text NAME = { NAME##_begin, NAME##_end }

TEXT_OF(elf_runtime, "host/targets/elf/elf_runtime.S");
TEXT_OF(elf_link, "host/targets/elf/elf_link.ld");
