/* SPDX-License-Identifier: Apache-2.0 */
/* `--target elf`: bare-metal programs for any RISC-V multiprocessor. A program is built for a batch
 * of iterations and then run by QEMU or by a simulator's command, or only written down.
 *
 * A boot takes about as long as the compiler, some tens of milliseconds each, so every batch has
 * its own and nothing of one test can be seen in the next. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/temporary.h"
#include "elf_build.h"
#include "elf_machine.h"
#include "signature.h"

enum { MOST_HARTS = 64, USUAL_HARTS = 4, BATCH = 1024 /* iterations */ };
#define BATCH_BYTES (UINT64_C(16) << 20)  /* of results */
#define MOST_MEMORY (UINT64_C(256) << 20)

struct elf {
    struct target_options options;
    struct elf_platform platform;
    const char *directory; /* for what is run: a room of its own; of --emit the user's */
    struct temporary room;
    uint64_t emitted;            /* programs so far */
};

/* ---- opening --------------------------------------------------------------------------- */

static bool check_options(struct elf *m, struct why *why)
{
    const struct target_options *o = &m->options;
    int ways = !!o->machine + !!o->command + !!o->emit;
    if (ways == 0)
        return why_say(why, "on what? Give --machine qemu, --command TEMPLATE, or --emit DIR to "
                            "only write the programs");
    if (ways > 1)
        return why_say(why, "--machine, --command and --emit exclude one another");
    if (o->machine && strcmp(o->machine, "qemu") != 0)
        return why_say(why, "there is no machine '%.200s'; there is qemu", o->machine);
    return elf_platform_parse(&m->platform, o->isa, o->platform, why) && elf_build_possible(why)
           && (!o->machine || elf_qemu_possible(&m->platform, why))
           && (!o->command || elf_command_possible(o->command, why));
}

static bool make_directory(struct elf *m, struct why *why)
{
    m->directory = m->options.emit;
    if (m->options.emit)
        return mkdir(m->directory, 0777) == 0 || errno == EEXIST
            || why_say(why, "%.800s: %s", m->directory, strerror(errno));
    bool made = temporary_room(&m->room, "elf", why);
    m->directory = m->room.path;
    return made;
}

static void elf_close(void *machine)
{
    struct elf *m = machine;
    temporary_remove(&m->room);
    free(m);
}

static bool elf_open(const struct target_options *options, void **machine, struct why *why)
{
    struct elf *m = calloc(1, sizeof *m);
    if (!m)
        return why_say(why, "out of memory");
    m->options = *options;
    if (check_options(m, why) && make_directory(m, why)) {
        *machine = m;
        return true;
    }
    elf_close(m);
    return false;
}

static struct abilities elf_can(const void *machine)
{
    const struct elf_platform *f = &((const struct elf *)machine)->platform;
    uint32_t atomic_sizes = f->xlen == 64 ? 1 << 2 | 1 << 3 : 1 << 2;
    return (struct abilities){
        .threads = MOST_HARTS,
        .registers = MOST_REGISTERS,
        .load_sizes = 0x7f,
        .store_sizes = 0x7f,
        .swap_sizes = atomic_sizes,
        .cas_sizes = atomic_sizes,
        .amo_sizes = atomic_sizes,
        .reserve_sizes = atomic_sizes,
        .marks = true,
        .data = true,
        .control = true,
        .interrupts = true,
        .flush = f->flush,
        .nonfaulting = true,
        .memory = MOST_MEMORY,
        .harts = USUAL_HARTS,
    };
}

static struct machine_claims elf_claims(const void *machine)
{
    const struct elf *m = machine;
    enum ordeal_model promised = m->platform.ztso ? ORDEAL_RVTSO : ORDEAL_RVWMO;
    return signature_claims(m->platform.xlen, m->options.model_given ? m->options.model : promised);
}

/* ---- running --------------------------------------------------------------------------- */

static uint32_t batch_size(const struct program *p, uint64_t wanted)
{
    uint64_t fit = BATCH_BYTES / (((uint64_t)p->slots + p->finals) * 8 + 1);
    uint64_t most = fit < BATCH ? fit : BATCH;
    return (uint32_t)(wanted < most ? wanted : most ? most : 1);
}

enum target_result elf_hung(const struct elf_job *job, struct why *why)
{
    struct why seen;
    signature_last_seen(job->bytes, job->length, job->p, &seen);
    bool trapped = signature_trapped(job->bytes, job->length);
    why_say(why, "%s%.900s", trapped ? "" : "the machine hangs: ", seen.text);
    return TARGET_BROKE;
}

/* Its machine said that it is done, but it is not, or not of use. */
static enum target_result not_delivered(struct elf_job *job, struct why *why)
{
    bool ours = signature_unfinished(job->bytes, job->length, job->p);
    enum target_result result = ours ? elf_hung(job, why) : TARGET_FAILED;
    if (!job->f->evict && !signature_trapped(job->bytes, job->length))
        why_add(why, "; where caches write back and memory is saved without them, "
                     "--platform evict=BYTES makes harts drive out what these have");
    return result;
}

static enum target_result deliver(struct elf_job *job, uint64_t first, uint32_t count,
                                  const struct target_sink *sink, struct why *why)
{
    struct signature s;
    if (!signature_open(&s, job->bytes, job->length, job->p, why))
        return not_delivered(job, why);
    if (s.first != first || s.iterations != count || s.xlen != job->f->xlen) {
        why_say(why, "the signature is of another run of this test");
        return TARGET_FAILED;
    }
    uint64_t *values = calloc((size_t)s.slots + s.finals + 1, sizeof *values);
    struct extension registers = { 0 };
    enum target_result result = TARGET_DONE;
    if (!values || !signature_extension(&s, job->p, &registers)) {
        why_say(why, "out of memory");
        result = TARGET_FAILED;
    }
    for (uint32_t i = 0; i < count && result == TARGET_DONE; i++) {
        if (!signature_values(&s, i, &registers, values, why))
            result = TARGET_BROKE;
        else if (!sink->outcome(sink->user, first + i, values) || interrupted())
            result = TARGET_STOPPED;
    }
    if (result == TARGET_DONE && !signature_interrupts(&s, job->p, why))
        result = TARGET_BROKE;
    extension_close(&registers);
    free(values);
    return result;
}

static enum target_result run_batch(struct elf *m, const struct program *p, uint64_t first,
                                    uint32_t count, const struct target_sink *sink,
                                    struct why *why)
{
    struct elf_job job = { .p = p,
                           .f = &m->platform,
                           .directory = m->directory,
                           .signature_length = signature_length(p, count),
                           .timeout = m->options.timeout,
                           .seed = m->options.seed };
    enum target_result result = elf_build(m->directory, p, &m->platform, first, count,
                                          m->options.seed, why);
    if (result == TARGET_DONE)
        result = m->options.machine ? elf_qemu_run(&job, why)
                                    : elf_command_run(&job, m->options.command, why);
    if (result == TARGET_DONE)
        result = deliver(&job, first, count, sink, why);
    free(job.bytes);
    return result;
}

/* The n-th program goes to the folder test-n, which must not be there yet. */
static enum target_result emit(struct elf *m, const struct program *p, uint64_t first,
                               uint64_t count, struct why *why)
{
    char folder[4096];
    if (batch_size(p, count) != count) {
        why_say(why,
                "%" PRIu64 " iterations of this test are too many "
                "for one program; at most %" PRIu32,
                count, batch_size(p, count));
        return TARGET_FAILED;
    }
    snprintf(folder, sizeof folder, "%s/test-%" PRIu64, m->directory, ++m->emitted);
    return elf_build_folder(folder, p, &m->platform, first, (uint32_t)count, m->options.seed, why);
}

static enum target_result elf_run(void *machine, const struct program *p, uint64_t first,
                                  uint64_t count, const struct target_sink *sink, struct why *why)
{
    struct elf *m = machine;
    enum target_result result = TARGET_DONE;
    if (m->options.emit)
        return emit(m, p, first, count, why);
    while (count && result == TARGET_DONE) {
        uint32_t batch = batch_size(p, count);
        result = run_batch(m, p, first, batch, sink, why);
        first += batch;
        count -= batch;
    }
    return result;
}

const struct target target_elf = {
    .name = "elf",
    .summary = "bare-metal RISC-V programs: on QEMU, on a simulator, or written down for a lab",
    .open = elf_open,
    .can = elf_can,
    .claims = elf_claims,
    .several = true,
    .iterations = 16,
    .run = elf_run,
    .close = elf_close,
};
