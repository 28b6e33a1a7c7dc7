/* SPDX-License-Identifier: Apache-2.0 */
/* What a bare-metal program must know of the machine it is for: `--isa` and `--platform`. */
#ifndef HOST_ELF_PLATFORM_H
#define HOST_ELF_PLATFORM_H

#include "targets/target.h"

struct elf_platform {
    uint32_t xlen;              /* 32 or 64 */
    bool flush;                 /* has cbo.flush */
    bool ztso;                  /* promises RVTSO */
    uint64_t ram;               /* where the program lies */
    uint64_t clint;             /* of hart 0's software interrupt, 4 bytes a hart */
    uint64_t fault;             /* 64 bytes of which every load faults */
    uint64_t first_hart;        /* mhartid of the hart of the first thread */
    uint64_t way, ways;         /* of the data cache: bytes a way, and how many to be loaded */
    uint64_t evict;             /* bytes that every hart loads at the end, so that what it wrote
                                   leaves its caches; 0: memory needs no help to be seen */
};

/* isa: rv32ima or rv64ima, and _zicbom and _ztso in this order; NULL: rv64ima. platform: key=value, separated by commas,
 * NULL: those of QEMU's virt. False: `why`. */
bool elf_platform_parse(struct elf_platform *f, const char *isa, const char *platform,
                        struct why *why);
/* What an assembler of that ISA is called with, "rv64ima_zicsr". */
const char *elf_platform_march(const struct elf_platform *f);
const char *elf_platform_mabi(const struct elf_platform *f);

#endif
