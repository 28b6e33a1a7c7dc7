/* SPDX-License-Identifier: Apache-2.0 */
/* A test on QEMU's virt machine, one host thread a hart. The guest's RAM is memory that ordeal
 * shares, so the end, the progress of a hang and the results are seen without asking QEMU; it is
 * killed when the guest is done. No file is left, and there is nothing that listens. */
#include "elf_machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "elf_build.h"
#include "signature.h"

static const double glance = 0.0005; /* seconds between two looks at tohost */

/* QEMU puts its device tree into the last 32 MB, at a multiple of 16. */
#define ROOM_GRAIN (UINT64_C(16) << 20)
#define ROOM_OF_QEMU (UINT64_C(32) << 20)

struct ram { int file; uint8_t *bytes; size_t size; };

static const char *emulator(const struct elf_platform *f)
{
    return f->xlen == 64 ? "qemu-system-riscv64" : "qemu-system-riscv32";
}

bool elf_qemu_possible(const struct elf_platform *f, struct why *why)
{
    if (f->flush || f->ram != UINT64_C(0x80000000))
        return why_say(why, "%s",
                       f->flush ? "QEMU's virt machine cannot flush cache lines; leave out _zicbom"
                                : "QEMU's virt machine has its RAM at 0x80000000");
    if (child_exists(emulator(f)))
        return true;
    return why_say(why,
                   "%s is not on PATH: install Debian's package "
                   "qemu-system-misc",
                   emulator(f));
}

static enum target_result fail(struct why *why, const char *what)
{
    why_say(why, "%.800s: %s", what, strerror(errno));
    return TARGET_FAILED;
}

/* All that is loaded is in the file; what is not, memory and signature, is known. */
static uint64_t room_for(const struct elf_job *job, uint64_t file)
{
    const struct elf_platform *f = job->f;
    uint64_t room = file + job->p->memory + job->signature_length + f->way * (f->ways + 4)
                  + f->evict + 65536;
    return (room + ROOM_GRAIN - 1) / ROOM_GRAIN * ROOM_GRAIN + ROOM_OF_QEMU;
}

static bool ram_open(struct ram *ram, size_t size)
{
    *ram = (struct ram){ .file = memfd_create("ordeal", 0), .size = size };
    if (ram->file < 0)
        return false;
    ram->bytes = ftruncate(ram->file, (off_t)size) != 0 ? MAP_FAILED
               : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ram->file, 0);
    if (ram->bytes != MAP_FAILED)
        return true;
    close(ram->file);
    return false;
}

static void ram_close(struct ram *ram)
{
    munmap(ram->bytes, ram->size);
    close(ram->file);
}

static bool boot(struct child *qemu, const struct elf_job *job, const struct ram *ram,
                 const char *log, struct why *why)
{
    char backend[128], memory[32], harts[32], elf[4096];
    snprintf(backend, sizeof backend, "memory-backend-file,id=ram,share=on,size=%zu,"
             "mem-path=/proc/self/fd/%d", ram->size, ram->file);
    snprintf(memory, sizeof memory, "%zuM", ram->size >> 20);
    snprintf(harts, sizeof harts, "%" PRIu32, job->p->threads);
    snprintf(elf, sizeof elf, "%s/test.elf", job->directory);
    const char *argv[] = { emulator(job->f), "-nodefaults", "-no-user-config", "-no-reboot",
                           "-display", "none", "-serial", "none", "-monitor", "none",
                           "-M", "virt,memory-backend=ram", "-object", backend, "-m", memory,
                           "-smp", harts, "-accel", "tcg,thread=multi", "-bios", "none",
                           "-kernel", elf, NULL };
    return child_start(qemu, (char *const *)argv, NULL, log, why);
}

/* TARGET_DONE: the guest says so. */
static enum target_result watch(struct child *qemu, const struct elf_job *job,
                                const struct ram *ram)
{
    const uint32_t *tohost = (const void *)(ram->bytes + ELF_TOHOST);
    double start = now_seconds();
    while (!__atomic_load_n(tohost, __ATOMIC_ACQUIRE)) {
        if (interrupted())
            return TARGET_STOPPED;
        if (job->timeout > 0 && now_seconds() - start > job->timeout)
            return TARGET_HUNG;
        if (!child_running(qemu))
            return TARGET_FAILED;
        pause_for(glance);
    }
    return TARGET_DONE;
}

/* The signature as it is in the guest's RAM; none when the program is not there yet. */
static bool keep_signature(struct elf_job *job, const struct ram *ram)
{
    uint64_t begin;
    memcpy(&begin, ram->bytes + ELF_BEGIN_SIGNATURE, sizeof begin);
    begin -= job->f->ram;
    if (begin > ram->size || job->signature_length > ram->size - begin)
        return true;
    job->bytes = malloc(job->signature_length);
    if (!job->bytes)
        return false;
    job->length = job->signature_length;
    memcpy(job->bytes, ram->bytes + begin, job->length);
    return true;
}

static enum target_result conclude(struct elf_job *job, const struct ram *ram,
                                   const struct child *qemu, const char *log,
                                   enum target_result result, struct why *why)
{
    if (result == TARGET_FAILED) {
        child_obituary(qemu, emulator(job->f), log, why);
        return result;
    }
    if (result != TARGET_STOPPED && !keep_signature(job, ram)) {
        errno = ENOMEM;
        return fail(why, "signature");
    }
    if (result == TARGET_HUNG)
        return elf_hung(job, why);
    return result;
}

enum target_result elf_qemu_run(struct elf_job *job, struct why *why)
{
    struct ram ram;
    struct child qemu;
    struct stat elf;
    char log[4096], file[4096];
    snprintf(log, sizeof log, "%s/run.log", job->directory);
    snprintf(file, sizeof file, "%s/test.elf", job->directory);
    if (stat(file, &elf) != 0)
        return fail(why, file);
    if (!ram_open(&ram, room_for(job, (uint64_t)elf.st_size)))
        return fail(why, "the guest's memory");
    enum target_result result = TARGET_FAILED;
    if (boot(&qemu, job, &ram, log, why)) {
        result = watch(&qemu, job, &ram);
        child_stop(&qemu);
        result = conclude(job, &ram, &qemu, log, result, why);
    }
    ram_close(&ram);
    return result;
}
