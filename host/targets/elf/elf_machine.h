/* SPDX-License-Identifier: Apache-2.0 */
/* What runs a built test and brings its signature back: QEMU, or a simulator's command. */
#ifndef HOST_ELF_MACHINE_H
#define HOST_ELF_MACHINE_H

#include "elf_platform.h"

struct elf_job {
    const struct program *p;
    const struct elf_platform *f;
    const char *directory;        /* has test.elf; room for what else is needed */
    uint64_t signature_length;
    double timeout;               /* seconds; 0: none */
    uint64_t seed;                /* of --seed */
    uint8_t *bytes;               /* the signature that came back, to be freed; may be NULL */
    size_t length;
};

/* What a machine that did not come to its end did, of its signature: TARGET_BROKE, a finding. */
enum target_result elf_hung(const struct elf_job *job, struct why *why);

/* Is QEMU there? False: `why` says what to install. */
bool elf_qemu_possible(const struct elf_platform *f, struct why *why);
enum target_result elf_qemu_run(struct elf_job *job, struct why *why);

/* A template is words, separated by blanks, in '' or "" where they hold some. What stands in {} is
 * replaced in them: the program as {elf}, or in the form of $readmemh, a byte each, as {hex}; the
 * file that takes its {signature}; {harts}, {isa}, {seed}; and the addresses {tohost}, {begin} and
 * {end} of its signature. */
bool elf_command_possible(const char *template, struct why *why);
enum target_result elf_command_run(struct elf_job *job, const char *template, struct why *why);

#endif
