/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in C and C++ to ELF files for the engine: clang for RV32IMA, the run-time of
 * program/runtime/, and lld. Nothing is left on the disk. */
#ifndef HOST_PROGRAM_COMPILE_H
#define HOST_PROGRAM_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

struct compile_request {
    const char *const *source; /* .c, .i, .cpp, .cc, .cxx; C++ takes the run-time of C++ with it */
    size_t sources;
    bool optimise;    /* -O2 instead of -O0 */
    bool chip;        /* for the multiprocessor of rtl/ instead of the engine (program/chip.h) */
    bool x86_atomics; /* as for x86 (program/PROGRAM.md), else as the RISC-V manual has it */
    const char *const *define; /* NAME or NAME=VALUE */
    size_t defines;
    const char *const *include; /* folders with headers */
    size_t includes;
};

struct compiled {
    uint8_t *elf;
    size_t size;
    char *messages; /* what the compiler said, whole lines; "": nothing. Also when it failed */
    bool stopped;   /* by ^C */
};

/* A source that is compiled and linked; others are taken for ELF files. */
bool compile_is_source(const char *name);

/* False: why not, in one line: a tool that is missing and what to install, a source that does not compile
 * (`messages` has the rest), a function that the run-time has not. To be freed in either case. */
bool compile_program(const struct compile_request *request, struct compiled *compiled,
                     struct why *why);
void compiled_free(struct compiled *c);

#endif
