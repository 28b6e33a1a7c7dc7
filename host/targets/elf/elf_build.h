/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one bare-metal test in a directory: test.S, runtime.S, link.ld, and test.elf built
 * from them with riscv64-unknown-elf-gcc. */
#ifndef HOST_ELF_BUILD_H
#define HOST_ELF_BUILD_H

#include "elf_platform.h"

/* Where what lies, from the address of RAM on: elf_runtime.S and elf_link.ld. */
enum { ELF_TOHOST = 0x1000, ELF_BEGIN_SIGNATURE = 0x1080, ELF_END_SIGNATURE = 0x1088 };

/* Is the compiler there? False: `why` says what to install. */
bool elf_build_possible(struct why *why);
/* TARGET_DONE, STOPPED (^C) or FAILED: `why`. */
enum target_result elf_build(const char *directory, const struct program *p,
                             const struct elf_platform *f, uint64_t first, uint32_t count,
                             uint64_t seed, struct why *why);
/* Also the test itself and a README that says how results come back. */
enum target_result elf_build_folder(const char *directory, const struct program *p,
                                    const struct elf_platform *f, uint64_t first, uint32_t count,
                                    uint64_t seed, struct why *why);
/* The directory and all files in it: for directories made for a test. */
void elf_build_remove(const char *directory);

/* Where others look in the memory of a built test; RAM begins there. False: `why`. */
struct elf_symbols {
    uint64_t tohost, begin, end;
};
bool elf_build_symbols(const char *elf, uint64_t ram, struct elf_symbols *at, struct why *why);
/* test.hex beside test.elf, as Verilog's $readmemh takes it: a byte a number, after addresses. */
enum target_result elf_build_hex(const char *directory, struct why *why);

#endif
