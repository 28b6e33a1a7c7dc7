/* SPDX-License-Identifier: Apache-2.0 */
/* A program as RISC-V assembly: test.S, which includes elf_runtime.S and holds the sizes and tables
 * it needs, and the code of each thread with the operations of the test as comments. */
#ifndef HOST_ELF_ASSEMBLY_H
#define HOST_ELF_ASSEMBLY_H

#include <stdio.h>

#include "elf_platform.h"

/* Iterations first .. first + count - 1; `seed` makes the start skew. */
void elf_assembly_write(FILE *out, const struct program *p, const struct elf_platform *f,
                        uint64_t first, uint32_t count, uint64_t seed);

#endif
